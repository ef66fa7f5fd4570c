"""Connections to one database: a pool, what every session is set to, and patience with a server that comes
back.

A server that restarts breaks every connection of the pool at once. What had not begun to commit is simply
done again on another connection, until `patience` is over; nobody above notices more than a delay. Once a server
stayed away for longer, calls fail at once until it answers again: waiting had its chance, and a conversation goes on
without memory rather than late.
"""

import asyncio
import random
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from itertools import groupby
from operator import attrgetter
from typing import Any, LiteralString, TypeVar, cast

import psycopg
from psycopg import AsyncConnection, AsyncRawCursor
from psycopg.abc import PQGen
from psycopg.pq.abc import PGconn
from psycopg.waiting import Ready, Wait
from psycopg_pool import AsyncConnectionPool, PoolTimeout

from recollect.store.postgres.faults import RETRIED, clear_errors, settings_of
from recollect.store.postgres.layout import SCHEMA
from recollect.store.postgres.reading import Statement
from recollect.store.postgres.rows import Fetched
from recollect.store.postgres.statements import numbered

T = TypeVar("T")


class Connection(AsyncConnection[tuple[Any, ...]]):
    """Sends without asking first. In a pipeline psycopg waits for the socket to take more, twice for each statement, and each
    wait is a round of the event loop: seventy of them are a third of a context. A socket that has taken all so far needs none.
    """

    async def wait(self, gen: PQGen[T], *args: Any, **kwargs: Any) -> T:
        return await super().wait(_eager(gen, self.pgconn), *args, **kwargs)


def _eager(gen: PQGen[T], server: PGconn) -> PQGen[T]:
    try:
        asked = next(gen)
        while True:
            asked = gen.send(Ready.W if asked == Wait.RW and _taken(server) else (yield asked))
    except StopIteration as ended:
        return ended.value


def _taken(server: PGconn) -> bool:
    """Whether the socket has taken all; of a broken one, whoever sends finds out."""
    try:
        return server.flush() == 0
    except psycopg.OperationalError:
        return True


# Every statement of a user is served by an index that the user leads, so one plan fits all: planning each call anew costs
# more than running it (0.25 against 0.10 ms). Without sequential scans, a plan that was made when a table was nearly empty
# is still right when it is large.
_SESSION = {
    "plan_cache_mode": "force_generic_plan",
    "enable_seqscan": "off",
    "max_parallel_workers_per_gather": "0",
    "search_path": f"{SCHEMA}, public",
    "idle_in_transaction_session_timeout": "60s",
    "statement_timeout": "60s",
    "jit": "off",
}
_PREPARED = 400
_LOOK_EVERY = 1.0
"""Seconds between two looks at a server that is away."""
_DEFAULTS = {"connect_timeout": "5", "application_name": "recollect", "tcp_user_timeout": "20000"}


def query(sql: str) -> LiteralString:
    """Text that comes from this package's own files and closed lists."""
    return cast(LiteralString, sql)


class Connections:
    """The pool of one store."""

    def __init__(self, url: str, *, pool_size: int, patience: float) -> None:
        self.settings = {**_DEFAULTS, **settings_of(url)}
        self.patience = patience
        self._size = pool_size
        self._pool: AsyncConnectionPool[Connection] | None = None
        self._away = False
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
            name="recollect",
        )
        await pool.open()
        self._pool = pool

    async def close(self) -> None:
        if self._pool is not None:
            pool, self._pool = self._pool, None
            await pool.close()

    async def _configure(self, connection: Connection) -> None:
        lock_timeout = f"{int(self.patience * 1000)}ms"
        for name, value in {**_SESSION, "lock_timeout": lock_timeout}.items():
            await connection.execute("select set_config(%s, %s, false)", (name, value))
        connection.prepared_max = _PREPARED

    @asynccontextmanager
    async def lend(self) -> AsyncGenerator[Connection, None]:
        """A connection for one transaction. Errors of the driver pass through; see `persist`."""
        if self._pool is None:
            raise psycopg.InterfaceError("the store is closed")
        async with self._pool.connection() as connection:
            yield connection

    async def persist(self, work: Callable[[Connection], Awaitable[T]]) -> T:
        """Runs `work` on a connection, and again when its connection broke or another transaction stood in
        its way; errors come out clear."""
        deadline = time.monotonic() + self.patience
        with clear_errors(self.settings):
            if self._away and not await self._back():
                raise psycopg.OperationalError("the server was away longer than calls wait, and is not back yet")
            while True:
                held: list[Connection] = []
                try:
                    async with self.lend() as connection:
                        held.append(connection)
                        return await work(connection)
                except PoolTimeout:
                    self._away = not await self._answers()
                    raise
                except psycopg.OperationalError as error:
                    broken = bool(held) and held[0].closed
                    if time.monotonic() > deadline or not (broken or isinstance(error, RETRIED)):
                        raise
                await asyncio.sleep(random.uniform(0.001, 0.02))

    async def _back(self) -> bool:
        """Whether a server that was away answers again; one caller in a second finds out for all."""
        if time.monotonic() >= self._next_look:
            self._next_look = time.monotonic() + _LOOK_EVERY
            self._away = not await self._answers()
        return not self._away

    async def _answers(self) -> bool:
        """Whether a new connection can be made; busy connections are no sign that none can."""
        try:
            connection = await Connection.connect(autocommit=True, **cast(Any, self.settings))
        except psycopg.OperationalError:
            return False
        await connection.close()
        return True


async def run(connection: Connection, statements: Sequence[Statement]) -> list[AsyncRawCursor[tuple[Any, ...]]]:
    """Sends prepared statements; inside a pipeline, without waiting for any of them."""
    cursors: list[AsyncRawCursor[tuple[Any, ...]]] = []
    for each in statements:
        sql, names = numbered(each.sql)
        cursor = AsyncRawCursor(connection)
        await cursor.execute(query(sql), [each.values[name] for name in names], prepare=True, binary=True)
        cursors.append(cursor)
    return cursors


async def apply(connection: Connection, statements: Sequence[Statement]) -> None:
    """Runs statements whose rows nobody asks for; neighbours with the same text go as one with many values."""
    for sql, group in groupby(statements, key=attrgetter("sql")):
        values = [each.values for each in group]
        cursor = connection.cursor()
        if len(values) == 1:
            await cursor.execute(query(sql), values[0], prepare=True)
        else:
            await cursor.executemany(query(sql), values)


async def fetch(cursors: Sequence[AsyncRawCursor[tuple[Any, ...]]]) -> list[Fetched]:
    return [await cursor.fetchall() for cursor in cursors]
