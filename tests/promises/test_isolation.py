"""Nobody sees what is not theirs: ten users with a word of their own each, over every read path, on both stores.

The machine records, revises, works, forgets, wipes, exports and loads in any order, and after each step one user reads
everything there is. Whatever comes back may hold that user's word and nobody else's.
"""

from __future__ import annotations

import asyncio
import os
import random
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, rule, run_state_machine_as_test

from recollect import NotFound, Recollect, Turn
from recollect.testing import FakeClock
from tests.effort import count
from tests.promises.canaries import PERSONA, canary, shown
from tests.stores import Backend

USERS = 10
RUNS = count(test=6, soak=5_000)
STEPS = 50
SHRINKS = "RECOLLECT_TEST_NO_SHRINKING" not in os.environ
"""Whoever only asks whether it fails need not wait for the smallest example."""
WORDS = {f"user{number}": canary(number) for number in range(USERS)}

users = st.sampled_from(sorted(WORDS))
TEXTS = ("My sister is called {}.", "I'll call {} tomorrow.", "{} lives in Lisbon.", "I love hiking with {}.")


class Machine(RuleBasedStateMachine):
    """One store with all ten users on it."""

    url: Callable[[], str]
    loop: asyncio.AbstractEventLoop

    def __init__(self) -> None:
        super().__init__()
        self.clock = FakeClock()
        self.folder = TemporaryDirectory(prefix="recollect-isolation-")
        self.memory = Recollect(self.url(), clock=self.clock)
        self.run(self.memory.open())
        self.number = 0

    def run(self, call: Coroutine[Any, Any, Any]) -> Any:
        return self.loop.run_until_complete(call)

    def teardown(self) -> None:
        async def empty() -> None:
            for user in await self.memory.users():
                await self.memory.forget(user=user, everything=True)
            await self.memory.close()

        self.run(empty())
        self.folder.cleanup()

    def only_theirs(self, user: str, seen: object) -> None:
        text = repr(seen).casefold()
        foreign = [other for other, word in WORDS.items() if other != user and word in text]
        assert not foreign, f"{user} saw the word of {foreign}"

    @rule(user=users, text=st.sampled_from(TEXTS), role=st.sampled_from(("user", "assistant")))
    def record(self, user: str, text: str, role: Any) -> None:
        self.number += 1
        self.clock.tick(seconds=20)
        said = text.format(WORDS[user].title())
        # The same ids for everybody: a filter that is missing anywhere meets somebody else's row.
        turn = Turn(user=user, role=role, text=said, id=f"t{self.number % 7}-{text[:3]}-{role}", persona=PERSONA)
        self.run(self.memory.record(turn))

    @rule(user=users)
    def remember(self, user: str) -> None:
        text = f"{WORDS[user].title()} plays the oboe"
        self.run(self.memory.remember(user=user, text=text, key="people|person|x|fact|oboe", entities=("person:x",)))

    @rule(user=users, hours=st.sampled_from((0, 1, 25)))
    def settle(self, user: str, hours: int) -> None:
        self.clock.tick(hours=hours)
        self.run(self.memory.settle(user=user))
        self.only_theirs(user, self.run(self.memory.work_status(user=user)))

    @rule(user=users, message=st.sampled_from(("how is my sister?", "yes", "and Lisbon?", "who plays the oboe?")))
    def context(self, user: str, message: str) -> None:
        self.only_theirs(user, self.run(self.memory.context(user=user, persona=PERSONA, message=message)))

    @rule(user=users, other=users)
    def search(self, user: str, other: str) -> None:
        found = self.run(self.memory.search(user=user, query=f"sister oboe {WORDS[other].title()}", limit=50))
        self.only_theirs(user, found)

    @rule(user=users)
    def everything(self, user: str) -> None:
        self.only_theirs(user, self.run(shown(self.memory, user, query="sister Lisbon oboe")))

    @rule(user=users, other=users)
    def others_names(self, user: str, other: str) -> None:
        """Ids, entities and snapshots of somebody else, asked for as one's own."""
        self.only_theirs(user, self.run(self._foreign(user, other)))

    async def _foreign(self, user: str, other: str) -> list[object]:
        theirs = await self.memory.memories(user=other, status=None)
        snapshots = await self.memory.snapshots(user=other)
        seen: list[object] = [
            await self.memory.memories(user=user, entity="person:x"),
            await self.memory.turns(user=user, ids=[turn.id for turn in await self.memory.turns(user=other)]),
            await self.memory.snapshots(user=user, ids=[snapshot.id for snapshot in snapshots]),
            *[await self.memory.history(user=user, id=memory.id) for memory in theirs[:3]],
        ]
        if user != other:
            for snapshot in snapshots[:2]:
                with pytest.raises(NotFound):
                    await self.memory.replay(user=user, snapshot=snapshot.id)
        return seen

    @rule(user=users)
    def forget(self, user: str) -> None:
        turns = self.run(self.memory.turns(user=user))
        if turns:
            self.only_theirs(user, self.run(self.memory.forget(user=user, turn=turns[0].id)))

    @rule(user=users)
    def wipe(self, user: str) -> None:
        self.run(self.memory.forget(user=user, everything=True))
        assert WORDS[user] not in self.run(shown(self.memory, user, query="sister"))

    @rule(user=users)
    def export_and_load(self, user: str) -> None:
        lines = self.run(_lines(self.memory, user))
        file = Path(self.folder.name) / "export.jsonl"
        file.write_text("\n".join(lines) + "\n", encoding="utf-8")
        self.run(self.memory.load(file, user=user))


