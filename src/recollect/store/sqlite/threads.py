"""Work that blocks, done in threads of the store's own."""

import asyncio
import threading
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Protocol, TypeVar

from recollect.errors import StoreUnavailable

T = TypeVar("T")


class InThread(Protocol):
    """Runs a function in a thread and waits for its result."""

    def __call__(self, work: Callable[[], T], /) -> Awaitable[T]: ...


class Threads:
    """A named pool of threads; closed, it takes no more work."""

    def __init__(self, count: int, name: str) -> None:
        self._count = count
        self.executor = ThreadPoolExecutor(count, thread_name_prefix=f"recollect-{name}")

    def start(self) -> None:
        """All of them now. The pool would make one whenever all others are busy, the last perhaps after an hour, and a process
        takes megabytes more once another thread shares its heaps: it is better seen at once what it takes."""
        together = threading.Barrier(self._count)
        for begun in [self.executor.submit(together.wait) for _ in range(self._count)]:
            begun.result()

    async def run(self, work: Callable[[], T], /) -> T:
        try:
            future = self.executor.submit(work)
        except RuntimeError as error:
            raise StoreUnavailable("the store is closed") from error
        return await asyncio.wrap_future(future)

    def close(self) -> None:
        """Waits for what has begun."""
        self.executor.shutdown()
