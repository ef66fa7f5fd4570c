"""Channels over HTTP: only who proves to be the platform gets in, once, and in time; and a telephone is answered at once."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import AsyncGenerator
from datetime import timedelta
from pathlib import Path
from typing import Any

import httpx
import pytest

from hitherto import Turn
from hitherto.deliver.http.paths import COOKIE
from hitherto.deliver.http.routes.webhooks import CALL_HEADER, CALLER_HEADER, SECRET_HEADER
from hitherto.deliver.telegram import SECRET_HEADER as TELEGRAM_HEADER
from hitherto.deliver.voice import lookups, signatures
from hitherto.settings import Settings
from hitherto.testing import FakeClock
from tests.deliver.http.running import Running, running

SECRET = "open-sesame"
NUMBER = "+49301234567"
CONFIGURED = Settings.read(
    {f"HITHERTO_{name}_SECRET": SECRET for name in ("TELEGRAM", "VOICE", "ELEVENLABS", "VAPI", "RETELL")}
).model_copy(
    update={
        "rate": 0.0,
        "patience_seconds": 60.0,
        "telegram_bot": 42,
        "telegram_persona": "nikita",
        "voice_persona": "nikita",
        "vapi_assistant": "assistant-1",
    }
)
HOOKS = (
    "/v1/telegram/webhook",
    "/v1/voice/elevenlabs/initiation",
    "/v1/voice/elevenlabs/post-call",
    "/v1/voice/vapi",
    "/v1/voice/retell",
    "/v1/voice/elevenlabs/tool",
)


@pytest.fixture
async def open_lines(tmp_path: Path, clock: FakeClock) -> AsyncGenerator[Running]:
    async with running(str(tmp_path / "memories"), settings=CONFIGURED, clock=clock) as service:
        service.app.state.channels.line._deadline = 60.0  # However slow the machine is.
        yield service


def update(number: int = 1, text: str = "hello") -> dict[str, Any]:
    person = {"id": 7, "is_bot": False, "first_name": "Ana"}
    message = {"message_id": number, "date": 1_772_442_000, "chat": {"id": 7, "type": "private"}, "from": person}
    return {"update_id": number, "message": {**message, "text": text}}


def transcript(clock: FakeClock, *words: str, call: str = "conv-1") -> bytes:
    said = [
        {"role": ("user", "agent")[place % 2], "message": text, "time_in_call_secs": place * 5}
        for place, text in enumerate(words)
    ]
    metadata = {
        "start_time_unix_secs": int(clock().timestamp()),
        "call_duration_secs": 60,
        "phone_call": {"external_number": NUMBER},
    }
    data = {"conversation_id": call, "agent_id": "a", "transcript": said, "metadata": metadata}
    return json.dumps({"type": "post_call_transcription", "data": data}).encode()


async def ring(http: httpx.AsyncClient, number: str = NUMBER, secret: str = SECRET) -> httpx.Response:
    return await http.post(
        "/v1/voice/elevenlabs/initiation", json={"caller_id": number}, headers={SECRET_HEADER: secret}
    )


async def hang_up(http: httpx.AsyncClient, body: bytes, clock: FakeClock, **off: float) -> httpx.Response:
    header = signatures.sign_elevenlabs(body, secret=SECRET, at=clock() + timedelta(**off))
    return await http.post(
        "/v1/voice/elevenlabs/post-call", content=body, headers={signatures.ELEVENLABS_HEADER: header}
    )


@pytest.mark.parametrize("hook", HOOKS)
async def test_a_channel_without_a_secret_is_not_there(embedded: Running, hook: str) -> None:
    async with embedded.http() as http:
        assert (await http.post(hook, json={})).status_code == 404


@pytest.mark.parametrize("hook", HOOKS)
async def test_nobody_gets_in_without_the_secret(open_lines: Running, hook: str) -> None:
    wrong = {
        TELEGRAM_HEADER: "wrong",
        SECRET_HEADER: "wrong",
        signatures.ELEVENLABS_HEADER: f"t=1772442000,v0={'0' * 64}",
        signatures.RETELL_HEADER: f"v=1772442000000,d={'0' * 64}",
        signatures.VAPI_HEADER: "wrong",
    }
    async with open_lines.http() as http:
        for headers in ({}, wrong, {"Authorization": "Bearer x"}):
            answer = await http.post(hook, json=update(), headers=headers)
            assert answer.status_code == 401, (hook, headers)
    assert await open_lines.memory.users() == []


@pytest.mark.req("R4.1")
async def test_telegram_updates_are_remembered_once(open_lines: Running) -> None:
    async with open_lines.http(None, **{TELEGRAM_HEADER: SECRET}) as http:
        for number in (1, 2, 2, 1):
            assert (await http.post(HOOKS[0], json=update(number, f"text {number}"))).status_code == 204
        for broken in (b"{", b"\xff", b"[]", b'"x"'):
            answer = await http.post(HOOKS[0], content=broken, headers={"Content-Type": "application/json"})
            assert answer.status_code in (400, 422)
        assert (await http.post(HOOKS[0], json={"update_id": 9, "message": {"x": None}})).status_code == 204
    found = await open_lines.memory.turns(user="telegram:user:7")
    assert [turn.text for turn in found] == ["text 1", "text 2"]
    assert {turn.persona for turn in found} == {"nikita"}


@pytest.mark.req("R0.12")
async def test_a_call_is_remembered_once_and_closes_its_session(open_lines: Running, clock: FakeClock) -> None:
    await open_lines.memory.link("ana", "phone", NUMBER)
    body = transcript(clock, "Hi, I adopted a cat.", "How lovely! What is it called?", "Miso.")
    async with open_lines.http() as http:
        for _ in range(3):
            assert (await hang_up(http, body, clock)).status_code == 204
        other = transcript(clock, "Hi, something else.")
        assert (await hang_up(http, other, clock)).status_code == 204, "a corrected transcript changes nothing"
    found = await open_lines.memory.turns(user="ana")
    assert [turn.text for turn in found] == ["Hi, I adopted a cat.", "How lovely! What is it called?", "Miso."]
    (session,) = await open_lines.memory.sessions(user="ana")
    assert session.status == "closed"


@pytest.mark.parametrize(("off", "status"), [({}, 204), ({"hours": -2}, 401), ({"hours": 2}, 401)])
async def test_old_and_future_deliveries_are_refused(
    open_lines: Running, clock: FakeClock, off: dict[str, float], status: int
) -> None:
    async with open_lines.http() as http:
        assert (await hang_up(http, transcript(clock, "hello"), clock, **off)).status_code == status
        signed = signatures.sign_elevenlabs(b"other", secret=SECRET, at=clock())
        headers = {signatures.ELEVENLABS_HEADER: signed}
        answer = await http.post(HOOKS[2], content=transcript(clock, "hello"), headers=headers)
        assert answer.status_code == 401, "a signature is of one body"
        broken = b'{"type": "post_call_transcription"'
        assert (await hang_up(http, broken, clock)).status_code == 400


@pytest.mark.req("R0.12")
async def test_morning_call_text_at_noon_evening_call(open_lines: Running, clock: FakeClock) -> None:
    """One continuity: what was said on the phone and in text is there when the phone rings again."""
    await open_lines.memory.link("ana", "phone", NUMBER)
    token = await open_lines.key()
    async with open_lines.http(token) as http:
        assert (await ring(http)).json()["dynamic_variables"]["known_caller"] == "false"
        body = transcript(clock, "I have an interview at Acme tomorrow.", "Good luck!")
        assert (await hang_up(http, body, clock)).status_code == 204
        clock.tick(hours=3)
        answer = (await ring(http)).json()
        assert answer["dynamic_variables"]["known_caller"] == "true"
        loop = {"text": "Ask how the Acme interview went", "kind": "promise", "persona": "nikita"}
        assert (await http.post("/v1/users/ana/loops", json=loop)).status_code == 201
        turn = {"user": "ana", "role": "user", "text": "They moved it to Friday.", "persona": "nikita"}
        assert (await http.post("/v1/turns", json=turn)).status_code == 200
        await open_lines.app.state.channels.line.settled()
        clock.tick(hours=6)
        evening = (await ring(http)).json()
    prompt = evening["conversation_config_override"]["agent"]["prompt"]["prompt"]
    assert "Ask how the Acme interview went" in prompt
    assert "Time since last message: 6 hours" in prompt
    assert clock().isoformat(timespec="seconds") in prompt
    assert evening["dynamic_variables"]["memory"] == prompt


async def test_a_ring_does_not_wait_for_the_store(
    open_lines: Running, clock: FakeClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With every look into the memory hanging, a known caller gets their prompt and a new one the defaults."""
    memory = open_lines.app.state.channels.line._memory
    await memory.record(Turn(f"voice:user:{NUMBER}", "user", "I adopted a cat.", persona="nikita"))
    hanging = asyncio.Event()

    async def hang(*args: object, **options: object) -> None:
        await hanging.wait()

    async with open_lines.http() as http:
        first = (await ring(http)).json()
        monkeypatch.setattr(open_lines.app.state.channels.line, "_deadline", 0.05)
        for name in ("context", "resolve", "head", "user", "loops", "sessions", "turns"):
            monkeypatch.setattr(memory, name, hang)
        answers = await asyncio.gather(*(ring(http) for _ in range(50)))
        assert all(answer.json() == first for answer in answers)
        stranger = (await ring(http, number="+1")).json()
    assert first["dynamic_variables"]["known_caller"] == "true"
    assert stranger["dynamic_variables"]["known_caller"] == "false"


