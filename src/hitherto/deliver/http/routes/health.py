"""The state of the service: alive, ready, metrics. The open routes reveal nothing about anybody."""

import asyncio
import time
from dataclasses import dataclass, field

from fastapi import APIRouter, Request
from fastapi.responses import Response
from pydantic import BaseModel

from hitherto import __version__
from hitherto.deliver.http.models import reply
from hitherto.deliver.http.service import Measuring, Service
from hitherto.deliver.http.telemetry import MEDIA_TYPE
from hitherto.errors import StoreError
from hitherto.store.protocol import Health

router = APIRouter(tags=["health"])

FRESH_SECONDS = 2.0
DEADLINE_SECONDS = 2.0


class Condition(BaseModel):
    """`degraded` means that everything is answered, but with less than there should be; `problems` says what is missing."""

    status: str
    version: str
    problems: list[str]


@dataclass(slots=True)
class Pulse:
    """The store's health, checked once in a while: these routes are open, so they must cost nothing."""

    _health: Health | None = None
    _problem: str = ""
    _until: float = 0.0
    _lock: asyncio.Lock = field(default_factory=asyncio.Lock)

    async def take(self, service: Service) -> tuple[bool, list[str]]:
        """Whether the store answers, and what is wrong."""
        async with self._lock:
            if time.monotonic() >= self._until:
                await self._look(service)
                self._until = time.monotonic() + FRESH_SECONDS
        if self._health is None:
            return False, [self._problem]
        return True, list(self._health.problems)

    async def _look(self, service: Service) -> None:
        try:
            async with asyncio.timeout(DEADLINE_SECONDS):
                self._health = await service.engine.health()
        except TimeoutError:
            self._health, self._problem = None, "the store does not answer in time"
        except StoreError as error:
            self._health, self._problem = None, type(error).__doc__ or ""


def _pulse(request: Request) -> Pulse:
    pulse: object = request.app.state.pulse
    assert isinstance(pulse, Pulse), "create_app puts it there"
    return pulse


@router.get("/healthz", response_model=Condition)
async def healthz(request: Request) -> Response:
    """Alive. A degraded service is alive too, and says what is missing."""
    _, problems = await _pulse(request).take(Service.of(request))
    status = "degraded" if problems else "ok"
    return reply(Condition(status=status, version=__version__, problems=problems), Condition)


@router.get("/readyz", response_model=Condition, responses={503: {"model": Condition}})
async def readyz(request: Request) -> Response:
    """Ready to work: the store answers."""
    answers, problems = await _pulse(request).take(Service.of(request))
    condition = Condition(status="ready" if answers else "not ready", version=__version__, problems=problems)
    return reply(condition, Condition, status=200 if answers else 503)


@router.get("/metrics", response_class=Response, responses={200: {"content": {"text/plain": {}}}})
async def metrics(request: Request, tenancy: Measuring) -> Response:
    """Counts for Prometheus, without a label that names anybody."""
    service = Service.of(request)
    for what, count in service.engine.learning.items():
        service.metrics.learning.labels(what).set(count)
    return Response(service.metrics.page(), media_type=MEDIA_TYPE)
