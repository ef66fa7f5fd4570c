"""Forgetting is forgetting: hidden at once, gone from every file, and what rested on it goes too."""

from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from hitherto import Hitherto, InvalidInput, NotFound, Turn
from hitherto.testing import START, FakeClock
from hitherto.types import Media, ToolCall, ToolReturn

CANARY = "zanzibarquokka"


def said(text: str, *, turn_id: str, user: str = "ana", lane: str | None = None, persona: str = "nikita") -> Turn:
    return Turn(user=user, role="user", text=text, id=turn_id, persona=persona, lane=lane)


async def live(memory: Hitherto, clock: FakeClock) -> None:
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


async def everything_shown(memory: Hitherto) -> str:
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


async def test_a_forgotten_turn_is_gone_with_all_that_rested_on_it(memory: Hitherto, clock: FakeClock) -> None:
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
    async with Hitherto(folder, clock=clock) as memory:
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


async def test_everything_of_a_user(memory: Hitherto, clock: FakeClock) -> None:
    await live(memory, clock)
    await memory.record(said("I stay.", turn_id="b1", user="bo"))
    receipt = await memory.forget(user="ana", everything=True)
    assert receipt.turns == 3
    assert await memory.turns(user="ana") == []
    assert await memory.users() == ["bo"]
    await memory.record(said("A new beginning.", turn_id="n1"))
    assert [turn.seq for turn in await memory.turns(user="ana")] == [1]
    assert CANARY not in repr(await memory.search(user="ana", query=f"{CANARY} beginning"))


async def test_by_entity_lane_persona_and_time(memory: Hitherto, clock: FakeClock) -> None:
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


async def test_what_is_not_named_is_not_guessed(memory: Hitherto) -> None:
    await memory.record(said("Hello.", turn_id="t1"))
    with pytest.raises(InvalidInput, match="exactly one"):
        await memory.forget(user="ana")
    with pytest.raises(InvalidInput, match="exactly one"):
        await memory.forget(user="ana", turn="t1", everything=True)
    with pytest.raises(NotFound):
        await memory.forget(user="ana", turn="nope")
    assert len(await memory.turns(user="ana")) == 1


@pytest.mark.parametrize("name", ["Nobody", "sister", " ", ":", "person:", "person:_"])
async def test_a_word_that_names_no_entity_takes_nothing(memory: Hitherto, name: str) -> None:
    await memory.record(said("My sister is called Zelda. I live in Austin.", turn_id="t1"))
    await memory.settle(user="ana")
    with pytest.raises(InvalidInput, match="person:john"):
        await memory.forget(user="ana", entity=name)
    assert len(await memory.turns(user="ana")) == 1


async def test_a_name_of_several_entities_takes_nothing(memory: Hitherto) -> None:
    for kind in ("person", "place"):
        await memory.add("entity", user="ana", text="", label="Jordan", type=kind, key=f"{kind}:jordan")
    with pytest.raises(InvalidInput, match="there are person:jordan, place:jordan"):
        await memory.forget(user="ana", entity="Jordan")
    assert len(await memory.entities(user="ana")) == 2


async def test_an_entity_is_named_by_its_id_or_name_as_well(memory: Hitherto) -> None:
    await memory.record(said("My sister is called Zelda.", turn_id="t1"))
    await memory.record(said("I work at Acme.", turn_id="t2"))
    await memory.settle(user="ana")
    [zelda] = [entity for entity in await memory.entities(user="ana") if entity.label == "Zelda"]
    counted = [
        await memory.forget(user="ana", entity=name, dry_run=True)
        for name in ("person:zelda", "person:Zelda", zelda.id, "Zelda", "zelda")
    ]
    assert counted[0].turns == 1
    assert counted[0] == counted[1] == counted[2]


@pytest.mark.parametrize("name", ["person:robert", "person:bobby"])
async def test_an_entity_goes_under_all_names_it_was_merged_with(memory: Hitherto, name: str) -> None:
    await memory.record(said("My friend Robert likes chess.", turn_id="t1"))
    await memory.record(said("My cousin Bobby likes tea.", turn_id="t2"))
    await memory.record(said("I work at Acme.", turn_id="t3"))
    await memory.settle(user="ana")
    for ref, label in (("person:robert", "Robert"), ("person:bobby", "Bobby")):
        await memory.add("entity", user="ana", key=ref, label=label)
    await memory.merge(user="ana", entities=["person:robert", "person:bobby"])
    await memory.forget(user="ana", entity=name)
    shown = await everything_shown(memory)
    assert "Robert" not in shown
    assert "Bobby" not in shown
    assert "Acme" in shown


