"""Back-pressure: so many requests are worked on, a few more wait, and the rest are told at once to come back.

A service that takes in everything answers everybody late. Here the newest of those who wait goes first: in a burst all
get their turn within their patience, and under lasting overload those who are served are served soon, while those who
have waited too long already are told so. First come, first served would give everybody the longest wait.
"""

import asyncio

from starlette.types import ASGIApp, Receive, Scope, Send

from recollect.deliver.http import pages
from recollect.deliver.http.failures import OPENAI_PATHS, send_error
from recollect.deliver.http.gate import OPEN, SIGNED
from recollect.deliver.http.metrics import Metrics
from recollect.errors import Overloaded
from recollect.settings import Settings

URGENT = OPEN | (SIGNED - {"/v1/telegram/webhook", "/v1/voice/elevenlabs/post-call"})
"""Paths that need no turn: they ask the store for nothing, or at most for a moment. A telephone does not ring twice."""


class Turns:
    """A number of turns, handed to whoever came last among those who wait."""

    def __init__(self, number: int, *, waiting: int, patience: float) -> None:
        self._free = number
        self._most_waiting = waiting
        self._patience = patience
        self._waiting: dict[asyncio.Future[None], None] = {}

    async def take(self) -> bool:
        """Whether there is a turn, now or soon enough; who has one gives it back."""
        if self._free:
            self._free -= 1
            return True
        if len(self._waiting) >= self._most_waiting:
            return False
        mine = asyncio.get_running_loop().create_future()
        self._waiting[mine] = None
        try:
            async with asyncio.timeout(self._patience):
                await mine
        except TimeoutError:
            return self._left(mine)
        except asyncio.CancelledError:
            if self._left(mine):
                self.give()
            raise
        return True

    def give(self) -> None:
        """Hands the turn on. Whose patience ended in this moment is still among those who wait, and cannot take it."""
        while self._waiting:
            newest, _ = self._waiting.popitem()
            if not newest.done():
                newest.set_result(None)
                return
        self._free += 1

    def _left(self, mine: "asyncio.Future[None]") -> bool:
        """Nobody waits here any more; True if the turn had been handed over in the same moment."""
        self._waiting.pop(mine, None)
        return mine.done() and not mine.cancelled()


def _is_urgent(path: str) -> bool:
    return path in URGENT or path in OPENAI_PATHS or pages.needs_no_turn(path)


class Pressure:
    """The layer that hands out turns. Requests that are passed on mostly wait for another server; how many of them run is
    limited where they are passed on."""

    def __init__(self, app: ASGIApp, *, settings: Settings, metrics: Metrics) -> None:
        self._app = app
        self._turns = Turns(settings.concurrency, waiting=settings.waiting, patience=settings.patience_seconds)
        self._metrics = metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or _is_urgent(scope["path"]):
            await self._app(scope, receive, send)
            return
        if not await self._turns.take():
            self._metrics.refused.labels("busy").inc()
            await send_error(Overloaded(), scope, send)
            return
        try:
            await self._app(scope, receive, send)
        finally:
            self._turns.give()
