"""Background work and the state of the service: what is due or parked, what is degraded, costs, sizes, latencies."""

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from fastapi import APIRouter, Request
from fastapi.responses import RedirectResponse, Response

from hitherto.deliver.http.paths import ROOT
from hitherto.deliver.http.service import Service, caller_of, subject_of
from hitherto.deliver.inspector.charts import Column, columns
from hitherto.deliver.inspector.views import Links, Page, Visit, form, in_zone_of, page
from hitherto.learn import cost
from hitherto.work.overview import Status

if TYPE_CHECKING:
    from hitherto import Hitherto

router = APIRouter(route_class=Page, include_in_schema=False)

USERS = 25
"""Users in the overview."""
ROUTES = 12
"""Routes whose latencies are drawn: the busiest."""
NO_MODEL = "No model is configured: memories are made by rules, and recall of the turns carries the load."
NEVER = datetime.max.replace(tzinfo=UTC)
COSTS = 40
"""Rows of days and steps."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    """The state of one user's work."""

    user: str
    status: Status

    @property
    def due(self) -> datetime | None:
        """When the next step is due."""
        return min((cursor.due for cursor in self.status.cursors if cursor.due and not cursor.parked), default=None)

    @property
    def parked(self) -> int:
        return len(self.status.parked)


@dataclass(frozen=True, slots=True, kw_only=True)
class Latency:
    """How long a route's requests took."""

    route: str
    count: int
    columns: tuple[Column, ...]
    median: str


@router.get(f"{ROOT}/health")
async def work(request: Request, user: str | None = None) -> Response:
    visit, caller = Visit.of(request), caller_of(request)
    service = Service.of(request)
    memory = service.memory(caller.tenant)
    shown: dict[str, Any] = {"progress": None, "overview": [], "health": None, "latencies": [], "costs": []}
    name = user or caller.user
    if name:
        subject = subject_of(request, user=name, scope="read")
        await in_zone_of(subject)
        shown["progress"] = Progress(user=name, status=await subject.memory.work_status(user=name))
        shown["costs"] = (await cost.spent(subject.memory.user_store(name)))[:COSTS]
    if visit.may_everywhere("admin"):
        shown["overview"] = await _overview(memory)
    health = await memory.health() if visit.may_everywhere("operate") else None
    shown["health"] = health
    shown["degraded"] = list(health.problems) if health else []
    shown["note"] = "" if service.settings.model else NO_MODEL
    if visit.may_everywhere("metrics"):
        shown["latencies"] = latencies(service.metrics.latencies())
    return page(request, "work.html", user=name, **shown)


@router.post(f"{ROOT}/retry")
async def retry(request: Request) -> Response:
    """Makes a parked step due again."""
    filled = await form(request)
    subject = subject_of(request, user=filled.get("user"), scope="write")
    await subject.memory.retry(user=subject.user, step=filled.get("step"))
    return RedirectResponse(Links(subject.user)("health"), status_code=303)


async def _overview(memory: "Hitherto") -> list[Progress]:
    """The first users, those with the most trouble first."""
    names = sorted(await memory.users())[:USERS]
    found = [Progress(user=name, status=await memory.work_status(user=name)) for name in names]
    return sorted(found, key=lambda one: (-one.parked, one.due is None, one.due or NEVER, one.user))


def latencies(found: dict[str, list[tuple[float, int]]]) -> list[Latency]:
    """A histogram for each of the busiest routes. Bucket counts arrive cumulative."""
    made: list[Latency] = []
    for route, buckets in found.items():
        own = [
            (limit, count - before)
            for (limit, count), before in zip(buckets, [0, *(c for _, c in buckets)], strict=False)
        ]
        total = sum(count for _, count in own)
        if total:
            named = [(_limit(limit), count) for limit, count in own]
            made.append(Latency(route=route, count=total, columns=columns(named), median=_median(own, total)))
    return sorted(made, key=lambda one: -one.count)[:ROUTES]


def _median(own: list[tuple[float, int]], total: int) -> str:
    seen = 0
    for limit, count in own:
        seen += count
        if seen * 2 >= total:
            return _limit(limit)
    return ""


def _limit(seconds: float) -> str:
    if seconds == float("inf"):
        return "longer"
    return f"{seconds * 1000:g} ms" if seconds < 1 else f"{seconds:g} s"
