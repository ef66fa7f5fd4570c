"""Forgetting. What is kept ready for the telephone goes with it."""

from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import Response

from hitherto.deliver.http.channels import Channels
from hitherto.deliver.http.models import ForgetRequest, Name, given, reply
from hitherto.deliver.http.routes.records import SHELVES, Shelf, existing
from hitherto.deliver.http.subjects import Forgetting, Subject, caller_of
from hitherto.privacy.forget import Receipt

router = APIRouter(tags=["forgetting"])


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


def _deleting(shelf: Shelf) -> None:
    async def delete(request: Request, subject: Forgetting, id: Name) -> Response:
        record = await existing(subject, id, shelf)
        if shelf.noun == "entity":
            return await _forget(request, subject, entity=record.key or id)
        return await _forget(request, subject, memory=id)

    delete.__doc__ = f"Forgets one {shelf.noun} in all its versions."
    path = f"/v1/users/{{user}}/{shelf.path}/{{id}}"
    router.delete(path, response_model=Receipt, name=f"forget_{shelf.noun}")(delete)


for _shelf in SHELVES:
    if _shelf.noun != "session":
        _deleting(_shelf)


async def _forget(request: Request, subject: Subject, **what: Any) -> Response:
    receipt = await subject.memory.forget(user=subject.user, **what)
    Channels.of(request).forgot(tenant=caller_of(request).tenant, user=subject.user)
    return reply(receipt, Receipt)
