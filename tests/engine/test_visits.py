"""Users who come and go leave nothing behind in the process that served them."""

import asyncio
import gc
import heapq
from collections import Counter
from typing import Any

import pytest

from hitherto import Hitherto, Turn
from hitherto.assemble import diff
from hitherto.recall import cache
from hitherto.store.postgres import store as postgres_store
from hitherto.store.sqlite import catalog as sqlite_catalog
from hitherto.store.sqlite import store as sqlite_store

HELD = 20
"""Users of whom something is kept at hand."""
VISITORS = 60


async def _visits(memory: Hitherto, first: int) -> None:
    for number in range(first, first + VISITORS):
        user = f"visitor {number}"
        await memory.record(Turn(user, "user", "I move to Lisbon in May.", persona="nikita"))
        await memory.context(user=user, persona="nikita", message="Where do I move?")
    await memory.flush()
    _sweep_timers()
    gc.collect()


def _sweep_timers() -> None:
    """The event loop keeps cancelled timers until they are more than half of all, so how many is left to chance."""
    loop: Any = asyncio.get_running_loop()
    timers: list[asyncio.TimerHandle] = loop._scheduled
    timers[:] = [timer for timer in timers if not timer.cancelled()]
    heapq.heapify(timers)
    loop._timer_cancelled_count = 0


async def test_the_process_holds_no_more_after_many_users(store_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for module, bound in ((sqlite_store, "OPEN_FILES"), (postgres_store, "QUEUES"), (diff, "CONVERSATIONS")):
        monkeypatch.setattr(module, bound, HELD)
    monkeypatch.setattr(sqlite_catalog, "NAMES", HELD)
    async with Hitherto(store_url) as memory:
        memory._recaller._cache._largest = HELD * cache._EMPTY  # pyright: ignore[reportPrivateUsage]
        await _visits(memory, 0)
        await _visits(memory, VISITORS)
        before = Counter(type(one).__name__ for one in gc.get_objects())
        await _visits(memory, 2 * VISITORS)
        after = Counter(type(one).__name__ for one in gc.get_objects())
    more = {name: count for name, count in (after - before).items() if count >= VISITORS / 2}
    assert more == {}, "a thing for each user stayed"
