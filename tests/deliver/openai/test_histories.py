"""Histories are recognised by what they mean, in whatever shape clients send them back."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import httpx
import openai
import pytest
from openai import AsyncOpenAI

from hitherto import ToolCall
from tests.deliver.openai.conftest import Endpoint
from tests.deliver.openai.upstream import Reply

TWO = [("weather", '{"city": "Oslo", "unit": "C"}', "a"), ("weather", '{"city": "Rome", "unit": "C"}', "b")]
PICTURE = "data:image/png;base64,iVBORw0KGgo="


async def ask(client: AsyncOpenAI, messages: list[Any], **options: Any) -> Any:
    completions: Any = client.chat.completions
    return await completions.create(model="small", messages=messages, **options)


async def respond(client: AsyncOpenAI, given: Any, **options: Any) -> Any:
    responses: Any = client.responses
    return await responses.create(model="small", input=given, **options)


def lanes(turns: list[Any]) -> set[str | None]:
    return {turn.lane for turn in turns}


@pytest.mark.parametrize("separators", [(",", ":"), (" , ", " : ")], ids=["compact", "spaced"])
async def test_tool_arguments_are_compared_as_json(endpoint: Endpoint, separators: tuple[str, str]) -> None:
    endpoint.upstream.answers = [TWO, "cold, warm"]
    client = await endpoint.client()
    messages: list[Any] = [{"role": "user", "content": "compare"}]
    first = await ask(client, messages)
    message = first.choices[0].message.model_dump(exclude_none=True)
    for call in message["tool_calls"]:
        arguments = json.loads(call["function"]["arguments"])
        call["function"]["arguments"] = json.dumps(arguments, separators=separators, sort_keys=True)
    messages += [message, *({"role": "tool", "tool_call_id": link, "content": '{"t": 1}'} for link in ("a", "b"))]
    await ask(client, messages)
    messages += [{"role": "assistant", "content": "cold, warm"}, {"role": "user", "content": "thanks"}]
    await ask(client, messages)
    turns = await endpoint.turns()
    assert [turn.role for turn in turns] == ["user", "assistant", "tool", "tool", "assistant", "user", "assistant"]
    assert lanes(turns) == {None}


async def test_items_of_one_answer_are_one_turn(endpoint: Endpoint) -> None:
    endpoint.upstream.answers = [Reply("Let me look.", TWO, reasoning=True), "cold, warm", "bye"]
    client = await endpoint.client()
    items: list[Any] = [{"role": "user", "content": "compare"}]
    first = await respond(client, items)
    items += [item.model_dump(exclude_none=True) for item in first.output]
    items += [{"type": "function_call_output", "call_id": link, "output": f"weather {link}"} for link in ("a", "b")]
    second = await respond(client, items)
    assert [item.get("type", "message") for item in endpoint.upstream.asked[-1]["input"]] == [
        "message", "reasoning", "message", "function_call", "function_call", "function_call_output", "function_call_output",
    ]  # fmt: skip
    items += [item.model_dump(exclude_none=True) for item in second.output]
    await respond(client, [*items, {"role": "user", "content": "thanks"}])
    turns = await endpoint.turns()
    assert [turn.role for turn in turns] == ["user", "assistant", "tool", "tool", "assistant", "user", "assistant"]
    assert lanes(turns) == {None}
    assert turns[1].text == "Let me look."
    assert [part.id for part in turns[1].parts if isinstance(part, ToolCall)] == ["a", "b"]


async def test_references_stand_for_what_was_said(endpoint: Endpoint) -> None:
    """What the AI SDK sends by default: ids of items that the upstream server keeps."""
    endpoint.upstream.answers = [Reply("Let me look.", TWO[:1], reasoning=True), "cold", "bye", "again"]
    client = await endpoint.client()
    items: list[Any] = [{"role": "user", "content": "weather?"}]
    first = await respond(client, items)
    items += [{"type": "item_reference", "id": item.id} for item in first.output]
    items.append({"type": "function_call_output", "call_id": "a", "output": "snow"})
    second = await respond(client, items)
    assert endpoint.upstream.asked[-1]["input"][1:] == items[1:], "the tool loop at hand passes as it came"
    items += [{"type": "item_reference", "id": item.id} for item in second.output]
    for words in ("thanks", "bye"):
        items.append({"role": "user", "content": words})
        answer = await respond(client, items)
        items += [{"type": "item_reference", "id": item.id} for item in answer.output]
    turns = await endpoint.turns()
    assert [turn.text for turn in turns if turn.role != "tool"] == [
        "weather?", "Let me look.", "cold", "thanks", "bye", "bye", "again",
    ]  # fmt: skip
    assert lanes(turns) == {None}


async def test_a_branch_keeps_its_reasoning(endpoint: Endpoint) -> None:
    endpoint.upstream.answers = [Reply("Let me look.", TWO[:1], reasoning=True), "cold", "other"]
    client = await endpoint.client()
    items: list[Any] = [{"role": "user", "content": "weather?"}]
    first = await respond(client, items)
    items += [item.model_dump(exclude_none=True) for item in first.output]
    items.append({"type": "function_call_output", "call_id": "a", "output": "snow"})
    second = await respond(client, items)
    answered = [*items, *(item.model_dump(exclude_none=True) for item in second.output)]
    await respond(client, [*answered, {"role": "user", "content": "on"}])
    await respond(client, [*answered, {"role": "user", "content": "edited"}])
    kinds = [item.get("type", "message") for item in endpoint.upstream.asked[-1]["input"]]
    assert kinds == ["message", "reasoning", "message", "function_call", "function_call_output", "message", "message"]


@pytest.mark.parametrize("way", ["previous_response_id", "conversation"])
async def test_a_past_that_the_upstream_keeps_is_not_sent(endpoint: Endpoint, way: str) -> None:
    endpoint.upstream.answers = [TWO[:1], "cold", "bye"]
    client = await endpoint.client()

    def on(answer: Any) -> dict[str, Any]:
        return {"previous_response_id": answer.id} if way == "previous_response_id" else {"conversation": "conv_1"}

    first = await respond(client, "weather?", **({} if way == "previous_response_id" else on(None)))
    output: list[Any] = [{"type": "function_call_output", "call_id": "a", "output": "snow"}]
    second = await respond(client, output, **on(first))
    assert endpoint.upstream.asked[-1]["input"] == output
    await respond(client, "thanks", **on(second))
    assert endpoint.upstream.asked[-1]["input"] == [{"role": "user", "content": "thanks"}]
    turns = await endpoint.turns()
    assert [turn.role for turn in turns] == ["user", "assistant", "tool", "assistant", "user", "assistant"]
    assert len(lanes(turns)) == 1


async def test_an_earlier_answer_that_is_gone_on_from_is_a_branch(endpoint: Endpoint) -> None:
    endpoint.upstream.answers = ["a1", "a2", "b2", "b3"]
    client = await endpoint.client()
    first = await respond(client, "u1")
    await respond(client, "u2", previous_response_id=first.id)
    other = await respond(client, "v2", previous_response_id=first.id)
    await respond(client, "v3", previous_response_id=other.id)
    found: dict[str | None, list[str]] = {}
    for turn in await endpoint.turns():
        found.setdefault(turn.lane, []).append(turn.text)
    assert found.pop(None) == ["u1", "a1", "u2", "a2"]
    assert list(found.values()) == [["v2", "b2", "v3", "b3"]]


async def test_a_retry_after_a_time_out_is_recorded_once(endpoint: Endpoint) -> None:
    endpoint.upstream.late = [4.0]
    endpoint.upstream.answers = ["too late", "in time"]
    client = (await endpoint.client()).with_options(timeout=1.5, max_retries=1)
    answer = await ask(client, [{"role": "user", "content": "hello?"}])
    assert answer.choices[0].message.content == "in time"
    await asyncio.sleep(3.5)
    assert await endpoint.lines() == ["user: hello?", "assistant: in time"]


async def test_a_retry_of_what_was_answered_takes_the_answers_place(endpoint: Endpoint) -> None:
    endpoint.upstream.answers = ["lost on its way", "in time", "and on"]
    client = await endpoint.client()
    await ask(client, [{"role": "user", "content": "hello?"}])
    again = {"x-stainless-retry-count": "1"}
    await ask(client, [{"role": "user", "content": "hello?"}], extra_headers=again)
    assert await endpoint.lines() == ["user: hello?", "assistant: in time"]
    await ask(client, [{"role": "user", "content": "hello?"}])
    assert len(await endpoint.lines()) == 4, "somebody who says the same again is heard again"


async def test_pictures_stay_for_the_follow_up(endpoint: Endpoint) -> None:
    client = await endpoint.client()
    picture = {"type": "image_url", "image_url": {"url": PICTURE}}
    messages: list[Any] = [{"role": "user", "content": [{"type": "text", "text": "what is this?"}, picture]}]
    await ask(client, messages)
    messages += [{"role": "assistant", "content": "all right"}, {"role": "user", "content": "which colour?"}]
    await ask(client, messages)
    assert endpoint.upstream.messages[1]["content"] == [{"type": "text", "text": "what is this?"}, picture]
    link = {"type": "image_url", "image_url": {"url": "https://pictures.example/1.png"}}
    await ask(client, [{"role": "user", "content": [{"type": "text", "text": "and this?"}, link]}])
    await ask(client, [{"role": "user", "content": "which colour?"}])
    assert endpoint.upstream.messages[-3]["content"] == [{"type": "text", "text": "and this?"}, link]


async def test_pictures_stay_in_responses(endpoint: Endpoint) -> None:
    client = await endpoint.client()
    picture = {"type": "input_image", "image_url": PICTURE, "detail": "auto"}
    items: list[Any] = [{"role": "user", "content": [{"type": "input_text", "text": "what is this?"}, picture]}]
    answer = await respond(client, items)
    items += [item.model_dump(exclude_none=True) for item in answer.output]
    await respond(client, [*items, {"role": "user", "content": "which colour?"}])
    sent = endpoint.upstream.asked[-1]["input"]
    assert sent[0]["content"] == [{"type": "input_text", "text": "what is this?"}, picture]
    assert len(await endpoint.turns()) == 4


async def test_who_answers_is_the_clients_to_say(endpoint: Endpoint) -> None:
    client = await endpoint.client()
    own = {"role": "system", "content": "You are Captain Ahab."}
    await ask(client, [own, {"role": "user", "content": "hello"}])
    system = endpoint.upstream.messages[0]["content"]
    assert system.startswith("You are Captain Ahab.\n\n")
    assert system.count("You are") == 1
    named = {"X-Hitherto-Persona": "nikita"}
    await ask(client, [own, {"role": "user", "content": "hello"}], extra_headers=named)
    assert endpoint.upstream.messages[0]["content"].count("You are") == 1, "a persona that is not defined adds nothing"
    await endpoint.memory.define_persona("nikita", name="Nikita", text="You are Nikita.")
    await ask(client, [own, {"role": "user", "content": "hello"}], extra_headers=named)
    assert "You are Nikita." in endpoint.upstream.messages[0]["content"]


async def test_headers_and_queries_pass_and_secrets_do_not(endpoint: Endpoint) -> None:
    client = await endpoint.client()
    given = {"OpenAI-Beta": "tools=v9", "traceparent": "00-1-2-01", "X-Hitherto-Conversation": "c", "Cookie": "k=1"}
    raw: Any = client.chat.completions.with_raw_response
    answer = await raw.create(
        model="small",
        messages=[{"role": "user", "content": "hi"}],
        extra_headers=given,
        extra_query={"api-version": "2030-01-01"},
    )
    sent = endpoint.upstream.headers[-1]
    assert (sent["openai-beta"], sent["traceparent"]) == ("tools=v9", "00-1-2-01")
    assert sent["authorization"] == "Bearer secret"
    assert not {"x-hitherto-conversation", "cookie"} & sent.keys()
    assert endpoint.upstream.queries[-1] == "api-version=2030-01-01"
    assert answer.headers["x-ratelimit-remaining-requests"] == "41"
    assert answer.headers["openai-processing-ms"] == "7"
    assert answer.headers["x-upstream-request-id"] == "up-1"


async def test_every_path_answers_in_openais_shape(endpoint: Endpoint) -> None:
    client = await endpoint.client()
    made = await client.embeddings.create(model="small", input="hi", encoding_format="float")
    assert made.data[0].embedding == [0.5, 0.25]
    answer = await respond(client, "hi")
    assert (await client.responses.retrieve(answer.id)).output_text == "all right"
    stranger = await endpoint.client(user="ben")
    with pytest.raises(openai.NotFoundError) as refused:
        await stranger.responses.retrieve(answer.id)
    assert refused.value.code == "not_found"
    async with httpx.AsyncClient(base_url=endpoint.url, headers={"Authorization": f"Bearer {client.api_key}"}) as plain:
        for method, path in (
            ("GET", "/v1/files"), ("GET", "/v1/chat/completions"), ("POST", "/v1/images/generations"),
            ("GET", "/v1/responses/resp_none"), ("POST", "/v1/embeddings/x"),
        ):  # fmt: skip
            refusal = await plain.request(method, path)
            assert refusal.status_code in (404, 405), path
            assert refusal.json()["error"].keys() == {"message", "type", "param", "code"}, path


async def test_results_of_tools_are_the_same_in_any_order(endpoint: Endpoint) -> None:
    endpoint.upstream.answers = [TWO, "done", "bye"]
    client = await endpoint.client()
    messages: list[Any] = [{"role": "user", "content": "weather?"}]
    first = await ask(client, messages)
    messages.append(first.choices[0].message.model_dump(exclude_none=True))
    results = [{"role": "tool", "tool_call_id": link, "content": f"it is {link}"} for link in "ba"]
    await ask(client, [*messages, *results])
    messages += [*reversed(results), {"role": "assistant", "content": "done"}, {"role": "user", "content": "thanks"}]
    await ask(client, messages)
    turns = await endpoint.turns()
    assert [turn.role for turn in turns] == ["user", "assistant", "tool", "tool", "assistant", "user", "assistant"]
    assert lanes(turns) == {None}


async def test_a_client_that_stopped_an_answer_goes_on_from_what_it_showed(endpoint: Endpoint) -> None:
    endpoint.upstream.answers = ["one two three", "next"]
    endpoint.upstream.hang_after = 2
    client = await endpoint.client()
    stream = await ask(client, [{"role": "user", "content": "count"}], stream=True)
    async for chunk in stream:
        if chunk.choices[0].delta.content == " two":
            break
    await stream.close()
    await endpoint.settled(2)
    shown = [{"role": "user", "content": "count"}, {"role": "assistant", "content": "one"}]
    endpoint.upstream.hang_after = None
    await ask(client, [*shown, {"role": "user", "content": "why one?"}])
    assert await endpoint.lines() == ["user: count", "assistant: one two", "user: why one?", "assistant: next"]
    assert lanes(await endpoint.turns()) == {None}


async def test_thinking_in_an_answer_is_not_said(endpoint: Endpoint) -> None:
    endpoint.upstream.answers = ["<think>\nA greeting.\n</think>\n\nHello!", "<think>Hm", "Fine."]
    client = await endpoint.client()
    messages: list[Any] = [{"role": "user", "content": "hi"}]
    assert (await ask(client, messages)).choices[0].message.content.startswith("<think>"), "clients show it"
    messages += [{"role": "assistant", "content": "Hello!"}, {"role": "user", "content": "how are you?"}]
    await ask(client, messages)
    await ask(client, [*messages, {"role": "assistant", "content": ""}, {"role": "user", "content": "well?"}])
    assert await endpoint.lines() == [
        "user: hi", "assistant: Hello!", "user: how are you?", "user: well?", "assistant: Fine.",
    ]  # fmt: skip


async def test_of_several_answers_the_first_is_said(endpoint: Endpoint) -> None:
    client = await endpoint.client()
    endpoint.upstream.more = ["or else"]
    stream = await ask(client, [{"role": "user", "content": "hi"}], stream=True, n=2)
    heard = [choice.index async for chunk in stream for choice in chunk.choices if choice.delta.content]
    assert set(heard) == {0, 1}
    assert await endpoint.settled(2) == ["user: hi", "assistant: all right"]
    other = [{"role": "user", "content": "hi"}, {"role": "assistant", "content": "or else"}]
    await ask(client, [*other, {"role": "user", "content": "on"}])
    assert (await endpoint.lines()).count("user: hi") == 1
    assert len(lanes(await endpoint.turns())) == 2, "another answer than the first is a branch"


async def test_the_end_of_a_stream_is_no_word_of_it(endpoint: Endpoint) -> None:
    client = await endpoint.client()
    endpoint.upstream.answers = ["one two three"]
    endpoint.upstream.more = ["it ends with data: [DONE] or event: response.completed"]
    async for _ in await ask(client, [{"role": "user", "content": "count"}], stream=True, n=2):
        pass
    assert await endpoint.settled(2) == ["user: count", "assistant: one two three"]


async def test_instructions_after_the_message_stay_there(endpoint: Endpoint) -> None:
    client = await endpoint.client()
    last = {"role": "system", "content": "Answer in one line."}
    await ask(client, [{"role": "developer", "content": "You are Ahab."}, {"role": "user", "content": "hi"}, last])
    first, *rest = endpoint.upstream.messages
    assert (first["role"], first["content"].partition("\n")[0]) == ("developer", "You are Ahab.")
    assert rest == [{"role": "user", "content": "hi"}, last]


async def test_nobody_goes_on_from_anothers_answer(endpoint: Endpoint) -> None:
    own, stranger = await endpoint.client(), await endpoint.client(user="ben")
    answer = await respond(own, "my secret")
    count = len(endpoint.upstream.asked)
    for given in (
        {"given": "go on", "previous_response_id": answer.id},
        {"given": [{"type": "item_reference", "id": answer.output[0].id}, {"role": "user", "content": "go on"}]},
    ):
        with pytest.raises(openai.NotFoundError):
            await respond(stranger, **given)
    assert len(endpoint.upstream.asked) == count
    assert await endpoint.lines("ben") == []


async def test_an_answer_that_comes_later_is_recorded_when_it_is_fetched(endpoint: Endpoint) -> None:
    endpoint.upstream.answers = ["slowly made", "on we go"]
    client = await endpoint.client()
    asked = await respond(client, "think long", background=True)
    assert asked.status == "queued"
    assert await endpoint.lines() == ["user: think long"]
    for _ in range(2):
        assert (await client.responses.retrieve(asked.id)).output_text == "slowly made"
    await respond(client, "and on", previous_response_id=asked.id)
    assert await endpoint.lines() == [
        "user: think long", "assistant: slowly made", "user: and on", "assistant: on we go",
    ]  # fmt: skip


async def test_a_call_of_the_providers_own_tool_stays_with_its_output(endpoint: Endpoint) -> None:
    client = await endpoint.client()
    call = {
        "type": "local_shell_call",
        "call_id": "c",
        "status": "completed",
        "action": {"type": "exec", "command": ["ls"]},
    }
    items: list[Any] = [{"role": "user", "content": "list them"}, call]
    items.append({"type": "local_shell_call_output", "call_id": "c", "output": "a.txt"})
    await respond(client, items)
    items.append({"role": "assistant", "content": "all right"})
    await respond(client, [*items, {"role": "user", "content": "thanks"}])
    sent = endpoint.upstream.asked[-1]["input"]
    assert [item.get("call_id") for item in sent] == [None, "c", "c", None, None]
    assert [turn.role for turn in await endpoint.turns()] == [
        "user",
        "assistant",
        "tool",
        "assistant",
        "user",
        "assistant",
    ]
