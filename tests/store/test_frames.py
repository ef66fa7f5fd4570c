"""Faults that every store must stand: repeated deliveries, many writers, one fact from many workers, callers who leave.

The rules of what may be written are pure functions here as in the engine; the stores only have to keep their promises
about locks, numbers and transactions.
"""

from __future__ import annotations

import asyncio
import json
import random
from collections.abc import AsyncIterator
from contextlib import suppress
from datetime import timedelta

import pytest

from hitherto.errors import Conflict
from hitherto.store import connect
from hitherto.store.protocol import (
    Answers,
    Change,
    Decide,
    Head,
    Log,
    Matches,
    RecordsByKey,
    Store,
    Traces,
    TurnList,
    TurnsById,
    UserKey,
    Vector,
    Window,
)
from hitherto.testing import moment, put, row_draft, turn_draft
from tests.effort import count

ANA = UserKey("default", "ana")
DELIVERIES = count(test=1_000, soak=10_000)
TURNS = count(test=10_000, soak=10_000)
ROUNDS = count(test=20, soak=200)
CALLS = count(test=1_000, soak=10_000)


@pytest.fixture
async def stores(store: Store, store_url: str) -> AsyncIterator[list[Store]]:
    """The same memories opened three times, as by three processes."""
    others = [connect(store_url) for _ in range(2)]
    for other in others:
        await other.open()
    yield [store, *others]
    for other in others:
        await other.close()


def delivery(name: str, text: str) -> tuple[Decide, TurnsById]:
    """Stores a turn once; the same id with another text is a conflict."""
    query = TurnsById(ids=(name,))

    def decide(answers: Answers) -> Change:
        there = answers[query]
        if not there:
            return Change(turns=(turn_draft(name, text),))
        if there[0].text != text:
            raise Conflict
        return Change()

    return decide, query


