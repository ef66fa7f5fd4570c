"""A conversation: turns by lane and persona, sessions as bands, live as turns arrive, with a way from each answer to what
the model saw. A long conversation is shown in pieces, so that a page stays small wherever one is in it."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING, Annotated, TypedDict

from fastapi import APIRouter, Header, Query, Request
from fastapi.responses import Response, StreamingResponse

from hitherto.assemble.diff import Difference, diff
from hitherto.deliver.http.models import Known
from hitherto.deliver.http.paths import LIVE, ROOT
from hitherto.deliver.inspector.anatomy import anatomy
from hitherto.deliver.inspector.context import of_turn
from hitherto.deliver.inspector.views import HEADERS, Links, Page, is_piece, looking, page, render
from hitherto.errors import NotFound
from hitherto.pages import LARGEST
from hitherto.types import StoredTurn

if TYPE_CHECKING:
    from hitherto import Hitherto

router = APIRouter(route_class=Page, include_in_schema=False)

PIECE = 50
"""Turns in one piece of a conversation."""
LISTENING = 10.0
"""Seconds that a stream stays open. The browser reconnects at once and says what it has seen, so no turn is missed, and a
stopping service waits for no stream longer than this."""
LOOKED = 0.4
"""Seconds between two looks at the log."""

Place = Annotated[Known | None, Query()]


class Whose(TypedDict):
    """Filters in the form that the library takes."""

    persona: str | None
    lane: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Filters:
    """Which turns; empty means all."""

    persona: str = ""
    lane: str = ""

    @property
    def given(self) -> Whose:
        return {"persona": self.persona or None, "lane": self.lane or None}


@dataclass(frozen=True, slots=True, kw_only=True)
class Band:
    """Consecutive turns of one session. `begins` says that its first turn is the session's first."""

    session: str
    turns: tuple[StoredTurn, ...]

    @property
    def first(self) -> StoredTurn:
        return self.turns[0]

    @property
    def begins(self) -> bool:
        return self.first.position == 1

    @property
    def lasted(self) -> float:
        return (self.turns[-1].at - self.first.at).total_seconds()


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnPage:
    """A part of a conversation, and where it continues; None if it does not."""

    turns: tuple[StoredTurn, ...]
    older: int | None
    newer: int | None

    @property
    def bands(self) -> list[Band]:
        return [Band(session=key, turns=tuple(run)) for key, run in groupby(self.turns, key=lambda turn: turn.session)]

    @property
    def last(self) -> int:
        return self.turns[-1].place if self.turns else 0


@router.get(f"{ROOT}/conversation")
async def conversation(
    request: Request,
    user: str | None = None,
    persona: str = "",
    lane: str = "",
    before: Place = None,
    after: Place = None,
    around: str = "",
) -> Response:
    """The newest turns, those before or after a place, or those around one turn."""
    subject = await looking(request, user)
    filters = Filters(persona=persona, lane=lane)
    if around:
        piece = await _around(subject.memory, subject.user, filters, around)
    else:
        piece = await _piece(subject.memory, subject.user, filters, before=before, after=after)
    if is_piece(request) and (before is not None or after is not None):
        going = "newer" if after is not None else "older"
        return page(request, "conversation_piece.html", user=subject.user, piece=piece, filters=filters, going=going)
    return page(
        request,
        "conversation.html",
        user=subject.user,
        piece=piece,
        filters=filters,
        around=around,
        personas=await personas(subject.memory, subject.user),
        lanes=sorted({turn.lane for turn in piece.turns if turn.lane} | ({lane} - {""})),
    )


@router.get(f"{ROOT}/turns")
async def turns(request: Request, ids: Annotated[str, Query(max_length=20_000)], user: str | None = None) -> Response:
    """The turns that something rests on."""
    subject = await looking(request, user)
    wanted = [name for name in ids.split("\n") if name][:PIECE]
    found = await subject.memory.turns(user=subject.user, ids=wanted)
    missing = len(set(wanted) - {turn.id for turn in found})
    return page(request, "turns.html", user=subject.user, turns=found, missing=missing, whole=not is_piece(request))


@router.get(LIVE)
async def live(
    request: Request,
    user: str | None = None,
    persona: str = "",
    lane: str = "",
    after: Place = 0,
    last_event_id: Annotated[str | None, Header()] = None,
) -> Response:
    """Turns as they arrive, each a piece of the page."""
    subject = await looking(request, user)
    seen = int(last_event_id) if last_event_id and last_event_id.isdecimal() else after or 0
    events = _arriving(subject.memory, subject.user, Filters(persona=persona, lane=lane), seen=seen)
    headers = {**HEADERS, "X-Accel-Buffering": "no"}
    return StreamingResponse(events, media_type="text/event-stream", headers=headers)


async def personas(memory: "Hitherto", user: str) -> list[str]:
    """The personas to choose from: the defined ones, and those of the newest turns."""
    newest = await memory.turns(user=user, before=LARGEST, limit=PIECE)
    defined = await memory.personas()
    return sorted({*(one.id for one in defined if one.id), *(turn.persona for turn in newest if turn.persona)})


