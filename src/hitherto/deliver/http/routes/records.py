"""Remembered records, by hand: the same routes for every noun, built from one table."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Annotated, Any

from fastapi import APIRouter, Query
from fastapi.responses import Response

from hitherto import pages
from hitherto.deliver.http import models
from hitherto.deliver.http.models import (
    DEFAULT_LIMIT,
    Cursor,
    IdempotencyKey,
    Known,
    Limit,
    Name,
    Strict,
    Versions,
    derived,
    given,
    next_cursor,
    reply,
)
from hitherto.deliver.http.service import Changing, Reading, Subject, Writing
from hitherto.errors import NotFound
from hitherto.pages import Page
from hitherto.types import (
    Entity,
    Episode,
    Loop,
    Memory,
    Profile,
    Progress,
    Record,
    RecordKind,
    Session,
    Slot,
    State,
    Summary,
    SummaryKind,
    Thought,
)

Persona = Annotated[Name | None, Query(description="Only this persona's.")]


@dataclass(frozen=True, slots=True)
class RecordPath:
    """One kind of record and its path."""

    path: str
    cls: type[Record]

    @property
    def noun(self) -> RecordKind:
        return self.cls.noun


RECORD_PATHS = (
    RecordPath("memories", Memory),
    RecordPath("episodes", Episode),
    RecordPath("loops", Loop),
    RecordPath("thoughts", Thought),
    RecordPath("summaries", Summary),
    RecordPath("sessions", Session),
    RecordPath("entities", Entity),
    RecordPath("slots", Slot),
)


Anything = Memory | Episode | Loop | Thought | Summary | Session | Entity | State | Profile | Slot | Progress


def routers() -> list[APIRouter]:
    """The routes of every kind, and those of any record."""
    made = [_listings()]
    for kind in RECORD_PATHS:
        router = APIRouter(prefix=f"/v1/users/{{user}}/{kind.path}", tags=[kind.path])
        _reading(router, kind)
        if kind.cls is not Session:
            _adding(router, kind)
        _changing(router, kind)
        made.append(router)
    made.append(_versions())
    return made


def _page(found: list[Any], cls: type[Record], *, limit: int, more: bool = True) -> Response:
    page: Any = Page.__class_getitem__(cls)
    return reply(page(items=found, next=next_cursor(found, limit=limit) if more else None), page)


def _listings() -> APIRouter:
    """The lists; each takes the filters of the library's own call."""
    router = APIRouter(prefix="/v1/users/{user}")

    @router.get("/memories", response_model=Page[Memory], tags=["memories"])
    async def memories(
        subject: Reading,
        persona: Persona = None,
        status: Annotated[Name, Query(description="`any` lists all.")] = "ACTIVE",
        entity: Annotated[Name | None, Query(description="Only those about it, such as `person:lea`.")] = None,
        known: Annotated[Known | None, Query()] = None,
        limit: Limit = DEFAULT_LIMIT,
        cursor: Cursor = None,
    ) -> Response:
        """Memories, newest first; with a persona, its own and everybody's. Those of one entity come in one piece."""
        found = await subject.memory.memories(
            user=subject.user,
            persona=persona,
            status=_status(status),
            entity=entity,
            limit=limit,
            after=pages.place(cursor),
            known=known,
        )
        return _page(found, Memory, limit=limit, more=entity is None)

    @router.get("/episodes", response_model=Page[Episode], tags=["episodes"])
    async def episodes(
        subject: Reading,
        persona: Persona = None,
        limit: Limit = DEFAULT_LIMIT,
        cursor: Cursor = None,
    ) -> Response:
        """Episodes, newest first."""
        return await _listed(subject.memory.episodes, subject, Episode, limit, cursor, persona=persona)

    @router.get("/loops", response_model=Page[Loop], tags=["loops"])
    async def loops(
        subject: Reading,
        persona: Persona = None,
        status: Annotated[Name, Query(description="`any` lists the closed ones too.")] = "open",
        limit: Limit = DEFAULT_LIMIT,
        cursor: Cursor = None,
    ) -> Response:
        """Loops, newest first."""
        return await _listed(
            subject.memory.loops, subject, Loop, limit, cursor, persona=persona, status=_status(status)
        )

    @router.get("/thoughts", response_model=Page[Thought], tags=["thoughts"])
    async def thoughts(
        subject: Reading,
        persona: Persona = None,
        limit: Limit = DEFAULT_LIMIT,
        cursor: Cursor = None,
    ) -> Response:
        """The persona's inner life, newest first."""
        return await _listed(subject.memory.thoughts, subject, Thought, limit, cursor, persona=persona)

    @router.get("/summaries", response_model=Page[Summary], tags=["summaries"])
    async def summaries(
        subject: Reading,
        persona: Persona = None,
        kind: Annotated[SummaryKind | None, Query(description="A piece may then hold fewer than asked for.")] = None,
        limit: Limit = DEFAULT_LIMIT,
        cursor: Cursor = None,
    ) -> Response:
        """Summaries, newest first."""
        found = await subject.memory.summaries(
            user=subject.user, persona=persona, limit=limit, after=pages.place(cursor)
        )
        kept = [summary for summary in found if kind in (None, summary.kind)]
        return reply(Page[Summary](items=kept, next=next_cursor(found, limit=limit)), Page[Summary])

    @router.get("/sessions", response_model=Page[Session], tags=["sessions"])
    async def sessions(
        subject: Reading,
        persona: Persona = None,
        limit: Limit = DEFAULT_LIMIT,
        cursor: Cursor = None,
    ) -> Response:
        """Sessions, newest first, with their last activity and number of turns."""
        return await _listed(subject.memory.sessions, subject, Session, limit, cursor, persona=persona)

    @router.get("/entities", response_model=Page[Entity], tags=["entities"])
    async def entities(subject: Reading, limit: Limit = DEFAULT_LIMIT, cursor: Cursor = None) -> Response:
        """Who and what is talked about."""
        return await _listed(subject.memory.entities, subject, Entity, limit, cursor)

    return router


