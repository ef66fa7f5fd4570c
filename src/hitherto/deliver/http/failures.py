"""Errors as answers: the one place that maps the error tree to status codes, and the one shape they are sent in.

What is not found has one message, whatever it was: an answer must not tell "not yours" from "not there".
"""

import json
import math
from collections.abc import Mapping
from http import HTTPStatus

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import Response
from starlette.exceptions import HTTPException
from starlette.types import Scope, Send

from hitherto import errors
from hitherto.deliver.http.paths import policy
from hitherto.errors import Busy, HithertoError, NotFound

STATUS: Mapping[type[HithertoError], int] = {
    errors.HithertoError: 500,
    errors.InvalidInput: 422,
    errors.NotFound: 404,
    errors.Conflict: 409,
    errors.ImpossibleBudget: 422,
    errors.StoreError: 503,
    errors.StoreFull: 507,
    errors.StoreCorrupt: 500,
    errors.SchemaMismatch: 500,
    errors.Fenced: 409,
    errors.MissingExtra: 501,
    errors.AccessDenied: 401,
    errors.NotPermitted: 403,
    errors.TooLarge: 413,
    errors.TooSlow: 408,
    errors.Busy: 503,
    errors.RateLimited: 429,
    errors.Overloaded: 503,
    errors.ServiceError: 502,
}
"""A class that is not listed is answered like the nearest one above it in the tree."""

JSON = "application/json"
OPENAI_TYPES: Mapping[int, str] = {401: "authentication_error", 403: "permission_error", 429: "rate_limit_error"}


class BrokenRequest(errors.InvalidInput):
    """The request's body is not JSON in UTF-8."""


def status_of(error: HithertoError) -> int:
    if isinstance(error, BrokenRequest):
        return HTTPStatus.BAD_REQUEST
    return next(STATUS[cls] for cls in type(error).__mro__ if cls in STATUS)


def message_of(error: HithertoError) -> str:
    return str(NotFound()) if isinstance(error, NotFound) else str(error)


def headers_of(error: HithertoError, *, status: int) -> dict[str, str]:
    """What a client needs to do better next time."""
    headers: dict[str, str] = {}
    if isinstance(error, Busy) or status == HTTPStatus.SERVICE_UNAVAILABLE:
        headers["Retry-After"] = str(max(1, math.ceil(getattr(error, "retry_after", 1.0))))
    if status == HTTPStatus.UNAUTHORIZED:
        headers["WWW-Authenticate"] = "Bearer"
    if status in (HTTPStatus.REQUEST_ENTITY_TOO_LARGE, HTTPStatus.REQUEST_TIMEOUT):
        # What is left of the body is not read, so the connection cannot be used again.
        headers["Connection"] = "close"
    return headers


def body_of(kind: str, message: str, *, request_id: str) -> bytes:
    shape = {"error": {"type": kind, "message": message, "request_id": request_id}}
    return json.dumps(shape, ensure_ascii=True).encode()


def openai_body(error: HithertoError, *, status: int) -> bytes:
    """The error as OpenAI's clients expect it."""
    kind = OPENAI_TYPES.get(
        status, "invalid_request_error" if status < HTTPStatus.INTERNAL_SERVER_ERROR else "server_error"
    )
    code = "context_length_exceeded" if isinstance(error, errors.ImpossibleBudget) else error.kind()
    shape = {"error": {"message": message_of(error), "type": kind, "param": None, "code": code}}
    return json.dumps(shape, ensure_ascii=True).encode()


def request_id_of(scope: Scope) -> str:
    return str(scope.get("state", {}).get("request_id", ""))


def answer(error: HithertoError, scope: Scope) -> Response:
    """The error as a response."""
    status = status_of(error)
    if policy(scope.get("path", "")).errors == "openai":
        status = HTTPStatus.BAD_REQUEST if status == HTTPStatus.UNPROCESSABLE_ENTITY else status
        body = openai_body(error, status=status)
    else:
        body = body_of(error.kind(), message_of(error), request_id=request_id_of(scope))
    return Response(body, status_code=status, media_type=JSON, headers=headers_of(error, status=status))


async def send_error(error: HithertoError, scope: Scope, send: Send) -> None:
    """The error as an answer of a layer that stands before the application."""
    response = answer(error, scope)
    await send({"type": "http.response.start", "status": response.status_code, "headers": response.raw_headers})
    await send({"type": "http.response.body", "body": response.body})


def install(app: FastAPI) -> None:
    """Answers every error of the application in the one shape."""

    async def ours(request: Request, error: Exception) -> Response:
        assert isinstance(error, HithertoError), "registered for these"
        return answer(error, request.scope)

    async def invalid(request: Request, error: Exception) -> Response:
        assert isinstance(error, RequestValidationError), "registered for these"
        return answer(first_of(error), request.scope)

    async def routing(request: Request, error: Exception) -> Response:
        assert isinstance(error, HTTPException), "registered for these"
        return _routing(error, request.scope)

    app.add_exception_handler(HithertoError, ours)
    app.add_exception_handler(RequestValidationError, invalid)
    app.add_exception_handler(HTTPException, routing)


def first_of(error: RequestValidationError) -> HithertoError:
    """The first thing that is wrong with a request, in words; its value is not repeated."""
    first = error.errors()[0]
    if first["type"] == "json_invalid":
        return BrokenRequest()
    where = ".".join(str(step) for step in first["loc"] if step not in ("body", "path", "query", "header"))
    return errors.InvalidInput(f"{where or 'the request'}: {first['msg']}")


def _routing(error: HTTPException, scope: Scope) -> Response:
    """What the framework itself refuses: no such route, no such method, a body it cannot parse."""
    if error.status_code == HTTPStatus.NOT_FOUND:
        return answer(NotFound(), scope)
    if error.status_code == HTTPStatus.BAD_REQUEST:
        return answer(BrokenRequest(), scope)
    phrase = HTTPStatus(error.status_code).phrase
    if policy(scope.get("path", "")).errors == "openai":
        shape = {"message": f"{phrase}.", "type": "invalid_request_error", "param": None, "code": None}
        return Response(
            json.dumps({"error": shape}), status_code=error.status_code, media_type=JSON, headers=error.headers
        )
    body = body_of(phrase.lower().replace(" ", "_"), f"{phrase}.", request_id=request_id_of(scope))
    return Response(body, status_code=error.status_code, media_type=JSON, headers=error.headers)
