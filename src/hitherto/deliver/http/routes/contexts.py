"""Contexts and searches, their snapshots, and the past again."""

import json
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Annotated, Any

from fastapi import APIRouter, Query, Request
from fastapi.responses import Response

from hitherto import Recipe, pages
from hitherto.assemble.diff import Difference
from hitherto.assemble.replay import Trial
from hitherto.clock import micros
from hitherto.deliver.http.models import (
    BacktestRequest,
    ContextRequest,
    Cursor,
    Limit,
    Moment,
    Name,
    SearchRequest,
    Snapshot,
    Value,
    Words,
    given,
    reply,
)
from hitherto.deliver.http.service import Administering, Consulting, Reading, Subject, subject_of
from hitherto.errors import InvalidInput, NotFound, near
from hitherto.pages import Page
from hitherto.recipes import book
from hitherto.store.protocol import StoredSnapshot
from hitherto.types import Context, Hit, Json

if TYPE_CHECKING:
    from hitherto import Hitherto

router = APIRouter(tags=["contexts"])

TIES = 32
"""Snapshots of one moment that a piece of the list looks through to find where it goes on."""


@router.post("/v1/context", response_model=Context)
async def context(request: Request, body: ContextRequest) -> Response:
    """What the model should see for this message: no model is called, and the same state gives the same bytes."""
    subject = subject_of(request, user=body.user, scope="read")
    asked: dict[str, Any] = given(body) | {"user": subject.user}
    if body.recipe is not None:
        asked["recipe"] = await recipe_of(body.recipe, subject.memory)
    return reply(await subject.memory.context(**asked), Context)


@router.post("/v1/search", response_model=Page[Hit])
async def search(request: Request, body: SearchRequest) -> Response:
    """The turns, memories, episodes and summaries that answer best, best first."""
    subject = subject_of(request, user=body.user, scope="read")
    asked: dict[str, Any] = given(body) | {"user": subject.user}
    hits = await subject.memory.search(**asked)
    return reply(Page[Hit](items=hits), Page[Hit])


@router.get("/v1/users/{user}/snapshots", response_model=Page[Snapshot])
async def snapshots(
    subject: Reading,
    before: Annotated[Moment | None, Query(description="Only those taken earlier.")] = None,
    limit: Limit = 50,
    cursor: Cursor = None,
) -> Response:
    """The records of past contexts, newest first."""
    found = await _snapshots(subject, limit=limit + 1, before=before, cursor=cursor)
    page = found[:limit]
    more = pages.pack(micros(page[-1].at), page[-1].id) if len(found) > limit else None
    return reply(Page[Snapshot](items=[_receipt(one) for one in page], next=more), Page[Snapshot])


async def _snapshots(
    subject: Subject, *, limit: int, before: datetime | None, cursor: str | None
) -> list[StoredSnapshot]:
    if cursor is None:
        return await subject.memory.snapshots(user=subject.user, limit=limit, before=before)
    at, last = pages.unpack(cursor, int, str)
    before = pages.moment(at) + timedelta(microseconds=1)
    found = await subject.memory.snapshots(user=subject.user, limit=limit + TIES, before=before)
    given_before = [number for number, one in enumerate(found) if one.id == last]
    start = given_before[0] + 1 if given_before else 0
    return found[start : start + limit]


@router.get("/v1/users/{user}/snapshots/{id}", response_model=Snapshot)
async def snapshot(subject: Reading, id: Name) -> Response:
    """The record of one context: every candidate, in or out, and why."""
    found = await subject.memory.snapshots(user=subject.user, ids=[id])
    if not found:
        raise NotFound
    return reply(_receipt(found[0]), Snapshot)


@router.get("/v1/users/{user}/diff", response_model=Difference)
async def diff(subject: Reading, a: Annotated[Name, Query()], b: Annotated[Name, Query()]) -> Response:
    """What changed from the context of one snapshot to that of another."""
    first = await subject.memory.replay(user=subject.user, snapshot=a)
    second = await subject.memory.replay(user=subject.user, snapshot=b)
    return reply(await subject.memory.diff(first, second), Difference)


@router.post("/v1/users/{user}/backtest", response_model=list[Trial])
async def backtest(subject: Reading, body: BacktestRequest) -> Response:
    """Another recipe over the recorded conversation: for each of the user's turns, the context it would have had."""
    trials = await subject.memory.backtest(
        user=subject.user,
        recipe=await recipe_of(body.recipe, subject.memory),
        persona=body.persona,
        lane=body.lane,
        limit=body.limit,
    )
    return reply(trials, list[Trial])


@router.get("/v1/recipes/{name}", response_model=Recipe)
async def recipe(tenancy: Consulting, name: Name) -> Response:
    """One recipe with all its numbers."""
    found = await _named(name, tenancy.memory)
    if found is None:
        raise NotFound
    return reply(found, Recipe)


@router.put("/v1/recipes/{name}", response_model=Recipe)
async def define_recipe(tenancy: Administering, name: Name, body: dict[Words, Value]) -> Response:
    """Keeps a recipe of the application's own under its name; every definition is a version."""
    given = book.check({**body, "name": name})
    return reply(await tenancy.memory.define_recipe(given), Recipe)


async def recipe_of(given: str | dict[str, Json], memory: "Hitherto") -> Recipe:
    """A recipe by its name or as a value; never a file of the server."""
    if isinstance(given, dict):
        return book.check(given)
    found = await _named(given, memory)
    if found is None:
        names = [recipe.name for recipe in await memory.recipes()]
        raise InvalidInput(f"recipe: there is none called {given!r}{near(given, names)}; there are {', '.join(names)}")
    return found


async def _named(name: str, memory: "Hitherto") -> Recipe | None:
    if name in book.names():
        return book.load(name)
    return next((recipe for recipe in await memory.recipes() if recipe.name == name), None)


def _receipt(snapshot: StoredSnapshot) -> Snapshot:
    return Snapshot(
        id=snapshot.id, at=snapshot.at, known=snapshot.known, full=snapshot.full, body=json.loads(snapshot.body)
    )
