"""F4: a worker is killed at every boundary of every step; each effect is there exactly once.
F6: it is killed inside a summary or a compaction; the turns are untouched, the old summary or the new one is there."""

from __future__ import annotations

import random
from collections.abc import AsyncIterator

import pytest

from recollect.ingest import sessions
from recollect.ingest.record import prepare, record
from recollect.store import connect
from recollect.store.base import Log, RecordList, Store, TurnList, UserKey
from recollect.testing import FakeClock
from recollect.types import Turn
from tests.effort import count
from tests.faults.mortal import Death, DyingSummariser, Killed, Mortal, services, worker

KILLS = count(test=200, soak=2_000) // 2
INSIDE = count(test=50, soak=500) // 2
TALK = [
    "I love jazz. I need to call the bank tomorrow.",
    "I'll send you the recipe tonight. Yesterday I went to the opera.",
    "My sister Maria is a painter. I live in Austin.",
    "What does Maria like to paint?",
    "Mostly boats. I love jazz.",
    "I called the bank, all done. I moved to Denver.",
    "Nice to hear that about the bank and Denver.",
    "We decided to take the train. I'm allergic to peanuts.",
]


@pytest.fixture
async def opened(store_url: str) -> AsyncIterator[Store]:
    store = connect(store_url)
    await store.open()
    yield store
    await store.close()


async def say(store: Store, key: UserKey, clock: FakeClock, lines: list[str], *, first: int = 0) -> None:
    """Records lines under ids of their own, the user's and the persona's in turn."""
    for place, text in enumerate(lines, start=first):
        role = "assistant" if place % 2 else "user"
        turn = Turn(key.user, role, text, id=f"t{place}", persona="coach", at=clock())
        prepared = prepare([turn], indexer=services().indexer, now=clock(), new_id=lambda: "never")
        await record(store.user(key), prepared, rule=sessions.Rule(), now=clock())
        clock.tick(minutes=1)


async def effects(store: Store, key: UserKey) -> list[tuple[object, ...]]:
    """Everything the work wrote, in every version, without the times at which it happened to."""
    log = Log(limit=100_000)
    entries = (await store.user(key).read(log))[log]
    rows = [entry.row for entry in entries if entry.row is not None]
    gone = [entry.id for entry in entries if entry.op == "retire"]
    written: list[tuple[object, ...]] = [
        (row.noun, row.id, row.version, row.text, row.status, row.sources) for row in rows
    ]
    ended: list[tuple[object, ...]] = [("retired", name) for name in gone]
    return sorted(written, key=repr) + sorted(ended, key=repr)


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


@pytest.mark.promise("F6", tries=INSIDE)
async def test_f6_the_old_summary_or_the_new_one(opened: Store, rng: random.Random) -> None:
    key, clock = UserKey("default", "ana"), FakeClock()
    turns, summaries = TurnList(limit=100_000), RecordList(noun="summary", limit=1_000)
    kills = said = 0
    while kills < INSIDE:
        await say(opened, key, clock, TALK, first=said)
        said += len(TALK)
        before = await opened.user(key).read(turns, summaries)
        known = {row.key: row for row in before[summaries]}
        while True:
            death = Death(after=rng.randint(0, 5))
            dying = services(recipe="lanes", summariser=DyingSummariser(death))
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
