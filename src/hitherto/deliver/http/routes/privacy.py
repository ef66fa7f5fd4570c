"""What people may ask of their memory besides forgetting: for how long it is kept, what was held back, who did what to it."""

from typing import Annotated, Any

from fastapi import APIRouter, Query, Request
from fastapi.responses import Response

from hitherto import pages
from hitherto.deliver.http.models import (
    DEFAULT_LIMIT,
    Cursor,
    ForgetRequest,
    Limit,
    Name,
    RetentionChange,
    given,
    reply,
)
from hitherto.deliver.http.routes.records import RECORD_PATHS, RecordPath, existing
from hitherto.deliver.http.service import (
    Administering,
    Asking,
    Channels,
    Deciding,
    Forgetting,
    Removing,
    Subject,
    caller_of,
)
from hitherto.pages import Page
from hitherto.privacy.audit import Event
from hitherto.privacy.forget import Receipt

router = APIRouter(tags=["privacy"])

Kept = dict[str, float]
Decided = dict[str, float | None]
Receipts = dict[str, Receipt]
DryRun = Annotated[bool, Query(description="Only say what would be removed.")]


@router.patch("/v1/retention", response_model=Decided)
async def set_retention_of_all(tenancy: Administering, body: RetentionChange) -> Response:
    """Sets these kinds for all users of the tenant and keeps the others; null keeps a kind until it is forgotten."""
    return reply(await tenancy.memory.set_retention(**given(body)), Decided)


@router.patch("/v1/users/{user}/retention", response_model=Decided)
async def set_retention(subject: Deciding, body: RetentionChange) -> Response:
    """The same for one user, over the tenant's numbers; nothing goes before it is asked for."""
    return reply(await subject.memory.set_retention(user=subject.user, **given(body)), Decided)


@router.post("/v1/retain", response_model=Receipts)
async def retain_all(request: Request, tenancy: Removing, *, dry_run: DryRun = False) -> Response:
    """Removes what is over its time, of all users of the tenant; receipts by user."""
    return _removed(request, await tenancy.memory.retain(dry_run=dry_run))


@router.post("/v1/users/{user}/retain", response_model=Receipts)
async def retain(request: Request, subject: Forgetting, *, dry_run: DryRun = False) -> Response:
    """Removes what is over its time, of one user."""
    return _removed(request, await subject.memory.retain(user=subject.user, dry_run=dry_run))


def _removed(request: Request, receipts: Receipts) -> Response:
    for user, receipt in receipts.items():
        if not receipt.dry_run:
            Channels.of(request).forgot(tenant=caller_of(request).tenant, user=user)
    return reply(receipts, Receipts)


@router.get("/v1/events", response_model=Page[Event])
async def events_of_all(tenancy: Administering, limit: Limit = DEFAULT_LIMIT, cursor: Cursor = None) -> Response:
    """The tenant's audit log, newest first: who forgot, exported, loaded or changed what, without content."""
    return _events(await tenancy.memory.events(limit=limit, before=_behind(cursor)), limit=limit)


@router.get("/v1/users/{user}/events", response_model=Page[Event])
async def events(subject: Asking, limit: Limit = DEFAULT_LIMIT, cursor: Cursor = None) -> Response:
    """The audit log of one user; what was done stays in it when the user is forgotten."""
    found = await subject.memory.events(user=subject.user, limit=limit, before=_behind(cursor))
    return _events(found, limit=limit)


def _behind(cursor: str | None) -> str | None:
    return None if cursor is None else str(pages.unpack(cursor, str)[0])


def _events(found: list[Event], *, limit: int) -> Response:
    more = pages.pack(found[-1].id) if len(found) >= limit else None
    return reply(Page[Event](items=found, next=more), Page[Event])


# Forgetting. What is kept ready for the telephone goes with it.


@router.delete("/v1/users/{user}", response_model=Receipt)
async def forget_user(request: Request, subject: Forgetting) -> Response:
    """Forgets the user, wholly and for good; a receipt without content."""
    return await _forget(request, subject, everything=True)


@router.post("/v1/users/{user}/forget", response_model=Receipt)
async def forget(request: Request, subject: Forgetting, body: ForgetRequest) -> Response:
    """Forgets one turn, memory, entity, lane or persona, what is before a time, or everything, and all that rests on it."""
    return await _forget(request, subject, **given(body))


@router.delete("/v1/users/{user}/turns/{id}", response_model=Receipt)
async def forget_turn(request: Request, subject: Forgetting, id: Name) -> Response:
    """Forgets a turn and what was made from it."""
    return await _forget(request, subject, turn=id)


def _deleting(kind: RecordPath) -> None:
    async def delete(request: Request, subject: Forgetting, id: Name) -> Response:
        record = await existing(subject, id, kind)
        if kind.noun == "entity":
            return await _forget(request, subject, entity=record.key or id)
        return await _forget(request, subject, memory=id)

    delete.__doc__ = f"Forgets one {kind.noun} in all its versions."
    path = f"/v1/users/{{user}}/{kind.path}/{{id}}"
    router.delete(path, response_model=Receipt, name=f"forget_{kind.noun}")(delete)


for _kind in RECORD_PATHS:
    if _kind.noun != "session":
        _deleting(_kind)


async def _forget(request: Request, subject: Subject, **what: Any) -> Response:
    receipt = await subject.memory.forget(user=subject.user, **what)
    Channels.of(request).forgot(tenant=caller_of(request).tenant, user=subject.user)
    return reply(receipt, Receipt)
