"""The server that answers: its address, its key, and one pool of connections.

Headers and queries pass in both directions, but for those that belong to one connection or hold a secret of one side.
"""

import asyncio
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from typing import Any, Final

import httpx
from fastapi import Request

from hitherto.errors import ServiceError
from hitherto.settings import Settings

PLAIN: Final = "no-memory/"
"""A model id that begins so is passed on without it and without any memory."""
CONNECT_SECONDS: Final = 5.0
PREPARING: Final = 3
"""At the same time: while one waits for its message to be durable, another's context is assembled."""

_CONNECTION: Final = frozenset(
    {
        "connection", "content-encoding", "content-length", "date", "expect", "host", "keep-alive", "proxy-authenticate",
        "proxy-authorization", "proxy-connection", "server", "te", "trailer", "transfer-encoding", "upgrade",
    }
)  # fmt: skip
"""Headers that are about one connection."""
_OURS: Final = frozenset(
    {"accept-encoding", "authorization", "content-type", "cookie", "forwarded", "x-api-key", "x-real-ip"}
)
_OURS_BEGIN: Final = ("x-hitherto-", "x-forwarded-")
_THEIRS: Final = frozenset({"alt-svc", "set-cookie", "strict-transport-security", "x-request-id"})
"""What an upstream server says to us alone. Our own request id is in the answer already."""
_STRANGE: Final = ("access-control-", "cf-")


class UpstreamFailed(ServiceError):
    """The upstream server could not be reached."""

    @property
    def shape(self) -> dict[str, Any]:
        """As an event in a stream that has begun."""
        return {"error": {"message": str(self), "type": "upstream_error", "param": None, "code": "upstream_error"}}


def passed_on(headers: Mapping[str, str]) -> dict[str, str]:
    """The headers of a request that the upstream server is sent."""
    return {
        name: value
        for name, value in headers.items()
        if name not in _CONNECTION and name not in _OURS and not name.startswith(_OURS_BEGIN)
    }


def handed_back(headers: Mapping[str, str]) -> dict[str, str]:
    """The headers of the upstream server's answer that the client is sent."""
    kept = {
        name: value
        for name, value in headers.items()
        if name not in _CONNECTION and name not in _THEIRS and not name.startswith(_STRANGE)
    }
    named = headers.get("x-request-id")
    return kept if named is None else {**kept, "x-upstream-request-id": named}


class Upstream:
    """An OpenAI-compatible server."""

    def __init__(self, settings: Settings) -> None:
        assert settings.upstream is not None, "only made with one"
        key = settings.upstream_key.get_secret_value() if settings.upstream_key else None
        headers = {"Accept-Encoding": "identity"} | ({"Authorization": f"Bearer {key}"} if key else {})
        timeout = httpx.Timeout(settings.upstream_seconds, connect=CONNECT_SECONDS)
        limits = httpx.Limits(max_connections=settings.upstream_streams)
        self._client = httpx.AsyncClient(
            base_url=settings.upstream.rstrip("/"), headers=headers, timeout=timeout, limits=limits
        )
        self._free = settings.upstream_streams
        self.preparing = asyncio.Semaphore(PREPARING)
        """Requests are prepared one after the other, in the order they came: all at once, every one of them would be as late as
        the last."""

    @staticmethod
    def of(request: Request) -> "Upstream":
        upstream: object = request.app.state.upstream
        assert isinstance(upstream, Upstream), "create_app puts it there together with the routes"
        return upstream

    @asynccontextmanager
    async def open(self) -> AsyncGenerator[None]:
        try:
            yield
        finally:
            await self._client.aclose()

    def take(self) -> bool:
        """Whether one more request may be passed on; who may gives back."""
        if self._free:
            self._free -= 1
            return True
        return False

    def give(self) -> None:
        self._free += 1

    async def send(
        self, request: Request, path: str, *, body: dict[str, Any] | None = None, content: bytes | None = None
    ) -> httpx.Response:
        """The answer's head to this request, with the client's headers and query; its body is still to be read."""
        headers = passed_on(request.headers)
        if content is not None and (kind := request.headers.get("content-type")) is not None:
            headers["content-type"] = kind
        query = request.url.query
        try:
            made = self._client.build_request(
                request.method,
                f"{path}?{query}" if query else path,
                json=body,
                content=content or None,
                headers=headers,
            )
            return await self._client.send(made, stream=True)
        except httpx.TransportError as error:
            raise self.broken(error) from error

    def broken(self, error: httpx.TransportError) -> UpstreamFailed:
        return UpstreamFailed(f"The upstream server failed: {type(error).__name__}.")
