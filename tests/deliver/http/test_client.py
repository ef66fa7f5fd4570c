"""The typed client against the library itself: the same calls give the same values, on both stores."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from hitherto import (
    Conflict,
    Hitherto,
    ImpossibleBudget,
    InvalidInput,
    Memory,
    NotFound,
    ToolCall,
    ToolReturn,
    Turn,
)
from hitherto.deliver.apikeys import SCOPES
from hitherto.errors import AccessDenied, NotPermitted
from hitherto.recipes import book
from hitherto.testing import FakeClock
from tests.deliver.http.running import Running


async def test_turns_come_back_as_the_library_gives_them(service: Running, clock: FakeClock) -> None:
    parts = (ToolCall(id="c1", name="weather", args='{"city": "Köln"}'),)
    result = (ToolReturn(id="c1", name="weather", content="rain"),)
    turns = [
        Turn("ana", "user", "What will it be like in Köln?", id="t1", persona="nikita", at=clock()),
        Turn("ana", "assistant", "", id="t2", persona="nikita", parts=parts, at=clock()),
        Turn("ana", "tool", "", id="t3", persona="nikita", parts=result, at=clock()),
        Turn("ana", "assistant", "Rain, I am afraid. 🌧", id="t4", persona="nikita", at=clock()),
    ]
    async with service.client() as client:
        assert await client.record(turns) == ["t1", "t2", "t3", "t4"]
        assert await client.record(turns) == ["t1", "t2", "t3", "t4"]
        found = await client.turns(user="ana")
        assert found == await service.memory.turns(user="ana")
        assert [turn.parts for turn in found] == [(), parts, result, ()]
        assert await client.turns(user="ana", ids=["t4"]) == found[3:]
        assert await client.turns(user="ana", ids=[]) == []
        assert await client.turns(user="ana", after=found[1].place, limit=1) == found[2:3]
        revised = await client.revise(user="ana", turn="t4", text="Sun!")
        assert (revised.version, revised.text) == (2, "Sun!")
        with pytest.raises(Conflict):
            await client.record(replace(turns[0], text="something else"))
        with pytest.raises(NotFound):
            await client.revise(user="ana", turn="t9", text="x")


async def test_contexts_and_their_past(service: Running, clock: FakeClock) -> None:
    async with service.client() as client:
        await client.record(Turn("ana", "user", "I start at Acme on Monday!", persona="nikita", at=clock()))
        clock.tick(minutes=1)
        built = await client.context(user="ana", persona="nikita", message="yes", inputs={})
        here = await service.memory.context(user="ana", persona="nikita", message="yes")
        assert replace(built, kept=None) == replace(here, kept=None), "the second one has a first to be compared with"
        assert await client.replay(user="ana", snapshot=built.snapshot) == await service.memory.replay(
            user="ana", snapshot=built.snapshot
        )
        clock.tick(minutes=1)
        later = await client.context(user="ana", persona="nikita", message="and then?", recipe="lanes")
        assert await client.diff(built, later) == await service.memory.diff(built, later)
        assert await client.snapshots(user="ana") == await service.memory.snapshots(user="ana")
        assert [s.id for s in await client.snapshots(user="ana", ids=[built.snapshot, "none"])] == [built.snapshot]
        assert await client.snapshots(user="ana", before=built.at) == []
        own = await client.context(user="ana", message="hi", recipe=book.load("companion"))
        assert own.recipe == "companion"
        (trial,) = await client.backtest(user="ana", recipe="lanes")
        (same,) = await service.memory.backtest(user="ana", recipe="lanes")
        assert trial.turn == same.turn
        assert replace(trial.context, kept=None) == replace(same.context, kept=None)
        hits = await client.search(user="ana", query="Acme", kinds=["turn"], explain=True)
        assert hits == await service.memory.search(user="ana", query="Acme", kinds=["turn"], explain=True)
        assert [hit.text for hit in hits] == ["I start at Acme on Monday!"]


async def test_who_is_who(service: Running) -> None:
    async with service.client() as client:
        persona = await client.define_persona("nikita", name="Nikita", text="You are Nikita.", voice={"speed": 1.5})
        assert await client.personas() == [persona] == await service.memory.personas()
        profile = await client.set_user("ana", zone="Europe/Berlin", name="Ana", plan="gold")
        assert profile == await client.user("ana") == await service.memory.user("ana")
        assert profile.extra == {"plan": "gold"}
        state = await client.set_state(user="ana", persona="nikita", chapter=3, mood="proud")
        assert (await client.set_state(user="ana", persona="nikita", mood=None)).fields == {"chapter": 3}
        assert state.fields == {"chapter": 3, "mood": "proud"}
        assert await client.state(user="ana", persona="nikita") == await service.memory.state(
            user="ana", persona="nikita"
        )
        await client.link("ana", "phone", "+49 1")
        assert await client.resolve("phone", "+49 1") == "ana"
        assert await client.resolve("phone", "+49 2") is None
        with pytest.raises(Conflict, match="unlink"):
            await client.link("bea", "phone", "+49 1")
        assert await client.unlink("phone", "+49 1") is True
        assert await client.unlink("phone", "+49 1") is False
        assert await client.resolve("phone", "+49 1") is None
        await client.link("bea", "phone", "+49 1")
        assert await client.resolve("phone", "+49 1") == "bea"
        assert await client.users() == ["ana"]
        assert await client.head(user="ana") == await service.memory.head(user="ana") > 0
        assert await client.head(user="nobody") == 0
        with pytest.raises(InvalidInput, match="Mars"):
            await client.set_user("ana", zone="Mars/Olympus")


async def test_what_is_remembered(service: Running, clock: FakeClock) -> None:
    async with service.client() as client:
        memory = await client.remember(user="ana", text="Ana is vegetarian", importance=2, entities=["person:ana"])
        assert memory.importance == 2
        assert await client.memories(user="ana") == [memory] == await service.memory.memories(user="ana")
        assert await client.memories(user="ana", entity="person:ana") == [memory]
        pinned = await client.update(memory.id, user="ana", pinned=True)
        assert isinstance(pinned, Memory)
        assert pinned.importance == 3
        assert await client.history(user="ana", id=memory.id) == await service.memory.history(user="ana", id=memory.id)
        await client.update(memory.id, user="ana", status="ARCHIVED")
        assert await client.memories(user="ana") == []
        assert len(await client.memories(user="ana", status=None)) == 1
        loop = await client.add("loop", user="ana", text="Ask about the tickets", kind="promise", due=clock())
        assert await client.loops(user="ana") == [loop]
        await client.update(loop.id, user="ana", status="done")
        assert await client.loops(user="ana") == []
        for kind in ("episode", "thought", "summary"):
            made = await client.add(kind, user="ana", text=f"one {kind}", id=f"my-{kind}")
            assert await client.add(kind, user="ana", text=f"one {kind}", id=f"my-{kind}") == made
        assert await client.episodes(user="ana") == await service.memory.episodes(user="ana")
        assert await client.thoughts(user="ana") == await service.memory.thoughts(user="ana")
        assert await client.summaries(user="ana", kind="daily") == []
        assert await client.summaries(user="ana") == await service.memory.summaries(user="ana")
        entity = await client.add("entity", user="ana", label="Lea", key="person:lea")
        assert await client.entities(user="ana") == [entity]
        await client.record(Turn("ana", "user", "hello", at=clock()))
        assert await client.sessions(user="ana") == await service.memory.sessions(user="ana")


async def test_lists_are_put_together_from_their_pieces(
    embedded: Running, clock: FakeClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("hitherto.client.PIECE", 3)
    for number in range(10):
        await embedded.memory.remember(user="ana", text=f"fact {number}")
        await embedded.memory.record(Turn(f"user-{number}", "user", "hi", at=clock()))
        await embedded.memory.context(user="ana", message=f"message {number}")
        if number % 2:
            clock.tick(seconds=1)
    async with embedded.client() as client:
        memories = await client.memories(user="ana")
        assert memories == await embedded.memory.memories(user="ana")
        assert await client.memories(user="ana", limit=7) == memories[:7]
        place = (memories[3].at, memories[3].seq)
        assert await client.memories(user="ana", after=place, limit=5) == memories[4:9]
        assert len(await client.users()) == 11
        assert await client.snapshots(user="ana") == await embedded.memory.snapshots(user="ana")


async def test_a_memory_moves(service: Running, clock: FakeClock, tmp_path: Path) -> None:
    await service.memory.record([Turn("ana", "user", f"line {n}\u2028 ends", at=clock()) for n in range(5)])
    async with service.client() as client:
        lines = [line async for line in client.export(user="ana")]
        assert lines == [line async for line in service.memory.export(user="ana")]
        file = tmp_path / "ana.jsonl"
        file.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
        assert await client.load(file, user="copy") == len(lines) - 2
        assert [t.text for t in await client.turns(user="copy")] == [t.text for t in await client.turns(user="ana")]
        assert await client.load(file) == len(lines) - 2
        file.write_text("{}\n")
        with pytest.raises(InvalidInput):
            await client.load(file)


async def test_backups_and_health(embedded: Running, clock: FakeClock, tmp_path: Path) -> None:
    await embedded.memory.record(Turn("ana", "user", "hi", at=clock()))
    async with embedded.client() as client:
        assert await client.backup("first") == 1
        with pytest.raises(Conflict):
            await client.backup("first")
        with pytest.raises(InvalidInput):
            await client.backup("../elsewhere")
        assert (await client.health()).users == 1
    async with Hitherto(tmp_path / "backups" / "first") as restored:
        assert len(await restored.turns(user="ana")) == 1


async def test_errors_are_those_of_the_library(embedded: Running) -> None:
    reader = await embedded.key(scopes=["read"])
    async with embedded.client(reader) as client:
        with pytest.raises(NotPermitted):
            await client.remember(user="ana", text="x")
        with pytest.raises(InvalidInput, match="either message"):
            await client.context(user="ana")
        with pytest.raises(ImpossibleBudget):
            await client.context(user="ana", message="word " * 20_000)
        assert await client.memories(user="nobody") == []
        with pytest.raises(NotFound):
            await client.replay(user="nobody", snapshot="none")
    async with embedded.client("rck_000000000000_" + "x" * 43) as client:
        with pytest.raises(AccessDenied):
            await client.users()


async def test_what_is_forgotten_is_gone(service: Running, clock: FakeClock) -> None:
    async with service.client() as client:
        await client.record([Turn("ana", "user", f"word {n}", id=f"t{n}", at=clock()) for n in range(3)])
        memory = await client.remember(user="ana", text="Ana is vegetarian")
        assert (await client.forget(user="ana", turn="t1")).turns == 1
        assert [turn.id for turn in await client.turns(user="ana")] == ["t0", "t2"]
        with pytest.raises(NotFound):
            await client.forget(user="ana", turn="t1")
        with pytest.raises(InvalidInput, match="exactly one"):
            await client.forget(user="ana")
        assert (await client.forget(user="ana", memory=memory.id)).records == {"memory": 1}
        await client.forget(user="ana", everything=True)
        assert await client.turns(user="ana") == []
        assert await client.head(user="ana") == 0


async def test_work_is_run_and_shown(embedded: Running, clock: FakeClock) -> None:
    async with embedded.client() as client:
        await client.record(Turn("ana", "user", "My sister Lea lives in Berlin.", at=clock()))
        assert (await client.work_status(user="ana")).head == await client.head(user="ana")
        clock.tick(hours=1)
        settled = await client.settle(user="ana")
        assert settled["ana"].failed == 0
        assert (await client.settle()).keys() == {"ana"}
        assert await client.retry(user="ana") == 0
        assert await client.work_status(user="ana") == await embedded.memory.work_status(user="ana")


async def test_a_profile_can_be_seeded(service: Running) -> None:
    async with service.client() as client:
        made = await client.seed(user="ana", facts=["home: Austin", "Allergic to peanuts"])
        assert {one.source for one in made} == {"seeded_profile"}
        assert await client.memories(user="ana") == await service.memory.memories(user="ana")
        assert await client.seed(user="ana", facts=["home: Austin"]) == []


async def test_who_is_who_can_be_corrected(service: Running, clock: FakeClock) -> None:
    async with service.client() as client:
        for name in ("Mukesh", "Makesh"):
            await client.add("entity", user="ana", label=name, key=f"person:{name.lower()}")
            await client.remember(user="ana", text=f"{name} is her boss", entities=[f"person:{name.lower()}"])
        one = await client.merge(user="ana", entities=["person:mukesh", "person:makesh"])
        assert one.key == "person:mukesh"
        apart = await client.split(user="ana", entity="person:mukesh", name="Makesh")
        assert apart.key != one.key
        assert await client.audit(user="ana") == await service.memory.audit(user="ana")
        assert await client.progress(user="ana") == await service.memory.progress(user="ana")
        assert (await client.reindex(user="ana")).keys() == {"ana"}
        would = await client.forget(user="ana", everything=True, dry_run=True)
        assert would.records
        assert await client.memories(user="ana"), "a dry run forgets nothing"


async def test_the_newest_turns_are_read_from_the_end(service: Running, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("hitherto.client.PIECE", 3)
    await service.memory.record([Turn("ana", "user", f"number {n}", id=f"t{n}", persona="nikita") for n in range(8)])
    (fifth,) = await service.memory.turns(user="ana", ids=["t5"])
    async with service.client() as client:
        for ask in (client.turns, service.memory.turns):
            assert [turn.id for turn in await ask(user="ana", before=fifth.place, limit=4)] == ["t1", "t2", "t3", "t4"]
            assert [turn.id for turn in await ask(user="ana", before=10**9, limit=2)] == ["t6", "t7"]
            assert len(await ask(user="ana", before=10**9, limit=100, persona="nikita")) == 8
            assert await ask(user="ana", before=10**9, limit=5, persona="other") == []
        assert await client.turns(user="nobody", before=10) == []
    with pytest.raises(InvalidInput, match="newest turns"):
        await service.memory.turns(user="ana", before=5, session="s")


async def test_a_saved_recipe_is_named_like_any_other(service: Running) -> None:
    own = book.load("lanes").model_copy(update={"name": "own", "description": "ours"})
    async with service.client() as client:
        assert await client.define_recipe(own) == own
        assert [recipe.name for recipe in await client.recipes()] == [*book.names(), "own"]
        assert (await client.context(user="ana", message="hi", recipe="own")).recipe == "own"
        with pytest.raises(InvalidInput, match="comes with Hitherto"):
            await client.define_recipe(book.load("lanes"))
        with pytest.raises(InvalidInput, match="none called 'nothing'"):
            await client.context(user="ana", message="hi", recipe="nothing")
    assert (await service.memory.context(user="ana", message="hi", recipe="own")).recipe == "own"
    assert [recipe.name for recipe in await service.memory.for_tenant("other").recipes()] == [*book.names()]


async def test_a_context_that_is_only_looked_at_leaves_nothing(service: Running) -> None:
    async with service.client() as client:
        await client.record(Turn("ana", "user", "hi"))
        await client.context(user="ana", message="yes", keep=False)
        assert await client.snapshots(user="ana") == []
        kept = await client.context(user="ana", message="yes")
        assert [snapshot.id for snapshot in await client.snapshots(user="ana")] == [kept.snapshot]


async def test_what_is_over_its_time_goes_when_it_is_asked_for(service: Running, clock: FakeClock) -> None:
    async with service.client() as client:
        await client.record(Turn("ana", "user", "old words", id="old", at=clock()))
        await client.record(Turn("bob", "user", "old words", id="old", at=clock()))
        assert await client.set_retention(turn=30, memory=None) == {"turn": 30}
        assert await client.set_retention(user="bob", turn=None) == {"turn": None}
        assert await client.retention(user="ana") == {"turn": 30}
        assert await client.retention(user="bob") == {}
        clock.tick(days=31)
        counted = await client.retain(dry_run=True)
        assert {user: receipt.turns for user, receipt in counted.items()} == {"ana": 1}
        assert len(await client.turns(user="ana")) == 1, "it was only counted"
        assert (await client.retain(user="ana"))["ana"].turns == 1
        assert (await client.turns(user="ana"), len(await client.turns(user="bob"))) == ([], 1)
        assert await client.retain() == {}
        with pytest.raises(InvalidInput):
            await client.set_retention(nothing=3)
        with pytest.raises(InvalidInput):
            await client.set_retention(turn=-1)


async def test_what_is_held_back_waits_for_a_person(service: Running) -> None:
    async with service.client() as client:
        made = [await client.remember(user="ana", text=f"text {n}", status="QUARANTINED") for n in range(2)]
        held = await client.memories(user="ana", status="QUARANTINED")
        assert {memory.id for memory in held} == {memory.id for memory in made}
        assert (await client.review(made[0].id, user="ana", approve=True)).status == "ACTIVE"
        assert (await client.review(made[1].id, user="ana", approve=False)).status == "ARCHIVED"
        assert await client.memories(user="ana", status="QUARANTINED") == []
        with pytest.raises(NotFound):
            await client.review(made[0].id, user="ana", approve=True)


async def test_the_audit_log_names_keys_and_keeps_what_was_done(
    service: Running, clock: FakeClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("hitherto.client.PIECE", 2)
    key, token = await service.made(scopes=SCOPES)
    async with service.client(token) as client:
        for user in ("ana", "bob"):
            await client.record(Turn(user, "user", "a secret word", at=clock()))
        assert [line async for line in client.export(user="ana")]
        for user in ("ana", "bob"):
            clock.tick(seconds=1)
            await client.forget(user=user, everything=True)
        everything = await client.events()
        assert [(event.deed, event.by) for event in everything] == [
            ("forget", f"key:{key.id}"),
            ("forget", f"key:{key.id}"),
            ("export", f"key:{key.id}"),
        ]
        assert everything == await service.memory.events()
        assert [event.deed for event in await client.events(user="ana")] == ["forget", "export"]
        assert await client.events(before=everything[0].id) == everything[1:]
        assert await client.events(limit=1) == everything[:1]
        assert "secret" not in repr(everything)
        assert (await client.scrub()).left == ()
    async with service.client(await service.key(tenant="other")) as other:
        assert await other.events() == await other.events(user="ana") == []
