"""A memory whose server goes away: conversations go on with less, what was recorded is safe, and work resumes by itself."""

from __future__ import annotations

import asyncio

import pytest

from hitherto import Hitherto, Turn
from hitherto import store as stores
from hitherto.errors import StoreUnavailable
from hitherto.store.postgres import PostgresStore
from tests.postgres_server import PostgresServer
from tests.stores import made_database


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Stores that wait one second, where a call would wait ten."""

    def connect(url: str, *, keys: None) -> PostgresStore:
        del keys
        return PostgresStore(url, patience=1.0)

    monkeypatch.setattr(stores, "connect", connect)


async def learnt(memory: Hitherto) -> list[str]:
    return [found.text for found in await memory.memories(user="ana")]


@pytest.mark.req("R1.10")
async def test_a_conversation_outlives_its_server(server: PostgresServer) -> None:
    with made_database(server.url()) as url:
        async with Hitherto(url) as memory, memory.working(idle=0.05):
            await memory.define_persona("nikita", name="Nikita", text="You are Nikita.")
            await memory.record(Turn("ana", "user", "I live in Austin.", persona="nikita"))
            whole = await memory.context(user="ana", persona="nikita", message="Where do I live?")
            assert whole.history
            server.stop()
            for _ in range(3):
                bare = await memory.context(user="ana", persona="nikita", message="Where do I live?")
                assert "Nikita" in bare.system
                assert not bare.history
                assert any("could not be read" in warning for warning in bare.warnings)
            with pytest.raises(StoreUnavailable):
                await memory.record(Turn("ana", "user", "I love jazz.", persona="nikita"))
            assert (await memory.health()).problems
            server.start()
            async with asyncio.timeout(60):
                while (await memory.health()).problems:  # noqa: ASYNC110 -- the server takes its time
                    await asyncio.sleep(0.05)
            await memory.record(Turn("ana", "user", "I love jazz.", persona="nikita"))
            again = await memory.context(user="ana", persona="nikita", message="Where do I live?")
            assert len(again.history) == 2
            assert not again.warnings
            async with asyncio.timeout(60):
                while len(await learnt(memory)) < 2:  # noqa: ASYNC110 -- the worker that outlived it does the work
                    await asyncio.sleep(0.05)