async def test_rings_are_answered_while_everything_else_is_turned_away(tmp_path: Path, clock: FakeClock) -> None:
    busy = CONFIGURED.model_copy(update={"concurrency": 1, "waiting": 0})
    async with running(str(tmp_path / "memories"), settings=busy, clock=clock) as service:
        token = await service.key()
        started, finish = asyncio.Event(), asyncio.Event()

        async def hang(**asked: object) -> list[object]:
            started.set()
            await finish.wait()
            return []

        memory: Any = service.app.state.service.memory("default")
        memory.search = hang
        async with service.http(token) as http:
            slow = asyncio.create_task(http.post("/v1/search", json={"user": "ana", "query": "x"}))
            await started.wait()
            refused = await http.post("/v1/context", json={"user": "ana", "message": "yes"})
            assert (refused.status_code, refused.headers["retry-after"]) == (503, "1")
            assert (await ring(http)).status_code == 200
            assert (await http.get("/healthz")).status_code == 200
            finish.set()
            assert (await slow).status_code == 200


async def test_vapi_and_retell(open_lines: Running, clock: FakeClock) -> None:
    await open_lines.memory.record(Turn(f"voice:user:{NUMBER}", "user", "I adopted a cat.", persona="nikita"))
    async with open_lines.http() as http:
        asked = {"message": {"type": "assistant-request", "call": {"id": "c", "customer": {"number": NUMBER}}}}
        answer = await http.post(HOOKS[3], json=asked, headers={signatures.VAPI_HEADER: SECRET})
        assert answer.json()["assistantId"] == "assistant-1"
        assert answer.json()["assistantOverrides"]["variableValues"]["known_caller"] == "true"
        bearer = await http.post(HOOKS[3], json=asked, headers={"Authorization": f"Bearer {SECRET}"})
        assert (bearer.status_code, bearer.json()) == (200, answer.json()), "credentials of Vapi's newer kind"
        other = await http.post(HOOKS[3], json={"message": {"type": "x"}}, headers={signatures.VAPI_HEADER: SECRET})
        assert other.json() == {}
        inbound = json.dumps({"event": "call_inbound", "call_inbound": {"from_number": NUMBER}}).encode()
        signed = {signatures.RETELL_HEADER: signatures.sign_retell(inbound, secret=SECRET, at=clock())}
        answer = await http.post(HOOKS[4], content=inbound, headers=signed)
        assert answer.json()["call_inbound"]["dynamic_variables"]["known_caller"] == "true"
        clock.tick(hours=1)
        assert (await http.post(HOOKS[4], content=inbound, headers=signed)).status_code == 401, "played back later"


