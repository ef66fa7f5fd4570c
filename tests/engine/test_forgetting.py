"""Forgetting is forgetting: hidden at once, gone from every file, and what rested on it goes too."""

from datetime import timedelta
from pathlib import Path

import pytest

from recollect import InvalidInput, NotFound, Recollect, Turn
from recollect.testing import START, FakeClock

CANARY = "zanzibarquokka"


def said(text: str, *, turn_id: str, user: str = "ana", lane: str | None = None, persona: str = "nikita") -> Turn:
    return Turn(user=user, role="user", text=text, id=turn_id, persona=persona, lane=lane)


async def live(memory: Recollect, clock: FakeClock) -> None:
    """A conversation in which one turn holds the canary, worked on and shown in contexts."""
    await memory.record(said("Hello, I live in Austin.", turn_id="t1"))
    await memory.record(said(f"My sister is called {CANARY}. I'll call her tomorrow.", turn_id="t2"))
    await memory.record(said("I love hiking in the rain.", turn_id="t3"))
    context = await memory.context(user="ana", persona="nikita", message=f"what about {CANARY}?")
    assert CANARY in "".join(str(entry) for entry in context.messages)
    clock.tick(minutes=45)
    await memory.settle(user="ana")
    await memory.context(user="ana", persona="nikita", message="so?")
    await memory.flush()


async def everything_shown(memory: Recollect) -> str:
    """All that any read path shows."""
    parts = [
        await memory.turns(user="ana"),
        await memory.memories(user="ana", status=None),
        await memory.loops(user="ana", status=None),
        await memory.summaries(user="ana"),
        await memory.thoughts(user="ana"),
        await memory.episodes(user="ana"),
        await memory.entities(user="ana"),
        await memory.search(user="ana", query="sister call hiking"),
        (await memory.context(user="ana", persona="nikita", message="tell me")).system,
        [line async for line in memory.export(user="ana")],
        [await memory.replay(user="ana", snapshot=s.id) for s in await memory.snapshots(user="ana")],
    ]
    return repr(parts)


async def test_a_forgotten_turn_is_gone_with_all_that_rested_on_it(memory: Recollect, clock: FakeClock) -> None:
    await live(memory, clock)
    assert CANARY in await everything_shown(memory)
    receipt = await memory.forget(user="ana", turn="t2")
    assert receipt.turns == 1
    assert CANARY not in repr(receipt)
    shown = await everything_shown(memory)
    assert CANARY not in shown.replace(f"what about {CANARY}?", "")
    assert "hiking in the rain" in shown
    clock.tick(minutes=1)
    await memory.settle(user="ana")
    summaries = await memory.summaries(user="ana")
    assert summaries, "what is left is summarised again"
    assert CANARY not in repr(summaries)


async def test_no_byte_is_left_in_the_data_folder(tmp_path: Path, clock: FakeClock) -> None:
    folder = tmp_path / "memories"
    async with Recollect(folder, clock=clock) as memory:
        await memory.record(said("Hello, I live in Austin.", turn_id="t1"))
        await memory.record(said(f"My sister is called {CANARY}. I'll call her tomorrow.", turn_id="t2"))
        clock.tick(minutes=45)
        await memory.settle(user="ana")
        await memory.context(user="ana", persona="nikita", message="so?")
        await memory.flush()
        assert found_in(folder), "the canary was written"
        await memory.forget(user="ana", turn="t2")
        assert found_in(folder) == []
    assert found_in(folder) == []


def found_in(folder: Path) -> list[str]:
    return [path.name for path in folder.rglob("*") if path.is_file() and CANARY.encode() in path.read_bytes()]


async def test_everything_of_a_user(memory: Recollect, clock: FakeClock) -> None:
    await live(memory, clock)
    await memory.record(said("I stay.", turn_id="b1", user="bo"))
    receipt = await memory.forget(user="ana", everything=True)
    assert receipt.turns == 3
    assert await memory.turns(user="ana") == []
    assert await memory.users() == ["bo"]
    await memory.record(said("A new beginning.", turn_id="n1"))
    assert [turn.seq for turn in await memory.turns(user="ana")] == [1]
    assert CANARY not in repr(await memory.search(user="ana", query=f"{CANARY} beginning"))


async def test_by_entity_lane_persona_and_time(memory: Recollect, clock: FakeClock) -> None:
    await memory.record(said("John is my cofounder.", turn_id="e1"))
    await memory.remember(user="ana", text="John handles the backend", entities=("person:john",))
    await memory.record(said("In the lane.", turn_id="l1", lane="trip"))
    await memory.record(said("To the coach.", turn_id="p1", persona="coach"))
    clock.tick(days=2)
    await memory.record(said("Much later.", turn_id="z1"))
    await memory.forget(user="ana", entity="person:john")
    assert "John" not in repr([await memory.turns(user="ana"), await memory.memories(user="ana")])
    await memory.forget(user="ana", lane="trip")
    await memory.forget(user="ana", persona="coach")
    assert [turn.id for turn in await memory.turns(user="ana")] == ["z1"]
    await memory.forget(user="ana", before=START + timedelta(days=3))
    assert await memory.turns(user="ana") == []


async def test_what_is_not_named_is_not_guessed(memory: Recollect) -> None:
    await memory.record(said("Hello.", turn_id="t1"))
    with pytest.raises(InvalidInput, match="exactly one"):
        await memory.forget(user="ana")
    with pytest.raises(InvalidInput, match="exactly one"):
        await memory.forget(user="ana", turn="t1", everything=True)
    with pytest.raises(NotFound):
        await memory.forget(user="ana", turn="nope")
    assert len(await memory.turns(user="ana")) == 1
