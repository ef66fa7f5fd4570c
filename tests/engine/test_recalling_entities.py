"""Entities that a message names bring what is known about them, whatever else is found."""

from __future__ import annotations

import pytest

from hitherto import Hitherto
from hitherto.recall import entities
from hitherto.types import Context, Entity, Memory
from tests.engine.conftest import FakeClock

FILLER = ("the weather was mild", "trains were late again", "lunch was soup", "a new printer arrived")


async def known(memory: Hitherto, clock: FakeClock) -> None:
    for name, kind, aliases in (
        ("Mukesh Rao", "person", ("Makesh",)),
        ("Atlas", "project", ()),
        ("Lena", "person", ()),
    ):
        ref = f"{kind}:{name.lower().replace(' ', '_')}"
        await memory.add("entity", user="ana", key=ref, label=name, type=kind, aliases=aliases, at=clock())
    remember = memory.remember
    await remember(user="ana", text="is the team lead", importance=2, entities=("person:mukesh_rao",))
    await remember(user="ana", text="runs the migration", importance=2, entities=("person:mukesh_rao", "project:atlas"))
    await remember(user="ana", text="ships in June", importance=2, entities=("project:atlas",))
    await remember(user="ana", text="plays the cello", importance=2, entities=("person:lena",))
    for text in FILLER:
        await remember(user="ana", text=text)


def cards(context: Context) -> dict[str, str]:
    lines = (line for line in context.system.splitlines() if line.startswith("[") and "]: " in line)
    return dict(line.split("]: ", 1) for line in lines)


@pytest.mark.req("R3.6")
@pytest.mark.parametrize(
    "message", ["what do I say to Mukesh?", "Makesh wrote to me", "mukesh rao", "met Mukkesh today"]
)
async def test_a_named_entity_brings_its_card(memory: Hitherto, clock: FakeClock, message: str) -> None:
    await known(memory, clock)
    shown = cards(await memory.context(user="ana", message=message, recipe="personas"))
    assert "is the team lead" in shown["[person:mukesh_rao"]


@pytest.mark.req("R3.6")
async def test_one_hop_from_a_person_to_their_project(memory: Hitherto, clock: FakeClock) -> None:
    await known(memory, clock)
    shown = cards(await memory.context(user="ana", message="call with Mukesh at noon", recipe="personas"))
    assert "ships in June" in shown["[project:atlas"]


@pytest.mark.req("R0.7")
async def test_without_cards_the_facts_stand_in_long_term_memory(memory: Hitherto, clock: FakeClock) -> None:
    await known(memory, clock)
    context = await memory.context(user="ana", message="call with Mukesh at noon")
    included = [item.text for item in context.items if item.section == "long_term" and item.included]
    assert any("is the team lead" in text for text in included)
    assert any("ships in June" in text for text in included)


async def test_a_merged_entity_is_found_by_the_name_it_had(memory: Hitherto, clock: FakeClock) -> None:
    await known(memory, clock)
    await memory.merge(user="ana", entities=["person:mukesh_rao", "person:lena"])
    shown = cards(await memory.context(user="ana", message="is Lena there?", recipe="personas"))
    assert "[person:mukesh_rao" in shown
    assert "[person:lena" not in shown


def test_a_sentence_that_names_nobody_asks_for_little() -> None:
    assert entities.marks("and then it was over") == ()
    assert entities.meant("the end", [entity("Lea")]) == ()
    assert len(entities.marks("word " * 10_000)) <= entities.LOOKED_UP


def test_two_people_who_sound_unlike_stay_two() -> None:
    assert entities.meant("dinner with Maria", [entity("Mario")]) == ()
    assert entities.meant("dinner with Makesh", [entity("Mukesh")]) == ("person:mukesh",)


def test_a_hop_leads_from_people_only() -> None:
    fact = Memory(id="m", text="x", entities=("project:atlas", "place:rome"), at=FakeClock()())
    assert entities.one_hop(["project:atlas"], [fact]) == ()


def entity(label: str) -> Entity:
    return Entity(id=label, key=f"person:{label.lower()}", label=label, at=FakeClock()())
