"""Errors as answers: the one place that maps the error tree to status codes, and the one shape in which they are sent.

Everything that is not found has the same message: an answer must not distinguish another user's data from data that does
not exist.
"""

import json
import math
from collections.abc import Iterable, Mapping
from http import HTTPStatus
from types import UnionType
from typing import Any, Union, get_args, get_origin

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import Response
from starlette.exceptions import HTTPException
from starlette.types import Scope, Send

from hitherto import errors
from hitherto.deliver.http.paths import policy
from hitherto.errors import Busy, HithertoError, NotFound, near

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
"""A class that is not listed is answered like its nearest listed ancestor."""

JSON = "application/json"
AT_THE_TOP = 2
"""The length of the location of a field of the body itself: `body` and its name."""
OPENAI_TYPES: Mapping[int, str] = {401: "authentication_error", 403: "permission_error", 429: "rate_limit_error"}


class BrokenRequest(errors.InvalidInput):
    """The request's body is not JSON in UTF-8."""


class NoSuchPath(errors.NotFound):
    """There is no such path; /openapi.json lists them all."""

    @classmethod
    def kind(cls) -> str:
        return errors.NotFound.kind()


def status_of(error: HithertoError) -> int:
    if isinstance(error, BrokenRequest):
        return HTTPStatus.BAD_REQUEST
    return next(STATUS[cls] for cls in type(error).__mro__ if cls in STATUS)


def message_of(error: HithertoError) -> str:
    return str(NotFound()) if isinstance(error, NotFound) and not isinstance(error, NoSuchPath) else str(error)


def headers_of(error: HithertoError, *, status: int) -> dict[str, str]:
    """What a client needs in order to do better next time."""
    headers: dict[str, str] = {}
    if isinstance(error, Busy) or status == HTTPStatus.SERVICE_UNAVAILABLE:
        headers["Retry-After"] = str(max(1, math.ceil(getattr(error, "retry_after", 1.0))))
    if status == HTTPStatus.UNAUTHORIZED:
        headers["WWW-Authenticate"] = "Bearer"
    if status in (HTTPStatus.REQUEST_ENTITY_TOO_LARGE, HTTPStatus.REQUEST_TIMEOUT):
        # The rest of the body is not read, so the connection cannot be reused.
        headers["Connection"] = "close"
    return headers


def body_of(kind: str, message: str, *, request_id: str) -> bytes:
    shape = {"error": {"type": kind, "message": message, "request_id": request_id}}
    return json.dumps(shape, ensure_ascii=True).encode()


def openai_body(error: HithertoError, *, status: int) -> bytes:
    """The error in the form that OpenAI's clients expect."""
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
    """The error as an answer from a layer in front of the application."""
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
        return answer(first_of(error, request), request.scope)

    async def routing(request: Request, error: Exception) -> Response:
        assert isinstance(error, HTTPException), "registered for these"
        return _routing(error, request.scope)

    app.add_exception_handler(HithertoError, ours)
    app.add_exception_handler(RequestValidationError, invalid)
    app.add_exception_handler(HTTPException, routing)


def first_of(error: RequestValidationError, request: Request) -> HithertoError:
    """The first thing that is wrong with a request, in words, without repeating its value."""
    shapes = _shapes(request)
    found = error.errors()
    # If several shapes are possible, the one of which most was recognised; each location begins with the shape's name,
    # which nobody sent.
    first = max(found, key=lambda one: len(one["loc"])) if len(shapes) > 1 else found[0]
    if first["type"] == "json_invalid":
        return BrokenRequest()
    place = first["loc"][:1] + first["loc"][2:] if len(shapes) > 1 and first["loc"][0] == "body" else first["loc"]
    where = ".".join(str(step) for step in place if step not in ("body", "path", "query", "header"))
    if first["type"] == "extra_forbidden" and len(place) == AT_THE_TOP:
        return errors.InvalidInput(f"{where}: there is no such field{near(where, _fields(shapes))}")
    if not where and not request.headers.get("content-type", "").startswith(JSON):
        return errors.InvalidInput(f"the request: send its JSON with the header Content-Type: {JSON}")
    return errors.InvalidInput(f"{where or 'the request'}: {first['msg']}")


def _shapes(request: Request) -> tuple[Any, ...]:
    """What the route's body may be: one shape, or one of several."""
    body = getattr(request.scope.get("route"), "body_field", None)
    shape = None if body is None else body.field_info.annotation
    return get_args(shape) if get_origin(shape) in (Union, UnionType) else (shape,)


def _fields(shapes: Iterable[Any]) -> tuple[str, ...]:
    """The field names of a body that is a single object."""
    return tuple(name for shape in shapes for name in getattr(shape, "model_fields", ()))


def _routing(error: HTTPException, scope: Scope) -> Response:
    """What the framework itself refuses: an unknown route, a wrong method, a body it cannot parse."""
    if error.status_code == HTTPStatus.NOT_FOUND:
        return answer(NotFound() if policy(scope.get("path", "")).errors == "openai" else NoSuchPath(), scope)
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
