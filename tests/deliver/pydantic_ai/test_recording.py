"""What is left of a run: every new message once, without the assembled text, however the run ended."""

from __future__ import annotations

import asyncio
import logging
from pathlib import Path
from random import Random

import pytest
from pydantic import BaseModel
from pydantic_ai import Agent, ModelRetry, RunContext
from pydantic_ai.exceptions import UnexpectedModelBehavior, UsageLimitExceeded
from pydantic_ai.messages import (
    BinaryContent,
    ImageUrl,
    ModelResponse,
    TextPart,
    ThinkingPart,
    ToolCallPart,
)
from pydantic_ai.usage import UsageLimits

from hitherto import Hitherto, ToolCall, ToolReturn
from hitherto.deliver.pydantic_ai import Memory
from hitherto.testing import FakeClock
from hitherto.types import Media, StoredTurn, Thinking
from tests.deliver.pydantic_ai.scripted import Script, calls


def remembering(memory: Hitherto, script: Script) -> Agent[object, str]:
    return Agent(script.model, capabilities=[Memory(memory, user="ana")])


async def recorded(memory: Hitherto) -> list[StoredTurn]:
    return await memory.turns(user="ana")


def lines(turns: list[StoredTurn]) -> list[str]:
    return [f"{turn.role}: {turn.text}" for turn in turns]


@pytest.mark.req("R1.1")
async def test_a_run_leaves_its_new_messages_and_nothing_assembled(memory: Hitherto) -> None:
    script = Script(["first answer", "second answer"])
    agent = remembering(memory, script)
    await agent.run("first")
    result = await agent.run("second")
    turns = await recorded(memory)
    assert lines(turns) == ["user: first", "assistant: first answer", "user: second", "assistant: second answer"]
    assert not any("Memory blocks" in turn.text for turn in turns)
    # What was loaded is in the request, not in the run's own messages.
    assert len(result.all_messages()) == 2
    assert turns[1].snapshot
    assert turns[3].snapshot != turns[1].snapshot
    assert turns[0].snapshot is None
    assert len({turn.conversation for turn in turns[:2]}) == 1


@pytest.mark.req("R1.1")
async def test_tools_called_side_by_side_are_kept_in_pairs(memory: Hitherto) -> None:
    script = Script(
        [
            calls(("weather", '{"city": "Oslo"}', "a"), ("weather", '{"city": "Rome"}', "b")),
            "cold and warm",
            "as I said",
        ]
    )
    agent = remembering(memory, script)

    @agent.tool_plain
    def weather(city: str) -> str:
        return f"weather of {city}"

    await agent.run("compare")
    turns = await recorded(memory)
    assert [turn.role for turn in turns] == ["user", "assistant", "tool", "assistant"]
    assert [part.id for part in turns[1].parts if isinstance(part, ToolCall)] == ["a", "b"]
    returns = [part for part in turns[2].parts if isinstance(part, ToolReturn)]
    assert [(part.id, part.name, part.content) for part in returns] == [
        ("a", "weather", "weather of Oslo"),
        ("b", "weather", "weather of Rome"),
    ]
    await agent.run("and?")
    assert script.told().splitlines() == [
        "user: compare",
        'call weather: {"city": "Oslo"}',
        'call weather: {"city": "Rome"}',
        "tool weather: weather of Oslo",
        "tool weather: weather of Rome",
        "assistant: cold and warm",
        "user: and?",
    ]


async def test_a_retried_tool_is_kept_with_what_it_was_told(memory: Hitherto) -> None:
    script = Script([calls(("book", '{"day": 32}', "a")), calls(("book", '{"day": 3}', "b")), "booked"])
    agent = remembering(memory, script)

    @agent.tool_plain
    def book(day: int) -> str:
        if day > 31:
            raise ModelRetry("there is no such day")
        return "ok"

    await agent.run("book it")
    turns = await recorded(memory)
    assert [turn.role for turn in turns] == ["user", "assistant", "tool", "assistant", "tool", "assistant"]
    (first,) = turns[2].parts
    assert isinstance(first, ToolReturn)
    assert "there is no such day" in first.content


async def test_an_answer_that_was_rejected_is_not_what_was_said(memory: Hitherto) -> None:
    script = Script(["bad", "good", "more"])
    agent = remembering(memory, script)

    @agent.output_validator
    def check(ctx: RunContext[object], output: str) -> str:
        if output == "bad":
            raise ModelRetry("better, please")
        return output

    await agent.run("say something good")
    turns = await recorded(memory)
    assert lines(turns) == ["user: say something good", "assistant: ", "assistant: good"]
    assert turns[1].parts == (Thinking(text="bad"),)
    await agent.run("more")
    assert "bad" not in script.told().splitlines()


async def test_reasoning_is_kept_in_the_log_and_not_sent_again(memory: Hitherto) -> None:
    thoughtful = ModelResponse(parts=[ThinkingPart("she likes tea"), TextPart("tea?")])
    script = Script([thoughtful, "ok"])
    agent = remembering(memory, script)
    await agent.run("a drink")
    assert (await recorded(memory))[1].parts == (Thinking(text="she likes tea"),)
    await agent.run("yes")
    assert "thinking" not in script.told()
    assert "assistant: tea?" in script.told()


