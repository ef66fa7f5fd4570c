"""The outermost layer: every request gets an id, one log line, its place in the metrics and, whatever happens, an answer."""

import json
import logging
import re
import secrets
import sys
import time
import traceback
from datetime import UTC, datetime
from http import HTTPStatus
from urllib.parse import unquote, unquote_to_bytes

from fastapi import Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from hitherto.deliver.http.problems import BrokenRequest, send_error
from hitherto.deliver.http.telemetry import Metrics, Tracing
from hitherto.errors import HithertoError

HEADER = b"x-request-id"
GONE = 499
"""Logged for a client that left before it had its answer."""

_GIVEN = re.compile(rb"[A-Za-z0-9._-]{1,64}")


class ClientGone(Exception):
    """The client closed the connection or stopped reading."""


class Requests:
    """Wraps the application. A request id sent by the client is used if it is short and plain."""

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
    """The route's pattern, because a path itself may contain a user's name."""
    return str(getattr(scope.get("route"), "path", "(none)"))


def _method(scope: Scope) -> str:
    """The method if the service knows it, so that clients cannot invent labels."""
    method = str(scope["method"])
    return method if method in ("GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS") else "(other)"


# Logs as JSON lines. They hold ids, codes and times: never a message, a name or a value that a client sent.

LOG = logging.getLogger("hitherto.http")


class JsonLines(logging.Formatter):
    """One object per line. An error is logged as its type and origin; its message may hold content and is left out."""

    def format(self, record: logging.LogRecord) -> str:
        line: dict[str, object] = {
            "at": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "event": record.getMessage(),
            **getattr(record, "fields", {}),
        }
        if record.exc_info and record.exc_info[1] is not None:
            line["error"] = type(record.exc_info[1]).__name__
            line["trace"] = places(record.exc_info[1])
        return json.dumps(line, ensure_ascii=False, default=str)


def places(error: BaseException) -> list[str]:
    """Where an error passed through, innermost last, without any of its text."""
    return [f"{frame.name} ({frame.filename}:{frame.lineno})" for frame in traceback.extract_tb(error.__traceback__)]


def configure(level: str) -> None:
    """Sends everything that is logged in this process to stderr as JSON lines."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonLines())
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(level.upper())


# Addresses are read literally: a name in a path means exactly that name, whatever it contains.
#
# The server decodes a path as a whole. An encoded slash would then end a name, so that a request for the user `ana/turns`
# would ask for ana's turns; and everything that is not UTF-8 would become the same replacement character, so that two names
# become one.

_SLASH = b"%2f"
_STATE = "slashes"


class Addresses:
    """The layer that reads addresses. In a path with an encoded slash, the slashes and percent signs of names stay encoded
    until the route is found."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            try:
                _read(scope)
            except UnicodeDecodeError:
                await send_error(BrokenRequest("The address is not UTF-8."), scope, send)
                return
        await self._app(scope, receive, send)


def _read(scope: Scope) -> None:
    unquote_to_bytes(scope["query_string"]).decode()
    raw: bytes = scope.get("raw_path") or b""
    unquote_to_bytes(raw).decode()
    if _SLASH in raw.lower():
        names = (unquote(name, errors="strict") for name in raw.decode().split("/"))
        scope["path"] = "/".join(name.replace("%", "%25").replace("/", "%2F") for name in names)
        scope["state"][_STATE] = True


async def whole_names(request: Request) -> None:
    """Decodes what the layer left encoded, now that the names in the path have been separated."""
    if request.scope["state"].get(_STATE):
        names: dict[str, str] = request.scope["path_params"]
        for key, name in names.items():
            names[key] = name.replace("%2F", "/").replace("%25", "%")
