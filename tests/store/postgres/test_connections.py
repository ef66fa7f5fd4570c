"""Connections come back to their pool, whenever their callers leave."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Any

import pytest
from psycopg_pool import AsyncConnectionPool

from hitherto.store.catalog import UserKey
from hitherto.store.postgres import PostgresStore
from hitherto.store.protocol import Head
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
