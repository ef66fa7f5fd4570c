"""Connections to one database: a pool, the settings of every session, and patience with a server that restarts.

A restarting server breaks every connection of the pool at once. Whatever had not begun to commit is simply repeated on
another connection, until `patience` runs out; callers notice no more than a delay. Once a server has stayed away for
longer, calls fail at once until it answers again, so that a conversation goes on without memory rather than late.
"""

import asyncio
import random
import time
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any, LiteralString, TypeVar, cast
from uuid import UUID

import psycopg
from psycopg_pool import AsyncConnectionPool, PoolTimeout

from hitherto.errors import StoreClosed
from hitherto.store.postgres.failures import RETRIED, clear_errors, lost_worker, settings_of
from hitherto.store.postgres.layout import SCHEMA
from hitherto.store.postgres.pipeline import Connection

T = TypeVar("T")


# Every statement about a user uses an index that begins with the user, so one plan fits all; planning each call anew costs
# more than running it (0.25 against 0.10 ms). Without sequential scans, a plan made when a table was nearly empty is still
# right when it is large.
_SESSION = {
    "plan_cache_mode": "force_generic_plan",
    "enable_seqscan": "off",
    "max_parallel_workers_per_gather": "0",
    "search_path": f"{SCHEMA}, public",
    "idle_in_transaction_session_timeout": "60s",
    "statement_timeout": "60s",
    "jit": "off",
}
_CLUSTER = {"plan_cache_mode": "force_custom_plan"}
"""A coordinator finds a statement's machine by the user's value, which a generic plan does not contain."""
_LOOK_EVERY = 1.0
"""Seconds between checks on a server that is away."""
_SOON, _LATER = (0.001, 0.02), (0.05, 0.2)
"""Seconds before work is repeated: after a conflict, and while a worker is lost."""
_MOST_WITHOUT = 100_000
_DEFAULTS = {"connect_timeout": "5", "application_name": "hitherto", "tcp_user_timeout": "20000"}


def query(sql: str) -> LiteralString:
    """Text that comes only from this package's own files and closed lists."""
    return cast(LiteralString, sql)


class Connections:
    """The pool of one store."""

    def __init__(self, url: str, *, pool_size: int, patience: float) -> None:
        self.settings = {**_DEFAULTS, **settings_of(url)}
        self.patience = patience
        self.sharded = False
        """Whether the database is the coordinator of a cluster; known once the schema has been examined."""
        self._size = pool_size
        self._pool: AsyncConnectionPool[Connection] | None = None
        self._returning: set[asyncio.Future[None]] = set()
        self._away = False
        self._without_worker: dict[UUID | None, float] = {}
        """How long a cluster has lacked a worker for a user; reset when one of their calls succeeds."""
        self._next_look = 0.0

    async def connect(self) -> Connection:
        """A connection outside the pool, for maintenance; fails at once, with a clear error."""
        with clear_errors(self.settings):
            connection = await Connection.connect(autocommit=True, **cast(Any, self.settings))
            await self._configure(connection)
            return connection

    async def open(self) -> None:
        pool = AsyncConnectionPool(
            kwargs={**self.settings, "autocommit": True},
            connection_class=Connection,
            min_size=1,
            max_size=self._size,
            timeout=self.patience,
            reconnect_timeout=self.patience,
            configure=self._configure,
            open=False,
            name="hitherto",
        )
        await pool.open()
        self._pool = pool

    async def close(self) -> None:
        if self._pool is not None:
            pool, self._pool = self._pool, None
            await asyncio.gather(*self._returning)
            await pool.close()

    async def _configure(self, connection: Connection) -> None:
        connection.prepare_threshold = None  # else the driver has the server forget what is prepared after a rollback
        lock_timeout = f"{int(self.patience * 1000)}ms"
        session = {**_SESSION, **(_CLUSTER if self.sharded else {}), "lock_timeout": lock_timeout}
        for name, value in session.items():
            await connection.execute("select set_config(%s, %s, false)", (name, value))

    @asynccontextmanager
    async def lend(self) -> AsyncGenerator[Connection, None]:
        """Lends a connection for one transaction. The driver's errors pass through; see `persist`.

        The connection is returned whatever happens to the caller: the pool loses a connection whose return is cancelled
        while others are waiting.
        """
        if self._pool is None:
            raise StoreClosed
        pool = self._pool
        connection = await pool.getconn()
        try:
            async with connection:
                yield connection
        finally:
            returning = asyncio.ensure_future(pool.putconn(connection))
            self._returning.add(returning)
            returning.add_done_callback(self._returning.discard)
            await asyncio.shield(returning)

    async def persist(
        self, work: Callable[[Connection], Awaitable[T]], *, whose: UUID | None = None, waits: bool = True
    ) -> T:
        """Runs `work` on a connection, and again if its connection broke, another transaction conflicted, or (if it
        `waits`) a cluster lost the user's worker. Errors come out translated."""
        deadline = time.monotonic() + self.patience
        with clear_errors(self.settings):
            if self._away and not await self._back():
                raise psycopg.OperationalError("the server was away longer than calls wait, and is not back yet")
            while True:
                held: list[Connection] = []
                try:
                    async with self.lend() as connection:
                        held.append(connection)
                        done = await work(connection)
                    self._without_worker.pop(whose, None)
                    return done
                except PoolTimeout:
                    self._away = not await self._answers()
                    raise
                except psycopg.Error as error:
                    lost = lost_worker(error) is not None
                    again = isinstance(error, RETRIED) or (held and held[0].closed)
                    again = again or (lost and waits and self._worth_waiting(whose))
                    if time.monotonic() > deadline or not again:
                        raise
                await asyncio.sleep(random.uniform(*(_LATER if lost else _SOON)))

    def _worth_waiting(self, whose: UUID | None) -> bool:
        """Whether a user's worker was lost only recently. Once it has stayed away, their calls fail at once, as with a
        server."""
        now = time.monotonic()
        if len(self._without_worker) > _MOST_WITHOUT:
            self._without_worker.clear()
        return now - self._without_worker.setdefault(whose, now) <= self.patience

    async def _back(self) -> bool:
        """Whether a server that was away answers again; one caller per second checks for all."""
        if time.monotonic() >= self._next_look:
            self._next_look = time.monotonic() + _LOOK_EVERY
            self._away = not await self._answers()
        return not self._away

    async def _answers(self) -> bool:
        """Whether a new connection can be made; busy connections do not mean that none can."""
        try:
            connection = await Connection.connect(autocommit=True, **cast(Any, self.settings))
        except psycopg.OperationalError:
            return False
        await connection.close()
        return True