async def _lines(memory: Recollect, user: str) -> list[str]:
    return [line async for line in memory.export(user=user)]


@pytest.fixture
def loop() -> Iterator[asyncio.AbstractEventLoop]:
    made = asyncio.new_event_loop()
    yield made
    made.close()


@pytest.mark.promise("isolation: runs of 50 steps", tries=RUNS)
def test_no_user_ever_sees_another_ones_word(
    backend: Backend, loop: asyncio.AbstractEventLoop, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    numbers = iter(range(10**9))
    url = (
        (lambda: str(tmp_path / str(next(numbers))))
        if backend == "sqlite"
        else (lambda: str(request.getfixturevalue("postgres_url")))
    )
    machine = type("Isolation", (Machine,), {"url": staticmethod(url), "loop": loop})
    how = settings(
        max_examples=RUNS,
        stateful_step_count=STEPS,
        deadline=None,
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much],
        phases=[phase for phase in Phase if phase is not Phase.shrink or SHRINKS],
        print_blob=True,
    )
    run_state_machine_as_test(machine, settings=how)


CANCELLING_USERS = 50
REQUESTS = count(test=1_000, soak=10_000)


@pytest.fixture
async def crowd(store_url: str) -> AsyncIterator[Recollect]:
    async with Recollect(store_url, clock=FakeClock()) as memory:
        await memory.record(
            [
                Turn(
                    user=f"u{n}",
                    role="user",
                    text=f"My sister is called {canary(n).title()}.",
                    id="t1",
                    persona=PERSONA,
                )
                for n in range(CANCELLING_USERS)
            ]
        )
        yield memory


@pytest.mark.promise("F14", tries=REQUESTS)
async def test_f14_a_cancelled_request_leaks_nothing(crowd: Recollect, rng: random.Random) -> None:
    """Clients give up at any moment, fifty users at once; no answer ever holds somebody else's word."""
    words = [canary(n) for n in range(CANCELLING_USERS)]
    cancelled = 0

    async def ask(number: int) -> None:
        nonlocal cancelled
        who = rng.randrange(CANCELLING_USERS)
        kind = number % 4
        patience = rng.choice((0.0005, 0.003, 0.01, 5.0))
        user = f"u{who}"
        calls: dict[int, Callable[[], Coroutine[Any, Any, object]]] = {
            0: lambda: crowd.context(user=user, persona=PERSONA, message="how is my sister?"),
            1: lambda: crowd.search(user=user, query="sister called"),
            2: lambda: crowd.record(
                Turn(user=user, role="user", text=f"{words[who].title()} rang.", id=f"n{number}", persona=PERSONA)
            ),
            3: lambda: crowd.turns(user=user),
        }
        try:
            async with asyncio.timeout(patience):
                seen = repr(await calls[kind]()).casefold()
        except TimeoutError:
            cancelled += 1
            return
        assert not [word for place, word in enumerate(words) if place != who and word in seen]

    for start in range(0, REQUESTS, 50):
        await asyncio.gather(*(ask(number) for number in range(start, start + 50)))
    assert cancelled, "some clients gave up"
    for who, word in enumerate(words):
        texts = [turn.text.casefold() for turn in await crowd.turns(user=f"u{who}")]
        assert texts
        assert all(word in text for text in texts)
