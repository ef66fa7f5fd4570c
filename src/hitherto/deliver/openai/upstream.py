"""The server that answers: its address, its key, and one pool of connections."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any, Final

import httpx
from fastapi import Request

from hitherto.errors import ServiceError
from hitherto.settings import Settings

PLAIN: Final = "no-memory/"
"""A model id that begins so is passed on without it and without any memory."""
CONNECT_SECONDS: Final = 5.0


class UpstreamFailed(ServiceError):
    """The upstream server could not be reached."""

    @property
    def shape(self) -> dict[str, Any]:
        """As an event in a stream that has begun."""
        return {"error": {"message": str(self), "type": "upstream_error", "param": None, "code": "upstream_error"}}


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

    async def get(self, path: str) -> httpx.Response:
        try:
            return await self._client.get(path)
        except httpx.TransportError as error:
            raise self.broken(error) from error

    async def post(self, path: str, body: dict[str, Any]) -> httpx.Response:
        """The answer's head; its body is still to be read."""
        try:
            return await self._client.send(self._client.build_request("POST", path, json=body), stream=True)
        except httpx.TransportError as error:
            raise self.broken(error) from error

    def broken(self, error: httpx.TransportError) -> UpstreamFailed:
        return UpstreamFailed(f"The upstream server failed: {type(error).__name__}.")
