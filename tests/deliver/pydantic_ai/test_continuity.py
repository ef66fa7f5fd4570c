"""What an agent with a memory is sent: history, instructions, and what bridges hours and days."""

from __future__ import annotations

from datetime import timedelta

import pytest
from pydantic_ai import Agent
from pydantic_ai.messages import ModelRequest, ModelResponse, TextPart, UserPromptPart

from hitherto import Hitherto, Turn
from hitherto.deliver.pydantic_ai import Memory
from hitherto.testing import FakeClock
from hitherto.tokens import MESSAGE, tokenizer
from tests.deliver.pydantic_ai.scripted import Script, calls, spoken, transcript


def companion(memory: Hitherto, script: Script) -> Agent[object, str]:
    return Agent(script.model, capabilities=[Memory(memory, user="ana", persona="nikita")])


async def talk(memory: Hitherto, clock: FakeClock, *, turns: int, words: int = 4) -> None:
    for number in range(turns):
        role = "user" if number % 2 == 0 else "assistant"
        text = f"{role} {number} " + "word " * words
        await memory.record(Turn("ana", role, text.strip(), persona="nikita"))
        clock.tick(seconds=20)


@pytest.mark.req("R1.1", "R1.11")
async def test_recent_turns_come_as_messages_within_their_budget(memory: Hitherto, clock: FakeClock) -> None:
    await talk(memory, clock, turns=120, words=20)
    script = Script()
    await companion(memory, script).run("and now?")
    *history, last = script.seen[0]
    assert all(isinstance(m.parts[0], UserPromptPart | TextPart) for m in history)
    assert {type(message) for message in history} == {ModelRequest, ModelResponse}
    assert 30 <= len(history) <= 80
    count = tokenizer("o200k").count
    tokens = sum(MESSAGE + count(transcript([message]).partition(": ")[2]) for message in history)
    assert 1500 <= tokens <= 3000
    assert isinstance(last, ModelRequest)
    assert transcript([last]) == "user: and now?"
    assert "assistant 119" in transcript([history[-1]])
    (snapshot,) = await memory.snapshots(user="ana")
    context = await memory.replay(user="ana", snapshot=snapshot.id)
    assert context.tokens <= 6150


@pytest.mark.req("R1.1")
async def test_tokens_win_over_the_number_of_turns(memory: Hitherto, clock: FakeClock) -> None:
    await talk(memory, clock, turns=60, words=200)
    script = Script()
    await companion(memory, script).run("and now?")
    assert len(script.seen[0]) - 1 < 30
    assert "assistant 59" in script.told()


@pytest.mark.req("R0.13", "R1.12")
async def test_the_system_text_is_fresh_and_first_on_every_message(memory: Hitherto, clock: FakeClock) -> None:
    script = Script()
    agent = companion(memory, script)
    await agent.run("hello")
    clock.tick(hours=2)
    await memory.set_user("ana", name="Ana")
    await agent.run("me again")
    first, second = script.instructions
    assert "You are Nikita" in first
    assert "Current time: 2026-03-02T09:00:00+00:00" in first
    assert "Current time: 2026-03-02T11:00:00+00:00" in second
    assert "User name: Ana" in second
    assert len(script.seen[0]) == 1
    assert script.told() == "user: hello\nassistant: all right\nuser: me again"
    # Instructions of earlier requests are neither stored nor sent again.
    assert [m.instructions for m in script.seen[1][:-1] if isinstance(m, ModelRequest)] == [None]


@pytest.mark.req("R1.12")
async def test_a_system_prompt_is_not_made_again_with_a_history_but_instructions_are() -> None:
    """The fact behind the design, on plain PydanticAI: the seed's warning holds for `system_prompt` alone."""
    script = Script()
    agent = Agent(script.model)
    moments = iter(range(10))

    @agent.system_prompt
    def prompt() -> str:
        return f"prompt {next(moments)}"

    @agent.instructions
    def instructions() -> str:
        return f"instructions {next(moments)}"

    first = await agent.run("one")
    await agent.run("two", message_history=first.all_messages())
    assert "system: prompt 0" in script.told(1)
    assert "system: prompt" not in script.told(1).partition("user: two")[2]
    assert script.told(1).count("system: prompt") == 1
    assert script.instructions[0] == "instructions 1"
    assert script.instructions[1] == "instructions 2"


