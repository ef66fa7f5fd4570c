"""Forgetting, for a memory that can."""

from typing import Any, Protocol, runtime_checkable

from fastapi import APIRouter
from fastapi.responses import Response

from recollect.deliver import plain
from recollect.deliver.http.models import Name
from recollect.deliver.http.subjects import Forgetting, Subject
from recollect.types import Json


@runtime_checkable
class Forgets(Protocol):
    """The call of `Recollect` that this needs."""

    async def forget(self, *, user: str, **what: Any) -> object: ...


def routers(memory: object) -> list[APIRouter]:
    """The routes, if this memory can forget."""
    return [_router()] if isinstance(memory, Forgets) else []


def _router() -> APIRouter:
    router = APIRouter(tags=["forgetting"])

    @router.delete("/v1/users/{user}", response_model=dict[str, Json])
    async def everything(subject: Forgetting) -> Response:
        """Forgets the user, wholly and for good; a receipt without content."""
        return await _forget(subject, everything=True)

    @router.delete("/v1/users/{user}/turns/{id}", response_model=dict[str, Json])
    async def turn(subject: Forgetting, id: Name) -> Response:
        """Forgets a turn and what was made from it."""
        return await _forget(subject, turn=id)

    @router.delete("/v1/users/{user}/memories/{id}", response_model=dict[str, Json])
    async def memory(subject: Forgetting, id: Name) -> Response:
        """Forgets a memory."""
        return await _forget(subject, memory=id)

    @router.delete("/v1/users/{user}/entities/{id}", response_model=dict[str, Json])
    async def entity(subject: Forgetting, id: Name) -> Response:
        """Forgets somebody or something, and what is known of them."""
        return await _forget(subject, entity=id)

    return router


async def _forget(subject: Subject, **what: object) -> Response:
    memory: Any = subject.memory
    receipt = await memory.forget(user=subject.user, **what)
    return Response(plain.text(receipt), media_type="application/json")