async def _arriving(memory: "Hitherto", user: str, filters: Filters, *, seen: int) -> AsyncIterator[str]:
    yield "retry: 300\n\n"
    loop = asyncio.get_running_loop()
    until, head = loop.time() + LISTENING, -1
    while loop.time() < until:
        now = await memory.head(user=user)
        if now != head:
            head = now
            found = await memory.turns(user=user, after=seen, limit=PIECE, **filters.given)
            if found:
                seen = found[-1].place
                yield _event(user, found, filters)
        await asyncio.sleep(LOOKED)


def _event(user: str, turns: list[StoredTurn], filters: Filters) -> str:
    piece = TurnPage(turns=tuple(turns), older=None, newer=None)
    made = render("bands.html", piece=piece, filters=filters, link=Links(user), around="", fresh=True)
    lines = "\n".join(f"data: {line}" for line in made.replace("\r", "").split("\n"))
    return f"id: {turns[-1].place}\n{lines}\n\n"


async def _piece(
    memory: "Hitherto", user: str, filters: Filters, *, before: int | None = None, after: int | None = None
) -> TurnPage:
    if after is not None:
        found = await memory.turns(user=user, after=after, limit=PIECE + 1, **filters.given)
        shown = found[:PIECE]
        return TurnPage(turns=tuple(shown), older=None, newer=shown[-1].place if len(found) > PIECE else None)
    ahead = LARGEST if before is None else before
    found = await memory.turns(user=user, before=ahead, limit=PIECE + 1, **filters.given)
    shown = found[-PIECE:]
    return TurnPage(turns=tuple(shown), older=shown[0].place if len(found) > PIECE else None, newer=None)


async def _around(memory: "Hitherto", user: str, filters: Filters, turn: str) -> TurnPage:
    found = await memory.turns(user=user, ids=[turn])
    if not found:
        raise NotFound
    half = PIECE // 2
    ahead = await memory.turns(user=user, before=found[0].place, limit=half + 1, **filters.given)
    behind = await memory.turns(user=user, after=found[0].place, limit=half + 1, **filters.given)
    shown = (*ahead[-half:], found[0], *behind[:half])
    return TurnPage(
        turns=shown,
        older=shown[0].place if len(ahead) > half else None,
        newer=shown[-1].place if len(behind) > half else None,
    )


# --- a slider over it: at each of the user's messages, the context that it was answered from ------------------------------

NEARBY = 50
"""Turns around a place among which the nearest message is looked for."""


@router.get(f"{ROOT}/replay")
async def replay(
    request: Request,
    user: str | None = None,
    place: Annotated[Known | None, Query()] = None,
    persona: str = "",
    lane: str = "",
) -> Response:
    """The context at a place in the conversation."""
    subject = await looking(request, user)
    memory, whose, filters = subject.memory, subject.user, Filters(persona=persona, lane=lane)
    head = await memory.head(user=whose)
    here = await _message(memory, whose, filters, place=head if place is None else place)
    found = await of_turn(memory, user=whose, turn=here.id)
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
    """What came and went in the context since the previous message; requested by the page, so that the slider need not wait."""
    subject = await looking(request, user)
    found = await subject.memory.turns(user=subject.user, ids=[turn])
    if not found:
        raise NotFound
    previous = await _before(subject.memory, subject.user, found[0])
    changed: Difference | None = None
    if previous is not None:
        earlier = await of_turn(subject.memory, user=subject.user, turn=previous.id)
        now = await of_turn(subject.memory, user=subject.user, turn=turn)
        changed = diff(earlier.context, now.context)
    return page(request, "since.html", user=subject.user, changed=changed, previous=previous)


async def _message(memory: "Hitherto", user: str, filters: Filters, *, place: int) -> StoredTurn:
    """The newest message at or before this place, or else the first one after it."""
    before = await memory.turns(user=user, before=place + 1, limit=NEARBY, **filters.given)
    for turn in reversed(before):
        if turn.role == "user":
            return turn
    for turn in await memory.turns(user=user, after=place, limit=NEARBY, **filters.given):
        if turn.role == "user":
            return turn
    raise NotFound


async def _before(memory: "Hitherto", user: str, turn: StoredTurn) -> StoredTurn | None:
    """The previous message to the same persona in the same lane."""
    before = await memory.turns(user=user, before=turn.place, limit=NEARBY, persona=turn.persona, lane=turn.lane)
    for other in reversed(before):
        if other.role == "user" and (other.persona, other.lane) == (turn.persona, turn.lane):
            return other
    return None


async def _previous(memory: "Hitherto", user: str, filters: Filters, turn: StoredTurn) -> StoredTurn | None:
    found = await memory.turns(user=user, before=turn.place, limit=NEARBY, **filters.given)
    return next((other for other in reversed(found) if other.role == "user"), None)


async def _after(memory: "Hitherto", user: str, filters: Filters, turn: StoredTurn) -> StoredTurn | None:
    found = await memory.turns(user=user, after=turn.place, limit=NEARBY, **filters.given)
    return next((other for other in found if other.role == "user"), None)
