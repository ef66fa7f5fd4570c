"""The application: the routes of every noun, behind the layers that every request passes.

A request passes, in this order: its id, log line and metrics; its address; the gate (key, rate); its body; its turn; the
route.
"""

import asyncio
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager, nullcontext
from typing import TYPE_CHECKING

from fastapi import APIRouter, Depends, FastAPI
from fastapi.responses import HTMLResponse
from starlette.types import ASGIApp

from hitherto import __version__
from hitherto.clock import Clock, system_clock
from hitherto.deliver import inspector
from hitherto.deliver.apikeys import Keys
from hitherto.deliver.http import description, problems
from hitherto.deliver.http.gate import Buckets, Doorman, Gate
from hitherto.deliver.http.limits import Bodies, Pressure
from hitherto.deliver.http.models import Strict
from hitherto.deliver.http.requests import Addresses, Requests, whole_names
from hitherto.deliver.http.routes import calls, contexts, health, people, privacy, records, transfer, turns, webhooks
from hitherto.deliver.http.service import Service, channels
from hitherto.deliver.http.telemetry import tracing
from hitherto.deliver.openai import routes as proxy
from hitherto.deliver.openai.upstream import Upstream
from hitherto.deliver.voice.line import keep_fresh
from hitherto.settings import Settings

if TYPE_CHECKING:
    from hitherto import Hitherto

DESCRIPTION = (
    "Memory and context for conversational products. Send your key as `Authorization: Bearer …`. "
    "Errors have one shape: {error: {type, message, request_id}}."
)

Lifespan = Callable[[FastAPI], AbstractAsyncContextManager[None]]


class ErrorBody(Strict):
    """What went wrong, and the id to find it by in the logs."""

    type: str
    message: str
    request_id: str


class ErrorAnswer(Strict):
    """The shape of every error."""

    error: ErrorBody


def create_app(
    memory: "Hitherto",
    settings: Settings,
    *,
    routers: Sequence[APIRouter] = (),
    clock: Clock = system_clock,
    lifespan: Lifespan | None = None,
) -> FastAPI:
    """The service over an open memory. `routers` are added to the service's own, behind the same layers."""
    service = Service(engine=memory, settings=settings, keys=Keys(memory.catalog, clock=clock), clock=clock)
    app = FastAPI(
        title="Hitherto",
        version=__version__,
        description=DESCRIPTION,
        docs_url=None,
        redoc_url=None,
        lifespan=_life(lifespan),
        generate_unique_id_function=description.operation_id,
        dependencies=[Depends(whole_names)],
        responses={"4XX": {"model": ErrorAnswer}, "5XX": {"model": ErrorAnswer}},
    )
    app.state.service = service
    app.state.pulse = health.Pulse()
    app.state.channels = channels(service)
    if settings.upstream is not None:
        app.state.upstream = Upstream(settings)
        app.include_router(proxy.router)  # a request is compared with routes one by one: behind the others, for 0.15 ms
    for router in (*_routers(type(memory)), *inspector.routers(), *routers):
        app.include_router(router)
    app.state.mcp = _mcp(app)
    app.get("/docs", include_in_schema=False)(_reference(app))
    problems.install(app)
    _stack(app, service)
    description.describe(app)
    return app


def _routers(engine: type) -> tuple[APIRouter, ...]:
    """Every route of the service itself; those derived from a call's declaration are read from the engine."""
    return (
        turns.router,
        contexts.router,
        *records.routers(),
        people.router,
        privacy.router,
        calls.router(engine),
        transfer.router,
        webhooks.router,
        health.router,
    )


def _mcp(app: FastAPI) -> AbstractAsyncContextManager[None]:
    """The MCP server at /mcp, if its package is installed in a supported version."""
    try:
        from hitherto.deliver.http.mcp_mount import mount
    except ImportError as error:
        if (error.name or "").partition(".")[0] not in ("mcp", "mcp_types"):
            raise
        return nullcontext()
    return mount(app)


def _stack(app: FastAPI, service: Service) -> None:
    """The layers; the last one added is the outermost."""
    settings = service.settings
    run_key = settings.run_key.get_secret_value() if settings.run_key else None
    doorman = app.state.doorman = Doorman(service.keys, run_key=run_key, seconds=settings.key_seconds)
    buckets = Buckets(rate=settings.rate, burst=settings.burst, share=settings.workers)
    layers: tuple[Callable[[ASGIApp], ASGIApp], ...] = (
        lambda inner: Pressure(inner, settings=settings, metrics=service.metrics),
        lambda inner: Bodies(inner, settings=settings),
        lambda inner: Gate(inner, doorman=doorman, buckets=buckets, metrics=service.metrics),
        Addresses,
        lambda inner: Requests(inner, metrics=service.metrics, tracing=tracing()),
    )
    for layer in layers:
        app.add_middleware(layer)


def _reference(app: FastAPI) -> Callable[[], HTMLResponse]:
    def docs() -> HTMLResponse:
        return HTMLResponse(description.page(app.openapi()), headers={"Content-Security-Policy": description.POLICY})

    return docs


def _life(lifespan: Lifespan | None) -> Lifespan:
    """What runs beside the requests of a serving process."""

    @asynccontextmanager
    async def life(app: FastAPI) -> AsyncGenerator[None]:
        upstream: Upstream | None = getattr(app.state, "upstream", None)
        async with (
            lifespan(app) if lifespan else nullcontext(),
            app.state.mcp,
            upstream.open() if upstream else nullcontext(),
        ):
            beside = [asyncio.create_task(keep_fresh(app.state.channels.line))] if app.state.channels.has_voice else []
            try:
                yield
            finally:
                for task in beside:
                    task.cancel()
                await asyncio.gather(*beside, return_exceptions=True)
                await app.state.channels.line.settled()

    return life