async def test_what_was_forgotten_is_not_said_on_the_telephone(open_lines: Running, clock: FakeClock) -> None:
    user = f"voice:user:{NUMBER}"
    await open_lines.memory.add("loop", user=user, text="Ask about the xyzzy", persona="nikita")
    async with open_lines.http(await open_lines.key()) as http:
        assert "xyzzy" in (await ring(http)).text
        (loop,) = await open_lines.memory.loops(user=user)
        assert (await http.delete(f"/v1/users/{user}/loops/{loop.id}")).status_code == 200
        assert "xyzzy" not in (await ring(http)).text
        await open_lines.memory.add("loop", user=user, text="Ask about the plugh", persona="nikita")
        await open_lines.app.state.channels.line.refresh()
        assert "plugh" in (await ring(http)).text, "written by another process, seen by the refreshing"
        assert (await http.delete(f"/v1/users/{user}")).status_code == 200
        assert (await ring(http)).json()["dynamic_variables"]["known_caller"] == "false"


async def look_up(http: httpx.AsyncClient, query: str, *, call: str = "conv-9", caller: str = NUMBER) -> str:
    headers = {SECRET_HEADER: SECRET, CALLER_HEADER: caller, CALL_HEADER: call}
    answer = await http.post("/v1/voice/elevenlabs/tool", json={"query": query}, headers=headers)
    assert answer.status_code == 200
    return answer.json()["result"]


