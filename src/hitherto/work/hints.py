"""Tells workers who has something to do, after the answer and in batches.

Recording is acknowledged before anything is noted here: a lost hint costs a delay until the user's next turn or the slow
sweep, never an effect. Many turns of many users within a moment become one write of the catalog.
"""

import asyncio
import logging
from datetime import datetime

from hitherto.coordination.local import Coordination
from hitherto.errors import StoreError
from hitherto.store.protocol import Catalog, UserKey

LOG = logging.getLogger("hitherto.work")
PAUSE = 0.1
"""Seconds between two writes; the first hint after a quiet time is written at once."""


class Hints:
    """One process's hints on their way to the catalog; workers are woken when they arrive."""

    def __init__(self, catalog: Catalog, coordination: Coordination, *, pause: float = PAUSE) -> None:
        self._catalog = catalog
        self._coordination = coordination
        self._pause = pause
        self._waiting: dict[UserKey, datetime | None] = {}
        self._task: asyncio.Task[None] | None = None

    def note(self, key: UserKey, at: datetime) -> None:
        """Notes that something is due for this user at that time; returns at once."""
        self._waiting.setdefault(key, at)
        if self._task is None or self._task.done():
            self._task = asyncio.get_running_loop().create_task(self._later())

    async def flush(self) -> None:
        """Writes what is waiting now."""
        waiting, self._waiting = self._waiting, {}
        if not waiting:
            return
        try:
            await self._catalog.hint(waiting)
        except StoreError as error:
            LOG.warning("of %d hints, some or all were lost: %s", len(waiting), error)
        await self._coordination.ring(len(waiting))

    async def close(self) -> None:
        """Writes what is waiting and ends."""
        task, self._task = self._task, None
        if task is not None:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)
        await self.flush()

    async def _later(self) -> None:
        while self._waiting:
            await self.flush()
            await asyncio.sleep(self._pause)
