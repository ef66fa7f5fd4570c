"""Nobody sees what is not theirs: every route × no key, a revoked one, a wrong scope, another tenant, another user."""

from __future__ import annotations

import pytest

from hitherto import Hitherto
from hitherto.deliver.apikeys import SCOPES, USUAL, Keys, digest_of
from hitherto.deliver.http.gate import ACTING_AS, Doorman
from hitherto.errors import InvalidInput, NotFound
from hitherto.settings import Settings
from hitherto.testing import FakeClock
from tests.deliver.http.requests_table import CANARY, SAMPLES, filled, furnish, routes
from tests.deliver.http.running import Running

pytestmark = pytest.mark.req("R2.13")


REFUSED = {"import": {422}, "forget": {404}, "merge": {404, 422}, "split": {404, 422}, "review": {404}}
"""Samples that name something which is not there, since it would be gone for those after them."""


async def ask(
    service: Running, token: str | None, route: tuple[str, str], ids: dict[str, str], **headers: str
) -> tuple[int, str]:
    """Status and body, the request id cut out."""
    method, path = route
    sample = SAMPLES[route]
    params = {name: value.format(**ids) for name, value in sample.params.items()}
    async with service.http(token, **headers) as http:
        answer = await http.request(method, filled(path, ids), json=sample.json, params=params, content=sample.content)
    return answer.status_code, answer.text.replace(answer.headers["x-request-id"], "")


def of_a_user(route: tuple[str, str]) -> bool:
    return route[1].startswith("/v1/users/") or (SAMPLES[route].json is not None and "user" in SAMPLES[route].json)


def test_the_table_of_samples_is_that_of_the_routes(embedded: Running) -> None:
    assert set(routes(embedded.app)) == set(SAMPLES)


async def test_every_sample_works(embedded: Running) -> None:
    ids = await furnish(embedded.memory)
    token = await embedded.key()
    # An entity takes along whatever says its name in any version, so it goes when the others are gone, and the user last.
    late = [("DELETE", "/v1/users/{user}/entities/{id}"), ("DELETE", "/v1/users/{user}")]
    order = {route: number for number, route in enumerate(late, start=1)}
    for route in sorted(routes(embedded.app), key=lambda route: (route[0] == "DELETE", order.get(route, 0))):
        status, body = await ask(embedded, token, route, ids)
        expected = REFUSED.get(route[1].rpartition("/")[2], {200, 201, 204})
        assert status in expected, (route, status, body)


@pytest.mark.promise("service: routes × keys", tries=len(SAMPLES))
async def test_without_a_valid_key_every_route_is_closed(embedded: Running) -> None:
    ids = await furnish(embedded.memory)
    revoked, token = await embedded.made(scopes=SCOPES)
    await embedded.keys.revoke(revoked.id)
    expired = (await embedded.made(scopes=SCOPES, expires_at=embedded.clock()))[1]
    good = await embedded.key()
    wrong_secret = good[:-6] + ("aaaaaa" if not good.endswith("aaaaaa") else "bbbbbb")
    for route in routes(embedded.app):
        answers = {await ask(embedded, bad, route, ids) for bad in (None, "", "x", token, expired, wrong_secret)}
        assert len(answers) == 1, route
        status, body = answers.pop()
        assert (status, CANARY in body) == (401, False), route


async def test_a_path_that_is_not_there_needs_a_key_as_well(embedded: Running) -> None:
    async with embedded.http() as http:
        assert (await http.get("/v1/nothing")).status_code == 401
        assert (await http.get("/inspect/nothing")).status_code == 303
        page = await http.get("/")
        assert (page.status_code, page.content) == (303, b""), "people are shown where to sign in"
    async with embedded.http(await embedded.key()) as http:
        assert (await http.get("/v1/nothing")).status_code == 404
        assert (await http.delete("/v1/context")).status_code == 405


@pytest.mark.promise("service: routes × keys", tries=len(SAMPLES))
async def test_every_route_needs_its_scope(embedded: Running) -> None:
    ids = await furnish(embedded.memory)
    for route in routes(embedded.app):
        needed = SAMPLES[route].scope
        token = await embedded.key(scopes=[scope for scope in SCOPES if scope != needed])
        status, body = await ask(embedded, token, route, ids)
        assert (status, CANARY in body) == (403, False), (route, body)
        assert needed in body


@pytest.mark.promise("service: routes × keys", tries=len(SAMPLES))
async def test_another_tenant_sees_nobody(embedded: Running) -> None:
    ids = await furnish(embedded.memory)
    token = await embedded.key(tenant="other")
    for route in routes(embedded.app):
        if SAMPLES[route].scope in ("operate", "metrics"):
            continue
        _, body = await ask(embedded, token, route, ids)
        assert CANARY not in body, route
    before = await embedded.memory.turns(user="ana")
    assert [turn.text for turn in before] == [f"the word is {CANARY}"], "and nothing of ours was changed"


@pytest.mark.promise("service: routes × keys", tries=len(SAMPLES))
async def test_another_tenants_user_is_not_there(embedded: Running) -> None:
    ids = await furnish(embedded.memory)
    token = await embedded.key(tenant="other")
    for route in (route for route in routes(embedded.app) if SAMPLES[route].reads_user and of_a_user(route)):
        status, body = await ask(embedded, token, route, ids)
        assert status == 404, (route, body)


