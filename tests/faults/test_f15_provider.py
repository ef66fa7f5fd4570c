"""F15: the model's provider answers 429, 5xx, garbage, or hangs. Contexts are built, work waits and drains, nothing is lost."""

from __future__ import annotations

import random
import re

import pytest

from hitherto import Hitherto, Turn
from hitherto.learn.readers.model import Asker, Limits
from hitherto.testing import FakeClock
from tests.effort import count
from tests.learn.readers.provider import BAD, running

BUILDS = count(test=200, soak=2_000) // 2


@pytest.mark.promise("F15", tries=BUILDS)
@pytest.mark.req("R1.10")
async def test_f15_contexts_never_wait_for_a_model(store_url: str, rng: random.Random) -> None:
    clock = FakeClock()
    failures = 0
    async with running() as provider:
        model = Asker(provider.url, Limits(seconds=0.1, requests=2))
        async with Hitherto(store_url, clock=clock, model=model, pace="live") as memory:
            for n in range(BUILDS):
                await memory.record(Turn("ana", "user", f"I love thing{n}."))
                context = await memory.context(user="ana", message="and now?")
                assert str(context.history[-1]["content"]) == f"I love thing{n}."
                clock.tick(seconds=20)
                if n % 5 == 4:
                    provider.mood = rng.choice((*BAD, "well", "well"))
                    failures += (await memory.settle(user="ana"))["ana"].failed
            provider.mood = "well"
            await model.close()
            model.limits = Limits(seconds=30)
            clock.tick(hours=1)
            settled = (await memory.settle(user="ana"))["ana"]
            assert settled.failed == 0
            learnt = " ".join(m.text for m in await memory.memories(user="ana", limit=10_000)).casefold()
            assert [n for n in range(BUILDS) if not re.search(rf"\bthing{n}\b", learnt)] == [], "nothing is lost"
            status = await memory.work_status(user="ana")
            assert not status.parked
            assert all(cursor.attempts == 0 for cursor in status.cursors)
            assert provider.asked > 0
    assert failures > 0, "the provider did misbehave"
