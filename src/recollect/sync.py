"""The same Recollect without `await`: each call runs on an event loop in a thread of its own."""

import asyncio
import threading
from collections.abc import Awaitable, Callable, Coroutine
from functools import wraps
from pathlib import Path
from types import TracebackType
from typing import Any, Concatenate, ParamSpec, Self, TypeVar, cast

from recollect.engine import Recollect as Async

P = ParamSpec("P")
R = TypeVar("R")


def _sync(
    method: Callable[Concatenate[Async, P], Awaitable[R]],
) -> Callable[Concatenate["Recollect", P], R]:
    @wraps(method)
    def call(self: "Recollect", *args: P.args, **kwargs: P.kwargs) -> R:
        return self.run(cast(Coroutine[Any, Any, R], method(self.engine, *args, **kwargs)))

    return call


class Recollect:
    """`recollect.Recollect`, blocking. Safe to call from several threads."""

    def __init__(self, url: str | Path, **options: Any) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="recollect", daemon=True)
        self._thread.start()
        self.engine = Async(url, **options)

    def run(self, call: Coroutine[Any, Any, R]) -> R:
        """Waits for a call of the engine."""
        return asyncio.run_coroutine_threadsafe(call, self._loop).result()

    def __enter__(self) -> Self:
        self.open()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Closes the engine and ends the thread."""
        try:
            self.run(self.engine.close())
        finally:
            self._loop.call_soon_threadsafe(self._loop.stop)
            self._thread.join()
            self._loop.close()

    def export(self, *, user: str) -> list[str]:
        """The user's whole memory as JSON lines."""

        async def collect() -> list[str]:
            return [line async for line in self.engine.export(user=user)]

        return self.run(collect())

    open = _sync(Async.open)
    flush = _sync(Async.flush)
    record = _sync(Async.record)
    revise = _sync(Async.revise)
    turns = _sync(Async.turns)
    context = _sync(Async.context)
    search = _sync(Async.search)
    snapshots = _sync(Async.snapshots)
    replay = _sync(Async.replay)
    diff = _sync(Async.diff)
    backtest = _sync(Async.backtest)
    define_persona = _sync(Async.define_persona)
    personas = _sync(Async.personas)
    set_user = _sync(Async.set_user)
    user = _sync(Async.user)
    users = _sync(Async.users)
    head = _sync(Async.head)
    link = _sync(Async.link)
    resolve = _sync(Async.resolve)
    state = _sync(Async.state)
    set_state = _sync(Async.set_state)
    remember = _sync(Async.remember)
    add = _sync(Async.add)
    update = _sync(Async.update)
    memories = _sync(Async.memories)
    episodes = _sync(Async.episodes)
    loops = _sync(Async.loops)
    thoughts = _sync(Async.thoughts)
    summaries = _sync(Async.summaries)
    sessions = _sync(Async.sessions)
    entities = _sync(Async.entities)
    history = _sync(Async.history)
    load = _sync(Async.load)
    health = _sync(Async.health)
    backup = _sync(Async.backup)
