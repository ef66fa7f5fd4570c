"""Sessions: thirty minutes of silence end one, twelve hours are bridged, personas and lanes stand side by side."""

import pytest

from hitherto import Hitherto, Turn
from hitherto.testing import FakeClock


async def say(
    memory: Hitherto, text: str, *, persona: str = "coach", lane: str | None = None, role: str = "user"
) -> str:
    [turn_id] = await memory.record(
        Turn(user="ana", role="user" if role == "user" else "assistant", text=text, persona=persona, lane=lane)
    )
    return turn_id


@pytest.mark.req("R3.8")
async def test_thirty_minutes_of_silence_end_a_session(memory: Hitherto, clock: FakeClock) -> None:
    await say(memory, "hello")
    clock.tick(minutes=30)
    await say(memory, "still here")
    clock.tick(minutes=31)
    await say(memory, "back again")
    turns = await memory.turns(user="ana")
    assert turns[0].session == turns[1].session != turns[2].session
    newest, first = await memory.sessions(user="ana", persona="coach")
    assert (first.turn_count, newest.turn_count) == (2, 1)
    assert newest.continues == first.id


@pytest.mark.req("R3.13", "R3.7")
async def test_minute_31_resumes(memory: Hitherto, clock: FakeClock) -> None:
    await say(memory, "shall we try the tango?", role="assistant")
    clock.tick(minutes=31)
    context = await memory.context(user="ana", persona="coach", message="yes")
    assert [entry["content"] for entry in context.history] == ["shall we try the tango?"]
    await say(memory, "yes")
    turns = await memory.turns(user="ana")
    assert [turn.position for turn in turns] == [1, 1], "the turn count restarts"
    assert [turn.number for turn in turns] == [1, 2], "the message count goes on"


async def test_after_twelve_hours_the_window_begins_anew(memory: Hitherto, clock: FakeClock) -> None:
    await say(memory, "good night")
    clock.tick(hours=13)
    context = await memory.context(user="ana", persona="coach", message="good morning", recipe="companion")
    assert context.history == []
    returning = await memory.context(user="ana", persona="coach", message="good morning")
    assert [entry["content"] for entry in returning.history] == ["good night"]
    await say(memory, "good morning")
    [newest, _] = await memory.sessions(user="ana")
    assert newest.continues is None


@pytest.mark.req("R3.10")
async def test_personas_have_sessions_of_their_own(memory: Hitherto, clock: FakeClock) -> None:
    await say(memory, "hi coach")
    clock.tick(minutes=10)
    await say(memory, "hi nikita", persona="nikita")
    clock.tick(minutes=25)
    await say(memory, "coach again")
    assert len(await memory.sessions(user="ana", persona="coach")) == 2
    assert len(await memory.sessions(user="ana", persona="nikita")) == 1
    context = await memory.context(user="ana", persona="nikita", message="and?")
    assert [entry["content"] for entry in context.history] == ["hi nikita"]


@pytest.mark.req("R4.3")
async def test_the_window_holds_turns_of_its_own_lane_only(memory: Hitherto) -> None:
    for n in range(4):
        await say(memory, f"left {n}", lane="topic:1:7")
        await say(memory, f"right {n}", lane="topic:1:8")
    await say(memory, "root")
    for lane, expected in (("topic:1:7", "left"), ("topic:1:8", "right"), (None, "root")):
        context = await memory.context(user="ana", persona="coach", lane=lane, message="so?")
        assert {str(entry["content"]).split()[0] for entry in context.history} == {expected}


async def test_the_current_message_is_left_out_of_the_window_either_way(memory: Hitherto) -> None:
    await say(memory, "shall we?", role="assistant")
    before = await memory.context(user="ana", persona="coach", message="yes")
    turn_id = await say(memory, "yes")
    after = await memory.context(user="ana", persona="coach", turn=turn_id)
    assert before.messages == after.messages
    assert [entry["content"] for entry in after.messages] == ["shall we?", "yes"]


async def test_a_session_of_a_tools_turns_alone_counts_them_when_it_is_closed(
    memory: Hitherto, clock: FakeClock
) -> None:
    for number in range(2):
        await memory.record(Turn("ana", "system", f"The door opened {number} times.", persona="coach"))
        clock.tick(minutes=1)
    clock.tick(hours=1)
    await memory.settle(user="ana")
    [session] = await memory.sessions(user="ana")
    [_, last] = await memory.turns(user="ana")
    assert (session.status, session.turn_count, session.last_activity) == ("closed", 2, last.at)
