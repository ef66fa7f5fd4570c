"""The layers one by one: rates, ids, pages, idempotency, spans, errors."""

from __future__ import annotations

import asyncio
import contextlib
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hitherto import Turn, errors, pages
from hitherto.deliver.http import problems, telemetry
from hitherto.deliver.http.gate import Buckets
from hitherto.errors import HithertoError, InvalidInput, RateLimited
from hitherto.settings import PREFIX, Settings
from hitherto.testing import FakeClock
from tests.architecture.source import ROOT
from tests.deliver.http.running import QUICK, Running, running


@given(
    rate=st.floats(0.1, 100),
    burst=st.integers(1, 50),
    share=st.integers(1, 4),
    waits=st.lists(st.floats(0, 2), min_size=1, max_size=100),
)
def test_a_key_never_gets_more_than_its_rate(rate: float, burst: int, share: int, waits: list[float]) -> None:
    """Over any stretch: at most the burst, and what has flowed in since. And who waits as told gets through."""
    now = 0.0
    buckets = Buckets(rate=rate, burst=burst, share=share, now=lambda: now)
    allowed = 0
    for wait in waits:
        now += wait
        with contextlib.suppress(RateLimited):
            buckets.take("key")
            allowed += 1
        assert allowed <= max(1.0, burst / share) + now * rate / share + 1e-6
    try:
        buckets.take("key")
    except RateLimited as limited:
        now += limited.retry_after + 1e-6
        buckets.take("key")


def test_no_limit_and_other_keys() -> None:
    buckets = Buckets(rate=1, burst=1, now=lambda: 0.0)
    buckets.take("a")
    buckets.take("b")
    with pytest.raises(RateLimited):
        buckets.take("a")
    for _ in range(100):
        buckets.take("c", rate=0)


async def test_too_many_requests_say_when_to_come_back(tmp_path: Path, clock: FakeClock) -> None:
    # So few that no machine is slow enough to earn another one meanwhile.
    settings = QUICK.model_copy(update={"rate": 0.01, "burst": 2})
    async with running(str(tmp_path / "m"), settings=settings, clock=clock) as service:
        async with service.http(await service.key()) as http:
            answers = [await http.get("/v1/personas") for _ in range(4)]
        assert [answer.status_code for answer in answers] == [200, 200, 429, 429]
        assert 1 <= int(answers[-1].headers["retry-after"]) <= 100
        assert answers[-1].json()["error"]["type"] == "rate_limited"
        fast = (await service.keys.create(scopes=["read"], rate=0))[1]
        async with service.http(fast) as http:
            assert {(await http.get("/v1/personas")).status_code for _ in range(20)} == {200}


async def test_request_ids(embedded: Running) -> None:
    async with embedded.http() as http:
        given = await http.get("/healthz", headers={"X-Request-Id": "my-id.7"})
        assert given.headers["x-request-id"] == "my-id.7"
        for odd in ("two words", "x" * 65, "<script>"):
            answer = await http.get("/healthz", headers={"X-Request-Id": odd})
            assert answer.headers["x-request-id"] != odd


async def test_the_same_idempotency_key_makes_one_thing(service: Running) -> None:
    """On both stores: again, at the same time, and with another body."""
    async with service.http(await service.key(), **{"Idempotency-Key": "k1"}) as http:
        turns = [{"user": "ana", "role": "user", "text": text} for text in ("a", "b")]
        answers = await asyncio.gather(*(http.post("/v1/turns", json=turns) for _ in range(5)))
        assert len({answer.text for answer in answers}) == 1
        assert (await http.post("/v1/turns", json=turns[1:])).status_code == 409
        body = {"text": "Ana is vegetarian"}
        made = await asyncio.gather(*(http.post("/v1/users/ana/memories", json=body) for _ in range(5)))
        assert [answer.status_code for answer in made] == [201] * 5
        assert len({answer.text for answer in made}) == 1
        assert (await http.post("/v1/users/ana/memories", json={"text": "other"})).status_code == 409
        assert (await http.post("/v1/users/ana/loops", json=body)).status_code == 409
    assert [turn.text for turn in await service.memory.turns(user="ana")] == ["a", "b"]
    assert len(await service.memory.memories(user="ana")) == 1


async def test_pages_hold_while_things_are_added(service: Running, clock: FakeClock) -> None:
    for number in range(7):
        await service.memory.remember(user="ana", text=f"fact {number}")
        await service.memory.record(Turn("ana", "user", f"turn {number}", at=clock()))
    async with service.http(await service.key()) as http:
        for path, key in (("memories", "id"), ("turns", "place")):
            seen: list[Any] = []
            cursor: str | None = ""
            while cursor is not None:
                params = {"limit": "3", **({"cursor": cursor} if cursor else {})}
                page = (await http.get(f"/v1/users/ana/{path}", params=params)).json()
                seen += [item[key] for item in page["items"]]
                cursor = page["next"]
                if path == "memories":
                    clock.tick(seconds=1)
                    await service.memory.remember(user="ana", text="newer")
            assert len(seen) == len(set(seen)) == 7


@given(st.text())
def test_a_cursor_of_somebodys_own_is_refused_or_read(cursor: str) -> None:
    try:
        at, seq = pages.place(cursor) or (None, 0)
    except InvalidInput:
        return
    assert at is not None
    assert pages.place(pages.of_place(at, seq)) == (at, seq)


