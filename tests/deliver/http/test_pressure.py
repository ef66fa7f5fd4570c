"""Turns: how many are worked on, who waits, who is told to come back, and that no turn is ever lost."""

from __future__ import annotations

import asyncio
import random
from itertools import islice
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hitherto.deliver.http.limits import PRESSED_WAITING, STEPS_TO_READ, Held, Turns
from hitherto.testing import FakeClock
from tests.deliver.http.running import QUICK, running
from tests.deliver.http.test_overload import Machine

LONG = 60.0
"""Patience that does not end within a test."""


def turns_of(number: int, *, waiting: int = 8, patience: float = LONG, machine: Machine | None = None) -> Turns:
    machine = machine or Machine()
    return Turns(
        number,
        waiting=waiting,
        patience=patience,
        now=lambda: machine.time,
        processor=lambda: machine.used,
    )


async def taken(turns: Turns) -> Held:
    turn = await asyncio.wait_for(turns.take(), LONG)
    assert turn is not None
    return turn


async def asking(turns: Turns, number: int = 1) -> list[asyncio.Task[Held | None]]:
    """So many who ask, one after the other, and have asked."""
    tasks = [asyncio.create_task(turns.take()) for _ in range(number)]
    await asyncio.sleep(0)
    return tasks


async def steps(number: int = STEPS_TO_READ + 2) -> None:
    for _ in range(number):
        await asyncio.sleep(0)


async def leave(tasks: list[asyncio.Task[Held | None]]) -> None:
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


async def test_no_more_are_worked_on_or_wait_than_allowed(tmp_path: Path, clock: FakeClock) -> None:
    settings = QUICK.model_copy(update={"concurrency": 2, "waiting": 3, "patience_seconds": 60.0})
    async with running(str(tmp_path / "m"), settings=settings, clock=clock) as service:
        at_once = most = 0
        go = asyncio.Event()

        async def count(**asked: object) -> list[object]:
            nonlocal at_once, most
            at_once += 1
            most = max(most, at_once)
            await go.wait()
            at_once -= 1
            return []

        memory: Any = service.app.state.service.memory("default")
        memory.search = count
        async with service.http(await service.key()) as http:
            body = {"user": "ana", "query": "x"}
            asked = [asyncio.create_task(http.post("/v1/search", json=body)) for _ in range(20)]
            refused = [(await answer).status_code for answer in islice(asyncio.as_completed(asked), 15)]
            go.set()
            codes = sorted([(await task).status_code for task in asked])
    assert refused == [503] * 15
    assert codes == [200] * 5 + [503] * 15
    assert most == 2


async def test_the_newest_goes_first_and_no_turn_is_lost() -> None:
    turns = turns_of(1, waiting=3)
    served: list[int] = []

    async def ask(number: int) -> bool:
        turn = await turns.take()
        if turn is None:
            return False
        served.append(number)
        await asyncio.sleep(0)
        turns.give(turn)
        return True

    first = await taken(turns)
    waiting = [asyncio.create_task(ask(number)) for number in range(5)]
    await asyncio.sleep(0)
    waiting[3].cancel()
    turns.give(first)
    answers = await asyncio.gather(*waiting, return_exceptions=True)
    assert served == [4, 2], "0 and 1 had waited longest when there were too many, 3 gave up"
    assert answers[:3] == [False, False, True]
    assert await taken(turns), "and the turn is there again"


async def test_with_nowhere_to_wait_who_finds_no_turn_is_told_at_once() -> None:
    turns = turns_of(1, waiting=0)
    turn = await taken(turns)
    assert await turns.take() is None
    turns.give(turn)
    assert await taken(turns)


async def test_a_turn_handed_to_somebody_who_leaves_is_handed_on() -> None:
    turns = turns_of(1, waiting=2)
    turn = await taken(turns)
    leaving = await asking(turns)
    turns.give(turn)
    await leave(leaving)
    assert await taken(turns)