async def test_an_entity_goes_from_every_version_and_part(memory: Hitherto, clock: FakeClock) -> None:
    name = "Zoë Quokka"
    await memory.record(said(f"My sister is called {name}.", turn_id="t1"))
    await memory.record(said("zoe\u0308-quokka sent this.", turn_id="t2"))
    await memory.record(said(f"I met {name} today.", turn_id="t3"))
    await memory.revise(user="ana", turn="t3", text="I met somebody today.")
    for turn_id, role, part in (
        ("p1", "assistant", ToolCall(id="c1", name="find", args='{"who": "Zo\\u00eb Quokka"}')),
        ("p2", "tool", ToolReturn(id="c1", name="find", content=f"{name}, 12 Elm Street")),
        ("p3", "user", Media(media_type="image/png", url="https://example.org/1.png", caption=f"_{name}_ smiling")),
    ):
        await memory.record(Turn(user="ana", role=role, text="so", id=turn_id, persona="nikita", parts=(part,)))  # pyright: ignore[reportArgumentType] -- one of three roles
    await memory.record(said("I bought a bike.", turn_id="t4"))
    kept = await memory.remember(user="ana", text=f"{name} likes cake")
    await memory.update(kept.id, user="ana", text="somebody likes cake")
    await memory.remember(user="ana", text=f"{name} sold the bike", sources=("t4",))
    await memory.add("episode", user="ana", text="a party", topics=(name,))
    clock.tick(minutes=45)
    await memory.settle(user="ana")
    receipt = await memory.forget(user="ana", entity="person:zoë_quokka")
    assert receipt.turns == 6
    assert [turn.id for turn in await memory.turns(user="ana")] == ["t4"]
    assert "quokka" not in (await everything_shown(memory)).casefold()


@pytest.mark.parametrize(
    "what",
    [{"lane": "trip"}, {"persona": "coach"}, {"before": START + timedelta(days=1)}],
    ids=["lane", "persona", "before"],
)
async def test_a_message_that_was_never_recorded_goes_with_its_place(
    memory: Hitherto, clock: FakeClock, what: dict[str, Any]
) -> None:
    await memory.record(said("We leave on Monday.", turn_id="t1", lane="trip", persona="coach"))
    asked = await memory.context(user="ana", persona="coach", lane="trip", message=f"and {CANARY}?")
    await memory.remember(user="ana", text=f"{CANARY} comes along", lane="trip", persona="coach", sources=("t0",))
    clock.tick(days=2)
    await memory.record(said("I live in Austin.", turn_id="t2"))
    stays = await memory.context(user="ana", persona="nikita", message="where do I live?")
    if "before" in what:
        await memory.forget(user="ana", memory=(await memory.memories(user="ana"))[0].id)
    receipt = await memory.forget(user="ana", **what)
    assert receipt.snapshots == 1
    assert [taken.id for taken in await memory.snapshots(user="ana")] == [stays.snapshot]
    assert CANARY not in await everything_shown(memory)
    with pytest.raises(NotFound):
        await memory.replay(user="ana", snapshot=asked.snapshot)
    replayed = await memory.replay(user="ana", snapshot=stays.snapshot)
    assert (replayed.system, replayed.messages) == (stays.system, stays.messages)


async def test_a_place_with_nothing_but_a_question_can_be_forgotten(memory: Hitherto) -> None:
    await memory.context(user="ana", persona="coach", message=f"and {CANARY}?")
    await memory.forget(user="ana", persona="coach")
    assert await memory.snapshots(user="ana") == []
    with pytest.raises(NotFound):
        await memory.forget(user="ana", persona="coach")


