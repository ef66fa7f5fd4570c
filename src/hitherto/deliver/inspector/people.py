"""Whose memory to look at."""

from fastapi import APIRouter, Request
from fastapi.responses import RedirectResponse, Response

from hitherto.deliver.http.pages import ROOT
from hitherto.deliver.http.service import Service
from hitherto.deliver.http.subjects import caller_of
from hitherto.deliver.inspector.links import Links
from hitherto.deliver.inspector.pages import Page, page

router = APIRouter(route_class=Page, include_in_schema=False)

LISTED = 100


@router.get(ROOT)
async def users(request: Request, q: str = "", after: str = "") -> Response:
    """The tenant's users, by name; a key of one user goes on to that user."""
    caller = caller_of(request)
    if caller.user is not None:
        return RedirectResponse(Links(caller.user)("conversation"), status_code=303)
    if "admin" not in caller.scopes:
        return page(request, "people.html", names=None, more="", q=q, user=None)
    memory = Service.of(request).memory(caller.tenant)
    names = sorted(name for name in await memory.users() if q.casefold() in name.casefold() and name > after)
    if len(names) == 1 and not q and not after:
        return RedirectResponse(Links(names[0])("conversation"), status_code=303)
    more = names[LISTED - 1] if len(names) > LISTED else ""
    return page(request, "people.html", names=names[:LISTED], more=more, q=q, user=None)
