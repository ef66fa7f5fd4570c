"""The pages stand behind the same keys as the API, and nobody can use them by way of somebody else's browser."""

from __future__ import annotations

import re
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import httpx
import pytest

from hitherto.deliver import inspector
from hitherto.deliver.apikeys import USUAL
from hitherto.deliver.http.paths import COOKIE, ROOT, SIGN_IN
from hitherto.testing import FakeClock
from tests.deliver.http.requests_table import CANARY, furnish
from tests.deliver.http.running import Running, running

GETS = [
    "conversation",
    "turns?ids=turn-of-{user}",
    "live",
    "context",
    "context?turn=turn-of-{user}",
    "replay",
    "replay/since?turn=turn-of-{user}",
    "compare",
    "backtest",
    "playground",
    "memory",
    "memory?tab=today",
    "memory?tab=episodes",
    "memory?tab=thoughts",
    "search?q=secret",
    "memory?tab=entities",
    "memory?tab=loops",
    "memory?tab=summaries",
    "memory?tab=state",
    "health",
]
POSTS = {
    "playground/preview": {"base": "companion", "message": "yes"},
    "playground/save": {"base": "companion", "name": "mine"},
    "memory/change": {"id": "{memories}", "action": "pin"},
    "memory/forget": {"id": "{memories}", "what": "memory"},
    "memory/merge": {"keep": "a", "other": "b"},
    "memory/split": {"entity": "a", "name": "b"},
    "retry": {"step": "extract"},
    "sign-out": {},
}


@pytest.fixture
async def service(tmp_path: Path) -> AsyncIterator[Running]:
    async with running(str(tmp_path / "memories"), clock=FakeClock()) as made:
        yield made


@asynccontextmanager
async def visiting(service: Running, token: str | None) -> AsyncGenerator[httpx.AsyncClient]:
    """A browser's requests: the key in a cookie."""
    async with httpx.AsyncClient(
        transport=httpx.ASGITransport(service.app),
        base_url="http://service",
        cookies={COOKIE: token} if token else None,
    ) as client:
        yield client


def address(path: str, *, user: str) -> str:
    page, _, query = path.format(user=user).partition("?")
    return f"{ROOT}/{page}?{query}&user={user}"


async def token_of_forms(http: httpx.AsyncClient, user: str = "ana") -> str:
    found = re.search(r'name="form_token" value="(\w+)"', (await http.get(address("memory", user=user))).text)
    assert found
    return found[1]


def test_the_tables_name_every_route() -> None:
    routes = {
        (method, path)
        for router in inspector.routers()
        for route in router.routes
        for method in getattr(route, "methods", ())
        for path in [str(getattr(route, "path", ""))]
    }
    named = {("GET", f"{ROOT}/{path.partition('?')[0]}") for path in GETS} | {
        ("POST", f"{ROOT}/{path}") for path in POSTS
    }
    others = {
        ("GET", "/"),
        ("GET", ROOT),
        ("GET", SIGN_IN),
        ("POST", SIGN_IN),
        ("GET", f"{ROOT}/static/{{name}}"),
        ("GET", f"{ROOT}/{{rest:path}}"),
    }
    assert routes == named | others


@pytest.mark.req("R2.13")
async def test_without_a_key_every_page_leads_to_the_sign_in(service: Running) -> None:
    await furnish(service.memory)
    revoked, token = await service.made()
    await service.keys.revoke(revoked.id)
    for bad in (None, "x", token):
        async with visiting(service, bad) as http:
            for path in ["", *GETS, "nothing"]:
                answer = await http.get(address(path, user="ana"))
                assert (answer.status_code, CANARY in answer.text) == (303, False), path
                assert answer.headers["location"].startswith(f"{SIGN_IN}?next=%2Finspect"), path
            for path, fields in POSTS.items():
                answer = await http.post(f"{ROOT}/{path}", data={**fields, "user": "ana"})
                assert (answer.status_code, answer.headers["location"]) == (303, SIGN_IN), path
            piece = await http.get(address("conversation", user="ana"), headers={"HX-Request": "true"})
            assert (piece.text, piece.headers["hx-redirect"].startswith(SIGN_IN)) == ("", True)
    assert len(await service.memory.memories(user="ana")) == 1


