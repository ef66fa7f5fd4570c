"""The responses API through the endpoint, with the real client."""

from __future__ import annotations

from typing import Any

from hitherto import ToolCall, ToolReturn
from tests.deliver.openai.conftest import Endpoint


async def test_a_response_is_remembered(endpoint: Endpoint) -> None:
    endpoint.upstream.answers = ["Shall I book it?", "Booked."]
    client = await endpoint.client()
    first = await client.responses.create(model="small", input="dinner?", instructions="Be brief.")
    assert first.output_text == "Shall I book it?"
    await client.responses.create(model="small", input=[{"role": "user", "content": "yes"}])
    asked = endpoint.upstream.asked
    assert asked[0]["instructions"].startswith("Be brief.\n\nMemory blocks contain")
    assert "You are" not in asked[0]["instructions"], "who answers is the client's to say"
    assert asked[1]["input"] == [
        {"role": "user", "content": "dinner?"},
        {"role": "assistant", "content": "Shall I book it?"},
        {"role": "user", "content": "yes"},
    ]
    assert await endpoint.lines() == [
        "user: dinner?", "assistant: Shall I book it?", "user: yes", "assistant: Booked.",
    ]  # fmt: skip


async def test_turns_that_the_upstream_keeps_are_not_sent(endpoint: Endpoint) -> None:
    client = await endpoint.client()
    first = await client.responses.create(model="small", input="one")
    await client.responses.create(model="small", input="two", previous_response_id=first.id)
    asked = endpoint.upstream.asked[-1]
    assert asked["input"] == [{"role": "user", "content": "two"}]
    assert "Current time:" in asked["instructions"]
    assert len(await endpoint.turns()) == 4


async def test_a_streamed_response_is_recorded(endpoint: Endpoint) -> None:
    endpoint.upstream.answers = ["one two three"]
    client = await endpoint.client()
    events = await client.responses.create(model="small", input="count", stream=True)
    words = [event.delta async for event in events if event.type == "response.output_text.delta"]
    assert "".join(words) == "one two three"
    assert await endpoint.settled(2) == ["user: count", "assistant: one two three"]


async def test_function_calls_are_kept_in_pairs(endpoint: Endpoint) -> None:
    endpoint.upstream.answers = [[("weather", '{"city": "Oslo"}', "a")], "cold", "bye"]
    client = await endpoint.client()
    asked: list[Any] = [{"role": "user", "content": "weather?"}]
    first = await client.responses.create(model="small", input=asked)
    asked += [item.model_dump(exclude_none=True) for item in first.output]
    asked.append({"type": "function_call_output", "call_id": "a", "output": "snow"})
    await client.responses.create(model="small", input=asked)
    assert [item.get("type", "message") for item in endpoint.upstream.asked[-1]["input"]] == [
        "message", "function_call", "function_call_output",
    ]  # fmt: skip
    turns = await endpoint.turns()
    assert [turn.role for turn in turns] == ["user", "assistant", "tool", "assistant"]
    assert turns[1].parts == (ToolCall(id="a", name="weather", args='{"city": "Oslo"}'),)
    assert turns[2].parts == (ToolReturn(id="a", name="weather", content="snow"),)
    await client.responses.create(model="small", input="thanks")
    assert [item.get("type", item.get("role")) for item in endpoint.upstream.asked[-1]["input"]] == [
        "user", "function_call", "function_call_output", "assistant", "user",
    ]  # fmt: skip


async def test_a_whole_conversation_that_is_sent_again_is_recorded_once(endpoint: Endpoint) -> None:
    endpoint.upstream.answers = ["a", "b"]
    client = await endpoint.client()
    first = await client.responses.create(model="small", input="one")
    again: list[Any] = [{"role": "user", "content": "one"}]
    again += [item.model_dump(exclude_none=True) for item in first.output]
    await client.responses.create(model="small", input=[*again, {"role": "user", "content": "two"}])
    assert await endpoint.lines() == ["user: one", "assistant: a", "user: two", "assistant: b"]
