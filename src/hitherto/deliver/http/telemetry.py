"""What the service counts, and its spans. No label names a user, a tenant or a key."""

import logging
import os
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from importlib.metadata import entry_points
from typing import Any, Literal, Protocol

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from prometheus_client.multiprocess import MultiProcessCollector
from starlette.types import Scope

FOLDER_VARIABLE = "PROMETHEUS_MULTIPROC_DIR"
"""Where the processes of one service keep their counts, so that each can answer for all."""

SECONDS = (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0)

SECONDS_NAME = "hitherto_request_seconds"

MEDIA_TYPE = "text/plain; version=0.0.4; charset=utf-8"


class Metrics:
    """The counts of one service."""

    def __init__(self) -> None:
        self._registry = CollectorRegistry()
        self._requests = Counter(
            "hitherto_requests", "Requests answered.", ("method", "route", "status"), registry=self._registry
        )
        self._seconds = Histogram(
            SECONDS_NAME,
            "From a request's arrival to the end of its answer.",
            ("route",),
            buckets=SECONDS,
            registry=self._registry,
        )
        self.running = Gauge(
            "hitherto_requests_running",
            "Requests that are being answered.",
            registry=self._registry,
            multiprocess_mode="livesum",
        )
        self.refused = Counter(
            "hitherto_requests_refused", "Requests turned away.", ("reason",), registry=self._registry
        )
        self.learning = Gauge(
            "hitherto_learning",
            "Since a process began: questions to the model that learns, tokens, notes kept and dropped.",
            ("what",),
            registry=self._registry,
            multiprocess_mode="livesum",
        )
        self.turns = Counter("hitherto_turns_recorded", "Turns recorded.", registry=self._registry)

    def answered(self, *, method: str, route: str, status: int, seconds: float) -> None:
        self._requests.labels(method, route, str(status)).inc()
        self._seconds.labels(route).observe(seconds)

    def page(self) -> bytes:
        """The counts in Prometheus' text format, over all processes of the service."""
        return generate_latest(self._everywhere())

    def latencies(self) -> dict[str, list[tuple[float, int]]]:
        """For each route, how many requests took at most so many seconds."""
        found: dict[str, list[tuple[float, int]]] = {}
        for metric in self._everywhere().collect():
            for sample in metric.samples if metric.name == SECONDS_NAME else ():
                if sample.name == f"{SECONDS_NAME}_bucket":
                    found.setdefault(sample.labels["route"], []).append((float(sample.labels["le"]), int(sample.value)))
        return {route: sorted(buckets) for route, buckets in found.items()}

    def _everywhere(self) -> CollectorRegistry:
        if FOLDER_VARIABLE not in os.environ:
            return self._registry
        everywhere = CollectorRegistry()
        MultiProcessCollector(everywhere)
        return everywhere


# --- spans for OpenTelemetry --------------------------------------------------------------------------------------------
#
# If it is installed and configured: one span per request, named after the GenAI conventions for operations on a memory.
# Spans carry ids and codes, never content.

LOG = logging.getLogger("hitherto.http")

Operation = Literal[
    "create_memory",
    "update_memory",
    "upsert_memory",
    "delete_memory",
    "search_memory",
    "delete_memory_store",
]
READ: Operation = "search_memory"

_OPERATIONS: Mapping[tuple[str, str], Operation] = {
    ("POST", "/v1/turns"): "upsert_memory",
    ("POST", "/v1/context"): READ,
    ("POST", "/v1/search"): READ,
    ("DELETE", "/v1/users/{user}"): "delete_memory_store",
}
_BY_METHOD: Mapping[str, Operation] = {
    "GET": READ,
    "POST": "create_memory",
    "PUT": "upsert_memory",
    "PATCH": "update_memory",
    "DELETE": "delete_memory",
}


def operation_of(method: str, route: str) -> Operation | None:
    """What a request does to a memory; None if it touches no user's memory."""
    if (method, route) in _OPERATIONS:
        return _OPERATIONS[method, route]
    return _BY_METHOD.get(method) if route.startswith("/v1/users/{user}") else None


