"""One topic's matters stay out of another's context, and one persona's talk out of another's; what is general knowledge of the
user, what is asked for, and a chat's main lane are open."""

from datetime import UTC, datetime, timedelta

import pytest

from hitherto import Hitherto, Turn
from hitherto.testing import FakeClock

THEN = datetime(2026, 4, 10, 18, 0, tzinfo=UTC)
TRIP, FLAT, MAIN = "topic:7:1", "topic:7:2", "root:7"
GUARANTOR = "The landlord wants a guarantor"
KNEE = "Mags has a bad knee"


async def talked(memory: Hitherto, clock: FakeClock) -> None:
    clock.set(THEN)
    said = [
        (TRIP, "t1", "The flight to Lisbon leaves at 07:10 from Manchester"),
        (FLAT, "t2", "The landlord wants a guarantor and two tax returns"),
        (FLAT, "t3", "my knee is bad, no long stairs for me please"),
        (MAIN, "t4", "dinner is on Friday at half seven"),
    ]
    await memory.record(
        [
            Turn("group", "user", text, id=name, lane=lane, persona="pim", at=THEN + timedelta(minutes=place))
            for place, (lane, name, text) in enumerate(said)
        ]
    )
    await memory.remember(user="group", text=GUARANTOR, sources=["t2"])
    await memory.remember(user="group", text=KNEE, sources=["t3"], importance=3)
    await memory.add("loop", user="group", persona="pim", lane=FLAT, text="Ask dad to be guarantor", sources=["t2"])
    clock.set(THEN + timedelta(days=3))
    await memory.settle(user="group")


async def shown(memory: Hitherto, clock: FakeClock, lane: str | None, message: str) -> str:
    context = await memory.context(user="group", persona="pim", lane=lane, message=message, at=clock())
    return context.system


@pytest.mark.req("R4.7")
async def test_a_topic_does_not_hear_of_another_ones_matters(memory: Hitherto, clock: FakeClock) -> None:
    await talked(memory, clock)
    text = await shown(memory, clock, TRIP, "what time does the flight leave?")
    assert "07:10" in text
    assert "guarantor" not in text
    assert KNEE in text, "what always holds of somebody is known everywhere"
    assert "guarantor" in await shown(memory, clock, FLAT, "what is left to do?")
    assert "guarantor" in await shown(memory, clock, MAIN, "what is left to do?"), (
        "a chat's main lane is open to its topics"
    )


@pytest.mark.req("R4.7")
async def test_what_is_asked_for_comes_along_from_another_topic(memory: Hitherto, clock: FakeClock) -> None:
    await talked(memory, clock)
    assert GUARANTOR in await shown(memory, clock, TRIP, "does the landlord want a guarantor?")


async def test_the_receipt_says_why(memory: Hitherto, clock: FakeClock) -> None:
    await talked(memory, clock)
    context = await memory.context(
        user="group", persona="pim", lane=TRIP, message="what time is the flight?", at=clock()
    )
    reasons = {(item.section, item.reason) for item in context.items if "guarantor" in item.text}
    assert ("loops", "other lane") in reasons
    assert ("long_term", "other lane") in reasons


@pytest.mark.parametrize("persona", ["bea", "anton"])
async def test_words_said_to_one_persona_are_not_quoted_to_another(
    memory: Hitherto, clock: FakeClock, persona: str
) -> None:
    said = "Secret update: the hospital in Cork wants to see me on Tuesday at four"
    await memory.record(
        [
            Turn("ruth", "user", said, id="b1", persona="bea", at=THEN),
            Turn("ruth", "user", "I ran six kilometres today", id="a1", persona="anton", at=THEN + timedelta(hours=1)),
        ]
    )
    clock.set(THEN + timedelta(days=1))
    await memory.settle(user="ruth")
    assert any("Cork" in memory.text for memory in await memory.memories(user="ruth")), "it was learnt"
    context = await memory.context(user="ruth", persona=persona, message="What shall I do this evening?", at=clock())
    assert ("Cork" in context.system) == (persona == "bea")
