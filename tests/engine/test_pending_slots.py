"""What the assistant waits for takes its value, and never a new task, the answer to another question or another lane."""

import pytest

from hitherto import Hitherto
from tests.engine.talking import Talk

TASKS = (
    "how do I cook lentils?",
    "write a poem about friday",
    "actually, cancel my gym plan",
    "remind me: milk and eggs",
    "I was at my mother's on Friday and it was lovely",
)


@pytest.mark.req("R4.9", "R4.2")
async def test_a_pending_slot_takes_only_what_fits_it(memory: Hitherto, talk: Talk) -> None:
    async def filled(message: str, *, lane: str | None = None) -> object:
        context = await memory.context(user="ana", persona="coach", lane=lane, message=message, recipe="lanes")
        assert context.messages[-1]["content"] == message, "the user's words stay their own"
        return context.log["pending_slot"]

    [asked] = await talk.persona_says("Which day shall I book the table for?")
    slot = await memory.add(
        "slot", user="ana", persona="coach", key="slot:coach:", name="day", expects="date", anchor=asked
    )
    assert await filled("next friday") == slot.id
    for task in TASKS:
        assert await filled(task) is None, task
    assert await filled("next friday", lane="topic:1:7") is None, "another lane waits for nothing"
    await talk.user_says("Write me a shopping list first.")
    await talk.persona_says("Sure. When do you go shopping?")
    assert await filled("next friday") is None, "it answers the newer question"
    [again] = await talk.persona_says("And the table: which day?")
    await memory.update(slot.id, user="ana", anchor=again)
    assert await filled("on Sunday") == slot.id
    await memory.update(slot.id, user="ana", status="ARCHIVED")
    assert await filled("on Sunday") is None, "what has its value waits no longer"


@pytest.mark.req("R4.9", "R4.3")
async def test_an_open_slot_changes_nothing_about_an_unrelated_task(memory: Hitherto, talk: Talk) -> None:
    """Byte for byte the same context, with the slot or without it."""
    await talk.user_says("I want to plan the dinner.")
    [asked] = await talk.persona_says("For how many people?")
    task = "what is a good book about bees?"
    without = await memory.context(user="ana", persona="coach", message=task, recipe="lanes")
    await memory.add(
        "slot", user="ana", persona="coach", key="slot:coach:", name="people", expects="number", anchor=asked
    )
    beside = await memory.context(user="ana", persona="coach", message=task, recipe="lanes")
    assert (beside.system, beside.messages) == (without.system, without.messages)
    assert beside.log == without.log