async def test_a_turn_is_not_lost_on_somebody_whose_patience_has_just_ended() -> None:
    """Cancelled, and not gone yet: nobody is told in between."""
    turns = turns_of(1, waiting=2)
    turn = await taken(turns)
    older, newest = await asking(turns, 2)
    newest.cancel()
    turns.give(turn)
    handed = await older
    assert handed is not None
    turns.give(handed)
    await leave([newest])
    assert await taken(turns)


@given(st.lists(st.sampled_from(["ask", "give up", "done", "let run", "time"]), min_size=30, max_size=80))
def test_whatever_they_do_the_turns_are_all_there_in_the_end(deeds: list[str]) -> None:
    """Time passes too, so that overload comes and goes, and the processor is short in it."""

    async def play() -> None:
        machine = Machine(share=1.0)
        turns = turns_of(2, waiting=4, patience=LONG, machine=machine)
        asked: list[asyncio.Task[Held | None]] = []
        held: list[Held] = []

        def collect() -> None:
            for task in [task for task in asked if task.done()]:
                asked.remove(task)
                turn = None if task.cancelled() else task.result()
                held.extend([] if turn is None else [turn])
            assert len(held) <= 2

        for deed in deeds:
            if deed == "ask":
                asked.append(asyncio.create_task(turns.take()))
            elif deed == "give up" and asked:
                asked[-1].cancel()
            elif deed == "done" and held:
                turns.give(held.pop(0))
            elif deed == "time":
                machine.passes(LONG / 2)
            else:
                await asyncio.sleep(0)
            collect()
        while asked or held:
            if held:
                turns.give(held.pop())
            await asyncio.sleep(0)
            collect()
        await steps()
        machine.passes(LONG)
        last = await asking(turns, 3)
        assert [task.done() for task in last] == [True, True, False], "all are there, and no more than those"
        await leave(last)

    asyncio.run(play())


@pytest.mark.promise("service: no turn is lost", tries=2_000, pure=True)
async def test_turns_survive_lasting_overload(rng: random.Random) -> None:
    """Patience runs out all the time, and some hang up; when all is over, every turn is there."""
    turns = Turns(2, waiting=8, patience=0.001)
    served = 0

    async def ask() -> None:
        nonlocal served
        turn = await turns.take()
        if turn is not None:
            served += 1
            try:
                await asyncio.sleep(rng.choice((0, 0.0005, 0.001, 0.0015)))
            finally:
                turns.give(turn)

    for _ in range(100):
        everybody = [asyncio.create_task(ask()) for _ in range(20)]
        await asyncio.sleep(0.0005)
        for leaving in rng.sample(everybody, 3):
            leaving.cancel()
        outcomes = await asyncio.gather(*everybody, return_exceptions=True)
        assert [one for one in outcomes if one is not None and not isinstance(one, asyncio.CancelledError)] == []
    assert served >= 200
    await asyncio.sleep(0.01)
    assert [await turns.take() is not None for _ in range(3)] == [True, True, False]


async def pressed(machine: Machine) -> tuple[Turns, list[Held]]:
    """Two turns, both taken for longer than anybody is patient, and overload that is noticed."""
    turns = turns_of(2, machine=machine)
    held = [await taken(turns), await taken(turns)]
    machine.passes(LONG + 1)
    await leave(await asking(turns))
    assert turns.patience < LONG
    return turns, held


async def test_patience_is_short_once_there_was_no_room_for_as_long_as_it_is() -> None:
    machine = Machine()
    turns = turns_of(1, machine=machine)
    turn = await taken(turns)
    machine.passes(LONG - 1)
    await leave(await asking(turns))
    assert turns.patience == LONG, "a burst may last as long as who came with it waits"
    machine.passes(1.1)
    waiting = await asking(turns)
    assert turns.patience == pytest.approx(LONG / 10)
    turns.give(turn)
    handed = await waiting[0]
    assert handed is not None
    assert turns.patience < LONG / 5, "there was somebody waiting"
    turns.give(handed)
    await steps()
    machine.passes(LONG)
    assert await taken(turns)
    assert turns.patience == LONG


