"""Nobody sees what is not theirs: ten users with a word of their own each, over every read path, on both stores.

The machine records, revises, works, forgets, wipes, exports and loads in any order, and after each step one user reads
everything there is. Whatever comes back may hold that user's word and nobody else's.
"""

from __future__ import annotations

import asyncio
import os
import random
import shutil
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import hypothesis
import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, rule, run_state_machine_as_test

from hitherto import Hitherto, NotFound, Turn
from hitherto.deliver.voice.line import VoiceLine
from hitherto.testing import FakeClock
from tests.effort import count
from tests.promises.canaries import PERSONA, canary, shown
from tests.stores import Backend

USERS = 10
SHRINKS = "HITHERTO_TEST_NO_SHRINKING" not in os.environ
"""Whoever only asks whether it fails need not wait for the smallest example, and wants to be sure."""
RUNS = count(test=180, soak=5_000)
ON_SERVER = count(test=20 if SHRINKS else 100, soak=5_000)
"""Fewer where each step is dozens of round trips."""
STEPS = 50
AT_ONCE = 500
"""Hypothesis holds on to every run it has made: after 400 of them to 170,000 objects for their choices."""
WORDS = [canary(number) for number in range(USERS)]

users = st.integers(0, USERS - 1)
TEXTS = ("My sister is called {}.", "I'll call {} tomorrow.", "{} lives in Lisbon.", "I love hiking with {}.")
PATIENCE_SECONDS = 120.0
"""Work on everybody's turns never ends: a call that takes so long has met them."""


class Broken(BaseException):
    """On the server a run cannot be repeated as it was, for what came before it is part of it: the first failure ends them
    all, and hypothesis, which catches exceptions alone, does not try it again."""


@dataclass(slots=True)
class World:
    """What the runs share: a loop, a clock, and where their memory is."""

    loop: asyncio.AbstractEventLoop
    clock: FakeClock
    folder: Path
    server: Hitherto | None
    """One engine for all runs, each with users of its own beside those of the runs before; None for a folder a run."""
    runs: int = 0

    def run(self, call: Coroutine[Any, Any, Any]) -> Any:
        try:
            return self.loop.run_until_complete(asyncio.wait_for(call, PATIENCE_SECONDS))
        except Exception as error:
            if self.server is None:
                raise
            raise Broken(f"run {self.runs}: {error!r}") from error

    def require(self, *, holds: bool, otherwise: str) -> None:
        if not holds:
            raise AssertionError(otherwise) if self.server is None else Broken(f"run {self.runs}: {otherwise}")


