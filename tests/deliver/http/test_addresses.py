"""Names in addresses and headers: whatever letters they have, nobody is taken for somebody else."""

from __future__ import annotations

from urllib.parse import quote

import pytest

from hitherto import Turn
from tests.deliver.http.running import Running

NAMES = [
    "ana/turns",
    "ana/memories/m1",
    "ana%2Fturns",
    "ana%252Fturns",
    "a/b%",
    "../ana",
    "/",
    "//",
    ".",
    "..",
    "%",
    "%2F",
    "ana?limit=1",
    "ana#x",
    "ana;x",
    "ana+x",
    " ana ",
    "Ana",
    "jose\u0301",
    "jos\u00e9",
    "jos\ufffd",
]


async def test_every_user_is_reached_by_their_own_name(embedded: Running) -> None:
    async with embedded.client() as client:
        await client.record([Turn(user, "user", f"I am {user!r}", id="t/1") for user in ("ana", *NAMES)])
        await client.remember(user="ana", text="Ana is vegetarian", id="m1")
        for user in NAMES:
            (turn,) = await client.turns(user=user)
            assert turn.text == f"I am {user!r}"
            assert (await client.revise(user=user, turn="t/1", text="something else")).id == "t/1"
            await client.set_user(user, name=f"the {user!r}")
            assert (await client.user(user)).name == f"the {user!r}"
            await client.set_retention(user=user, turn=30)
        assert [turn.text for turn in await client.turns(user="ana")] == ["I am 'ana'"]
        for user in NAMES:
            await client.forget(user=user, everything=True)
        assert await client.users() == ["ana"]
        assert [memory.id for memory in await client.memories(user="ana")] == ["m1"]
        assert (await client.retention(user="ana")).get("turn") is None


async def test_an_encoded_slash_opens_no_other_path(embedded: Running) -> None:
    await embedded.memory.record(Turn("ana", "user", "a secret of Ana"))
    async with embedded.http(await embedded.key()) as http:
        for path in ("ana%2Fturns", "ana%2fexport", "ana%2Fsnapshots", "%2E%2E%2Fpersonas", "ana/turns%2F"):
            answer = await http.get(f"/v1/users/{path}")
            assert (answer.status_code, "secret" in answer.text) == (404, False), path
    async with embedded.http() as http:
        assert (await http.post("/v1/telegram%2Fwebhook", json={})).status_code == 401


@pytest.mark.parametrize("name", ["jos%E9", "jos%E8", "%FF", "%ED%A0%80", "%C0%AF"])
async def test_what_is_not_utf8_means_nobody(embedded: Running, name: str) -> None:
    async with embedded.http(await embedded.key()) as http:
        answers = [
            await http.patch(f"/v1/users/{name}", json={"name": "Jos"}),
            await http.get(f"/v1/users/ana/turns?persona={name}"),
            await http.get(f"/inspect/conversation?user={name}"),
            await http.post("/v1/turns", json={"role": "user", "text": "hi"}, headers={"X-Hitherto-User": name}),
        ]
    assert {(answer.status_code, answer.json()["error"]["type"]) for answer in answers} == {(400, "broken_request")}
    assert await embedded.memory.users() == []


async def test_a_header_that_says_who_asks_is_there_once(embedded: Running) -> None:
    await embedded.memory.record([Turn(user, "user", f"a secret of {user}") for user in ("ana", "ben")])
    bearer = [("Authorization", f"Bearer {await embedded.key()}")]
    ana, ben = ("X-Hitherto-User", "ana"), ("X-Hitherto-User", "ben")
    async with embedded.http() as http:
        for headers in ([*bearer, ana, ben], [*bearer, ana, ana], [*bearer, *bearer, ana]):
            answer = await http.post("/v1/search", json={"query": "secret"}, headers=headers)
            assert (answer.status_code, "secret of" in answer.text) == (400, False)
        raw = [(name.encode(), value.encode()) for name, value in [*bearer, ("X-Hitherto-User", "jos\u00e9")]]
        assert (await http.post("/v1/search", json={"query": "secret"}, headers=raw)).status_code == 400
        named = [*bearer, ("X-Hitherto-User", quote("jos\u00e9"))]
        assert (await http.post("/v1/search", json={"query": "secret"}, headers=named)).status_code == 200
