"""Who there is: users, the state of relationships, personas, and the links from a channel's ids to users."""

from typing import Annotated, Any

from fastapi import APIRouter, Query, Request
from fastapi.responses import Response

from hitherto import pages
from hitherto.deliver.http.models import (
    DEFAULT_LIMIT,
    Cursor,
    Limit,
    Name,
    NewLink,
    NewPersona,
    ProfileChange,
    StateChange,
    free,
    given,
    reply,
)
from hitherto.deliver.http.service import Administering, Channels, Writing
from hitherto.pages import Page
from hitherto.types import Persona, Profile, State

router = APIRouter()

OfPersona = Annotated[Name | None, Query(description="With none, the unnamed persona's.")]


@router.get("/v1/users", response_model=Page[str], tags=["users"])
async def users(tenancy: Administering, limit: Limit = DEFAULT_LIMIT, cursor: Cursor = None) -> Response:
    """The tenant's users, by name."""
    names = sorted(await tenancy.memory.users())
    if cursor is not None:
        (last,) = pages.unpack(cursor, str)
        names = [name for name in names if name > last]
    more = pages.pack(names[limit - 1]) if len(names) > limit else None
    return reply(Page[str](items=names[:limit], next=more), Page[str])


@router.patch("/v1/users/{user}", response_model=Profile, tags=["users"])
async def set_user(subject: Writing, body: ProfileChange) -> Response:
    """Sets the user's zone, name, locale, stage, and under `extra` anything else."""
    named = given(body)
    extra = free(named.pop("extra", {}), "user", *ProfileChange.model_fields)
    return reply(await subject.memory.set_user(subject.user, **extra, **named), Profile)


@router.patch("/v1/users/{user}/state", response_model=State, tags=["state"])
async def set_state(subject: Writing, body: StateChange, persona: OfPersona = None) -> Response:
    """Changes these fields and keeps the others."""
    fields = free(body.fields, "user", "persona")
    return reply(await subject.memory.set_state(user=subject.user, persona=persona, **fields), State)


@router.put("/v1/personas/{id}", response_model=Persona, tags=["personas"])
async def define_persona(tenancy: Administering, id: Name, body: NewPersona) -> Response:
    """Defines who answers; every definition is a version. One over its cap is refused here, not later."""
    extra: dict[str, Any] = free(body.extra, "id", *NewPersona.model_fields)
    defined = await tenancy.memory.define_persona(
        id, name=body.name, text=body.text, boundaries=body.boundaries, style=body.style, **extra
    )
    return reply(defined, Persona)


@router.post("/v1/links", status_code=204, tags=["links"])
async def link(request: Request, tenancy: Administering, body: NewLink) -> Response:
    """From now on this phone number, chat or account id means this user."""
    await tenancy.memory.link(body.user, body.channel, body.external_id)
    Channels.of(request).linked(tenant=tenancy.tenant, external_id=body.external_id)
    return Response(status_code=204)