@pytest.mark.promise("F3", tries=DELIVERIES)
async def test_the_same_delivery_again_is_one_turn(stores: list[Store], rng: random.Random) -> None:
    """F3: again, reordered, concurrently."""
    names = [f"t{number}" for number in range(DELIVERIES // 4)]
    deliveries = [(name, f"text of {name}") for name in names] * 4
    deliveries += [(name, "another text") for name in rng.sample(names, 20)]
    rng.shuffle(deliveries)
    gate = asyncio.Semaphore(20)

    async def deliver(name: str, text: str) -> bool:
        async with gate:
            try:
                await rng.choice(stores).user(ANA).write(*delivery(name, text))
            except Conflict:
                return False
        return True

    accepted = await asyncio.gather(*(deliver(*each) for each in deliveries))
    answers = await stores[0].user(ANA).read(turns := TurnList(limit=DELIVERIES))
    stored = {turn.id: turn.text for turn in answers[turns]}
    assert sorted(turn.id for turn in answers[turns]) == sorted(names)
    for (name, text), taken in zip(deliveries, accepted, strict=True):
        assert taken == (stored[name] == text), f"{name} with {text!r}"


@pytest.mark.promise("F5", tries=TURNS)
async def test_many_writers_number_without_gaps_whatever_their_clocks_say(
    stores: list[Store], rng: random.Random
) -> None:
    """F5: the log's order is the order of commits, gapless, for every writer its own order."""
    total, writers = TURNS, 8

    async def write(writer: int) -> list[int]:
        seqs: list[int] = []
        number = 0
        while number < total // writers:
            size = min(rng.randint(1, 40), total // writers - number)
            jump = timedelta(minutes=rng.randint(-10_000, 10_000))
            drafts = tuple(
                turn_draft(f"w{writer}-{number + index}", at=moment() + jump, stems=("fox",)) for index in range(size)
            )
            written = await rng.choice(stores).user(ANA).write(lambda _, drafts=drafts: Change(turns=drafts))
            seqs += written.turns
            number += size
        return seqs

    seqs = await asyncio.gather(*(write(writer) for writer in range(writers)))
    answers = await stores[1].user(ANA).read(Head(), turns := TurnList(limit=2 * total))
    assert answers[Head()] == total
    assert [turn.seq for turn in answers[turns]] == [turn.place for turn in answers[turns]] == [*range(1, total + 1)]
    for own in seqs:
        assert own == sorted(own)
    for writer in range(writers):
        mine = [turn.id for turn in answers[turns] if turn.id.startswith(f"w{writer}-")]
        assert mine == [f"w{writer}-{number}" for number in range(total // writers)]


@pytest.mark.promise("F7", tries=ROUNDS)
@pytest.mark.req("R3.13")
async def test_one_fact_from_many_workers_is_one_memory(stores: list[Store]) -> None:
    """F7: sixteen at once; one live version, and every one of them counted."""
    workers = 16
    for round_ in range(ROUNDS):
        key = f"people|person|{round_}|fact"
        query = RecordsByKey(noun="memory", keys=(key,))

        def remember(answers: Answers, key: str = key, query: RecordsByKey = query) -> Change:
            live = answers[query]
            if not live:
                return Change(records=(row_draft(f"memory of {key}", key=key, body='{"mentions": 1}'),))
            mentions = json.loads(live[0].body)["mentions"] + 1
            version = live[0].version + 1
            draft = row_draft(live[0].id, key=key, version=version, body=json.dumps({"mentions": mentions}))
            return Change(records=(draft,))

        await asyncio.gather(*(stores[n % 3].user(ANA).write(remember, query) for n in range(workers)))
        live = (await stores[0].user(ANA).read(query))[query]
        assert [json.loads(row.body) for row in live] == [{"mentions": workers}]


@pytest.mark.promise("F14", tries=CALLS)
async def test_callers_who_leave_see_and_leave_nothing_of_others(stores: list[Store], rng: random.Random) -> None:
    """F14: calls are cancelled at any moment; nobody ever sees another's canary, and every write is whole or absent."""
    users = [UserKey("default", f"user {number}") for number in range(50)]
    window, found = Window(limit=9), Matches(stems=("canary",), target="turn")
    traces = Traces(embedder="static", after=0, limit=1_000)
    wrong: list[str] = []

    async def look(key: UserKey) -> None:
        answers = await rng.choice(stores).user(key).read(window, found, traces)
        wrong.extend(turn.text for turn in answers[window] if key.user not in turn.text)
        wrong.extend(trace.id for trace in answers[traces] if trace.vector.decode() != key.user)
        if min(len(answers[found]), 9) != len(answers[window]):
            wrong.append(f"{key.user} found {len(answers[found])} of {len(answers[window])}")

    async def say(key: UserKey, number: int) -> None:
        drafts = tuple(
            turn_draft(
                f"{number}-{half}",
                f"canary of {key.user}",
                vector=Vector(embedder="static", data=key.user.encode()),
            )
            for half in range(2)
        )
        await put(rng.choice(stores).user(key), Change(turns=drafts))

    async def leave(call: asyncio.Task[None]) -> None:
        await asyncio.sleep(rng.choice((0.0, 0.0005, 0.002, 0.01)))
        call.cancel()
        with suppress(asyncio.CancelledError):
            await call

    for start in range(0, CALLS, 25):
        tasks: list[asyncio.Task[None]] = []
        for number in range(start, start + 25):
            key = rng.choice(users)
            tasks.append(asyncio.create_task(say(key, number) if rng.random() < 0.5 else look(key)))
        await asyncio.gather(*(leave(task) if rng.random() < 0.6 else task for task in tasks))
    assert wrong == []
    for key in users:
        answers = await stores[0].user(key).read(log := Log(limit=10_000))
        halves = [entry.id.split("-") for entry in answers[log]]
        assert [half for _, half in halves] == ["0", "1"] * (len(halves) // 2), "a write was torn"
        assert [entry.seq for entry in answers[log]] == list(range(1, len(halves) + 1))
