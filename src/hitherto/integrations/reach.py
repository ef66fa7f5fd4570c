"""What several frameworks need: one memory for asynchronous and blocking callers, and a context as one text."""

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

from hitherto import Context, Hitherto
from hitherto.errors import InvalidInput
from hitherto.safety.markup import escaped
from hitherto.sync import Hitherto as Blocking

R = TypeVar("R")
Memory = Hitherto | Blocking
"""With the blocking twin, calls work with and without `await`; with the other, only with it."""


class Reach:
    """Calls of a memory, whichever of the two it is."""

    def __init__(self, memory: Memory) -> None:
        self._blocking = memory if isinstance(memory, Blocking) else None
        self.engine: Hitherto = memory.engine if isinstance(memory, Blocking) else memory

    async def awaited(self, call: Coroutine[Any, Any, R]) -> R:
        """The answer to a call. The blocking twin's runs on its own loop."""
        return await call if self._blocking is None else await asyncio.to_thread(self._blocking.run, call)

    def waited(self, call: Coroutine[Any, Any, R]) -> R:
        if self._blocking is None:
            call.close()
            raise InvalidInput("this memory is asynchronous; pass a hitherto.sync.Hitherto to call it without await")
        return self._blocking.run(call)


def context_text(made: Context, *, own: int = 0) -> str:
    """A context for a model that keeps its conversation itself: what is known, and what was said before that conversation,
    which already holds the last `own` turns."""
    earlier = made.history[: max(0, len(made.history) - own)]
    lines = [
        f"{one['role']}: {escaped(said)}" for one in earlier if isinstance(said := one.get("content"), str) and said
    ]
    return "\n".join([made.system, "", "[EARLIER]", *lines, "[/EARLIER]"]) if lines else made.system