@pytest.mark.parametrize("what", [{"persona": "coach"}, {"entity": f"person:{CANARY}"}], ids=["persona", "entity"])
async def test_an_older_backup_does_not_bring_such_a_message_back(
    tmp_path: Path, clock: FakeClock, what: dict[str, Any]
) -> None:
    folder, backup = tmp_path / "memories", tmp_path / "backup"
    async with Hitherto(folder, clock=clock) as memory:
        await memory.record(said("Hello there.", turn_id="t1", persona="coach"))
        await memory.context(user="ana", persona="coach", message=f"and {CANARY}?")
        await memory.flush()
        await memory.backup(backup)
        await memory.record(said(f"{CANARY} is my sister.", turn_id="t2", persona="coach"))
        clock.tick(minutes=1)
        await memory.forget(user="ana", **what)
    async with Hitherto(backup, clock=clock) as restored:
        assert set(await restored.forget_again(folder / "forgotten.jsonl")) == {"ana"}
        assert await restored.forget_again(folder / "forgotten.jsonl") == {}
        assert CANARY not in await everything_shown(restored)
    assert found_in(backup) == []


async def test_an_id_that_the_application_chose_is_not_left_in_snapshots(memory: Hitherto) -> None:
    for turn_id in ("t1", CANARY, "t2"):
        await memory.record(said("My sister is nice.", turn_id=turn_id))
    asked = await memory.context(user="ana", persona="nikita", turn="t2")
    assert CANARY in repr(await memory.snapshots(user="ana"))
    await memory.forget(user="ana", turn=CANARY)
    assert CANARY not in await everything_shown(memory)
    assert CANARY not in repr(await memory.snapshots(user="ana"))
    again = await memory.replay(user="ana", snapshot=asked.snapshot)
    assert again.messages[-1] == asked.messages[-1]


async def test_what_a_session_was_about_goes_with_any_of_its_turns(memory: Hitherto, clock: FakeClock) -> None:
    """The topics of its episode are drawn from all turns, its sentences rest on a few."""
    await memory.record(said("I hate milk.", turn_id="t0"))
    await memory.record(Turn("ana", "assistant", f"Would you like {CANARY}?", id="t1", persona="nikita"))
    clock.tick(minutes=45)
    await memory.settle(user="ana")
    [episode] = [e for e in await memory.episodes(user="ana") if e.session]
    assert CANARY in episode.topics
    assert "t1" not in episode.sources
    await memory.forget(user="ana", turn="t1")
    assert CANARY not in await everything_shown(memory)
    await memory.settle(user="ana")
    assert [e for e in await memory.episodes(user="ana") if e.session], "the session is told again without it"
    assert CANARY not in await everything_shown(memory)


async def test_nobody_keeps_the_name_of_who_was_split_off_and_forgotten(memory: Hitherto) -> None:
    await memory.record(said("My boss Mukesh lives in Leeds.", turn_id="t1"))
    await memory.record(said("My boss Makesh plays the cello.", turn_id="t2"))
    await memory.settle(user="ana")
    await memory.split(user="ana", entity="person:mukesh", name="Makesh")
    await memory.forget(user="ana", turn="t2")
    assert "makesh" not in (await everything_shown(memory)).casefold()
    await memory.settle(user="ana")
    assert "makesh" not in (await everything_shown(memory)).casefold()
    told = [m.text for m in await memory.memories(user="ana", entity="person:mukesh")]
    assert told == ["The user (2 March): “My boss Mukesh lives in Leeds.”"]


async def test_nobody_keeps_the_name_they_were_merged_into_when_it_is_forgotten(memory: Hitherto) -> None:
    await memory.record(said("My friend Siobhan is a nurse.", turn_id="t1"))
    await memory.record(said("My friend Shevaun owns a boat.", turn_id="t2"))
    await memory.settle(user="ana")
    await memory.merge(user="ana", entities=["person:shevaun", "person:siobhan"])
    await memory.split(user="ana", entity="person:shevaun", name="Siobhan")
    await memory.forget(user="ana", turn="t2")
    assert "shevaun" not in (await everything_shown(memory)).casefold(), "in no version"
    await memory.settle(user="ana")
    assert "shevaun" not in (await everything_shown(memory)).casefold()
    [siobhan] = [e for e in await memory.entities(user="ana") if e.key == "person:siobhan"]
    assert (siobhan.label, siobhan.merged_into, siobhan.apart_from) == ("Siobhan", None, ())
    told = [m.text for m in await memory.memories(user="ana", entity="person:siobhan")]
    assert told == ["The user (2 March): “My friend Siobhan is a nurse.”"]
