"""Search over what a user said and what is remembered, and over the contexts that were given out."""

from typing import Annotated, Any

from fastapi import APIRouter, Query, Request
from fastapi.responses import Response

from hitherto.deliver.http.paths import ROOT
from hitherto.deliver.inspector.context import RECENT, given_out
from hitherto.deliver.inspector.pages import Page, looking, page

router = APIRouter(route_class=Page, include_in_schema=False)

FOUND = 30


@router.get(f"{ROOT}/search")
async def search(request: Request, user: str | None = None, q: Annotated[str, Query(max_length=500)] = "") -> Response:
    """Turns, memories, episodes and summaries by meaning and words; contexts by their message."""
    subject = await looking(request, user)
    found: dict[str, Any] = {"hits": [], "contexts": []}
    if q.strip():
        found["hits"] = await subject.memory.search(user=subject.user, query=q, limit=FOUND)
        kept = await given_out(subject, await subject.memory.snapshots(user=subject.user, limit=RECENT))
        found["contexts"] = [one for one in kept if q.casefold() in one.message.casefold()]
    return page(request, "search.html", user=subject.user, q=q, **found)
