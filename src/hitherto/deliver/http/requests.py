"""The outermost layer: every request gets an id, one log line, its place in the metrics and, whatever happens, an answer."""

import logging
import re
import secrets
import time
from http import HTTPStatus

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from hitherto.deliver.http.failures import send_error
from hitherto.deliver.http.logs import LOG
from hitherto.deliver.http.metrics import Metrics
from hitherto.deliver.http.tracing import Tracing
from hitherto.errors import HithertoError

HEADER = b"x-request-id"
GONE = 499
"""What is logged for a client that left before it had its answer."""

_GIVEN = re.compile(rb"[A-Za-z0-9._-]{1,64}")


class ClientGone(Exception):
    """The client closed the connection or stopped reading."""


class Requests:
    """Wraps the application. A request id that the client sends is taken over if it is short and plain."""

    def __init__(self, app: ASGIApp, *, metrics: Metrics, tracing: Tracing) -> None:
        self._app = app
        self._metrics = metrics
        self._tracing = tracing

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        given = next((value for name, value in scope["headers"] if name == HEADER), b"")
        request_id = given.decode() if _GIVEN.fullmatch(given) else secrets.token_hex(8)
        scope.setdefault("state", {})["request_id"] = request_id
        status = 0

        async def sending(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                message["headers"] = [*message.get("headers", ()), (HEADER, request_id.encode())]
            await send(message)

        started = time.perf_counter()
        failure: Exception | None = None
        with self._metrics.running.track_inprogress(), self._tracing.span(scope) as span:
            try:
                await self._app(scope, receive, sending)
            except ClientGone:
                status = status or GONE
            except Exception as error:  # noqa: BLE001 -- the edge: whatever it was, the client gets an answer and the log a line
                failure = error
                if not status:
                    await send_error(HithertoError("Something went wrong in the service."), scope, sending)
            span.finish(scope, status=status)
        seconds = time.perf_counter() - started
        route = route_of(scope)
        self._metrics.answered(method=_method(scope), route=route, status=status, seconds=seconds)
        fields = {
            "request_id": request_id,
            "method": _method(scope),
            "route": route,
            "status": status,
            "ms": round(seconds * 1000, 2),
            "key": getattr(scope["state"].get("caller"), "key", None),
        }
        level = logging.ERROR if status >= HTTPStatus.INTERNAL_SERVER_ERROR and failure else logging.INFO
        LOG.log(level, "request", extra={"fields": fields}, exc_info=failure)


def route_of(scope: Scope) -> str:
    """The route's pattern: a path itself may hold a user's name."""
    return str(getattr(scope.get("route"), "path", "(none)"))


def _method(scope: Scope) -> str:
    """The method if it is one that the service knows, so that clients cannot invent labels."""
    method = str(scope["method"])
    return method if method in ("GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS") else "(other)"
