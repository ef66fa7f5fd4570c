"""What back-pressure does to times at several times the capacity, in time that is simulated to the microsecond.

Requests are like those of the service: half of them contexts that need the processor for 12 to 15 ms in a few pieces, half
turns of 3 to 4, with short waits for the store between the pieces; reading one and refusing it costs 0.3 ms.
"""

from __future__ import annotations

import asyncio
import random
from dataclasses import dataclass, field

import pytest

from hitherto.deliver.http.limits import Turns
from tests.deliver.http import virtual
from tests.deliver.http.virtual import VirtualLoop

SECONDS = 4
MOST = 105.0
"""About as many requests a second as the processor can do."""
READ, REFUSED = 0.0002, 0.0001


@dataclass(frozen=True, slots=True)
class Work:
    """Pieces of processor time, and a wait after each."""

    pieces: tuple[float, ...]
    wait: float

    def on(self, processor: float) -> Work:
        return Work(tuple(piece * processor for piece in self.pieces), self.wait)


CONTEXT = Work((0.1, 0.1, 0.2, 0.6), wait=0.00025)
TURN = Work((0.3, 0.3, 0.4), wait=0.0003)
FAR = Work((0.001, 0.001), wait=0.025)
"""Mostly waits for a database far away."""


def like_the_service(rng: random.Random) -> Work:
    return CONTEXT.on(rng.uniform(0.012, 0.0155)) if rng.random() < 0.5 else TURN.on(rng.uniform(0.0027, 0.0039))


@dataclass(slots=True)
class Outcome:
    asked: int = 0
    refused: int = 0
    times: list[float] = field(default_factory=list[float])

    @property
    def accepted(self) -> float:
        """Answered a second."""
        return len(self.times) / SECONDS

    @property
    def p95(self) -> float:
        return sorted(self.times)[int(0.95 * len(self.times))]


class Load:
    """So many requests a second, evenly spaced, each counted from when it was due."""

    def __init__(self, loop: VirtualLoop, turns: Turns) -> None:
        self._loop = loop
        self._turns = turns
        self.outcome = Outcome()

    async def run(self, works: list[Work], *, rate: float) -> Outcome:
        tasks: list[asyncio.Task[None]] = []

        def read(work: Work, due: float) -> None:
            tasks.append(self._loop.create_task(self._request(work, due)))

        for number, work in enumerate(works):
            self._loop.call_at(number / rate, self._loop.call_soon, read, work, number / rate)
        await asyncio.sleep(len(works) / rate + 1)
        await asyncio.gather(*tasks)
        return self.outcome

    async def _request(self, work: Work, due: float) -> None:
        self.outcome.asked += 1
        self._loop.work(READ)
        turn = await self._turns.take()
        if turn is None:
            self._loop.work(REFUSED)
            self.outcome.refused += 1
            return
        try:
            for piece in work.pieces:
                self._loop.work(piece)
                await asyncio.sleep(work.wait)
        finally:
            self._turns.give(turn)
        self.outcome.times.append(self._loop.time() - due)


def under(works: list[Work], *, rate: float, number: int = 2) -> Outcome:
    async def play(loop: VirtualLoop) -> Outcome:
        turns = Turns(number, waiting=32, patience=0.2, now=loop.time, processor=lambda: loop.worked)
        return await Load(loop, turns).run(works, rate=rate)

    return virtual.run(play)


@pytest.mark.parametrize(("times", "late", "share"), [(2, 2.0, 0.85), (5, 1.5, 0.8), (10, 1.8, 0.65)])
def test_who_is_accepted_is_answered_in_time_at_several_times_the_capacity(
    times: int, late: float, share: float, rng: random.Random
) -> None:
    """Not much later than with a processor to oneself; and as many as can be, with what refusing the others costs."""
    alone = under([like_the_service(rng) for _ in range(20 * SECONDS)], rate=20)
    assert alone.refused == 0
    rate = times * MOST
    over = under([like_the_service(rng) for _ in range(int(rate) * SECONDS)], rate=rate)
    assert over.refused + len(over.times) == over.asked == int(rate) * SECONDS, "everybody is answered"
    assert over.p95 < alone.p95 * late
    assert over.accepted > MOST * share


def test_below_the_capacity_everybody_is_accepted(rng: random.Random) -> None:
    whole = under([like_the_service(rng) for _ in range(60 * SECONDS)], rate=60)
    assert whole.refused == 0
    assert len(whole.times) == 60 * SECONDS


def test_what_waits_for_a_database_far_away_is_worked_on_together_under_overload() -> None:
    """Eight at once, 52 ms each, of which the processor has two."""
    most = 8 / 0.052
    over = under([FAR] * int(most * 3 * SECONDS), rate=most * 3, number=8)
    assert over.accepted > most * 0.85
    assert over.p95 < 2 * 0.052
