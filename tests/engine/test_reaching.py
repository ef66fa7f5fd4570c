"""Recipes that look beyond the window get the first turns, today's turns and the lanes that are meant."""

import pytest

from hitherto import Hitherto, Turn
from hitherto.testing import FakeClock


async def say(memory: Hitherto, text: str, *, role: str = "user", lane: str | None = None) -> None:
    await memory.record(
        Turn(user="ana", role="user" if role == "user" else "assistant", text=text, persona="coach", lane=lane)
    )


@pytest.mark.req("R2.9")
async def test_the_first_two_turns_of_a_long_session_are_kept(memory: Hitherto, clock: FakeClock) -> None:
    for n in range(400):
        await say(
            memory, f"turn number {n} " + "padding words go here " * 10, role="user" if n % 2 == 0 else "assistant"
        )
        clock.tick(seconds=20)
    context = await memory.context(user="ana", persona="coach", message="where did we begin?", recipe="recall")
    told = [str(entry["content"]) for entry in context.history]
    assert told[0].startswith("turn number 0 ")
    assert told[1].startswith("turn number 1 ")
    assert told[-1].startswith("turn number 399 ")


@pytest.mark.req("R0.3")
async def test_some_of_todays_own_turns_fit_in(memory: Hitherto, clock: FakeClock) -> None:
    await say(memory, "the violin arrived this morning")
    clock.tick(minutes=1)
    for n in range(40):
        await say(memory, f"later talk {n}")
    context = await memory.context(user="ana", persona="coach", message="and now?", recipe="companion")
    [item] = [item for item in context.items if item.section == "today" and "violin" in item.text]
    assert item.included


@pytest.mark.req("R4.7")
async def test_another_lane_comes_along_only_when_it_is_named(memory: Hitherto) -> None:
    await memory.add(
        "summary",
        user="ana",
        persona="coach",
        kind="lane",
        lane="trip",
        key="lane:coach:trip",
        text="Flights to Lisbon.",
    )
    await say(memory, "hello", lane="garden")
    silent = await memory.context(user="ana", persona="coach", lane="garden", message="what next?", recipe="lanes")
    assert "Lisbon" not in silent.system
    named = await memory.context(
        user="ana", persona="coach", lane="garden", message="what did we say about the trip?", recipe="lanes"
    )
    assert "Flights to Lisbon." in named.system
