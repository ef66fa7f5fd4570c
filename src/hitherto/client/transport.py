"""Requests to the service: keys, errors of the library's own tree, and trying again where that is safe."""

import asyncio
import random
import secrets
from collections.abc import AsyncIterator, Mapping
from functools import cache
from typing import Any
from urllib.parse import quote

import httpx
from pydantic import TypeAdapter, ValidationError
from pydantic_core import to_jsonable_python

from hitherto import errors
from hitherto.errors import Busy, HithertoError, ServiceError

ERRORS: Mapping[str, type[HithertoError]] = {
    cls.kind(): cls for cls in vars(errors).values() if isinstance(cls, type) and issubclass(cls, HithertoError)
}
"""The error tree by the names that answers use."""

LONGEST_WAIT = 10.0


class Transport:
    """One service and one key. Every request that changes something carries a key of its own, so that one whose answer was
    lost can be sent again."""

    def __init__(self, http: httpx.AsyncClient, *, retries: int) -> None:
        self._http = http
        self._retries = retries

    async def close(self) -> None:
        await self._http.aclose()

    async def ask(self, method: str, path: str, kind: Any, **request: Any) -> Any:
        """The answer as a value of that type."""
        response = await self.send(method, path, **request)
        try:
            return adapter(kind).validate_json(response.content)
        except ValidationError as error:
            raise ServiceError(f"{method} {path} was answered in a shape that this client does not know") from error

    async def send(
        self,
        method: str,
        path: str,
        *,
        json: object = None,
        params: Mapping[str, object] | None = None,
        content: Any = None,
        retry: bool = True,
    ) -> httpx.Response:
        """The answer, or the error that it says."""
        request: dict[str, Any] = {"params": _params(params)}
        if json is not None:
            request["json"] = to_jsonable_python(json)
        if content is not None:
            request["content"] = content
        if method == "POST":
            request["headers"] = {"Idempotency-Key": secrets.token_hex(16)}
        for attempt in range(self._retries + 1):
            last = attempt == self._retries or not retry
            try:
                response = await self._http.request(method, path, **request)
            except httpx.TransportError as error:
                if last:
                    raise ServiceError(f"{method} {path}: {type(error).__name__}") from error
                await asyncio.sleep(_wait(attempt))
                continue
            if response.is_success:
                return response
            problem = error_of(response)
            if last or not isinstance(problem, Busy):
                raise problem
            await asyncio.sleep(min(LONGEST_WAIT, max(problem.retry_after, _wait(attempt))))
        raise AssertionError("the last attempt answers or raises")

    async def lines(self, path: str) -> AsyncIterator[str]:
        """The answer line by line, as it comes."""
        try:
            async with self._http.stream("GET", path) as response:
                if not response.is_success:
                    await response.aread()
                    raise error_of(response)
                # Not by httpx's own lines, which end at every separator that Unicode knows: JSON lines end at \n.
                rest = b""
                async for piece in response.aiter_bytes():
                    *whole, rest = (rest + piece).split(b"\n")
                    for line in whole:
                        yield line.decode()
                if rest:
                    yield rest.decode()
        except httpx.TransportError as error:
            raise ServiceError(f"GET {path}: {type(error).__name__}") from error


@cache
def adapter(kind: Any) -> TypeAdapter[Any]:
    """Reads JSON into values of that type; making one costs more than using it."""
    return TypeAdapter(kind)


def error_of(response: httpx.Response) -> HithertoError:
    """The error of the library's tree that an answer stands for."""
    try:
        said: Any = response.json()["error"]
        kind, message = str(said["type"]), f"{said['message']} (request {said['request_id']})"
    except (ValueError, KeyError, TypeError):
        kind, message = "", f"the service answered {response.status_code}"
    cls = ERRORS.get(kind, ServiceError)
    if issubclass(cls, Busy):
        after = response.headers.get("retry-after", "")
        return cls(message, retry_after=float(after) if after.isdigit() else 1.0)
    return cls(message)


def _wait(attempt: int) -> float:
    """A little longer each time, and never the same for all clients."""
    return 0.1 * 2**attempt * random.uniform(0.5, 1.0)


def _params(given: Mapping[str, object] | None) -> dict[str, Any]:
    return {name: to_jsonable_python(value) for name, value in (given or {}).items() if value is not None}


def of_user(user: str, *rest: str) -> str:
    return "/".join(["/v1/users", quoted(user), *map(quoted, rest)])


def quoted(name: str) -> str:
    """The name as one step of a path. A step of dots alone would be taken out of the address before it is sent."""
    return name.replace(".", "%2E") if name in (".", "..") else quote(name, safe="")


def present(values: Mapping[str, Any]) -> dict[str, Any]:
    """Those that are given."""
    return {name: value for name, value in values.items() if value is not None}
