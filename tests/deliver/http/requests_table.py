"""A request that works for every route, on a user with one thing of each kind. A route without one fails a test."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from fastapi import FastAPI

from hitherto import Hitherto, Turn
from hitherto.deliver.http.paths import policy
from hitherto.recipes import book

CANARY = "canary-7f3a9"
"""Stands in everything that is remembered of the user."""


@dataclass(frozen=True, slots=True)
class Sample:
    """A request as a client with every scope and no user of its own would send it."""

    json: Any = None
    params: dict[str, str] = field(default_factory=dict[str, str])
    scope: str = "read"
    reads_user: bool = True
    """Whether it asks about a user, who then has to be there."""
    content: bytes | None = None


def noun(text: str = "x") -> Sample:
    return Sample({"text": text}, scope="write", reads_user=False)


WIDE = Sample(scope="admin", reads_user=False)
SAMPLES: dict[tuple[str, str], Sample] = {
    ("POST", "/v1/turns"): Sample({"user": "ana", "role": "user", "text": "hi"}, scope="write", reads_user=False),
    ("POST", "/v1/context"): Sample({"user": "ana", "message": "yes"}, reads_user=False),
    ("POST", "/v1/search"): Sample({"user": "ana", "query": CANARY}, reads_user=False),
    ("GET", "/v1/users/{user}/turns"): Sample(),
    ("GET", "/v1/users/{user}/turns/{id}"): Sample(),
    ("PATCH", "/v1/users/{user}/turns/{id}"): Sample({"text": "new"}, scope="write"),
    ("GET", "/v1/users/{user}/snapshots"): Sample(),
    ("GET", "/v1/users/{user}/snapshots/{id}"): Sample(),
    ("GET", "/v1/users/{user}/snapshots/{id}/replay"): Sample(),
    ("GET", "/v1/users/{user}/diff"): Sample(params={"a": "{snapshots}", "b": "{snapshots}"}),
    ("POST", "/v1/users/{user}/backtest"): Sample({"recipe": "lanes"}),
    ("GET", "/v1/users/{user}/records/{id}/versions"): Sample(),
    ("GET", "/v1/users/{user}/state"): Sample(),
    ("PATCH", "/v1/users/{user}/state"): Sample({"fields": {"mood": "ok"}}, scope="write", reads_user=False),
    ("GET", "/v1/users/{user}/head"): Sample(reads_user=False),
    ("GET", "/v1/users/{user}/export"): Sample(),
    ("POST", "/v1/users/{user}/import"): Sample(scope="write", reads_user=False, content=b""),
    ("GET", "/v1/users/{user}"): Sample(),
    ("PATCH", "/v1/users/{user}"): Sample({"zone": "UTC"}, scope="write", reads_user=False),
    ("GET", "/v1/users"): WIDE,
    ("GET", "/v1/personas"): Sample(reads_user=False),
    ("PUT", "/v1/personas/{id}"): Sample({"name": "N", "text": "You are N."}, scope="admin", reads_user=False),
    ("GET", "/v1/recipes"): Sample(reads_user=False),
    ("GET", "/v1/recipes/{name}"): Sample(reads_user=False),
    ("PUT", "/v1/recipes/{name}"): Sample(
        book.load("lanes").model_dump(mode="json") | {"name": "own"}, scope="admin", reads_user=False
    ),
    ("POST", "/v1/links"): Sample(
        {"user": "ana", "channel": "phone", "external_id": "1"}, scope="admin", reads_user=False
    ),
    ("POST", "/v1/links/remove"): Sample({"channel": "phone", "external_id": "2"}, scope="admin", reads_user=False),
    ("POST", "/v1/links/resolve"): Sample({"channel": "phone", "external_id": "1"}, scope="admin", reads_user=False),
    ("POST", "/v1/backups"): Sample({"name": "b1"}, scope="operate", reads_user=False),
    ("GET", "/v1/health"): Sample(scope="operate", reads_user=False),
    ("GET", "/metrics"): Sample(scope="metrics", reads_user=False),
    ("DELETE", "/v1/users/{user}"): Sample(scope="forget"),
    ("DELETE", "/v1/users/{user}/turns/{id}"): Sample(scope="forget"),
    ("POST", "/v1/users/{user}/forget"): Sample({"lane": "none"}, scope="forget"),
    ("POST", "/v1/settle"): WIDE,
    ("POST", "/v1/users/{user}/settle"): Sample(scope="write"),
    ("POST", "/v1/users/{user}/retry"): Sample(scope="write"),
    ("GET", "/v1/users/{user}/steps"): Sample(),
    ("GET", "/v1/users/{user}/retention"): Sample(reads_user=False),
    ("PATCH", "/v1/users/{user}/retention"): Sample({"turn": 365}, scope="admin", reads_user=False),
    ("PATCH", "/v1/retention"): Sample({"snapshot": 30}, scope="admin", reads_user=False),
    ("POST", "/v1/users/{user}/retain"): Sample(params={"dry_run": "true"}, scope="forget"),
    ("POST", "/v1/retain"): Sample(params={"dry_run": "true"}, scope="forget", reads_user=False),
    ("POST", "/v1/users/{user}/memories/{id}/review"): Sample({"approve": True}, scope="write"),
    ("GET", "/v1/users/{user}/events"): Sample(reads_user=False),
    ("GET", "/v1/events"): WIDE,
    ("POST", "/v1/scrub"): Sample(scope="operate", reads_user=False),
    ("POST", "/v1/reindex"): WIDE,
    ("POST", "/v1/users/{user}/reindex"): Sample(scope="write"),
    ("GET", "/v1/users/{user}/progress"): Sample(),
    ("GET", "/v1/users/{user}/audit"): Sample(),
    ("GET", "/v1/users/{user}/costs"): Sample(),
    ("POST", "/v1/users/{user}/records/{id}/reject"): Sample(scope="write"),
    ("POST", "/v1/users/{user}/seed"): Sample({"facts": ["Lives in Austin"]}, scope="write", reads_user=False),
    ("POST", "/v1/users/{user}/entities/merge"): Sample({"entities": ["person:x", "person:y"]}, scope="write"),
    ("POST", "/v1/users/{user}/entities/split"): Sample({"entity": "person:x", "name": "Y"}, scope="write"),
}
SHELVES = ("memories", "episodes", "loops", "thoughts", "summaries", "sessions", "entities", "slots")
for _shelf in SHELVES:
    _path = f"/v1/users/{{user}}/{_shelf}"
    if _shelf != "slots":
        SAMPLES["GET", _path] = Sample()
    SAMPLES["GET", f"{_path}/{{id}}"] = Sample()
    SAMPLES["PATCH", f"{_path}/{{id}}"] = Sample({"text": "new"}, scope="write")
    if _shelf != "sessions":
        SAMPLES["POST", _path] = noun()
        SAMPLES["DELETE", f"{_path}/{{id}}"] = Sample(scope="forget")


def routes(app: FastAPI) -> list[tuple[str, str]]:
    """Every route that needs a key, by the service's own description of itself."""
    found = sorted(
        (method.upper(), path)
        for path, methods in app.openapi()["paths"].items()
        for method in methods
        if not policy(path).is_open
    )
    assert found, "a test over no routes proves nothing"
    return found