@pytest.mark.req("R2.13")
async def test_another_user_and_another_tenant_are_not_there(service: Running) -> None:
    ids = await furnish(service.memory)
    await furnish(service.memory, user="bob")
    for token in (await service.key(scopes=USUAL, user="bob"), await service.key(tenant="other")):
        async with visiting(service, token) as http:
            for path in GETS:
                answer = await http.get(address(path, user="ana"))
                assert CANARY not in answer.text, path
                # Work of a user who was never there is an empty list, as in the library.
                assert answer.status_code == 404 or (path == "health" and answer.status_code == 200), path
    bob = await service.key(scopes=USUAL, user="bob")
    async with visiting(service, bob) as http:
        form_token = await token_of_forms(http, "bob")
        for path, fields in POSTS.items():
            filled = {name: value.format(**ids) for name, value in fields.items()}
            answer = await http.post(f"{ROOT}/{path}", data={**filled, "user": "ana", "form_token": form_token})
            assert answer.status_code in (403, 404) or path == "sign-out", (path, answer.text)
    assert [memory.pinned for memory in await service.memory.memories(user="ana")] == [False]


async def test_a_key_does_only_what_its_scopes_allow(service: Running) -> None:
    ids = await furnish(service.memory)
    async with visiting(service, await service.key(scopes=["read"])) as http:
        assert (await http.get(address("memory", user="ana"))).status_code == 200
        assert "may not list users" in (await http.get(ROOT)).text
        token = await token_of_forms(http)
        for path in ("memory/change", "memory/forget", "retry", "playground/save"):
            filled = {name: value.format(**ids) for name, value in POSTS[path].items()}
            answer = await http.post(f"{ROOT}/{path}", data={**filled, "user": "ana", "form_token": token})
            assert answer.status_code == 403, path
        work = (await http.get(address("health", user="ana"))).text
        assert "Latencies" not in work
        assert "sqlite" not in work


async def test_only_a_key_that_may_write_is_offered_to_merge(service: Running) -> None:
    for name in ("rosa", "mum"):
        await service.memory.add("entity", user="ana", key=f"person:{name}", label=name)
    for scopes, forms in ((["read"], 0), (["read", "write"], 2)):
        async with visiting(service, await service.key(scopes=scopes)) as http:
            page = (await http.get(address("memory?tab=entities", user="ana"))).text
            assert ("person:rosa" in page, page.count('action="/inspect/memory/merge"')) == (True, forms)
            if not forms:
                sent = {"user": "ana", "keep": "person:rosa", "other": "person:mum"}
                token = await token_of_forms(http)
                assert (await http.post(f"{ROOT}/memory/merge", data={**sent, "form_token": token})).status_code == 403


async def test_no_other_site_can_send_a_form(service: Running) -> None:
    ids = await furnish(service.memory)
    async with visiting(service, await service.key()) as http, visiting(service, await service.key()) as other:
        right, foreign = await token_of_forms(http), await token_of_forms(other)
        assert right != foreign
        for wrong in ("", "x", foreign):
            for path, fields in POSTS.items():
                filled = {name: value.format(**ids) for name, value in fields.items()}
                answer = await http.post(f"{ROOT}/{path}", data={**filled, "user": "ana", "form_token": wrong})
                assert answer.status_code == 403, path
        assert [memory.pinned for memory in await service.memory.memories(user="ana")] == [False]
        done = await http.post(
            f"{ROOT}/memory/change",
            data={"user": "ana", "id": ids["memories"], "action": "pin", "form_token": right},
        )
        assert done.status_code == 303
        assert [memory.pinned for memory in await service.memory.memories(user="ana")] == [True]