class Plan(BaseModel):
    place: str
    day: str


async def test_structured_output_is_recorded_as_the_answer(memory: Hitherto) -> None:
    args = '{"place": "Oslo", "day": "Friday"}'
    script = Script([calls(("final_result", args, "f"))])
    agent: Agent[object, Plan] = Agent(script.model, output_type=Plan, capabilities=[Memory(memory, user="ana")])
    result = await agent.run("where to?")
    assert result.output == Plan(place="Oslo", day="Friday")
    assert lines(await recorded(memory)) == ["user: where to?", f"assistant: {args}"]
    await agent.run("why?")
    assert script.told().splitlines()[-2:] == [f"assistant: {args}", "user: why?"]


async def test_structured_output_can_be_put_into_words(memory: Hitherto) -> None:
    script = Script([calls(("final_result", '{"place": "Oslo", "day": "Friday"}', "f"))])
    words = Memory[object](memory, user="ana", answer=lambda plan: f"{plan.place} on {plan.day}")
    await Agent(script.model, output_type=Plan, capabilities=[words]).run("where to?")
    assert lines(await recorded(memory))[-1] == "assistant: Oslo on Friday"


async def test_a_run_that_fails_leaves_what_was_said_until_then(memory: Hitherto) -> None:
    script = Script([calls(("look", "{}", "a")), RuntimeError("the provider is down"), "back"])
    agent = remembering(memory, script)

    @agent.tool_plain
    def look() -> str:
        return "seen"

    with pytest.raises(RuntimeError, match="provider is down"):
        await agent.run("look around")
    turns = await recorded(memory)
    assert [turn.role for turn in turns] == ["user", "assistant", "tool"]
    await agent.run("and now?")
    assert script.told().splitlines() == [
        "user: look around",
        "call look: {}",
        "tool look: seen",
        "user: and now?",
    ]


async def test_a_run_that_never_reached_the_model_leaves_the_prompt(memory: Hitherto) -> None:
    script = Script()
    with pytest.raises(UsageLimitExceeded):
        await remembering(memory, script).run("hello", usage_limits=UsageLimits(request_limit=0))
    assert lines(await recorded(memory)) == ["user: hello"]


async def test_an_exhausted_tool_leaves_a_history_that_can_go_on(memory: Hitherto) -> None:
    script = Script([calls(("broken", "{}", "a"))] * 4 + ["never mind"])
    agent = remembering(memory, script)

    @agent.tool_plain
    def broken() -> str:
        raise ModelRetry("again")

    with pytest.raises(UnexpectedModelBehavior):
        await agent.run("try it")
    script.answers = ["never mind"]
    await agent.run("leave it")
    assert script.told().splitlines()[-1] == "user: leave it"
    called = script.told().count("call broken")
    assert called == script.told().count("tool broken")


async def test_a_cancelled_run_leaves_the_prompt_and_the_tools(memory: Hitherto) -> None:
    script = Script([calls(("slow", "{}", "a"), ("fast", "{}", "b"))])
    agent = remembering(memory, script)
    running = asyncio.Event()

    @agent.tool_plain
    async def slow() -> str:
        running.set()
        await asyncio.Event().wait()
        return "never"

    @agent.tool_plain
    def fast() -> str:
        return "quick"

    task = asyncio.create_task(agent.run("do both"))
    await running.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    turns = await recorded(memory)
    assert [turn.role for turn in turns][:2] == ["user", "assistant"]
    script.answers = ["fine"]
    await agent.run("stop")
    shown = script.told().splitlines()
    assert shown[0] == "user: do both"
    assert shown[-1] == "user: stop"
    assert len([line for line in shown if line.startswith("call")]) == len(
        [line for line in shown if line.startswith("tool")]
    ), "a call that was never answered is not shown"


async def test_a_stream_is_recorded_when_it_ends(memory: Hitherto) -> None:
    script = Script(["one two three"])
    async with remembering(memory, script).run_stream("count") as stream:
        said = [text async for text in stream.stream_text(delta=True, debounce_by=None)]
    assert "".join(said) == "one two three"
    assert lines(await recorded(memory)) == ["user: count", "assistant: one two three"]


async def test_an_abandoned_stream_leaves_what_was_heard(memory: Hitherto) -> None:
    script = Script(["one two three four"], hang_after=3)
    async with remembering(memory, script).run_stream("count") as stream:
        async for text in stream.stream_text(delta=True, debounce_by=None):
            if text.strip() == "three":
                break
    assert lines(await recorded(memory)) == ["user: count", "assistant: one two three"]


async def test_a_stream_that_is_cancelled_leaves_the_prompt(memory: Hitherto) -> None:
    script = Script(["one two three four"], hang_after=2)

    async def listen() -> None:
        async with remembering(memory, script).run_stream("count") as stream:
            async for _ in stream.stream_text(delta=True, debounce_by=None):
                pass

    task = asyncio.create_task(listen())
    await script.started.wait()
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    turns = lines(await recorded(memory))
    assert turns[0] == "user: count"
    assert turns[1:] in ([], ["assistant: one two"])


