"""Spans for OpenTelemetry, if it is installed and configured: one a request, named as the GenAI conventions name the
operations on a memory. They carry ids and codes, never content."""

from collections.abc import Generator, Mapping
from contextlib import contextmanager
from typing import Any, Literal, Protocol

from starlette.types import Scope

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
    """What a request does to a memory; None for one that touches no user's."""
    if (method, route) in _OPERATIONS:
        return _OPERATIONS[method, route]
    return _BY_METHOD.get(method) if route.startswith("/v1/users/{user}") else None


class RequestSpan(Protocol):
    """What is told to a span when its request is done."""

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
    """Where OpenTelemetry is not installed."""

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
    """OpenTelemetry where it is installed."""
    try:
        return OpenTelemetry()
    except ImportError:
        return NoTracing()
