"""How often a write goes to the server: once, while this process knows how it left the user's log."""

from collections.abc import AsyncIterator
from itertools import count

import pytest

from hitherto import Hitherto, Turn
from hitherto.errors import Conflict
from hitherto.store.postgres import store
from hitherto.testing import FakeClock

Trips = list[int]


@pytest.fixture
def trips(monkeypatch: pytest.MonkeyPatch) -> Trips:
    """How many statements went each time."""
    found: Trips = []
    send = store.send

    async def counted(*arguments: object) -> object:
        found.append(len(arguments[1]))  # type: ignore[arg-type]
        return await send(*arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(store, "send", counted)
    return found


@pytest.fixture
async def memory(postgres_url: str) -> AsyncIterator[Hitherto]:
    async with Hitherto(postgres_url, clock=FakeClock()) as memory:
        await memory.record(said("hello"))
        yield memory


NUMBERS = count(1)


def said(text: str, *, name: str | None = None, persona: str | None = "nikita") -> Turn:
    return Turn("ana", "user", text, id=name, persona=persona)


async def test_a_turn_is_recorded_in_one_round_trip(memory: Hitherto, trips: Trips) -> None:
    await memory.record(said("it rains"))
    await memory.record([said("still"), said("and more", name="m1")])
    assert len(trips) == 2
    turns = await memory.turns(user="ana")
    assert [(turn.text, turn.position, turn.seq) for turn in turns] == [
        ("hello", 1, 1),
        ("it rains", 2, 3),
        ("still", 3, 4),
        ("and more", 4, 5),
    ]


async def test_another_persona_is_asked_about_once(memory: Hitherto, trips: Trips) -> None:
    await memory.record(said("to somebody else", persona="max"))
    assert len(trips) == 2
    await memory.record(said("again", persona="max"))
    await memory.record(said("back", persona="nikita"))
    assert [turn.position for turn in await memory.turns(user="ana")] == [1, 1, 2, 2]


async def test_what_is_told_again_is_no_second_turn(memory: Hitherto, trips: Trips) -> None:
    await memory.record(said("once", name="m1"))
    assert len(trips) == 1
    assert await memory.record(said("once", name="m1")) == ["m1"]
    with pytest.raises(Conflict, match="another text"):
        await memory.record(said("other", name="m1"))
    assert [turn.id for turn in await memory.turns(user="ana")][1:] == ["m1"]


async def test_what_was_forgotten_does_not_come_back(memory: Hitherto) -> None:
    await memory.record(said("a secret", name="m1"))
    await memory.forget(user="ana", turn="m1")
    await memory.record(said("and on"))
    assert await memory.record(said("a secret", name="m1")) == ["m1"]
    assert [turn.text for turn in await memory.turns(user="ana")] == ["hello", "and on"]


async def test_what_another_process_wrote_is_seen(memory: Hitherto, postgres_url: str, trips: Trips) -> None:
    """Their turns are in nobody's way, and neither is a user who was forgotten and came back."""
    clock = FakeClock()
    async with Hitherto(postgres_url, clock=clock) as other:
        for number in range(3):
            await other.record(said(f"there {number}"))
            await memory.record(said(f"here {number}"))
        turns = await memory.turns(user="ana")
        assert [turn.position for turn in turns] == list(range(1, 8))
        clock.tick(days=3)
        await other.record(said("days later"))
        await memory.record(said("and today"))
        assert (await memory.turns(user="ana"))[-1].position == 1, "it is asked again, and opens a session of its own"
        await other.forget(user="ana", everything=True)
        await memory.record(said("a new life"))
    assert [turn.text for turn in await memory.turns(user="ana")] == ["a new life"]


async def test_a_context_and_its_answer_are_two_more(memory: Hitherto, trips: Trips) -> None:
    await memory.record(said("what now?"))
    made = await memory.context(user="ana", persona="nikita", message="what now?")
    await memory.flush()
    trips.clear()
    await memory.record(Turn("ana", "assistant", "this", persona="nikita", snapshot=made.snapshot))
    assert len(trips) == 2, "one reads the receipt, one writes the turn"