class RequestSpan(Protocol):
    """What a span is told when its request is done."""

    def finish(self, scope: Scope, *, status: int) -> None: ...


class Tracing(Protocol):
    """How requests are traced."""

    def span(self, scope: Scope) -> Any:
        """A context manager that gives a `Span`."""
        ...


class _Nothing:
    def finish(self, scope: Scope, *, status: int) -> None:
        """There is no span."""


class NoTracing:
    """Used if OpenTelemetry is not installed."""

    @contextmanager
    def span(self, scope: Scope) -> Generator[RequestSpan]:
        yield _Nothing()


class OpenTelemetry:
    """Spans of the process's own tracer provider."""

    def __init__(self) -> None:
        from opentelemetry import propagate, trace

        self._extract = propagate.extract
        self._tracer = trace.get_tracer("hitherto")
        self._kind = trace.SpanKind.SERVER

    @contextmanager
    def span(self, scope: Scope) -> Generator[RequestSpan]:
        headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]}
        parent = self._extract(headers)
        with self._tracer.start_as_current_span("request", context=parent, kind=self._kind) as span:
            yield _Recorded(span)


class _Recorded:
    def __init__(self, span: Any) -> None:
        self._span = span

    def finish(self, scope: Scope, *, status: int) -> None:
        method, route = str(scope["method"]), str(getattr(scope.get("route"), "path", ""))
        operation = operation_of(method, route)
        self._span.update_name(operation or f"{method} {route}".strip())
        attributes: dict[str, str | int] = {
            "http.request.method": method,
            "http.response.status_code": status,
            "hitherto.request_id": str(scope["state"]["request_id"]),
        }
        if route:
            attributes["http.route"] = route
        if operation:
            attributes |= {"gen_ai.operation.name": operation, "gen_ai.provider.name": "hitherto"}
        if status >= 500:
            attributes["error.type"] = str(status)
        self._span.set_attributes(attributes)


def tracing() -> Tracing:
    """OpenTelemetry if it is installed."""
    try:
        return OpenTelemetry()
    except ImportError:
        return NoTracing()


def configure(environ: Mapping[str, str]) -> Callable[[], None]:
    """Sends the process's spans where OpenTelemetry's own variables say (`OTEL_TRACES_EXPORTER` and those of the exporter),
    if they are set. The SDK reads sampling, resource and service name itself. The function returned flushes what is left
    when the service stops: a process that a signal ends does nothing more by itself.
    """
    wanted = [name.strip() for name in environ.get("OTEL_TRACES_EXPORTER", "").split(",")]
    names = [name for name in wanted if name not in ("", "none")]
    if not names:
        return _nothing
    try:
        from opentelemetry import trace
        from opentelemetry.sdk.resources import SERVICE_NAME, Resource
        from opentelemetry.sdk.trace import TracerProvider
        from opentelemetry.sdk.trace.export import BatchSpanProcessor
    except ImportError:
        LOG.warning("OTEL_TRACES_EXPORTER is set, but spans need hitherto[otel]")
        return _nothing
    named = environ.get("OTEL_SERVICE_NAME") or "service.name=" in environ.get("OTEL_RESOURCE_ATTRIBUTES", "")
    provider = TracerProvider(resource=Resource.create({} if named else {SERVICE_NAME: "hitherto"}))
    for name in names:
        over = "grpc" if environ.get("OTEL_EXPORTER_OTLP_PROTOCOL", "").startswith("grpc") else "http"
        known = f"otlp_proto_{over}" if name == "otlp" else name
        found = list(entry_points(group="opentelemetry_traces_exporter", name=known))
        if not found:
            LOG.warning(
                "there is no exporter %r for spans: install its package (for otlp, opentelemetry-exporter-otlp)", name
            )
            continue
        provider.add_span_processor(BatchSpanProcessor(found[0].load()()))
    trace.set_tracer_provider(provider)
    return provider.shutdown


def _nothing() -> None:
    """Nothing is left to send."""
