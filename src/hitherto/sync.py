"""Hitherto without `await`: every call runs on an event loop in a separate thread."""

import asyncio
import inspect
import threading
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Iterable
from functools import wraps
from pathlib import Path
from types import TracebackType
from typing import Any, Concatenate, Generic, ParamSpec, Protocol, Self, TypeVar, cast

from hitherto.calls import calls_of
from hitherto.engine import Hitherto as Async
from hitherto.errors import StoreClosed, near


class Opened(Protocol):
    """Something to open and close, such as the engine or a client of the service."""

    async def open(self) -> None: ...

    async def close(self) -> None: ...


A = TypeVar("A", bound=Opened)
P = ParamSpec("P")
R = TypeVar("R")


class Blocking(Generic[A]):
    """Waits for the calls of an asynchronous object. Safe to use from several threads."""

    def __init__(self, make: Callable[[], A]) -> None:
        self.engine = make()  # first: if it fails, no thread is left behind
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="hitherto", daemon=True)
        self._thread.start()

    def run(self, call: Coroutine[Any, Any, R]) -> R:
        """Waits for a call of the engine."""
        if self._loop.is_closed():
            call.close()
            raise StoreClosed
        return asyncio.run_coroutine_threadsafe(call, self._loop).result()

    def __enter__(self) -> Self:
        self.open()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def open(self) -> None:
        self.run(self.engine.open())

    def close(self) -> None:
        """Closes the engine and ends the thread for good."""
        if self._loop.is_closed():
            return
        try:
            self.run(self.engine.close())
        finally:
            self._loop.call_soon_threadsafe(self._loop.stop)
            self._thread.join()
            self._loop.close()


def blocking(
    method: Callable[Concatenate[A, P], Awaitable[R]],
) -> Callable[Concatenate[Blocking[A], P], R]:
    """The method without `await`."""

    @wraps(method)
    def call(self: Blocking[A], *args: P.args, **kwargs: P.kwargs) -> R:
        return self.run(cast(Coroutine[Any, Any, R], method(self.engine, *args, **kwargs)))

    return call


class Hitherto(Blocking[Async]):
    """`hitherto.Hitherto`, blocking."""

    def __init__(self, url: str | Path, **options: Any) -> None:
        known = inspect.signature(Async).parameters
        for name in options:
            if name not in known:
                raise TypeError(f"Hitherto has no argument {name!r}{near(name, known)}")
        super().__init__(lambda: Async(url, **options))

    def export(self, *, user: str) -> list[str]:
        """Gives the user's whole memory as JSON lines."""
        return self.run(collected(self.engine.export(user=user)))


async def collected(lines: AsyncIterator[str]) -> list[str]:
    """Collects an asynchronous iterator into a list."""
    return [line async for line in lines]


def add_blocking_calls(facade: type[Blocking[Any]], awaited: type, calls: Iterable[str]) -> None:
    """Adds every call that the facade does not define itself. Type checkers read them in the stub."""
    for name in calls:
        method = getattr(awaited, name, None)
        if not hasattr(facade, name) and inspect.iscoroutinefunction(method):
            setattr(facade, name, blocking(method))


add_blocking_calls(Hitherto, Async, calls_of(Async))
