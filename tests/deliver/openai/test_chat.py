"""The endpoint with the real OpenAI client, over HTTP, before a real upstream server."""

from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import httpx
import openai
import pytest
from openai import AsyncOpenAI

from hitherto import Hitherto, ToolCall, ToolReturn
from hitherto.deliver.http import create_app
from hitherto.deliver.openai.upstream import PREPARING, Upstream
from hitherto.settings import Settings
from hitherto.testing import chat_faults
from tests.deliver.openai.conftest import Endpoint, serving
from tests.deliver.openai.upstream import FakeUpstream

WEATHER: Any = {"type": "function", "function": {"name": "weather", "parameters": {"type": "object"}}}
Messages = list[dict[str, Any]]


async def say(client: AsyncOpenAI, messages: Messages | str, **options: Any) -> Any:
    given = [{"role": "user", "content": messages}] if isinstance(messages, str) else messages
    completions: Any = client.chat.completions
    return await completions.create(model="small", messages=given, **options)


def roles(messages: Messages) -> list[str]:
    return [f"{message['role']}: {message.get('content')}" for message in messages if message["role"] != "system"]


async def test_a_client_that_sends_only_the_last_message_is_remembered(endpoint: Endpoint) -> None:
    endpoint.upstream.answers = ["Shall I book the place by the river?", "Booked."]
    client = await endpoint.client()
    first = await say(client, "dinner on friday?")
    assert first.choices[0].message.content == "Shall I book the place by the river?"
    assert first.usage.total_tokens == 12
    await say(client, "yes")
    assert roles(endpoint.upstream.messages) == [
        "user: dinner on friday?",
        "assistant: Shall I book the place by the river?",
        "user: yes",
    ]
    system = endpoint.upstream.messages[0]
    assert system["role"] == "system"
    assert "Current time: 2026-03-02T09:00:00" in system["content"]
    assert chat_faults(endpoint.upstream.messages) == []
    assert (await endpoint.turns())[1].snapshot
    assert endpoint.upstream.headers[0]["authorization"] == "Bearer secret", "our keys stay here"


async def test_a_history_that_is_sent_again_is_recorded_once(endpoint: Endpoint) -> None:
    endpoint.upstream.answers = [f"answer {number}" for number in range(6)]
    client = await endpoint.client()
    messages: Messages = [{"role": "system", "content": "You are brief."}]
    for number in range(6):
        messages.append({"role": "user", "content": f"question {number}"})
        answer = await say(client, messages)
        messages.append({"role": "assistant", "content": answer.choices[0].message.content})
    expected = [line for n in range(6) for line in (f"user: question {n}", f"assistant: answer {n}")]
    assert await endpoint.lines() == expected
    assert roles(endpoint.upstream.messages) == expected[:-1]
    assert endpoint.upstream.messages[0]["content"].startswith("You are brief.\n\n")


async def test_a_client_that_forgets_its_beginning_is_recognised(endpoint: Endpoint) -> None:
    endpoint.upstream.answers = [f"answer {number}" for number in range(9)]
    client = await endpoint.client()
    messages: Messages = []
    for number in range(9):
        messages.append({"role": "user", "content": f"question {number}"})
        answer = await say(client, messages[-5:])
        messages.append({"role": "assistant", "content": answer.choices[0].message.content})
    assert len(await endpoint.turns()) == 18
    assert len(roles(endpoint.upstream.messages)) == 17, "the memory knows more than the client sent"


async def test_a_retried_request_is_recorded_once(endpoint: Endpoint) -> None:
    client = await endpoint.client()
    endpoint.upstream.status = 500
    with pytest.raises(openai.InternalServerError):
        await say(client, "hello?")
    endpoint.upstream.status = 200
    await say(client, "hello?")
    assert await endpoint.lines() == ["user: hello?", "assistant: all right"]
    await asyncio.gather(*(say(client, [*talk("hello?", "all right"), user("and now?")]) for _ in range(4)))
    assert (await endpoint.lines()).count("user: and now?") == 1


def user(text: str) -> dict[str, Any]:
    return {"role": "user", "content": text}


def talk(*texts: str) -> Messages:
    return [{"role": ("user", "assistant")[place % 2], "content": text} for place, text in enumerate(texts)]