async def test_under_lasting_overload_nobody_waits_for_longer_than_an_answer_usually_takes() -> None:
    machine = Machine()
    turns = turns_of(1, machine=machine)
    for _ in range(100):
        turn = await taken(turns)
        machine.passes(LONG / 4)
        turns.give(turn)
        await steps()
        machine.passes(LONG)
    turn = await taken(turns)
    assert turns.patience == LONG
    machine.passes(LONG + 1)
    (waiting,) = await asking(turns)
    assert turns.patience == pytest.approx(LONG / 4, rel=0.01)
    turns.give(turn)
    assert await waiting is not None


async def test_under_lasting_overload_few_wait_and_the_newest_are_those() -> None:
    turns, held = await pressed(Machine())
    waiting = await asking(turns, PRESSED_WAITING + 3)
    await steps()
    assert [task.done() for task in waiting] == [True] * 3 + [False] * PRESSED_WAITING
    assert [await task for task in waiting[:3]] == [None] * 3
    turns.give(held[0])
    assert await waiting[-1] is not None
    await leave(waiting)


async def test_under_lasting_overload_a_turn_goes_to_a_request_that_has_not_been_read_yet() -> None:
    """It came while the process was busy with the one that is done now, and is newer than all who wait."""
    turns, held = await pressed(Machine(share=1.0))
    waiting = await asking(turns)
    turns.give(held[0])
    await asyncio.sleep(0)
    first, second = await asking(turns, 2)
    await steps()
    assert second.done()
    assert [first.done(), waiting[0].done()] == [False, True], "and of three, the oldest was one too many"
    assert await waiting[0] is None
    await leave([first])


@pytest.mark.parametrize(("share", "beside"), [(0.2, True), (1.0, False), (1.9, True)])
async def test_where_the_processor_is_short_one_is_worked_on_at_a_time(share: float, beside: bool) -> None:
    machine = Machine(share=share)
    turns, (first, second) = await pressed(machine)
    (quick,) = await asking(turns)
    turns.give(first)
    await steps()
    assert quick.done(), "one that takes long does not keep others from their turn"
    (other,) = await asking(turns)
    turns.give(second)
    await steps()
    assert other.done() is beside
    turn = await quick
    assert turn is not None
    turns.give(turn)
    assert await other is not None


async def test_who_has_waited_gets_a_turn_beside_one_that_turns_out_long() -> None:
    machine = Machine(share=1.0)
    turns = turns_of(2, patience=0.05, machine=machine)
    held = [await taken(turns), await taken(turns)]
    machine.passes(1)
    (long,) = await asking(turns)
    turns.give(held[0])
    turns.give(held[1])
    assert await long is not None
    (waiting,) = await asking(turns)
    assert not waiting.done()
    machine.passes(1)
    assert await waiting is not None


async def test_who_waits_too_long_is_told_so(tmp_path: Path, clock: FakeClock) -> None:
    settings = QUICK.model_copy(update={"concurrency": 1, "waiting": 5, "patience_seconds": 0.01})
    async with running(str(tmp_path / "m"), settings=settings, clock=clock) as service:
        go = asyncio.Event()

        async def wait(**asked: object) -> list[object]:
            await go.wait()
            return []

        memory: Any = service.app.state.service.memory("default")
        memory.search = wait
        async with service.http(await service.key()) as http:
            body = {"user": "ana", "query": "x"}
            both = [asyncio.create_task(http.post("/v1/search", json=body)) for _ in range(2)]
            [told], [served] = await asyncio.wait(both, return_when=asyncio.FIRST_COMPLETED)
            assert (await told).status_code == 503
            go.set()
            assert (await served).status_code == 200
            assert (await http.post("/v1/search", json=body)).status_code == 200, "the turn came back"