async def test_nobody_is_signed_in_from_outside(service: Running) -> None:
    token = await service.key()
    async with visiting(service, None) as http:
        assert (await http.post(SIGN_IN, data={"key": token})).status_code == 403
        page = await http.get(SIGN_IN, params={"next": "//attacker.example/x"})
        assert 'name="next" value="/inspect"' in page.text
        found = re.search(r'name="form_token" value="([\w-]+)"', page.text)
        assert found
        wrong = await http.post(SIGN_IN, data={"key": "rck_no", "form_token": found[1]})
        assert (wrong.status_code, COOKIE in wrong.headers.get("set-cookie", "")) == (401, False)
        found = re.search(r'name="form_token" value="([\w-]+)"', wrong.text)
        assert found
        sent = {"key": f" {token} ", "form_token": found[1], "next": "https://attacker.example/"}
        answer = await http.post(SIGN_IN, data=sent)
        assert (answer.status_code, answer.headers["location"]) == (303, ROOT)
        cookies = answer.headers.get_list("set-cookie")
        (kept,) = [cookie for cookie in cookies if cookie.startswith(f"{COOKIE}={token};")]
        assert {"HttpOnly", "SameSite=strict", f"Path={ROOT}"} <= {part.strip() for part in kept.split(";")}
        assert "Max-Age" not in kept


async def test_the_cookie_opens_no_api(service: Running) -> None:
    await furnish(service.memory)
    async with visiting(service, await service.key()) as http:
        assert (await http.get("/v1/users/ana/memories")).status_code == 401
        assert (await http.post("/v1/turns", json={"user": "ana", "role": "user", "text": "hi"})).status_code == 401


async def test_every_page_says_what_a_browser_may_do(service: Running) -> None:
    await furnish(service.memory)
    async with visiting(service, await service.key()) as http:
        for path in ["", *(path for path in GETS if path != "live"), "nothing", "sign-in"]:
            answer = await http.get(address(path, user="ana"), follow_redirects=True)
            policy = answer.headers["content-security-policy"]
            assert "default-src 'none'; script-src 'self'; style-src 'self';" in policy, path
            assert "unsafe" not in policy
            assert "http" not in policy
            assert answer.headers["cache-control"] == "no-store"
            assert answer.headers["x-content-type-options"] == "nosniff"
            assert not re.search(r"<script(?! src)|\son\w+=|\sstyle=|javascript:", answer.text), path
            assert not re.search(r'(?:src|href|action)="(?:https?:)?//', answer.text), path


async def test_files_of_the_package_and_no_others_are_served(service: Running) -> None:
    async with visiting(service, None) as http:
        for name, kind in (
            ("inspector.css", "text/css"),
            ("htmx.min.js", "text/javascript"),
            ("icon.svg", "image/svg+xml"),
        ):
            answer = await http.get(f"{ROOT}/static/{name}")
            assert (answer.status_code, answer.headers["content-type"].partition(";")[0]) == (200, kind)
        for name in ("NOTICE", "..%2Fpages.py", "%2e%2e/pages.py", "pages.py", "none.css"):
            assert (await http.get(f"{ROOT}/static/{name}")).status_code in (303, 404), name


async def test_users_are_found_by_name(service: Running) -> None:
    async with visiting(service, await service.key()) as http:
        assert "hitherto demo --open" in (await http.get(ROOT)).text
        for name in ("ana", "bob", "a/b?c&d"):
            await furnish(service.memory, user=name)
        everybody = (await http.get(ROOT)).text
        assert everybody.index(">a/b?c&amp;d<") < everybody.index(">ana<") < everybody.index(">bob<")
        assert ">bob<" not in (await http.get(ROOT, params={"q": "AN"})).text
        odd = re.search(r'href="(/inspect/conversation\?user=a[^"]*%3F[^"]*)"', everybody)
        assert odd
        assert CANARY in (await http.get(odd[1])).text