async def test_an_answer_made_again_is_a_branch(endpoint: Endpoint) -> None:
    endpoint.upstream.answers = ["first try", "go on"]
    client = await endpoint.client()
    await say(client, "tell me a story")
    again = talk("tell me a story", "first try", "more")
    await say(client, again)
    endpoint.upstream.answers = ["another end"]
    await say(client, again)
    lines = await endpoint.lines()
    assert lines.count("user: more") == 1
    branch = next(turn for turn in await endpoint.turns() if turn.text == "another end")
    assert branch.lane is not None
    assert branch.lane.startswith("~")
    endpoint.upstream.answers = ["and on"]
    await say(client, [*again, {"role": "assistant", "content": "another end"}, user("what then?")])
    later = next(turn for turn in await endpoint.turns() if turn.text == "what then?")
    assert later.lane == branch.lane
    assert roles(endpoint.upstream.messages)[-3:] == ["user: more", "assistant: another end", "user: what then?"]
    assert "go on" not in str(roles(endpoint.upstream.messages))


async def test_an_edited_message_is_a_branch_and_both_can_go_on(endpoint: Endpoint) -> None:
    endpoint.upstream.answers = ["a1", "a2", "a3", "b2", "b3", "a4"]
    client = await endpoint.client()
    await say(client, "u1")
    await say(client, talk("u1", "a1", "u2"))
    await say(client, talk("u1", "a1", "u2", "a2", "u3"))
    await say(client, talk("u1", "a1", "edited"))
    assert roles(endpoint.upstream.messages) == ["user: u1", "assistant: a1", "user: edited"]
    await say(client, talk("u1", "a1", "edited", "b2", "v3"))
    assert roles(endpoint.upstream.messages)[-2:] == ["assistant: b2", "user: v3"]
    await say(client, talk("u1", "a1", "u2", "a2", "u3", "a3", "u4"))
    lanes: dict[str | None, list[str]] = {}
    for turn in await endpoint.turns():
        lanes.setdefault(turn.lane, []).append(turn.text)
    assert lanes.pop(None) == ["u1", "a1", "u2", "a2", "u3", "a3", "u4", "a4"]
    assert list(lanes.values()) == [["edited", "b2", "v3", "b3"]]


async def test_two_chats_that_take_turns_stay_apart(endpoint: Endpoint) -> None:
    endpoint.upstream.answers = ["about cats", "about dogs", "more cats", "more dogs"]
    client = await endpoint.client()
    await say(client, "cats?")
    await say(client, "dogs?")
    await say(client, talk("cats?", "about cats", "and lions?"))
    assert roles(endpoint.upstream.messages) == ["user: cats?", "assistant: about cats", "user: and lions?"]
    await say(client, talk("dogs?", "about dogs", "and wolves?"))
    assert roles(endpoint.upstream.messages)[-3:] == ["user: dogs?", "assistant: about dogs", "user: and wolves?"]
    texts = [turn.text for turn in await endpoint.turns()]
    assert len(texts) == len(set(texts)) == 8


async def test_a_conversation_that_is_named_has_a_lane_of_its_own(endpoint: Endpoint) -> None:
    client = await endpoint.client()
    named = {"X-Hitherto-Conversation": "one"}
    await say(client, "in one", extra_headers=named)
    await say(client, "in two", metadata={"conversation_id": "two"})
    await say(client, "again in one", extra_headers=named, metadata={"conversation_id": "two"})
    assert roles(endpoint.upstream.messages)[0] == "user: in one"
    assert [turn.lane for turn in await endpoint.turns()] == ["one", "one", "two", "two", "one", "one"]


async def test_an_unknown_history_is_taken_over_once(endpoint: Endpoint) -> None:
    client = await endpoint.client()
    old = talk(*(f"old {number}" for number in range(8)))
    await say(client, [*old, user("now")])
    assert len(await endpoint.turns()) == 10
    await say(client, [*old, user("now"), {"role": "assistant", "content": "all right"}, user("next")])
    assert len(await endpoint.turns()) == 12


