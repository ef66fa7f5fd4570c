"""Runs blocking work in the store's own threads."""

import asyncio
import threading
from collections.abc import Awaitable, Callable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import Protocol, TypeVar

from hitherto.errors import StoreClosed

T = TypeVar("T")


class InThread(Protocol):
    """Runs a function in a thread and waits for its result."""

    def __call__(self, work: Callable[[], T], /) -> Awaitable[T]: ...


class Threads:
    """A named pool of threads; it accepts work from start to close."""

    def __init__(self, count: int, name: str) -> None:
        self._count = count
        self._executor = ThreadPoolExecutor(count, thread_name_prefix=f"hitherto-{name}")
        self._started = False

    def start(self) -> None:
        """Starts all threads now. The pool would start one whenever all others are busy, the last perhaps after an hour,
        and each further thread costs the process megabytes of heap: the footprint should be visible from the start."""
        self._started = True
        together = threading.Barrier(self._count)
        for begun in [self.submit(together.wait) for _ in range(self._count)]:
            begun.result()

    def submit(self, work: Callable[[], T], /) -> Future[T]:
        if not self._started:
            raise StoreClosed
        try:
            return self._executor.submit(work)
        except RuntimeError as error:
            raise StoreClosed from error

    async def run(self, work: Callable[[], T], /) -> T:
        return await asyncio.wrap_future(self.submit(work))

    def close(self) -> None:
        """Waits for what has begun."""
        self._executor.shutdown()


# Errors as values: what fails in the writing thread belongs to a caller who waits in another.


@dataclass(frozen=True, slots=True)
class Failed:
    """What was raised instead of a result."""

    error: Exception


def attempt(work: Callable[[], T]) -> T | Failed:
    """The result, or whatever was raised: nothing may end a thread on whose results others wait."""
    try:
        return work()
    except Exception as error:  # noqa: BLE001 - handed on to where it belongs, whatever it is
        return Failed(error)