def every_error() -> list[type[HithertoError]]:
    return [cls for cls in vars(errors).values() if isinstance(cls, type) and issubclass(cls, HithertoError)]


@pytest.mark.parametrize("error", every_error(), ids=lambda error: error.__name__)
def test_every_error_has_a_status_and_a_name(error: type[HithertoError]) -> None:
    made = error()
    status = problems.status_of(made)
    assert 400 <= status < 600
    answer = problems.answer(made, {"state": {"request_id": "r1"}})
    assert answer.status_code == status
    assert (b"retry-after" in dict(answer.raw_headers)) is (status in (429, 503))


def test_spans_are_named_for_what_happens_to_a_memory() -> None:
    assert telemetry.operation_of("POST", "/v1/turns") == "upsert_memory"
    assert telemetry.operation_of("POST", "/v1/context") == "search_memory"
    assert telemetry.operation_of("PATCH", "/v1/users/{user}/memories/{id}") == "update_memory"
    assert telemetry.operation_of("POST", "/v1/users/{user}/memories") == "create_memory"
    assert telemetry.operation_of("DELETE", "/v1/users/{user}") == "delete_memory_store"
    assert telemetry.operation_of("GET", "/healthz") is None


async def test_spans_carry_codes_and_no_content(embedded: Running, monkeypatch: pytest.MonkeyPatch) -> None:
    from opentelemetry import trace
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import SimpleSpanProcessor
    from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

    exporter = InMemorySpanExporter()
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    monkeypatch.setattr(trace, "get_tracer", provider.get_tracer)
    traced = telemetry.OpenTelemetry()
    for layer in layers(embedded):
        if hasattr(layer, "_tracing"):
            monkeypatch.setattr(layer, "_tracing", traced)
    parent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
    async with embedded.http(await embedded.key(), traceparent=parent) as http:
        await http.post("/v1/turns", json={"user": "ana", "role": "user", "text": "xyzzy"})
    (span,) = exporter.get_finished_spans()
    assert span.name == "upsert_memory"
    attributes = dict(span.attributes or {})
    assert attributes["gen_ai.operation.name"] == "upsert_memory"
    assert attributes["http.response.status_code"] == 200
    assert span.parent is not None
    assert format(span.parent.trace_id, "032x") in parent
    assert "xyzzy" not in span.to_json()
    assert "ana" not in str(attributes.values())


def layers(service: Running) -> list[Any]:
    """The layers of the built application, outermost first."""
    app: Any = service.app
    if app.middleware_stack is None:
        app.middleware_stack = app.build_middleware_stack()
    found: list[Any] = []
    layer: Any = app.middleware_stack
    while layer is not None:
        found.append(layer)
        layer = getattr(layer, "app", None) or getattr(layer, "_app", None)
    return found


def test_settings_are_read_and_passed_on() -> None:
    read = Settings.read({"HITHERTO_PORT": "9000", "HITHERTO_MODEL": "", "HITHERTO_VOICE_SECRET": "s", "PORT": "1"})
    assert (read.port, read.model) == (9000, None)
    assert Settings.read(read.environment()) == read
    with pytest.raises(InvalidInput, match="HITHERTO_PORT='high'"):
        Settings.read({"HITHERTO_PORT": "high"})


def test_every_setting_is_documented_with_its_default() -> None:
    page = (ROOT / "docs" / "deploy.md").read_text("utf-8")
    for name, field in Settings.model_fields.items():
        assert field.description, name
        default = "" if field.default is None else f"`{field.default}`"
        row = f"| `{PREFIX}{name.upper()}` | {default} | {field.description} |"
        assert row in page, f"run `make docs`: {row}"


async def test_metrics_name_nobody(embedded: Running) -> None:
    async with embedded.http(await embedded.key()) as http:
        await http.post("/v1/turns", json={"user": "xyzzy", "role": "user", "text": "xyzzy", "persona": "xyzzy"})
        await http.get("/v1/users/xyzzy/memories")
        await http.request("BREW", "/v1/users/xyzzy")
        page = (await http.get("/metrics")).text
    assert "xyzzy" not in page
    assert 'hitherto_requests_total{method="POST",route="/v1/turns",status="200"} 1.0' in page
    assert "hitherto_turns_recorded_total 1.0" in page


async def test_readiness_is_the_stores(embedded: Running, monkeypatch: pytest.MonkeyPatch) -> None:
    async def broken() -> None:
        raise errors.StoreUnavailable("at /secret/place")

    async with embedded.http() as http:
        assert (await http.get("/readyz")).json()["status"] == "ready"
        monkeypatch.setattr(embedded.memory, "health", broken)
        embedded.app.state.pulse._until = 0.0
        answer = await http.get("/readyz")
        assert (answer.status_code, answer.json()["status"]) == (503, "not ready")
        assert "secret" not in answer.text
        assert (await http.get("/healthz")).json()["status"] == "degraded"


async def test_the_page_of_routes_needs_no_other_host(embedded: Running) -> None:
    async with embedded.http() as http:
        page = await http.get("/docs")
    assert page.status_code == 200
    assert "/v1/context" in page.text
    assert "http" not in page.text.replace("HTTP", "").replace("<!doctype html>", "").split("<style>")[0]
    assert "<script" not in page.text
    assert "default-src 'none'" in page.headers["content-security-policy"]
