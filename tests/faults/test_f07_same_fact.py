"""F7: the same fact from sixteen workers at once: one live memory, and no write that is lost in silence."""

from __future__ import annotations

import asyncio

import pytest

from hitherto import Hitherto, Turn
from hitherto.testing import FakeClock
from tests.effort import count

WORKERS = 16
ROUNDS = count(test=20, soak=200)


@pytest.mark.promise("F7", tries=ROUNDS)
@pytest.mark.req("R3.13")
async def test_f7_sixteen_workers_learn_a_fact_once(store_url: str) -> None:
    clock = FakeClock()
    async with Hitherto(store_url, clock=clock) as first, Hitherto(store_url, clock=clock) as second:
        workers = [await (first, second)[n % 2].worker(name=f"w{n}") for n in range(WORKERS)]
        for round_ in range(ROUNDS):
            await asyncio.gather(
                *(engine.record(Turn("ana", "user", f"I love tune{round_}.")) for engine in (first, second))
            )
            key = next(k for k in await first.catalog.users() if k.user == "ana")
            settled = await asyncio.gather(*(one.settle(key) for one in workers))
            assert sum(s.done for s in settled) > 0
            assert sum(s.failed for s in settled) == 0
            await workers[0].settle(key)
            [liked] = [m for m in await second.memories(user="ana") if f"“I love tune{round_}.”" in m.text]
            assert (liked.mentions, len(liked.sources), liked.status) == (2, 2, "ACTIVE"), "said twice, learnt once"


@pytest.mark.promise("F7", tries=ROUNDS)
@pytest.mark.req("R3.4")
async def test_f7_sixteen_writers_of_one_key_leave_one_memory_and_sixteen_versions(store_url: str) -> None:
    async with Hitherto(store_url) as memory, Hitherto(store_url) as other:
        for round_ in range(ROUNDS):
            key = f"profile|person|user|fact|home{round_}"
            await asyncio.gather(
                *(
                    (memory, other)[n % 2].remember(user="bo", text=f"Lives in town {n}", key=key)
                    for n in range(WORKERS)
                )
            )
            [live] = [m for m in await memory.memories(user="bo") if m.key == key]
            assert live.version == WORKERS
            said = {version.text for version in await memory.history(user="bo", id=live.id)}
            assert said == {f"Lives in town {n}" for n in range(WORKERS)}, "every write is a version"