async def furnish(memory: Hitherto, user: str = "ana") -> dict[str, str]:
    """One thing of each kind for the user, each with the canary; their ids by what stands before `{id}` in a path."""
    (turn,) = await memory.record(Turn(user, "user", f"the word is {CANARY}", id=f"turn-of-{user}"))
    ids = {"turns": turn}
    for shelf, kind in (
        ("memories", "memory"),
        ("episodes", "episode"),
        ("loops", "loop"),
        ("thoughts", "thought"),
        ("summaries", "summary"),
        ("entities", "entity"),
        ("slots", "slot"),
    ):
        fields = {"label": CANARY, "key": f"person:{CANARY}"} if kind == "entity" else {}
        made = await memory.add(kind, user=user, text=f"{kind} {CANARY}", **fields)  # pyright: ignore[reportArgumentType] -- kinds of the table
        ids[shelf] = made.id
    ids["sessions"] = (await memory.sessions(user=user))[0].id
    ids["records"] = ids["memories"]
    ids["snapshots"] = (await memory.context(user=user, message="yes")).snapshot
    own = book.load("lanes").model_copy(update={"name": "own"})
    ids["recipes"] = (await memory.define_recipe(own)).name
    await memory.set_user(user, name=CANARY)
    await memory.set_state(user=user, secret=CANARY)
    await memory.flush()
    return ids


def filled(path: str, ids: dict[str, str], *, user: str = "ana") -> str:
    """The path with its names put in."""
    before = path.split("/{id}", maxsplit=1)[0].rpartition("/")[2]
    return path.replace("{user}", user).replace("{id}", ids.get(before, "nikita")).replace("{name}", ids["recipes"])
