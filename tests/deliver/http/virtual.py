"""An event loop whose time passes only by what is done in it: waiting costs nothing and takes no real time, work costs what it
says. So what a policy does to times can be tested to the microsecond, on a busy machine too."""

from __future__ import annotations

import asyncio
import selectors
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

T = TypeVar("T")


class _Waits(selectors.SelectSelector):
    """Nothing ever arrives from outside; to wait is to move time on."""

    def __init__(self, waited: Callable[[float], None]) -> None:
        super().__init__()
        self._waited = waited

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        assert timeout is not None, "everybody waits for somebody else"
        self._waited(max(0.0, timeout))
        return []


class VirtualLoop(asyncio.SelectorEventLoop):
    """A loop with one processor."""

    def __init__(self) -> None:
        self.at = 0.0
        self.worked = 0.0
        super().__init__(_Waits(self._wait))

    def time(self) -> float:
        return self.at

    def work(self, seconds: float) -> None:
        """Keeps the processor busy; everything else waits."""
        self.at += seconds
        self.worked += seconds

    def _wait(self, seconds: float) -> None:
        self.at += seconds


def run(play: Callable[[VirtualLoop], Coroutine[Any, Any, T]]) -> T:
    loop = VirtualLoop()
    try:
        return loop.run_until_complete(play(loop))
    finally:
        loop.close()
