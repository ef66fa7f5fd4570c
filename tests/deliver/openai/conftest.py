"""The service with an upstream server, both listening on loopback, and real clients."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from openai import AsyncOpenAI
from pydantic import SecretStr

from hitherto import Hitherto
from hitherto.deliver.apikeys import Keys
from hitherto.deliver.http import create_app
from hitherto.settings import Settings
from hitherto.testing import FakeClock
from hitherto.types import StoredTurn
from tests.deliver.openai.upstream import FakeUpstream, listening


@dataclass(frozen=True, slots=True)
class Endpoint:
    """A running endpoint."""

    url: str
    upstream: FakeUpstream
    memory: Hitherto
    clock: FakeClock
    keys: Keys
    clients: list[AsyncOpenAI] = field(default_factory=list[AsyncOpenAI])

    async def client(self, user: str | None = "ana", *, key: str | None = None, **headers: str) -> AsyncOpenAI:
        token = key or (await self.keys.create(user=user))[1]
        made = AsyncOpenAI(base_url=f"{self.url}/v1", api_key=token, default_headers=headers, max_retries=0)
        self.clients.append(made)
        return made

    async def turns(self, user: str = "ana") -> list[StoredTurn]:
        return await self.memory.turns(user=user)

    async def settled(self, turns: int) -> list[str]:
        """The lines, once there are so many turns: what follows the last byte of a stream may still be under way."""
        async with asyncio.timeout(30):
            while len(await self.turns()) < turns:  # noqa: ASYNC110 -- the store tells nobody when something was written
                await asyncio.sleep(0.01)
        return await self.lines()

    async def lines(self, user: str = "ana") -> list[str]:
        return [f"{turn.role}: {turn.text}" for turn in await self.turns(user)]


@asynccontextmanager
async def serving(
    folder: Path, upstream: FakeUpstream, *, address: str | None = None, streams: int = 256
) -> AsyncGenerator[Endpoint]:
    """The service before that upstream server, or before an address where there may be none."""
    clock = FakeClock()
    async with (
        listening(upstream.app) as there,
        Hitherto(folder / "m", clock=clock, recipe="companion-text") as memory,
    ):
        settings = Settings(
            rate=0,
            upstream=f"{address or there}/v1",
            upstream_key=SecretStr("secret"),
            upstream_streams=streams,
            recipe="companion-text",
        )
        async with listening(create_app(memory, settings, clock=clock)) as url:
            running = Endpoint(url, upstream, memory, clock, Keys(memory.catalog, clock=clock))
            yield running
            for client in running.clients:
                await client.close()


@pytest.fixture
async def endpoint(tmp_path: Path) -> AsyncIterator[Endpoint]:
    async with serving(tmp_path, FakeUpstream()) as running:
        yield running
