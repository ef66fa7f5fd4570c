"""A service in this process for tests: the real application over a real store, asked over ASGI."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Iterable
from contextlib import asynccontextmanager
from dataclasses import dataclass

import httpx
from fastapi import FastAPI

from hitherto import Hitherto
from hitherto.client import Client
from hitherto.deliver.apikeys import SCOPES, ApiKey, Keys
from hitherto.deliver.http import create_app
from hitherto.settings import Settings
from hitherto.testing import FakeClock

QUICK = Settings(rate=0, key_seconds=0, patience_seconds=60)
"""No rate limit, every request checks its key anew, and nobody is turned away because the machine is slow."""


@dataclass(frozen=True, slots=True)
class Running:
    """The application, and keys to it."""

    app: FastAPI
    memory: Hitherto
    keys: Keys
    clock: FakeClock

    async def key(self, *, scopes: Iterable[str] = SCOPES, tenant: str = "default", user: str | None = None) -> str:
        return (await self.keys.create(scopes=scopes, tenant=tenant, user=user))[1]

    async def made(self, **options: object) -> tuple[ApiKey, str]:
        return await self.keys.create(**options)  # pyright: ignore[reportArgumentType] -- the caller names them

    @asynccontextmanager
    async def http(self, token: str | None = None, **headers: str) -> AsyncGenerator[httpx.AsyncClient]:
        """Plain HTTP with a key, or with none."""
        given = headers if token is None else {"Authorization": f"Bearer {token}", **headers}
        transport = httpx.ASGITransport(self.app)
        async with httpx.AsyncClient(transport=transport, base_url="http://service", headers=given) as client:
            yield client

    @asynccontextmanager
    async def client(self, token: str | None = None) -> AsyncGenerator[Client]:
        """The typed client; with no key given, one that may do everything."""
        key = token or await self.key()
        async with Client("http://service", key, transport=httpx.ASGITransport(self.app)) as client:
            yield client


@asynccontextmanager
async def running(url: str, *, settings: Settings = QUICK, clock: FakeClock | None = None) -> AsyncGenerator[Running]:
    now = clock or FakeClock()
    async with Hitherto(url, clock=now) as memory:
        app = create_app(memory, settings, clock=now)
        yield Running(app=app, memory=memory, keys=Keys(memory.catalog, clock=now), clock=now)
