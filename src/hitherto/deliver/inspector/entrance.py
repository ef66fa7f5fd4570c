"""Signing in and out, and the static files that pages use."""

import asyncio
import hmac
import secrets
from dataclasses import dataclass
from datetime import UTC, tzinfo
from pathlib import PurePosixPath
from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo

from fastapi import APIRouter, Request
from fastapi.responses import FileResponse, RedirectResponse, Response

from hitherto.deliver.http import paths
from hitherto.deliver.http.gate import Doorman
from hitherto.deliver.http.paths import ROOT
from hitherto.deliver.http.service import Service, caller_of
from hitherto.deliver.inspector.views import FIELD, HEADERS, KINDS, STATIC, Links, Page, form, page
from hitherto.errors import AccessDenied, HithertoError, NotFound, NotPermitted
from hitherto.pages import LARGEST
from hitherto.types import StoredTurn

if TYPE_CHECKING:
    from hitherto import Hitherto

router = APIRouter(route_class=Page, include_in_schema=False)

NONCE = "hitherto_sign_in"
"""A cookie that only our own page can set: the sign-in form must bring the same value."""


@router.get("/")
async def root() -> Response:
    return RedirectResponse(paths.ROOT, status_code=303)


@router.get(paths.SIGN_IN)
async def sign_in(request: Request, next: str = "") -> Response:
    """The form for the key."""
    return _asked(request, next=next)


@router.post(paths.SIGN_IN)
async def signed_in(request: Request) -> Response:
    """Checks the key and puts it into a cookie."""
    sent = await request.form()
    nonce = request.cookies.get(NONCE, "")
    if not nonce or not hmac.compare_digest(str(sent.get(FIELD, "")).encode(), nonce.encode()):
        raise NotPermitted("This form is not from here, or it is too old; open the sign-in page again.")
    token, wanted = str(sent.get("key", "")).strip(), str(sent.get("next", ""))
    doorman: object = request.app.state.doorman
    assert isinstance(doorman, Doorman), "create_app puts it there"
    try:
        await doorman.known(token)
    except AccessDenied:
        return _asked(request, next=wanted, problem="That is no valid key.", status=401)
    answer = RedirectResponse(_inside(wanted), status_code=303, headers=dict(HEADERS))
    answer.set_cookie(
        paths.COOKIE,
        token,
        path=paths.ROOT,
        httponly=True,
        samesite="strict",
        secure=request.url.scheme == "https",
    )
    answer.delete_cookie(NONCE, path=paths.SIGN_IN)
    return answer


@router.post(f"{paths.ROOT}/sign-out")
async def sign_out(request: Request) -> Response:
    await form(request)
    answer = RedirectResponse(paths.SIGN_IN, status_code=303)
    answer.delete_cookie(paths.COOKIE, path=paths.ROOT)
    return answer


@router.get(paths.STATIC + "{name}")
async def static(name: str) -> Response:
    """A file bundled with the package."""
    kind = KINDS.get(PurePosixPath(name).suffix)
    path = STATIC / PurePosixPath(name).name
    if kind is None or not path.is_file():
        raise NotFound
    headers = {"Cache-Control": "public, max-age=300", "X-Content-Type-Options": "nosniff"}
    return FileResponse(path, media_type=kind, headers=headers)


@router.get(f"{paths.ROOT}/{{rest:path}}")
async def nothing(rest: str) -> Response:
    raise NotFound


def _asked(request: Request, *, next: str, problem: str = "", status: int = 200) -> Response:
    nonce = secrets.token_urlsafe(24)
    answer = page(
        request,
        "sign_in.html",
        status_code=status,
        next=_inside(next),
        problem=problem,
        nonce=nonce,
        field=FIELD,
        user=None,
    )
    answer.set_cookie(
        NONCE, nonce, path=paths.SIGN_IN, httponly=True, samesite="strict", secure=request.url.scheme == "https"
    )
    return answer


def _inside(wanted: str) -> str:
    """Where to go after signing in: one of our pages, whatever was requested."""
    return wanted if wanted.startswith(f"{paths.ROOT}/") and "\\" not in wanted and "\n" not in wanted else paths.ROOT


# Whose memory to look at.


LISTED = 50


@dataclass(frozen=True, slots=True, kw_only=True)
class Listed:
    """A user in the list, with the newest message dated by their own clock."""

    user: str
    name: str = ""
    newest: StoredTurn | None = None
    zone: tzinfo = UTC
    problem: str = ""


@router.get(ROOT)
async def users(request: Request, q: str = "", after: str = "") -> Response:
    """The tenant's users, by name; a key of one user goes straight to that user."""
    caller = caller_of(request)
    if caller.user is not None:
        return RedirectResponse(Links(caller.user)("conversation"), status_code=303)
    if "admin" not in caller.scopes:
        return page(request, "people.html", people=None, more="", q=q, user=None)
    memory = Service.of(request).memory(caller.tenant)
    names = sorted(name for name in await memory.users() if q.casefold() in name.casefold() and name > after)
    if len(names) == 1 and not q and not after:
        return RedirectResponse(Links(names[0])("conversation"), status_code=303)
    more = names[LISTED - 1] if len(names) > LISTED else ""
    people = await asyncio.gather(*(_listed(memory, name) for name in names[:LISTED]))
    return page(request, "people.html", people=people, more=more, q=q, user=None)


async def _listed(memory: "Hitherto", user: str) -> Listed:
    """A user whose memory cannot be read is listed all the same, with the reason."""
    try:
        profile = await memory.user(user)
        newest = await memory.turns(user=user, before=LARGEST, limit=1)
    except HithertoError as error:
        return Listed(user=user, problem=str(error))
    return Listed(
        user=user, name=profile.name or "", newest=newest[-1] if newest else None, zone=ZoneInfo(profile.zone)
    )