async def test_stream_events_and_iteration_are_recorded_alike(memory: Hitherto) -> None:
    script = Script(["one", "two"])
    agent = remembering(memory, script)
    async with agent.run_stream_events("first") as events:
        async for _ in events:
            pass
    async with agent.iter("second") as run:
        async for _ in run:
            pass
    assert lines(await recorded(memory)) == ["user: first", "assistant: one", "user: second", "assistant: two"]


async def test_images_are_kept_as_references_and_shown_as_words(memory: Hitherto) -> None:
    script = Script(["a cat", "yes"])
    agent = remembering(memory, script)
    await agent.run(
        ["look", ImageUrl("https://pictures.test/cat.png"), BinaryContent(b"\x89PNG", media_type="image/png")]
    )
    first = (await recorded(memory))[0]
    assert first.text == "look"
    assert [part.url.partition(":")[0] for part in first.parts if isinstance(part, Media)] == ["https", "sha256"]
    assert "<image-url>" in script.told(), "the run itself sends the image"
    await agent.run("is it cute?")
    assert "(image/png: no description)" in script.told()
    assert "<image-url>" not in script.told()


async def test_the_application_can_keep_attachments(memory: Hitherto, tmp_path: Path) -> None:
    def keep(item: BinaryContent) -> str:
        (tmp_path / "kept.png").write_bytes(item.data)
        return "file:kept.png"

    script = Script()
    agent = Agent(script.model, capabilities=[Memory[object](memory, user="ana", keep=keep)])
    await agent.run([BinaryContent(b"\x89PNG", media_type="image/png")])
    assert (await recorded(memory))[0].parts == (Media(media_type="image/png", url="file:kept.png"),)
    assert (tmp_path / "kept.png").read_bytes() == b"\x89PNG"


async def test_concurrent_runs_of_one_user_lose_and_mix_nothing(memory: Hitherto) -> None:
    async def answer(number: int) -> None:
        script = Script([calls(("think", f'{{"n": {number}}}', "same-id")), f"answer {number}"])
        agent = remembering(memory, script)

        @agent.tool_plain
        async def think(n: int) -> str:
            await asyncio.sleep(0)
            return f"thought {n}"

        result = await agent.run(f"question {number}")
        assert result.output == f"answer {number}"

    await asyncio.gather(*(answer(number) for number in range(12)))
    turns = await recorded(memory)
    assert len(turns) == 12 * 4
    for number in range(12):
        place = next(i for i, turn in enumerate(turns) if turn.text == f"answer {number}")
        (made,), (given,) = turns[place - 2].parts, turns[place - 1].parts
        assert isinstance(made, ToolCall)
        assert isinstance(given, ToolReturn)
        assert (made.args, given.content) == (f'{{"n": {number}}}', f"thought {number}")


async def test_text_that_no_store_takes_is_recorded_without_the_rest(memory: Hitherto) -> None:
    script = Script(["fine\x00"])
    await remembering(memory, script).run("a\x00b \ud83d")
    assert lines(await recorded(memory)) == ["user: ab ?", "assistant: fine"]


async def test_a_prompt_without_words_is_answered(memory: Hitherto) -> None:
    script = Script()
    assert (await remembering(memory, script).run("")).output == "all right"
    assert lines(await recorded(memory)) == ["assistant: all right"]


@pytest.mark.req("R1.10")
async def test_a_broken_store_costs_the_memory_and_not_the_conversation(
    tmp_path: Path, clock: FakeClock, caplog: pytest.LogCaptureFixture, rng: Random
) -> None:
    folder = tmp_path / "memories"
    async with Hitherto(folder, clock=clock, recipe="companion-text") as engine:
        await remembering(engine, Script()).run("hello")
    for file in folder.rglob("*"):
        if file.is_file() and file.suffix != ".lock" and "catalog" not in file.name:
            file.write_bytes(rng.randbytes(max(8192, file.stat().st_size)))
    script = Script()
    async with Hitherto(folder, clock=clock, recipe="companion-text") as engine:
        capability = Memory[object](engine, user="ana")
        with caplog.at_level(logging.WARNING):
            result = await Agent(script.model, capabilities=[capability]).run("are you there?")
    assert result.output == "all right"
    assert script.told() == "user: are you there?"
    assert "You are a helpful assistant." in script.instructions[0]
    assert any("not recorded" in record.message for record in caplog.records)


async def test_calls_with_arguments_that_are_no_json_are_kept(memory: Hitherto) -> None:
    script = Script([ModelResponse(parts=[ToolCallPart("look", "{not json", "a")]), "sorry", "again"])
    agent = remembering(memory, script)

    @agent.tool_plain
    def look() -> str:
        return "seen"

    await agent.run("look")
    await agent.run("and?")
    assert script.told().count("call look") == script.told().count("tool look") == 1
