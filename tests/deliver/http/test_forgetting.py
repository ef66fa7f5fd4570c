"""Whatever is kept of a user can be forgotten from afar, and somebody unknown is not there."""

from __future__ import annotations

from datetime import timedelta

from hitherto.testing import FakeClock
from tests.deliver.http.running import Running


async def test_a_question_before_any_turn_can_be_forgotten(service: Running) -> None:
    async with service.http(await service.key()) as http:
        asked = await http.post("/v1/context", json={"user": "ana", "message": "what about Zanzibar?"})
        assert asked.status_code == 200
        forgotten = await http.delete("/v1/users/ana")
        assert (forgotten.status_code, forgotten.json()["snapshots"]) == (200, 1)
        assert (await http.delete("/v1/users/ana")).status_code == 404


async def test_a_user_of_whom_only_a_link_is_known_can_be_forgotten(service: Running) -> None:
    link = {"channel": "telegram", "external_id": "4711"}
    async with service.http(await service.key()) as http:
        assert (await http.post("/v1/links", json={"user": "ana", **link})).status_code == 204
        assert (await http.delete("/v1/users/ana")).status_code == 200
        assert (await http.post("/v1/links/resolve", json=link)).json() == {"user": None}
        assert (await http.delete("/v1/users/ana")).status_code == 404


async def test_what_is_over_its_time_goes_by_hand(service: Running, clock: FakeClock) -> None:
    """A period removes nothing by itself, a dry run counts, and neither touches what is newer or somebody else's."""
    async with service.http(await service.key()) as http:
        for user in ("ana", "ben"):
            for days, words in ((400, "Zanzibar is my sister"), (1, "I like tea")):
                at = (clock() - timedelta(days=days)).isoformat()
                turn = {"user": user, "role": "user", "text": words, "at": at}
                assert (await http.post("/v1/turns", json=turn)).status_code == 200
        kept = await http.patch("/v1/users/ana/retention", json={"turn": 365})
        assert kept.json()["turn"] == 365
        for dry in ("true", "false"):
            assert "Zanzibar" in (await http.get("/v1/users/ana/turns")).text
            receipts = (await http.post("/v1/users/ana/retain", params={"dry_run": dry})).json()
            assert (receipts["ana"]["turns"], receipts["ana"]["dry_run"]) == (1, dry == "true")
        for path in ("turns", "export", "snapshots"):
            assert "Zanzibar" not in (await http.get(f"/v1/users/ana/{path}")).text
        assert "I like tea" in (await http.get("/v1/users/ana/turns")).text
        assert "Zanzibar" in (await http.get("/v1/users/ben/turns")).text
        assert (await http.post("/v1/users/ana/retain")).json() == {}, "once is enough"
        assert (await http.patch("/v1/users/ana/retention", json={"turn": -1})).status_code == 422


async def test_what_was_merged_is_forgotten_under_either_name(service: Running) -> None:
    async with service.http(await service.key()) as http:
        for name in ("mukesh", "makesh"):
            entity = {"label": name.title(), "key": f"person:{name}"}
            assert (await http.post("/v1/users/ana/entities", json=entity)).status_code == 201
            fact = {"text": f"{name.title()} is her boss", "entities": [f"person:{name}"]}
            assert (await http.post("/v1/users/ana/memories", json=fact)).status_code == 201
        merged = {"entities": ["person:mukesh", "person:makesh"]}
        assert (await http.post("/v1/users/ana/entities/merge", json=merged)).status_code == 200
        for wrong in ({"entities": ["person:mukesh"]}, {"entities": ["person:mukesh", "person:nobody"]}):
            assert (await http.post("/v1/users/ana/entities/merge", json=wrong)).status_code in (404, 422)
        gone = await http.post("/v1/users/ana/forget", json={"entity": "person:makesh"})
        assert gone.status_code == 200
        for path in ("memories", "entities", "export"):
            assert "kesh" not in (await http.get(f"/v1/users/ana/{path}")).text
