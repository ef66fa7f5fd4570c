"""Turns: recorded, listed, revised."""

from typing import Annotated

from fastapi import APIRouter, Body, Query, Request
from fastapi.responses import Response

from hitherto import pages
from hitherto.deliver.http.models import (
    DEFAULT_LIMIT,
    MOST_LISTED,
    MOST_TURNS,
    Cursor,
    IdempotencyKey,
    Known,
    Limit,
    Moment,
    Name,
    NewTurn,
    Recorded,
    Revision,
    derived,
    reply,
)
from hitherto.deliver.http.service import Changing, Channels, Reading, Service, caller_of, subject_of
from hitherto.errors import NotFound
from hitherto.pages import Page
from hitherto.types import StoredTurn

router = APIRouter(tags=["turns"])


@router.post("/v1/turns", response_model=Recorded)
async def record(
    request: Request,
    body: Annotated[NewTurn | Annotated[list[NewTurn], Body(min_length=1, max_length=MOST_TURNS)], Body()],
    idempotency_key: IdempotencyKey = None,
) -> Response:
    """Stores one turn or a list of them, durable when it answers. Turns of one user are stored whole or not at all."""
    given = [body] if isinstance(body, NewTurn) else body
    subjects = [subject_of(request, user=turn.user, scope="write") for turn in given]
    turns = [
        turn.turn(user=subject.user, id=derived(idempotency_key, str(place)))
        for place, (turn, subject) in enumerate(zip(given, subjects, strict=True))
    ]
    ids = await subjects[0].memory.record(turns)
    Service.of(request).metrics.turns.inc(len(ids))
    for subject in subjects:
        Channels.of(request).touched(tenant=caller_of(request).tenant, user=subject.user)
    return reply(Recorded(ids=ids), Recorded)


@router.get("/v1/users/{user}/turns", response_model=Page[StoredTurn])
async def turns(
    subject: Reading,
    id: Annotated[list[Name] | None, Query(max_length=MOST_LISTED)] = None,
    persona: Annotated[Name | None, Query()] = None,
    lane: Annotated[Name | None, Query()] = None,
    session: Annotated[Name | None, Query()] = None,
    since: Annotated[Moment | None, Query()] = None,
    until: Annotated[Moment | None, Query()] = None,
    known: Annotated[Known | None, Query()] = None,
    after: Annotated[Known, Query(description="The `place` of a turn, to begin behind it.")] = 0,
    before: Annotated[
        Known | None, Query(description="The `place` of a turn: the newest that stand before it, without a cursor.")
    ] = None,
    limit: Limit = DEFAULT_LIMIT,
    cursor: Cursor = None,
) -> Response:
    """Turns in the conversation's order."""
    begin = int(pages.unpack(cursor, int)[0]) if cursor else after
    found = await subject.memory.turns(
        user=subject.user,
        ids=id,
        persona=persona,
        lane=lane,
        session=session,
        since=since,
        until=until,
        after=begin,
        limit=limit,
        known=known,
        before=before,
    )
    more = pages.pack(found[-1].place) if id is None and before is None and len(found) >= limit else None
    return reply(Page[StoredTurn](items=found, next=more), Page[StoredTurn])


@router.get("/v1/users/{user}/turns/{id}", response_model=StoredTurn)
async def read_turn(subject: Reading, id: Name) -> Response:
    """One turn."""
    found = await subject.memory.turns(user=subject.user, ids=[id])
    if not found:
        raise NotFound
    return reply(found[0], StoredTurn)


@router.patch("/v1/users/{user}/turns/{id}", response_model=StoredTurn)
async def revise(subject: Changing, id: Name, body: Revision) -> Response:
    """A new version of a turn; the old one stays in the log."""
    return reply(await subject.memory.revise(user=subject.user, turn=id, text=body.text), StoredTurn)