async def test_tools_pass_through_and_are_kept_in_pairs(endpoint: Endpoint) -> None:
    endpoint.upstream.answers = [
        [("weather", '{"city": "Oslo"}', "a"), ("weather", '{"city": "Rome"}', "b")],
        "cold, warm",
    ]
    client = await endpoint.client()
    asked: Messages = [user("compare")]
    first = await say(client, asked, tools=[WEATHER])
    calls = first.choices[0].message.tool_calls
    assert [call.id for call in calls] == ["a", "b"]
    asked.append(first.choices[0].message.model_dump(exclude_none=True))
    asked += [{"role": "tool", "tool_call_id": link, "content": f"weather {link}"} for link in ("a", "b")]
    await say(client, asked, tools=[WEATHER])
    assert endpoint.upstream.asked[0]["tools"] == [WEATHER]
    assert chat_faults(endpoint.upstream.messages) == []
    assert [message["role"] for message in endpoint.upstream.messages] == [
        "system",
        "user",
        "assistant",
        "tool",
        "tool",
    ]
    turns = await endpoint.turns()
    assert [turn.role for turn in turns] == ["user", "assistant", "tool", "tool", "assistant"]
    assert [part.id for part in turns[1].parts if isinstance(part, ToolCall)] == ["a", "b"]
    assert [part.content for turn in turns[2:4] for part in turn.parts if isinstance(part, ToolReturn)] == [
        "weather a", "weather b",
    ]  # fmt: skip
    await say(client, "thanks")
    assert chat_faults(endpoint.upstream.messages) == []
    assert roles(endpoint.upstream.messages)[-2:] == ["assistant: cold, warm", "user: thanks"]


async def test_a_stream_passes_and_is_recorded(endpoint: Endpoint) -> None:
    endpoint.upstream.answers = ["one two three"]
    client = await endpoint.client()
    stream = await say(client, "count", stream=True, stream_options={"include_usage": True})
    chunks = [chunk async for chunk in stream]
    assert "".join(chunk.choices[0].delta.content or "" for chunk in chunks if chunk.choices) == "one two three"
    assert chunks[-1].usage.total_tokens == 12
    assert await endpoint.settled(2) == ["user: count", "assistant: one two three"]


async def test_a_client_that_asks_again_at_once_is_shown_the_answer(endpoint: Endpoint) -> None:
    client = await endpoint.client()
    endpoint.upstream.answers = [f"answer {number}" for number in range(5)]
    for number in range(5):
        async for _ in await say(client, f"question {number}", stream=True):
            pass
    expected = [line for n in range(4) for line in (f"user: question {n}", f"assistant: answer {n}")]
    assert roles(endpoint.upstream.messages) == [*expected, "user: question 4"]


async def test_streamed_tool_calls_are_put_together(endpoint: Endpoint) -> None:
    endpoint.upstream.answers = [[("weather", '{"city": "Oslo"}', "a"), ("weather", "{}", "b")]]
    client = await endpoint.client()
    async for _ in await say(client, "compare", stream=True, tools=[WEATHER]):
        pass
    await endpoint.settled(2)
    parts = (await endpoint.turns())[1].parts
    assert parts == (
        ToolCall(id="a", name="weather", args='{"city": "Oslo"}'),
        ToolCall(id="b", name="weather", args="{}"),
    )


async def test_a_client_that_leaves_keeps_what_it_heard(endpoint: Endpoint) -> None:
    endpoint.upstream.answers = ["one two three four"]
    endpoint.upstream.hang_after = 3
    client = await endpoint.client()
    stream = await say(client, "count", stream=True)
    async for chunk in stream:
        if chunk.choices[0].delta.content == " three":
            break
    await stream.close()
    assert await endpoint.settled(2) == ["user: count", "assistant: one two three"]


async def test_an_upstream_that_breaks_off_is_an_error_in_the_stream(endpoint: Endpoint) -> None:
    endpoint.upstream.answers = ["one two three four"]
    endpoint.upstream.cut_after = 2
    client = await endpoint.client()
    heard: list[str] = []
    stream = await say(client, "count", stream=True)

    async def listen() -> None:
        async for chunk in stream:
            heard.append(chunk.choices[0].delta.content or "")  # noqa: PERF401 -- what was heard before it broke counts

    with pytest.raises(openai.APIError, match="upstream"):
        await listen()
    assert "".join(heard) == "one two"
    assert await endpoint.settled(2) == ["user: count", "assistant: one two"]