async def _listed(
    call: Callable[..., Awaitable[list[Any]]],
    subject: Subject,
    cls: type[Record],
    limit: int,
    cursor: str | None,
    **filters: object,
) -> Response:
    found = await call(user=subject.user, limit=limit, after=pages.place(cursor), **filters)
    return _page(found, cls, limit=limit)


def _reading(router: APIRouter, kind: RecordPath) -> None:
    async def read(subject: Reading, id: Name) -> Response:
        return reply(await existing(subject, id, kind), kind.cls)

    read.__doc__ = f"One {kind.noun}, as it is now."
    router.get("/{id}", response_model=kind.cls, name=f"read_{kind.noun}")(read)


def _adding(router: APIRouter, kind: RecordPath) -> None:
    model = models.addition(kind.noun)

    async def add(
        subject: Writing,
        body: Strict,
        idempotency_key: IdempotencyKey = None,
    ) -> Response:
        fields = given(body)
        own = fields.pop("id", None)
        made = await subject.memory.add(kind.noun, user=subject.user, id=own or derived(idempotency_key), **fields)
        return reply(made, kind.cls, status=201)

    add.__annotations__["body"] = model
    add.__doc__ = f"A new {kind.noun} by hand; one with a key that exists is a new version of it."
    router.post("", response_model=kind.cls, status_code=201, name=f"add_{kind.noun}")(add)


def _changing(router: APIRouter, kind: RecordPath) -> None:
    model = models.change(kind.noun)

    async def update(subject: Changing, id: Name, body: Strict) -> Response:
        await existing(subject, id, kind)
        return reply(await subject.memory.update(id, user=subject.user, **given(body)), kind.cls)

    update.__annotations__["body"] = model
    update.__doc__ = f"A new version of a {kind.noun} with these fields changed."
    router.patch("/{id}", response_model=kind.cls, name=f"update_{kind.noun}")(update)


def _versions() -> APIRouter:
    router = APIRouter(tags=["records"])

    @router.get("/v1/users/{user}/records/{id}/versions", response_model=Versions[Anything])
    async def versions(subject: Reading, id: Name) -> Response:
        """Every version of any record, oldest first."""
        found = await subject.memory.history(user=subject.user, id=id)
        if not found:
            raise NotFound
        kind: Any = Versions.__class_getitem__(type(found[0]))
        return reply(kind(kind=found[0].noun, versions=found), kind)

    return router


async def existing(subject: Subject, id: str, kind: RecordPath) -> Record:
    """The live record of that id, if it is of this kind."""
    versions = await subject.memory.history(user=subject.user, id=id)
    live = [record for record in versions if record.retired is None and isinstance(record, kind.cls)]
    if not live:
        raise NotFound
    return live[-1]


def _status(given: str) -> str | None:
    return None if given == "any" else given
