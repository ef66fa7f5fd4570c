"""Back-pressure: so many requests are worked on, so few more wait, and the rest are told at once to come back.

A service that takes in everything answers everybody late. Those that are accepted here wait a bounded time.
"""

import asyncio

from starlette.types import ASGIApp, Receive, Scope, Send

from recollect.deliver.http import pages
from recollect.deliver.http.failures import send_error
from recollect.deliver.http.gate import OPEN, SIGNED
from recollect.deliver.http.metrics import Metrics
from recollect.errors import Overloaded
from recollect.settings import Settings

URGENT = (*OPEN, *(path for path in SIGNED if path.startswith("/v1/voice/")))
"""Paths that need no turn: they ask the store for nothing, or at most for a moment. A telephone does not ring twice."""


def _is_urgent(path: str) -> bool:
    return path in URGENT or pages.needs_no_turn(path)


class Pressure:
    """The layer that hands out turns."""

    def __init__(self, app: ASGIApp, *, settings: Settings, metrics: Metrics) -> None:
        self._app = app
        self._turns = asyncio.Semaphore(settings.concurrency)
        self._most_waiting = settings.waiting
        self._patience = settings.patience_seconds
        self._metrics = metrics
        self._waiting = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or _is_urgent(scope["path"]):
            await self._app(scope, receive, send)
            return
        if not await self._turn():
            self._metrics.refused.labels("busy").inc()
            await send_error(Overloaded(), scope, send)
            return
        try:
            await self._app(scope, receive, send)
        finally:
            self._turns.release()

    async def _turn(self) -> bool:
        """Whether the request got its turn; the caller gives it back."""
        if not self._turns.locked():
            return await self._turns.acquire()
        if self._waiting >= self._most_waiting:
            return False
        self._waiting += 1
        try:
            async with asyncio.timeout(self._patience):
                return await self._turns.acquire()
        except TimeoutError:
            return False
        finally:
            self._waiting -= 1