async def test_a_model_id_without_memory(endpoint: Endpoint) -> None:
    client = await endpoint.client()
    names = [model.id async for model in client.models.list()]
    assert names == ["small", "large", "no-memory/small", "no-memory/large"]
    given: Any = [user("Write a title for this chat")]
    await client.chat.completions.create(model="no-memory/small", messages=given)
    assert endpoint.upstream.asked[-1] == {"model": "small", "messages": given}
    assert await endpoint.turns() == []


async def test_unknown_fields_pass(endpoint: Endpoint) -> None:
    client = await endpoint.client()
    await say(client, "hi", temperature=0.3, extra_body={"top_k": 40, "vendor": {"deep": [1, 2]}})
    asked = endpoint.upstream.asked[-1]
    assert (asked["temperature"], asked["top_k"], asked["vendor"]) == (0.3, 40, {"deep": [1, 2]})


async def test_pictures_pass_and_are_kept_as_references(endpoint: Endpoint) -> None:
    client = await endpoint.client()
    content = [
        {"type": "text", "text": "what is this?"},
        {"type": "image_url", "image_url": {"url": "https://pictures.test/cat.png"}},
    ]
    await say(client, [{"role": "user", "content": content}])
    assert endpoint.upstream.messages[-1]["content"] == content
    turn = (await endpoint.turns())[0]
    assert turn.text == "what is this?"
    assert turn.parts[0].kind == "media"


async def test_whose_memory_it_is(endpoint: Endpoint) -> None:
    own = await endpoint.client("ana")
    await say(own, "I am Ana", user="ben")
    assert await endpoint.lines("ana")
    assert await endpoint.lines("ben") == [], "the key's own user comes first"
    _, gateway = await endpoint.keys.create()
    await say(await endpoint.client(key=gateway, **{"X-Hitherto-User": "cid"}), "I am Cid", user="ben")
    assert (await endpoint.lines("cid"))[0] == "user: I am Cid"
    assert await endpoint.lines("ben") == []
    plain = await endpoint.client(key=gateway)
    await say(plain, "I am Ben", user="ben")
    assert (await endpoint.lines("ben"))[0] == "user: I am Ben"
    with pytest.raises(openai.BadRequestError, match="name the user"):
        await say(plain, "I am nobody")


async def test_a_persona_is_named_by_a_header(endpoint: Endpoint) -> None:
    await endpoint.memory.define_persona("nikita", name="Nikita", text="You are Nikita.")
    client = await endpoint.client(**{"X-Hitherto-Persona": "nikita"})
    await say(client, "hi")
    assert "You are Nikita." in endpoint.upstream.messages[0]["content"]
    assert {turn.persona for turn in await endpoint.turns()} == {"nikita"}


async def test_errors_have_openais_shape(endpoint: Endpoint) -> None:
    with pytest.raises(openai.AuthenticationError) as denied:
        await say(await endpoint.client(key="rck_wrong"), "hi")
    told: Any = denied.value.body
    expected = {"message": "", "type": "authentication_error", "param": None, "code": "access_denied"}
    assert {**told, "message": ""} == expected
    _, reader = await endpoint.keys.create(user="ana", scopes=["read"])
    with pytest.raises(openai.PermissionDeniedError):
        await say(await endpoint.client(key=reader), "hi")
    client = await endpoint.client()
    endpoint.upstream.status = 429
    with pytest.raises(openai.RateLimitError, match="no"):
        await say(client, "hi")
    endpoint.upstream.status = 200
    with pytest.raises(openai.BadRequestError) as long:
        await say(client, "word " * 7000)
    assert long.value.code == "context_length_exceeded"
    bad: list[Any] = [[], {}, "text", [1], None]
    for messages in bad:
        async with httpx.AsyncClient(headers={"Authorization": f"Bearer {client.api_key}"}) as http:
            answer = await http.post(
                f"{endpoint.url}/v1/chat/completions", json={"model": "small", "messages": messages}
            )
        assert answer.status_code == httpx.codes.BAD_REQUEST
        assert answer.json()["error"]["type"] == "invalid_request_error"
    async with httpx.AsyncClient(headers={"Authorization": f"Bearer {client.api_key}"}) as http:
        for body in (b"{", b"[]", b'{"messages": []}'):
            answer = await http.post(f"{endpoint.url}/v1/chat/completions", content=body)
            assert answer.status_code == httpx.codes.BAD_REQUEST


