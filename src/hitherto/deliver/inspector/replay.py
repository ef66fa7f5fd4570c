"""A slider over a conversation: at each of the user's messages, the context that it was answered from."""

from typing import Annotated

from fastapi import APIRouter, Query, Request
from fastapi.responses import Response

from hitherto import Hitherto
from hitherto.assemble.diff import Difference, diff
from hitherto.deliver.http.models import Known
from hitherto.deliver.http.paths import ROOT
from hitherto.deliver.inspector import sources
from hitherto.deliver.inspector.anatomy import anatomy
from hitherto.deliver.inspector.conversation import Filters
from hitherto.deliver.inspector.pages import Page, is_piece, looking, page
from hitherto.errors import NotFound
from hitherto.types import StoredTurn

router = APIRouter(route_class=Page, include_in_schema=False)

LOOKED = 50
"""Turns around a place among which the nearest message is looked for."""


@router.get(f"{ROOT}/replay")
async def replay(
    request: Request,
    user: str | None = None,
    place: Annotated[Known | None, Query()] = None,
    persona: str = "",
    lane: str = "",
) -> Response:
    """The context at a place of the conversation."""
    subject = await looking(request, user)
    memory, whose, filters = subject.memory, subject.user, Filters(persona=persona, lane=lane)
    head = await memory.head(user=whose)
    here = await _message(memory, whose, filters, place=head if place is None else place)
    found = await sources.of_turn(memory, user=whose, turn=here.id)
    following = await _after(memory, whose, filters, here)
    earlier_message = await _previous(memory, whose, filters, here)
    return page(
        request,
        "replay_piece.html" if is_piece(request) else "replay.html",
        user=whose,
        head=head,
        here_turn=here,
        found=found,
        made=anatomy(found.context),
        back=earlier_message,
        forth=following,
        filters=filters,
    )


@router.get(f"{ROOT}/replay/since")
async def since(request: Request, turn: str, user: str | None = None) -> Response:
    """What came and went in the context since the message before; asked for by the page, so that the slider need not wait."""
    subject = await looking(request, user)
    found = await subject.memory.turns(user=subject.user, ids=[turn])
    if not found:
        raise NotFound
    previous = await _before(subject.memory, subject.user, found[0])
    changed: Difference | None = None
    if previous is not None:
        earlier = await sources.of_turn(subject.memory, user=subject.user, turn=previous.id)
        now = await sources.of_turn(subject.memory, user=subject.user, turn=turn)
        changed = diff(earlier.context, now.context)
    return page(request, "since.html", user=subject.user, changed=changed, previous=previous)


async def _message(memory: Hitherto, user: str, filters: Filters, *, place: int) -> StoredTurn:
    """The newest message at or before this place; the first after it where none is before."""
    before = await memory.turns(user=user, before=place + 1, limit=LOOKED, **filters.given)
    for turn in reversed(before):
        if turn.role == "user":
            return turn
    for turn in await memory.turns(user=user, after=place, limit=LOOKED, **filters.given):
        if turn.role == "user":
            return turn
    raise NotFound


async def _before(memory: Hitherto, user: str, turn: StoredTurn) -> StoredTurn | None:
    """The message before this one to the same persona in the same lane."""
    before = await memory.turns(user=user, before=turn.place, limit=LOOKED, persona=turn.persona, lane=turn.lane)
    for other in reversed(before):
        if other.role == "user" and (other.persona, other.lane) == (turn.persona, turn.lane):
            return other
    return None


async def _previous(memory: Hitherto, user: str, filters: Filters, turn: StoredTurn) -> StoredTurn | None:
    found = await memory.turns(user=user, before=turn.place, limit=LOOKED, **filters.given)
    return next((other for other in reversed(found) if other.role == "user"), None)


async def _after(memory: Hitherto, user: str, filters: Filters, turn: StoredTurn) -> StoredTurn | None:
    found = await memory.turns(user=user, after=turn.place, limit=LOOKED, **filters.given)
    return next((other for other in found if other.role == "user"), None)