class Machine(RuleBasedStateMachine):
    """One store with all ten users on it."""

    world: World

    def __init__(self) -> None:
        super().__init__()
        world = self.world
        world.runs += 1
        self.clock, self.run, self.folder = world.clock, world.run, world.folder / str(world.runs)
        self.folder.mkdir()
        self.memory = world.server or Hitherto(self.folder / "memories", clock=self.clock)
        if world.server is None:
            self.run(self.memory.open())
        self.line = VoiceLine(self.memory, clock=self.clock, persona=PERSONA, deadline=60)
        self.number = 0

    def name(self, number: int) -> str:
        return f"user{number}-{self.world.runs}"

    def teardown(self) -> None:
        self.run(self.line.settled())
        if self.world.server is None:
            self.run(self.memory.close())
        shutil.rmtree(self.folder)

    def only_theirs(self, user: int, seen: object) -> None:
        text = repr(seen).casefold()
        foreign = [other for other, word in enumerate(WORDS) if other != user and word in text]
        self.world.require(holds=not foreign, otherwise=f"user {user} saw the word of {foreign}")

    @rule(user=users, text=st.sampled_from(TEXTS), role=st.sampled_from(("user", "assistant")))
    def record(self, user: int, text: str, role: Any) -> None:
        self.number += 1
        self.clock.tick(seconds=20)
        said = text.format(WORDS[user].title())
        # The same ids for everybody: a filter that is missing anywhere meets somebody else's row.
        name = f"t{self.number % 7}-{text[:3]}-{role}"
        self.run(self.memory.record(Turn(user=self.name(user), role=role, text=said, id=name, persona=PERSONA)))

    @rule(user=users)
    def remember(self, user: int) -> None:
        about: Any = {"key": "people|person|x|fact|oboe", "entities": ("person:x",)}
        text = f"{WORDS[user].title()} plays the oboe"
        self.run(self.memory.remember(user=self.name(user), text=text, **about))

    @rule(user=users, hours=st.sampled_from((0, 1, 25)))
    def settle(self, user: int, hours: int) -> None:
        self.clock.tick(hours=hours)
        self.run(self.memory.settle(user=self.name(user)))
        self.only_theirs(user, self.run(self.memory.work_status(user=self.name(user))))

    @rule(user=users, message=st.sampled_from(("how is my sister?", "yes", "and Lisbon?", "who plays the oboe?")))
    def context(self, user: int, message: str) -> None:
        built = self.run(self.memory.context(user=self.name(user), persona=PERSONA, message=message))
        self.only_theirs(user, built)

    @rule(user=users)
    def ring(self, user: int) -> None:
        """The prompt that is kept for a caller."""
        number = f"+49{self.world.runs:05}{user}"
        self.run(self.memory.link(self.name(user), "phone", number))
        self.only_theirs(user, self.run(self.line.ring(number)))

    @rule(user=users, other=users)
    def search(self, user: int, other: int) -> None:
        query = f"sister oboe {WORDS[other].title()}"
        self.only_theirs(user, self.run(self.memory.search(user=self.name(user), query=query, limit=50)))

    @rule(user=users)
    def everything(self, user: int) -> None:
        self.only_theirs(user, self.run(shown(self.memory, self.name(user), query="sister Lisbon oboe")))

    @rule(user=users, other=users)
    def others_names(self, user: int, other: int) -> None:
        """Ids, entities and snapshots of somebody else, asked for as one's own."""
        self.only_theirs(user, self.run(self._foreign(self.name(user), self.name(other))))

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
    def forget(self, user: int) -> None:
        turns = self.run(self.memory.turns(user=self.name(user)))
        if turns:
            self.only_theirs(user, self.run(self.memory.forget(user=self.name(user), turn=turns[0].id)))
            self.line.drop(self.name(user))

    @rule(user=users)
    def wipe(self, user: int) -> None:
        self.run(self.memory.forget(user=self.name(user), everything=True))
        self.line.drop(self.name(user))
        left = self.run(shown(self.memory, self.name(user), query="sister")).casefold()
        self.world.require(holds=WORDS[user] not in left, otherwise=f"the word of user {user} is still there")

    @rule(user=users)
    def export_and_load(self, user: int) -> None:
        lines = self.run(_lines(self.memory, self.name(user)))
        file = self.folder / "export.jsonl"
        file.write_text("\n".join(lines) + "\n", encoding="utf-8")
        self.run(self.memory.load(file, user=self.name(user)))


async def _lines(memory: Hitherto, user: str) -> list[str]:
    return [line async for line in memory.export(user=user)]


@pytest.fixture
def world(backend: Backend, fast_folder: Path, request: pytest.FixtureRequest) -> Iterator[World]:
    loop, clock = asyncio.new_event_loop(), FakeClock()
    server: Hitherto | None = None
    if backend == "postgres":
        server = Hitherto(str(request.getfixturevalue("postgres_url")), clock=clock)
        loop.run_until_complete(server.open())
    yield World(loop, clock, fast_folder, server)
    if server is not None:
        loop.run_until_complete(server.close())
    loop.close()


@pytest.mark.promise("isolation: runs of 50 steps")
def test_no_user_ever_sees_another_ones_word(world: World, tried: Callable[[int], None], seed: int) -> None:
    runs = RUNS if world.server is None else ON_SERVER
    how = settings(
        stateful_step_count=STEPS,
        deadline=None,
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much],
        phases=[phase for phase in Phase if phase is not Phase.shrink or SHRINKS],
        print_blob=True,
    )
    tried(runs)
    for before in range(0, runs, AT_ONCE):
        machine = hypothesis.seed(seed + before)(type("Isolation", (Machine,), {"world": world}))
        run_state_machine_as_test(machine, settings=settings(how, max_examples=min(AT_ONCE, runs - before)))


CANCELLING_USERS = 50
REQUESTS = count(test=1_000, soak=10_000)


@pytest.fixture
async def crowd(store_url: str) -> AsyncIterator[Hitherto]:
    async with Hitherto(store_url, clock=FakeClock()) as memory:
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
async def test_f14_a_cancelled_request_leaks_nothing(crowd: Hitherto, rng: random.Random) -> None:
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