@pytest.mark.promise("service: routes × keys", tries=len(SAMPLES))
async def test_not_yours_and_not_there_look_the_same(embedded: Running) -> None:
    """A key of one user: somebody who is there, and somebody who is not, give the same bytes."""
    ids = await furnish(embedded.memory)
    await furnish(embedded.memory, user="bob")
    token = await embedded.key(scopes=USUAL, user="bob")
    for route in routes(embedded.app):
        if not of_a_user(route):
            status, _ = await ask(embedded, token, route, ids)
            assert status == 403, route
            continue
        there = await ask(embedded, token, route, ids)
        assert there[0] == 403 if SAMPLES[route].scope not in USUAL else there[0] == 404, (route, there)
        assert CANARY not in there[1]
    method, path = "GET", "/v1/users/{user}/memories/{id}"
    async with embedded.http(token) as http:
        answers: set[tuple[int, str]] = set()
        for user, record in (("ana", ids["memories"]), ("ana", "none"), ("nobody", "none"), ("bob", ids["memories"])):
            answer = await http.request(method, path.format(user=user, id=record))
            answers.add((answer.status_code, answer.text.replace(answer.headers["x-request-id"], "")))
    assert len(answers) == 1


async def test_a_key_of_a_user_needs_no_name(embedded: Running) -> None:
    token = await embedded.key(scopes=USUAL, user="bob")
    async with embedded.http(token) as http:
        assert (await http.post("/v1/turns", json={"role": "user", "text": "hi"})).status_code == 200
        assert (await http.post("/v1/context", json={"message": "yes"})).status_code == 200
        mixed = [{"role": "user", "text": "a"}, {"role": "user", "text": "b", "user": "ana"}]
        assert (await http.post("/v1/turns", json=mixed)).status_code == 404
    assert [turn.text for turn in await embedded.memory.turns(user="bob")] == ["hi"]
    assert await embedded.memory.users() == ["bob"]
    async with embedded.http(await embedded.key()) as http:
        nameless = await http.post("/v1/context", json={"message": "yes"})
        assert (nameless.status_code, nameless.json()["error"]["type"]) == (422, "invalid_input")


async def test_a_gateway_acts_for_one_user_at_a_time(embedded: Running) -> None:
    ids = await furnish(embedded.memory)
    token = await embedded.key()
    header = ACTING_AS.decode()
    async with embedded.http(token, **{header: "an%61"}) as http:
        assert (await http.get("/v1/users/ana/memories")).status_code == 200
        assert (await http.get("/v1/users/bob/memories")).status_code == 404
        assert (await http.get("/v1/users")).status_code == 403
        body = {"user": "bob", "message": "yes"}
        assert (await http.post("/v1/context", json=body)).status_code == 404
    bound = await embedded.key(scopes=USUAL, user="bob")
    assert (await ask(embedded, bound, ("GET", "/v1/users/{user}"), ids, **{header: "ana"}))[0] == 404


async def test_keys_are_kept_as_digests(embedded: Running) -> None:
    key, token = await embedded.made(label="backend")
    (document,) = await embedded.memory.catalog.documents("@service", "key")
    assert token not in document.body
    assert token.split("_", 2)[2] not in document.body
    assert key.digest == digest_of(token)
    assert await embedded.keys.check(token) == key
    assert (await embedded.keys.revoke(key.id)).revoked_at is not None
    assert await embedded.keys.check(token) is None
    with pytest.raises(NotFound):
        await embedded.keys.revoke("nothing")


@pytest.mark.parametrize(
    ("scopes", "user", "message"),
    [(["all"], None, "no scope 'all'"), ([], None, "at least one"), (["admin"], "ana", "of one user")],
)
async def test_keys_that_make_no_sense_are_refused(
    embedded: Running, scopes: list[str], user: str | None, message: str
) -> None:
    with pytest.raises(InvalidInput, match=message):
        await embedded.keys.create(scopes=scopes, user=user)


async def test_a_checked_key_is_believed_for_a_moment(tmp_path_factory: pytest.TempPathFactory) -> None:
    now = 100.0
    async with Hitherto(tmp_path_factory.mktemp("m")) as memory:
        keys = Keys(memory.catalog, clock=FakeClock())
        doorman = Doorman(keys, seconds=1.0, now=lambda: now)
        key, token = await keys.create()
        headers = {b"authorization": f"bearer {token}".encode()}
        assert (await doorman.caller(headers)).key == key.id
        await keys.revoke(key.id)
        now = 100.9
        assert (await doorman.caller(headers)).key == key.id
        now = 101.0
        with pytest.raises(Exception, match="valid key"):
            await doorman.caller(headers)
        other = {b"x-api-key": (await keys.create(user="ana"))[1].encode()}
        assert (await doorman.caller(other)).user == "ana"


async def test_the_key_of_a_run(tmp_path_factory: pytest.TempPathFactory) -> None:
    from hitherto.deliver.apikeys import new_token

    token = new_token()
    async with Hitherto(tmp_path_factory.mktemp("m")) as memory:
        doorman = Doorman(Keys(memory.catalog, clock=FakeClock()), run_key=digest_of(token), seconds=0)
        assert (await doorman.caller({b"x-api-key": token.encode()})).scopes == set(SCOPES)
        with pytest.raises(Exception, match="valid key"):
            await doorman.caller({b"x-api-key": new_token().encode()})


def test_secrets_do_not_show() -> None:
    settings = Settings.read({"HITHERTO_RUN_KEY": "abc", "HITHERTO_TELEGRAM_SECRET": "hush"})
    assert "hush" not in repr(settings)
    assert "abc" not in str(settings)
