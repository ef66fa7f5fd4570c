"""Whatever is kept of a user can be forgotten from afar, and somebody unknown is not there."""

from __future__ import annotations

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
