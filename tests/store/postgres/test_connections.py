"""Connections come back to their pool, whenever their callers leave; and what a cluster's are set to and patient with."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from typing import Any
from uuid import UUID

import pytest
from psycopg import errors
from psycopg_pool import AsyncConnectionPool

from hitherto.errors import StoreUnavailable
from hitherto.store.catalog import UserKey
from hitherto.store.postgres import PostgresStore
from hitherto.store.postgres.catalog import PostgresCatalog
from hitherto.store.postgres.connections import Connections
from hitherto.store.postgres.pipeline import Connection, send
from hitherto.store.postgres.queries import Person, Statement
from hitherto.store.postgres.rows import Fetched
from hitherto.store.protocol import Head
from hitherto.testing import moment
from tests.postgres_server import PostgresServer
from tests.stores import made_database

PutBack = Callable[[AsyncConnectionPool[Any], Any], Awaitable[None]]


@pytest.mark.promise("F14")
async def test_who_leaves_while_giving_a_connection_back_does_not_take_it_along(
    server: PostgresServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """F14: giving one back waits while others take theirs. The pool's own context manager loses a connection whose caller is
    cancelled in that moment: with one connection, nobody would be answered again."""
    returning, go_on = asyncio.Event(), asyncio.Event()
    put_back: PutBack = AsyncConnectionPool.putconn

    async def put_back_later(pool: AsyncConnectionPool[Any], connection: Any) -> None:
        returning.set()
        await go_on.wait()
        await put_back(pool, connection)

    with made_database(server.url()) as url:
        store = PostgresStore(url, pool_size=1, patience=5.0)
        await store.open()
        user = store.user(UserKey("default", "ana"))
        await user.read(Head())
        monkeypatch.setattr(AsyncConnectionPool, "putconn", put_back_later)
        leaving = asyncio.create_task(user.read(Head()))
        await returning.wait()
        leaving.cancel()
        with suppress(asyncio.CancelledError):
            await leaving
        go_on.set()
        assert (await user.read(head := Head()))[head] == 0
        await store.close()


@asynccontextmanager
async def opened(url: str, *, patience: float, sharded: bool = True) -> AsyncGenerator[Connections]:
    connections = Connections(url, pool_size=2, patience=patience)
    connections.sharded = sharded
    await connections.open()
    yield connections
    await connections.close()


@pytest.mark.parametrize(("coordinates", "mode"), [(True, "force_custom_plan"), (False, "force_generic_plan")])
async def test_a_coordinator_sees_the_user_in_every_plan(postgres_url: str, coordinates: bool, mode: str) -> None:
    """From a plan without values it cannot tell which worker the user is on."""
    async with opened(postgres_url, patience=5.0, sharded=coordinates) as connections, connections.lend() as connection:
        cursor = await connection.execute("show plan_cache_mode")
        assert await cursor.fetchone() == (mode,)


ANA, BOB = (Person.of(UserKey("default", name)).id for name in ("ana", "bob"))


@dataclass
class Losing:
    """Work whose worker is away that many times."""

    times: int
    tries: int = 0

    async def __call__(self, _: Connection) -> None:
        self.tries += 1
        if self.tries <= self.times:
            raise errors.ConnectionFailure("connection to the remote node hitherto_app@worker-1:5432 failed")


async def test_a_worker_that_restarts_is_waited_for(postgres_url: str) -> None:
    async with opened(postgres_url, patience=30.0) as connections:
        work = Losing(3)
        await connections.persist(work, whose=ANA)
        assert work.tries == 4


async def test_a_worker_that_stays_away_is_waited_for_once_and_by_its_own_users_alone(postgres_url: str) -> None:
    async with opened(postgres_url, patience=1.0) as connections:
        waiting, failing, of_bob, returned = Losing(10_000), Losing(10_000), Losing(1), Losing(1)
        for work in (waiting, failing):
            with pytest.raises(StoreUnavailable, match="lost worker-1:5432"):
                await connections.persist(work, whose=ANA)
            await asyncio.sleep(1.0)  # so that it is away for longer than calls wait
        assert waiting.tries > failing.tries == 1
        await connections.persist(of_bob, whose=BOB)
        assert of_bob.tries == 2
        await connections.persist(Losing(0), whose=ANA)
        await connections.persist(returned, whose=ANA)
        assert returned.tries == 2, "it came back, so it is waited for again"


async def test_hints_of_others_are_not_lost_with_a_worker(postgres_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nor do they wait for it."""
    keys = [UserKey("default", name) for name in ("ana", "bob", "eve")]
    asked: list[UUID] = []

    async def losing(connection: Connection, batch: Sequence[Statement]) -> list[Fetched]:
        whose = next((each.values["user"] for each in batch if "user" in each.values), None)
        if whose is not None:
            asked.append(whose)
        if whose == ANA:
            raise errors.ConnectionFailure("connection to the remote node hitherto_app@worker-1:5432 failed")
        return await send(connection, batch)

    async with opened(postgres_url, patience=0.3) as connections:
        catalog = PostgresCatalog(connections)
        monkeypatch.setattr("hitherto.store.postgres.catalog.send", losing)
        with pytest.raises(StoreUnavailable, match="lost worker-1:5432"):
            await catalog.hint(dict.fromkeys(keys, moment()))
        assert asked[:3] == [Person.of(key).id for key in keys]
        assert set(asked[3:]) == {ANA}
        assert set(await catalog.due(now=moment(), limit=9)) == set(keys[1:])