async def test_a_history_of_ten_thousand_messages(endpoint: Endpoint) -> None:
    client = await endpoint.client()
    messages = talk(*(f"message {number}" for number in range(10_000)))
    await say(client, [*messages, user("and now?")])
    assert len(roles(endpoint.upstream.messages)) <= 81
    assert roles(endpoint.upstream.messages)[-1] == "user: and now?"
    count = len(await endpoint.memory.turns(user="ana", limit=100_000))
    assert count == 2_001
    await say(client, [*messages, user("and now?"), {"role": "assistant", "content": "all right"}, user("more")])
    assert len(await endpoint.memory.turns(user="ana", limit=100_000)) == count + 2


async def test_an_upstream_that_is_down(tmp_path: Path) -> None:
    async with serving(tmp_path, FakeUpstream(), address="http://127.0.0.1:9") as endpoint:
        client = await endpoint.client()
        for options in ({}, {"stream": True}):
            with pytest.raises(openai.InternalServerError) as failed:
                await say(client, "hi", **options)
            assert failed.value.status_code == httpx.codes.BAD_GATEWAY
            assert failed.value.code == "upstream_failed"
        assert await endpoint.lines() == ["user: hi"], "what the user said is not lost"
        with pytest.raises(openai.InternalServerError):
            await client.models.list()


async def test_more_streams_than_allowed_are_told_to_come_back(tmp_path: Path) -> None:
    upstream = FakeUpstream(answers=["one two three"], hang_after=1)
    async with serving(tmp_path, upstream, streams=1) as endpoint:
        client = await endpoint.client()
        stream = await say(client, "first", stream=True)
        await anext(aiter(stream))
        with pytest.raises(openai.InternalServerError) as busy:
            await say(client, "second")
        assert busy.value.status_code == httpx.codes.SERVICE_UNAVAILABLE
        await stream.close()


async def test_what_can_wait_waits_for_requests_without_a_first_word() -> None:
    upstream, order = Upstream(Settings(upstream="http://127.0.0.1:9/v1")), list[str]()

    async def prepare() -> None:
        async with upstream.preparing():
            order.append("prepared")

    async def store() -> None:
        await upstream.burst_over()
        order.append("stored")

    async with AsyncExitStack() as held:
        for _ in range(PREPARING):
            await held.enter_async_context(upstream.preparing())
        await store()
        assert order == ["stored"], "nobody queues"
        running = [asyncio.create_task(prepare()), asyncio.create_task(store())]
        await asyncio.sleep(0)
        assert order == ["stored"]
    await asyncio.gather(*running)
    assert order == ["stored", "prepared", "stored"]


async def test_an_answer_is_stored_however_many_queue(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("hitherto.deliver.openai.upstream.PATIENCE", 0.01)
    upstream = Upstream(Settings(upstream="http://127.0.0.1:9/v1"))
    async with AsyncExitStack() as held:
        for _ in range(PREPARING):
            await held.enter_async_context(upstream.preparing())
        queued = asyncio.create_task(held.enter_async_context(upstream.preparing()))
        await asyncio.sleep(0)
        await upstream.burst_over()
        assert not queued.done()
        queued.cancel()


async def test_a_store_that_fails_costs_the_memory_and_not_the_answer(endpoint: Endpoint, tmp_path: Path) -> None:
    client = await endpoint.client()
    await say(client, "hello")
    for file in (tmp_path / "m").rglob("*"):
        if file.is_file() and "catalog" not in file.name and file.suffix != ".lock":
            file.write_bytes(b"\xff" * 16_384)
    answer = await say(client, "are you there?")
    assert answer.choices[0].message.content == "all right"


async def test_without_an_upstream_there_is_no_endpoint(tmp_path: Path) -> None:
    async with Hitherto(tmp_path / "m") as memory:
        paths = set(create_app(memory, Settings()).openapi()["paths"])
    assert "/v1/turns" in paths
    assert "/v1/chat/completions" not in paths