@pytest.mark.req("R1.12", "R0.13")
async def test_an_agent_with_a_system_prompt_gets_it_fresh_and_in_front(memory: Hitherto) -> None:
    script = Script()
    agent = Agent(script.model, capabilities=[Memory(memory, user="ana")])
    moments = iter(range(10))

    @agent.system_prompt
    def prompt() -> str:
        return f"prompt {next(moments)}"

    await agent.run("one")
    await agent.run("two")
    assert script.told(0) == "system: prompt 0\nuser: one"
    assert script.told(1).splitlines()[0] == "system: prompt 1"
    assert script.told(1).splitlines()[-1] == "user: two"
    assert "prompt 0" not in script.told(1)


@pytest.mark.req("R1.7")
@pytest.mark.parametrize("reply", ["yes", "sure", "why?", "lol"])
async def test_a_short_reply_comes_after_what_it_answers(memory: Hitherto, clock: FakeClock, reply: str) -> None:
    script = Script(["Shall I book the tiny place by the river?", "all right"])
    agent = companion(memory, script)
    await agent.run("dinner on friday?")
    clock.tick(minutes=3)
    await agent.run(reply)
    assert script.told().splitlines()[-2:] == [
        "assistant: Shall I book the tiny place by the river?",
        f"user: {reply}",
    ]


@pytest.mark.req("R1.7", "R1.8")
async def test_a_short_reply_after_a_day_still_shows_what_it_answers(memory: Hitherto, clock: FakeClock) -> None:
    script = Script(["Shall I book the tiny place by the river?", "all right"])
    agent = companion(memory, script)
    await agent.run("dinner on friday?")
    clock.tick(days=1)
    await agent.run("yes")
    assert "Shall I book the tiny place by the river?" in script.told()
    assert script.told().splitlines()[-1] == "user: yes"


@pytest.mark.req("R1.2", "R1.8")
@pytest.mark.parametrize("hours", [1, 6, 12])
async def test_a_return_on_the_same_day_finds_today(memory: Hitherto, clock: FakeClock, hours: int) -> None:
    await talk(memory, clock, turns=6)
    await memory.add(
        "summary",
        user="ana",
        persona="nikita",
        kind="daily",
        key=f"daily:nikita:{clock().date().isoformat()}",
        day=clock().date(),
        text="Ana told me about her new job.",
        detail={"key_moments": ["She starts on Monday", "She is nervous about the commute"]},
    )
    clock.tick(hours=hours)
    script = Script()
    await companion(memory, script).run("back again")
    today = script.instructions[0].partition("[TODAY SO FAR]")[2].partition("[/TODAY SO FAR]")[0]
    assert "Summary: Ana told me about her new job." in today
    assert "- She starts on Monday" in today
    assert "- She is nervous about the commute" in today
    assert tokenizer("o200k").count(today) <= 500


@pytest.mark.req("R1.4", "R1.8")
async def test_days_later_the_last_conversation_is_there(memory: Hitherto, clock: FakeClock) -> None:
    await talk(memory, clock, turns=6)
    (session,) = await memory.sessions(user="ana")
    await memory.add(
        "summary",
        user="ana",
        persona="nikita",
        kind="session",
        session=session.id,
        key=f"session:{session.id}",
        text="Ana got the job at Acme. She starts on Monday.",
    )
    script = Script()
    agent = companion(memory, script)
    await agent.run("still here")
    assert "[LAST TIME]" not in script.instructions[0], "the running session is not an earlier one"
    clock.tick(days=3)
    await agent.run("hi!")
    last = script.instructions[1].partition("[LAST TIME]")[2].partition("[/LAST TIME]")[0]
    assert "Ana got the job at Acme." in last
    assert tokenizer("o200k").count(last) <= 300


@pytest.mark.req("R1.3", "R1.8")
async def test_open_threads_come_back_and_can_be_closed(memory: Hitherto, clock: FakeClock) -> None:
    for number in range(8):
        await memory.add("loop", user="ana", persona="nikita", kind="promise", text=f"send photo {number}")
        clock.tick(hours=30)
    script = Script([calls(("close_thread", '{"thread": "- (promise) send photo 6"}', "c1")), "done"])
    agent = Agent(script.model, capabilities=[Memory(memory, user="ana", persona="nikita", tools=True)])
    await agent.run("here is the photo")
    head, _, threads = script.instructions[0].partition("[OPEN THREADS]")
    assert head.rstrip().endswith("## Open Threads")
    threads = threads.partition("[/OPEN THREADS]")[0]
    lines = [line for line in threads.splitlines() if line.startswith("- ")]
    assert len(lines) == 5
    assert lines[0] == "- (promise) send photo 7"
    assert tokenizer("o200k").count(threads) <= 400
    assert "tool close_thread: closed: send photo 6" in script.told()
    left = {loop.text for loop in await memory.loops(user="ana", persona="nikita")}
    assert left == {f"send photo {number}" for number in (0, 1, 2, 3, 4, 5, 7)}