@pytest.mark.req("R0.14")
async def test_during_a_call_the_memory_is_read_sparingly_and_never_written(
    open_lines: Running, clock: FakeClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory = open_lines.memory
    await memory.link("ana", "phone", NUMBER)
    await memory.record(Turn("ana", "user", "My dog is called Rex.", persona="nikita", at=clock()))
    await memory.record(Turn("bob", "user", "My dog is called Fido.", persona="nikita", at=clock()))
    await memory.record(Turn("ana", "user", "My dog bites.", persona="other", at=clock()))
    line = open_lines.app.state.channels.line
    line._lookup_seconds = 60.0  # However slow the machine is.
    before = await memory.head(user="ana")
    async with open_lines.http() as http:
        found = await look_up(http, "what is the dog called?")
        assert "Rex" in found
        assert "Fido" not in found, "somebody else's"
        assert "bites" not in found, "another persona's"
        assert await look_up(http, "dog", caller="+1", call="x") == lookups.NOTHING
        asked = {"type": "tool-calls", "call": {"id": "v", "customer": {"number": NUMBER}}}
        calls = [
            {"id": "a", "type": "function", "function": {"name": lookups.TOOL, "arguments": '{"query": "dog"}'}},
            {"id": "b", "name": "other"},
        ]
        body = {"message": {**asked, "toolCallList": calls}}
        answer = await http.post("/v1/voice/vapi", json=body, headers={signatures.VAPI_HEADER: SECRET})
        first, second = answer.json()["results"]
        assert ("Rex" in first["result"], second["result"]) == (True, lookups.UNKNOWN)
        assert (first["toolCallId"], first["name"]) == ("a", lookups.TOOL)
        function = {"name": lookups.TOOL, "call": {"call_id": "r", "from_number": NUMBER}, "args": {"query": "dog"}}
        raw = json.dumps(function).encode()
        signed = {signatures.RETELL_HEADER: signatures.sign_retell(raw, secret=SECRET, at=clock())}
        answer = await http.post("/v1/voice/retell", content=raw, headers=signed)
        assert "Rex" in answer.json()["result"]
        more = [await look_up(http, f"dog {number}") for number in range(5)]
        assert [one == lookups.ENOUGH for one in more] == [False] * 4 + [True], "five in one call"

        async def hang(**asked: object) -> None:
            await asyncio.Event().wait()

        monkeypatch.setattr(line._memory, "search", hang)
        line._lookup_seconds = 0.01
        assert await look_up(http, "dog", call="another") == lookups.TOO_LATE
    assert await memory.head(user="ana") == before


@pytest.mark.req("R0.14")
async def test_the_prompt_is_made_anew_after_text_after_its_session_and_at_midnight(
    open_lines: Running, clock: FakeClock
) -> None:
    memory, line = open_lines.memory, open_lines.app.state.channels.line
    await memory.link("ana", "phone", NUMBER)
    await memory.set_user("ana", zone="Asia/Tokyo")
    async with open_lines.http(await open_lines.key()) as http:

        async def heard() -> str:
            return (await ring(http)).json()["dynamic_variables"]["memory"]

        assert "Rex" not in await heard()
        lease = "I signed the lease for the flat in Leeds with my sister Maria."
        await memory.record(Turn("ana", "user", lease, persona="nikita"))
        clock.tick(minutes=31)
        await memory.settle(user="ana")
        turn = {"user": "ana", "role": "user", "text": "My dog Rex is ill today.", "persona": "nikita"}
        assert (await http.post("/v1/turns", json=turn)).status_code == 200
        await line.settled()
        assert "Rex" in await heard(), "after text, at once"
        clock.tick(minutes=31)
        await memory.settle(user="ana")
        await line.refresh()
        today = await heard()
        assert "[TODAY SO FAR]" in today, "after the text session, with what was made of it"
        assert "Current date: Monday, March 2, 2026" in today
        midnight = line._kept["ana"].prompt.valid_until
        assert midnight.isoformat() == "2026-03-02T15:00:00+00:00", "the user's own midnight"
        clock.tick(seconds=(midnight - clock()).total_seconds())
        ran_out = await heard()
        assert "[TODAY SO FAR]" not in ran_out
        assert "Current date:" not in ran_out
        await line.refresh()
        assert "Current date: Tuesday, March 3, 2026" in await heard(), "made anew at midnight"


@pytest.mark.req("R0.12")
async def test_a_service_that_was_started_a_moment_ago_knows_its_callers(
    open_lines: Running, clock: FakeClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Prompts are made at the start; after that a ring builds none, whether the caller is linked or known by the number."""
    memory, line = open_lines.memory, open_lines.app.state.channels.line
    await memory.link("ana", "phone", NUMBER)
    for user in ("ana", "voice:user:+1", "never calls"):
        await memory.record(Turn(user, "user", "I adopted a cat.", persona="nikita", at=clock()))
    await line.warm()
    assert set(line._kept) == {"ana", "voice:user:+1"}

    async def fail(**asked: object) -> None:
        raise AssertionError("no context is built while it rings")

    monkeypatch.setattr(line._memory, "context", fail)
    async with open_lines.http() as http:
        for number in (NUMBER, "+1"):
            assert (await ring(http, number=number)).json()["dynamic_variables"]["known_caller"] == "true"


@pytest.mark.req("R0.12")
async def test_a_prompt_that_came_too_late_is_there_for_the_next_ring(
    open_lines: Running, clock: FakeClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory, line = open_lines.memory, open_lines.app.state.channels.line
    await memory.record(Turn(f"voice:user:{NUMBER}", "user", "I adopted a cat.", persona="nikita", at=clock()))
    slow, context = asyncio.Event(), line._memory.context

    async def wait(**asked: Any) -> object:
        await slow.wait()
        return await context(**asked)

    monkeypatch.setattr(line._memory, "context", wait)
    monkeypatch.setattr(line, "_deadline", 0.05)
    async with open_lines.http() as http:
        assert (await ring(http)).json()["dynamic_variables"]["known_caller"] == "false"
        slow.set()
        await line.settled()
        assert (await ring(http)).json()["dynamic_variables"]["known_caller"] == "true"


async def test_a_number_that_is_linked_means_that_user_from_then_on(open_lines: Running, clock: FakeClock) -> None:
    memory, line = open_lines.memory, open_lines.app.state.channels.line
    for user, loop in ((f"voice:user:{NUMBER}", "Ask about the xyzzy"), ("ana", "Ask about the plugh")):
        await memory.add("loop", user=user, text=loop, persona="nikita")
    async with open_lines.http(await open_lines.key()) as http:
        assert "xyzzy" in (await ring(http)).text
        body = {"user": "ana", "channel": "phone", "external_id": NUMBER}
        assert (await http.post("/v1/links", json=body)).status_code == 204
        assert "plugh" in (await ring(http)).text
        assert "xyzzy" not in (await ring(http)).text
        await memory.add("loop", user="voice:user:+1", text="Ask about the frobnitz", persona="nikita")
        assert "frobnitz" in (await ring(http, number="+1")).text
        await memory.link("ana", "phone", "+1")
        await line.refresh()
        assert "plugh" in (await ring(http, number="+1")).text, "linked by another process, seen by the refreshing"


async def said_by(open_lines: Running, text: str, *, user: str = "ana") -> str:
    """One turn of a user whose number is linked."""
    await open_lines.memory.link(user, "phone", NUMBER)
    (turn,) = await open_lines.memory.record(Turn(user, "user", text, persona="nikita", at=open_lines.clock()))
    return turn


@pytest.mark.parametrize("way", ["inspector", "mcp"])
async def test_what_was_forgotten_in_the_inspector_or_by_a_tool_is_not_said_either(
    open_lines: Running, way: str
) -> None:
    turn = await said_by(open_lines, "My cat is called Xyzzy.")
    key = await open_lines.key(user="ana", scopes=("read", "write", "forget"))
    lifespan = open_lines.app.router.lifespan_context(open_lines.app)
    async with lifespan, open_lines.http(key, Accept="application/json") as http:
        assert "Xyzzy" in (await ring(http)).text
        if way == "mcp":
            call = {"name": "forget", "arguments": {"id": turn, "kind": "turn"}}
            body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call}
            assert (await http.post("/mcp", json=body, headers={"Host": "localhost"})).status_code == 200
        else:
            http.cookies.set(COOKIE, key)
            del http.headers["Authorization"]
            page = await http.get("/inspect/memory", params={"user": "ana"})
            token = re.search(r'name="form_token" value="(\w+)"', page.text)
            assert token is not None
            filled = {"form_token": token[1], "user": "ana", "what": "turn", "id": turn}
            assert (await http.post("/inspect/memory/forget", data=filled)).status_code == 200
        assert await open_lines.memory.turns(user="ana") == []
        assert "Xyzzy" not in (await ring(http)).text


async def test_a_prompt_that_was_being_made_does_not_bring_back_what_was_forgotten(
    open_lines: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither for a ring that waits for it, which is answered with what is left, nor for the next one."""
    line = open_lines.app.state.channels.line
    turn = await said_by(open_lines, "My cat is called Xyzzy.")
    await said_by(open_lines, "My dog is called Plugh.")
    read, go_on, context = asyncio.Event(), asyncio.Event(), line._memory.context

    async def wait(**asked: Any) -> object:
        built = await context(**asked)
        read.set()
        await go_on.wait()
        return built

    monkeypatch.setattr(line._memory, "context", wait)
    async with open_lines.http(await open_lines.key()) as http:
        for begin in (lambda: ring(http), line.refresh):
            read.clear()
            go_on.clear()
            under_way = asyncio.create_task(begin())
            await read.wait()
            assert (await http.delete(f"/v1/users/ana/turns/{turn}")).status_code == 200
            go_on.set()
            await under_way
            answer = (await ring(http)).text
            assert ("Xyzzy" in answer, "Plugh" in answer) == (False, True)
            turn = await said_by(open_lines, "My cat is called Xyzzy.")


async def test_whoever_was_forgotten_and_is_back_is_not_known_by_the_number(open_lines: Running) -> None:
    line = open_lines.app.state.channels.line
    await said_by(open_lines, "My cat is called Xyzzy.")
    async with open_lines.http(await open_lines.key()) as http:
        for forget in (
            lambda: http.delete("/v1/users/ana"),
            lambda: open_lines.memory.forget(user="ana", everything=True),
        ):
            assert "Xyzzy" in (await ring(http)).text
            await forget()
            await open_lines.memory.record(Turn("ana", "user", "My dog is called Plugh.", persona="nikita"))
            await line.refresh()
            assert (await ring(http)).json()["dynamic_variables"]["known_caller"] == "false"
            await open_lines.memory.forget(user="ana", everything=True)
            await said_by(open_lines, "My cat is called Xyzzy.")


async def test_a_prompt_ends_with_its_user_even_if_as_much_was_said_since(open_lines: Running) -> None:
    """Forgotten by another process; the log's head alone is the same as before."""
    line = open_lines.app.state.channels.line
    await said_by(open_lines, "My cat is called Xyzzy.")
    async with open_lines.http(await open_lines.key()) as http:
        assert "Xyzzy" in (await ring(http)).text
        before = await open_lines.memory.head(user="ana")
        await open_lines.memory.forget(user="ana", everything=True)
        await said_by(open_lines, "My dog is called Plugh.")
        assert await open_lines.memory.head(user="ana") == before
        await line.refresh()
        answer = (await ring(http)).text
        assert ("Xyzzy" in answer, "Plugh" in answer) == (False, True)
