"""F4: a worker is killed at every boundary of every step, and its process at any moment; each effect is there exactly once.
F6: it is killed inside a summary or a compaction; the turns are untouched, the old summary or the new one is there."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from hitherto.store import connect
from hitherto.store.protocol import RecordList, Store, TurnList, UserKey
from hitherto.testing import FakeClock
from tests.effort import count
from tests.faults.learning import TALK, effects, say
from tests.faults.mortal import Death, DyingReader, Killed, Mortal, services, worker

KILLS = count(test=200, soak=2_000) // 2
IN_A_SUMMARY = count(test=50, soak=500) // 2
PROCESSES = count(test=40, soak=2_000) // 2
"""Killed processes on each store, beside the kills at chosen boundaries."""
PROJECT = Path(__file__).parents[2]


@pytest.fixture
async def opened(store_url: str) -> AsyncIterator[Store]:
    store = connect(store_url)
    await store.open()
    yield store
    await store.close()


@pytest.mark.promise("F4", tries=KILLS)
async def test_f4_each_effect_exactly_once(opened: Store, rng: random.Random) -> None:
    kills = 0
    rounds = 0
    while kills < KILLS:
        clock, calm = FakeClock(), FakeClock()
        mortal, immortal = UserKey("default", f"mortal-{rounds}"), UserKey("default", f"immortal-{rounds}")
        await say(opened, mortal, clock, TALK)
        await say(opened, immortal, calm, TALK)
        clock.tick(minutes=31)
        calm.tick(minutes=31)
        await worker(opened, services(), clock=calm, name="calm").settle(immortal)
        lives = 0
        while True:
            death = Death(after=rng.randint(0, 9) if lives else rounds % 12)
            lives += 1
            try:
                settled = await worker(
                    Mortal(opened, death), services(), clock=clock, name=f"worker-{rounds}-{lives}"
                ).settle(mortal)
            except Killed:
                kills += 1
                clock.tick(seconds=61)  # the dead worker's lease runs out
                continue
            assert not settled.busy
            break
        assert await effects(opened, mortal) == await effects(opened, immortal), (rounds, lives)
        rounds += 1


@pytest.mark.timeout(1_200)
@pytest.mark.promise("F4", tries=PROCESSES)
def test_f4_a_killed_process_repeats_and_loses_nothing(store_url: str, seed: int) -> None:
    program = [sys.executable, "-m", "tests.faults.work_rounds", store_url, str(seed), str(PROCESSES)]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join((str(PROJECT / "src"), str(PROJECT)))}
    result = subprocess.run(program, capture_output=True, text=True, cwd=PROJECT, env=environment, check=False)
    assert result.returncode == 0, result.stderr
    rounds = [json.loads(line) for line in result.stdout.splitlines()]
    assert [one for one in rounds if one["problems"]] == []
    assert sum(one["kills"] for one in rounds) >= PROCESSES
    assert sum(one["effects"] for one in rounds) >= 20 * len(rounds), "the work hardly did anything"


@pytest.mark.promise("F6", tries=IN_A_SUMMARY)
async def test_f6_the_old_summary_or_the_new_one(opened: Store, rng: random.Random) -> None:
    key, clock = UserKey("default", "ana"), FakeClock()
    turns, summaries = TurnList(limit=100_000), RecordList(noun="summary", limit=1_000)
    kills = said = 0
    while kills < IN_A_SUMMARY:
        await say(opened, key, clock, TALK, first=said)
        said += len(TALK)
        before = await opened.user(key).read(turns, summaries)
        known = {row.key: row for row in before[summaries]}
        while True:
            death = Death(after=rng.randint(0, 5))
            dying = services(recipe="lanes", reader=DyingReader(death))
            try:
                await worker(opened, dying, clock=clock, name=f"w{kills}").settle(key)
            except Killed:
                kills += 1
                clock.tick(seconds=61)
                after = await opened.user(key).read(turns, summaries)
                assert [(t.id, t.version, t.text) for t in after[turns]] == [
                    (t.id, t.version, t.text) for t in before[turns]
                ]
                now = {row.key: row for row in after[summaries]}
                assert known.keys() <= now.keys(), "a summary is never gone"
                assert all(now[name].version >= row.version for name, row in known.items())
                assert all(row.text for row in now.values())
                continue
            break
    found = (await opened.user(key).read(summaries))[summaries]
    assert {"rolling", "lane"} <= {(row.key or "").split(":")[0] for row in found}