@pytest.mark.req("R1.3")
async def test_threads_older_than_a_week_come_last(memory: Hitherto, clock: FakeClock) -> None:
    await memory.add("loop", user="ana", persona="nikita", text="old thread")
    clock.tick(days=8)
    await memory.add("loop", user="ana", persona="nikita", text="new thread")
    script = Script()
    await companion(memory, script).run("hi")
    threads = script.instructions[0]
    assert 0 < threads.index("new thread") < threads.index("old thread")


@pytest.mark.req("R1.6")
async def test_the_snapshot_logs_what_was_sent(memory: Hitherto, clock: FakeClock) -> None:
    await talk(memory, clock, turns=10)
    await memory.add("loop", user="ana", persona="nikita", text="ask about the commute")
    script = Script()
    await companion(memory, script).run("hi")
    (taken,) = await memory.snapshots(user="ana")
    log = (await memory.replay(user="ana", snapshot=taken.id)).log
    assert log["message_history_count"] == 10 == len(script.seen[0]) - 1
    assert isinstance(tokens := log["message_history_tokens"], int)
    assert 0 < tokens <= 3000
    assert log["today_summary_present"] is False
    assert log["open_threads_count"] == 1
    assert log["last_conversation_present"] is False


@pytest.mark.req("R1.5", "R1.11")
async def test_everything_together_stays_under_the_cap(memory: Hitherto, clock: FakeClock) -> None:
    await talk(memory, clock, turns=80, words=60)
    for number in range(30):
        await memory.remember(user="ana", text=f"fact {number} " + "about many things " * 40, pinned=True)
    await memory.add(
        "summary", user="ana", persona="nikita", kind="daily", day=clock().date(),
        key=f"daily:nikita:{clock().date().isoformat()}", text="What a day. " * 300,
    )  # fmt: skip
    script = Script()
    await companion(memory, script).run("about many things, word")
    count = tokenizer("o200k").count
    sent = count(script.instructions[0]) + sum(
        MESSAGE + count(spoken(part) if isinstance(part, UserPromptPart) else transcript([message]))
        for message in script.seen[0]
        for part in message.parts
    )
    assert sent <= 6150
    trim = (await memory.replay(user="ana", snapshot=(await memory.snapshots(user="ana"))[0].id)).recipe
    assert trim == "companion-text"


async def test_a_history_of_the_callers_own_is_left_alone(memory: Hitherto) -> None:
    script = Script()
    agent = companion(memory, script)
    await agent.run("recorded before")
    own = [ModelRequest(parts=[UserPromptPart("mine")]), ModelResponse(parts=[TextPart("yours")])]
    result = await agent.run("now", message_history=own)
    assert script.told() == "user: mine\nassistant: yours\nuser: now"
    assert "You are Nikita" in script.instructions[-1]
    assert len(result.new_messages()) == 2
    texts = [turn.text for turn in await memory.turns(user="ana")]
    assert texts == ["recorded before", "all right", "now", "all right"]


async def test_lanes_and_users_of_one_agent_stay_apart(memory: Hitherto) -> None:
    script = Script(["noted"])
    agent = Agent(
        script.model,
        deps_type=tuple[str, str],
        capabilities=[Memory(memory, user=lambda ctx: ctx.deps[0], lane=lambda ctx: ctx.deps[1])],
    )
    await agent.run("ana's secret", deps=("ana", "work"))
    await agent.run("ben here", deps=("ben", "work"))
    assert "ana's secret" not in script.told()
    await agent.run("other lane", deps=("ana", "home"))
    assert "ana's secret" not in script.told()
    await agent.run("same lane", deps=("ana", "work"))
    assert "ana's secret" in script.told()


async def test_time_between_two_runs_is_told(memory: Hitherto, clock: FakeClock) -> None:
    script = Script()
    agent = companion(memory, script)
    await agent.run("hi")
    clock.tick(hours=timedelta(hours=5).seconds // 3600)
    await agent.run("hi again")
    assert "Time since last message: 5 hours" in script.instructions[-1]
