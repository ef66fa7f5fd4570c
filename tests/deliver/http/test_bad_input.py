"""What clients get wrong, or try: refused clearly, in one shape, and nothing is stored of it."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from hitherto.errors import HithertoError
from hitherto.testing import FakeClock
from tests.deliver.http.running import QUICK, Running, running

TURN = {"user": "ana", "role": "user", "text": "hi"}
JSON = {"Content-Type": "application/json"}


@pytest.mark.parametrize(
    ("body", "status"),
    [
        (b"", 422),
        (b"{", 400),
        (b"\xff\xfe\x00", 400),
        (b'{"user": "ana", "role": "user", "text": "\xc3\x28"}', 400),
        (b"null", 422),
        (b"[]", 422),
        (b"[[[[" * 50_000, 400),
        (json.dumps({**TURN, "text": "lone \ud800 surrogate"}).encode(), 422),
        (json.dumps({**TURN, "text": "nul \x00 inside"}).encode(), 422),
        (json.dumps({**TURN, "user": ""}).encode(), 422),
        (json.dumps({**TURN, "user": "x" * 513}).encode(), 422),
        (json.dumps({**TURN, "role": "robot"}).encode(), 422),
        (json.dumps({**TURN, "surprise": 1}).encode(), 422),
        (json.dumps({**TURN, "at": "2026-03-02T09:00:00"}).encode(), 422),
        (json.dumps({**TURN, "at": "1960-03-02T09:00:00Z"}).encode(), 422),
        (json.dumps({**TURN, "at": "9999-12-31T23:59:59Z"}).encode(), 422),
        (json.dumps({**TURN, "text": "x" * 1_000_001}).encode(), 422),
        (json.dumps([TURN] * 1_001).encode(), 422),
        (json.dumps([TURN, {**TURN, "text": ""}]).encode(), 422),
    ],
)
async def test_bad_turns_are_refused(embedded: Running, body: bytes, status: int) -> None:
    async with embedded.http(await embedded.key()) as http:
        answer = await http.post("/v1/turns", content=body, headers=JSON)
    assert answer.status_code == status, answer.text[:300]
    error = answer.json()["error"]
    assert error["request_id"] == answer.headers["x-request-id"]
    assert len(answer.text) < 1_000, "an answer does not repeat what was sent"
    assert await embedded.memory.users() == []


@pytest.mark.parametrize(
    ("method", "path", "body", "word"),
    [
        ("POST", "/v1/context", {"user": "ana", "message": "x", "recipe": "/etc/recipe.toml"}, "recipe"),
        ("POST", "/v1/context", {"user": "ana", "message": "x", "recipe": {"name": "mine"}}, "recipe"),
        ("POST", "/v1/context", {"user": "ana", "message": "x", "turn": "y"}, "either"),
        ("POST", "/v1/context", {"user": "ana", "mesage": "x"}, "did you mean 'message'?"),
        ("POST", "/v1/context", {"user": "ana", "message": "x", "recipe": "compagnion"}, "did you mean 'companion'?"),
        ("POST", "/v1/users/ana/memories", {"text": "x", "importance": 9}, "importance"),
        ("POST", "/v1/users/ana/memories", {"text": "x", "seq": 1}, "seq"),
        ("PATCH", "/v1/users/ana", {"zone": "Mars/Olympus"}, "Mars"),
        ("PATCH", "/v1/users/ana", {"extra": {"zone": "UTC"}}, "zone"),
        ("PATCH", "/v1/users/ana", {"extra": {"user": "bob"}}, "user"),
        ("PATCH", "/v1/users/ana/state", {"fields": {"persona": "x"}}, "persona"),
        ("PATCH", "/v1/users/ana/state", {"fields": {"self": 1}}, "self"),
        ("PUT", "/v1/personas/p", {"name": "P", "text": "x", "extra": {"id": "q"}}, "id"),
        ("PUT", "/v1/personas/p", {"name": "P", "text": "word " * 5_000}, "tokens"),
        ("GET", "/v1/users/ana/memories?cursor=zzz", None, "cursor"),
        ("GET", "/v1/users/ana/memories?limit=0", None, "limit"),
        ("GET", "/v1/users/ana/turns?cursor=WyJ4Il0", None, "cursor"),
    ],
)
async def test_refusals_say_what_is_wrong(embedded: Running, method: str, path: str, body: Any, word: str) -> None:
    await embedded.memory.remember(user="ana", text="so that she is there")
    async with embedded.http(await embedded.key()) as http:
        answer = await http.request(method, path, json=body)
    assert answer.status_code == 422, answer.text
    assert word in answer.json()["error"]["message"]


async def test_json_that_is_not_said_to_be_json(embedded: Running) -> None:
    async with embedded.http(await embedded.key()) as http:
        answer = await http.post("/v1/context", content=b'{"user": "ana", "message": "x"}')
    assert answer.status_code == 422
    assert "Content-Type: application/json" in answer.json()["error"]["message"]


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ({"role": "user", "text": "hi"}, "user: "),
        ({**TURN, "txt": "hi"}, "txt: there is no such field (did you mean 'text'?)"),
        ([TURN, {"user": "ana", "role": "user"}], "1.text: "),
    ],
)
async def test_a_field_of_a_turn_is_named_as_it_was_sent(embedded: Running, body: Any, words: str) -> None:
    async with embedded.http(await embedded.key()) as http:
        answer = await http.post("/v1/turns", json=body)
        unsaid = await http.post("/v1/turns", content=json.dumps(body))
    assert (answer.status_code, unsaid.status_code) == (422, 422)
    assert answer.json()["error"]["message"].startswith(words)
    assert "Content-Type: application/json" in unsaid.json()["error"]["message"]


async def test_a_path_that_is_not_there_says_where_all_are_listed(embedded: Running) -> None:
    async with embedded.http(await embedded.key()) as http:
        answer = await http.get("/v1/contxt")
        listed = await http.get("/openapi.json")
    error = answer.json()["error"]
    assert (answer.status_code, error["type"], listed.status_code) == (404, "not_found", 200)
    assert "/openapi.json" in error["message"]


async def test_not_a_number_is_not_a_number(embedded: Running) -> None:
    await embedded.memory.remember(user="ana", text="so that she is there")
    async with embedded.http(await embedded.key()) as http:
        body = b'{"fields": {"mood": NaN}}'
        assert (await http.patch("/v1/users/ana/state", content=body, headers=JSON)).status_code == 422


async def test_a_body_over_the_limit(tmp_path: Path, clock: FakeClock) -> None:
    settings = QUICK.model_copy(update={"body_limit": 1_000, "import_limit": 5_000})
    async with (
        running(str(tmp_path / "m"), settings=settings, clock=clock) as service,
        service.http(await service.key()) as http,
    ):
        announced = await http.post("/v1/turns", json={**TURN, "text": "x" * 1_000})
        assert (announced.status_code, announced.headers["connection"]) == (413, "close")

        async def pieces() -> AsyncIterator[bytes]:
            for _ in range(100):
                yield b" " * 100

        assert (await http.post("/v1/turns", content=pieces(), headers=JSON)).status_code == 413
        assert (await http.post("/v1/users/ana/import", content=pieces())).status_code == 413
        for path in ("/v1/users/ana/memories/import", "/v1/users/ana/turns/import"):
            assert (await http.patch(path, content=pieces(), headers=JSON)).status_code == 413, path
        assert (await http.post("/v1/turns", json=TURN)).status_code == 200


async def test_bodies_in_memory_are_bounded_over_all_requests(tmp_path: Path, clock: FakeClock) -> None:
    settings = QUICK.model_copy(update={"buffer_limit": 1_000})
    async with (
        running(str(tmp_path / "m"), settings=settings, clock=clock) as service,
        service.http(await service.key()) as http,
    ):
        arriving = asyncio.Event()

        async def slowly() -> AsyncIterator[bytes]:
            yield b" " * 900
            await arriving.wait()
            yield json.dumps(TURN).encode()

        first = asyncio.create_task(http.post("/v1/turns", content=slowly(), headers=JSON))
        await asyncio.sleep(0.05)
        second = await http.post("/v1/turns", json={**TURN, "text": "x" * 200})
        assert second.status_code == 503
        arriving.set()
        assert (await first).status_code == 200
        assert (await http.post("/v1/turns", json={**TURN, "text": "x" * 200})).status_code == 200


async def test_slow_imports_hold_up_nobody_else(tmp_path: Path, clock: FakeClock) -> None:
    settings = QUICK.model_copy(update={"concurrency": 2, "patience_seconds": 0.1})
    async with (
        running(str(tmp_path / "m"), settings=settings, clock=clock) as service,
        service.http(await service.key()) as http,
    ):
        arriving = asyncio.Event()

        async def slowly() -> AsyncIterator[bytes]:
            yield b" "
            await arriving.wait()

        slow = [asyncio.create_task(http.post("/v1/users/ana/import", content=slowly())) for _ in range(2)]
        async with asyncio.timeout(30):
            while (await http.get("/v1/users/ana/export")).status_code != 503:  # noqa: ASYNC110 -- only the service knows when
                await asyncio.sleep(0.01)
        assert (await http.post("/v1/turns", json=TURN)).status_code == 200
        arriving.set()
        assert [(await answer).status_code for answer in slow] == [422, 422]


@pytest.mark.parametrize("zone", ["Pacific/Kiritimati", "Etc/GMT+12"])
@pytest.mark.parametrize("at", [None, "1970-01-01T00:00:00Z", "7999-12-31T23:59:59Z"])
async def test_no_time_is_too_far_to_be_spoken_of(embedded: Running, zone: str, at: str | None) -> None:
    far = (
        "2000 years and 99999 weeks ago",
        "in 5000 years and 99999 weeks and 99999 weeks",
        "99999 weeks and 99999 weeks ago",
    )
    async with embedded.http(await embedded.key()) as http:
        await http.patch("/v1/users/ana", json={"zone": zone})
        for words in far:
            asked = {"user": "ana", "at": at}
            turn = {**asked, "role": "user", "text": f"I promise to call Tom {words}"}
            answers = [
                await http.post("/v1/turns", json=turn),
                await http.post("/v1/context", json={**asked, "message": f"What about {words}?"}),
                await http.post("/v1/search", json={**asked, "query": f"Tom {words}"}),
                await http.post("/v1/settle", params={"user": "ana"}),
            ]
            assert [answer.status_code for answer in answers] == [200] * 4, words


async def test_an_import_that_is_no_export(embedded: Running) -> None:
    async with embedded.http(await embedded.key()) as http:
        for content in (b"", b"{}", b"\xff\xff", b"not json\n", b'{"hitherto": 1, "user": "ana"}\n'):
            answer = await http.post("/v1/users/ana/import", content=content)
            assert answer.status_code == 422, content
    assert await embedded.memory.users() == []


async def test_what_nobody_foresaw_is_answered_and_logged_without_content(
    embedded: Running, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    from hitherto.deliver.http.requests import JsonLines

    async def fail(**asked: object) -> None:
        raise ZeroDivisionError("secret words")

    memory: Any = embedded.app.state.service.memory("default")
    monkeypatch.setattr(memory, "search", fail)
    caplog.set_level("INFO", logger="hitherto.http")
    async with embedded.http(await embedded.key()) as http:
        answer = await http.post("/v1/search", json={"user": "ana", "query": "x"})
    assert (answer.status_code, answer.json()["error"]["type"]) == (500, HithertoError.kind())
    (record,) = [record for record in caplog.records if record.levelname == "ERROR"]
    line = JsonLines().format(record)
    assert "ZeroDivisionError" in line
    assert "secret words" not in line
    assert any("fail" in place for place in json.loads(line)["trace"])
