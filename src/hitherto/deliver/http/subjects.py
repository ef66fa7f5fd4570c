"""Whose memory a request is about. The user comes from the key, or for a key of the whole application from the request;
what is not the caller's looks exactly like what is not there."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Annotated, Any

from fastapi import Depends, Path, Request

from hitherto import Hitherto
from hitherto.deliver.apikeys import Scope
from hitherto.deliver.http.gate import Caller
from hitherto.deliver.http.models import Name
from hitherto.deliver.http.service import Service
from hitherto.errors import InvalidInput, NotFound, NotPermitted


@dataclass(frozen=True, slots=True)
class Subject:
    """One user's memory, as far as the caller may use it."""

    memory: Hitherto
    user: str


@dataclass(frozen=True, slots=True)
class Tenancy:
    """A tenant's memory, for calls that are about no single user."""

    memory: Hitherto
    tenant: str


def caller_of(request: Request) -> Caller:
    caller: object = request.scope["state"].get("caller")
    assert isinstance(caller, Caller), "the gate lets nobody else in"
    return caller


def subject_of(request: Request, *, user: str | None, scope: Scope) -> Subject:
    """The user that the request names or the key belongs to."""
    caller = caller_of(request)
    caller.must(scope)
    name = user or caller.user
    if name is None:
        raise InvalidInput("user: name the user; this key belongs to none")
    if caller.user not in (None, name):
        raise NotFound
    return Subject(memory=_memory(request, caller), user=name)


def _memory(request: Request, caller: Caller) -> Hitherto:
    """The tenant's memory, whose audit log names the key."""
    return Service.of(request).memory(caller.tenant).acting(f"key:{caller.key}")


PathUser = Annotated[Name, Path(description="The application's own id of the user.")]


def _in_path(scope: Scope, *, known: bool) -> Callable[[Request, str], Awaitable[Subject]]:
    async def subject(request: Request, user: PathUser) -> Subject:
        found = subject_of(request, user=user, scope=scope)
        if known and await found.memory.head(user=user) == 0:
            raise NotFound
        return found

    return subject


async def _forgettable(request: Request, user: PathUser) -> Subject:
    """A user of whom anything is kept: also the question of somebody who said nothing yet, or a link alone."""
    found = subject_of(request, user=user, scope="forget")
    memory = found.memory
    if (
        await memory.head(user=user) == 0
        and not await memory.snapshots(user=user, limit=1)
        and user not in await memory.linked()
    ):
        raise NotFound
    return found


def _tenant_wide(scope: Scope) -> Callable[[Request], Tenancy]:
    def tenancy(request: Request) -> Tenancy:
        caller = caller_of(request)
        caller.must(scope)
        if caller.user is not None:
            raise NotPermitted("This key belongs to one user and may not do that.")
        return Tenancy(memory=_memory(request, caller), tenant=caller.tenant)

    return tenancy


def of_existing_user(scope: Scope) -> Any:
    """A user something was written about; anybody else is not found."""
    return Annotated[Subject, Depends(_in_path(scope, known=True))]


def of_user(scope: Scope) -> Any:
    """Any user."""
    return Annotated[Subject, Depends(_in_path(scope, known=False))]


def of_tenant(scope: Scope) -> Any:
    """The tenant as a whole; a key that belongs to one user may not ask."""
    return Annotated[Tenancy, Depends(_tenant_wide(scope))]


Reading = Annotated[Subject, Depends(_in_path("read", known=True))]
"""A user of whom something was written; anybody else is not found."""
Asking = Annotated[Subject, Depends(_in_path("read", known=False))]
Writing = Annotated[Subject, Depends(_in_path("write", known=False))]
Changing = Annotated[Subject, Depends(_in_path("write", known=True))]
Forgetting = Annotated[Subject, Depends(_forgettable)]
Deciding = Annotated[Subject, Depends(_in_path("admin", known=False))]
Administering = Annotated[Tenancy, Depends(_tenant_wide("admin"))]
Consulting = Annotated[Tenancy, Depends(_tenant_wide("read"))]
Removing = Annotated[Tenancy, Depends(_tenant_wide("forget"))]
Operating = Annotated[Tenancy, Depends(_tenant_wide("operate"))]
Measuring = Annotated[Tenancy, Depends(_tenant_wide("metrics"))]
