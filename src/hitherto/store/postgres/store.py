"""The store on a PostgreSQL server: `postgresql://USER:PASSWORD@HOST:PORT/DATABASE`."""

import asyncio
from collections import OrderedDict
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from typing import Any
from uuid import UUID, uuid4

import psycopg

from hitherto.errors import HithertoError, StoreError, StoreUnavailable
from hitherto.store.catalog import UserKey, mark_sealed, refuse_sealed
from hitherto.store.postgres import backup as backups
from hitherto.store.postgres import machines
from hitherto.store.postgres.catalog import PostgresCatalog
from hitherto.store.postgres.changes import (
    Left,
    Locked,
    Plan,
    Present,
    asks_presence,
    foreseen,
    plan,
    plan_restore,
    unasked,
)
from hitherto.store.postgres.connections import Connections
from hitherto.store.postgres.failures import clear_errors, lost_worker
from hitherto.store.postgres.layout import APPLICATION
from hitherto.store.postgres.machines import inspect
from hitherto.store.postgres.migrations import distributed, migrate
from hitherto.store.postgres.pipeline import Connection, send
from hitherto.store.postgres.queries import Batch, Person, Statement
from hitherto.store.postgres.rows import Fetched
from hitherto.store.postgres.statements import statement, wiping
from hitherto.store.protocol import NOTHING, Answers, Change, Decide, Health, LogEntry, Query, Scrubbed, Written

# --- one user's memory ---------------------------------------------------------------------------------------------------
#
# A read is one read-only transaction on one snapshot, sent in one batch. So is a write whose questions this process can
# answer itself from how it last left the user's log: the batch fails as a whole if anybody wrote since. Any other write
# takes the user's lock row first and then asks its questions: each statement sees everything that earlier writers
# committed, and a second round trip carries the change and the commit. All of them run as the application role, for this
# user only, through settings that end with the transaction.

_READ = Statement("begin isolation level repeatable read read only", {})
_WRITE = Statement("begin isolation level read committed", {})
_ROLE = Statement(f"set local role {APPLICATION}", {})
_COMMIT = Statement("commit", {})

QUEUES = 1_024
"""Users for whom a process remembers how it left their logs."""

Planning = Callable[[Connection, Locked, Answers], Awaitable[Plan | None]]


class _UnknownOutcomeError(Exception):
    """The connection broke during the commit."""

    def __init__(self, locked: Locked, mine: UUID, written: Written) -> None:
        super().__init__()
        self.locked = locked
        self.mine = mine
        self.written = written


class Queue:
    """Where this process's writes of one user take turns; in the database, each would wait on a connection of its own."""

    def __init__(self) -> None:
        self.left = Left()
        self.lock = asyncio.Lock()

    @asynccontextmanager
    async def turn(self, patience: float) -> AsyncGenerator[Left]:
        """Yields how the log was left, for the next writer; one who has waited too long waits in the database instead."""
        try:
            async with asyncio.timeout(patience):
                await self.lock.acquire()
        except TimeoutError:
            yield Left()
            return
        try:
            yield self.left
        except BaseException:
            self.left.forget()
            raise
        finally:
            self.lock.release()


class Queues:
    """The queues of the users who wrote last."""

    def __init__(self) -> None:
        self._queues: OrderedDict[UUID, Queue] = OrderedDict()

    def of(self, user: UUID) -> Queue:
        queue = self._queues.get(user)
        if queue is None:
            queue = self._queues[user] = Queue()
            if len(self._queues) > QUEUES:
                idle = next(
                    (each for each, one in self._queues.items() if not one.lock.locked() and each != user), None
                )
                if idle is not None:
                    del self._queues[idle]
        self._queues.move_to_end(user)
        return queue


class PostgresUserStore:
    """Names the user in every statement, and the database's own wall stands behind it."""

    def __init__(self, connections: Connections, queues: Queues, key: UserKey) -> None:
        self._connections = connections
        self._queues = queues
        self._key = key
        self._person = Person.of(key)

    async def read(self, *queries: Query[Any]) -> Answers:
        batch = Batch.of(queries, self._person)
        return batch.answers(await self._read(batch.statements))

    async def write(self, decide: Decide, *queries: Query[Any]) -> Written:
        async with self._queues.of(self._person.id).turn(self._connections.patience) as left:
            written = await self._unasked(decide, queries, left) if left.locked is not None else None
            return written or await self._asked(decide, queries, left)

    async def _unasked(self, decide: Decide, queries: Sequence[Query[Any]], left: Left) -> Written | None:
        """A write in one round trip, based on how this process left the log; None if that is not enough to decide, or no
        longer true."""
        locked, found = left.locked, foreseen(queries, left, self._person)
        if locked is None or found is None:
            return None
        try:
            change = decide(found.answers)
        except HithertoError:
            return None  # a refusal has to rest on what is there now
        if change == NOTHING or asks_presence(change):
            return None
        with clear_errors(self._connections.settings):
            made = plan(change, self._person, Present(), after=locked.seq, mark=uuid4())
        left.note(locked, {query: found.answers[query] for query in queries}, change, made.written)
        batch = [*self._begun(_WRITE), *unasked(made, found.checks, expected=locked.mark)]

        async def work(connection: Connection) -> Written | None:
            try:
                await self._commit(connection, batch, locked, made)
            except psycopg.errors.DivisionByZero:
                await connection.rollback()
                return None
            return made.written

        try:
            written = await self._connections.persist(work, whose=self._person.id)
        except _UnknownOutcomeError as unknown:
            written = await self._outcome(unknown)
        if written is None:
            left.forget()
            return None
        left.moved(made.mark, made.written)
        return written

    async def _asked(self, decide: Decide, queries: Sequence[Query[Any]], left: Left) -> Written:
        marks: list[UUID] = []

        async def planning(connection: Connection, locked: Locked, answers: Answers) -> Plan | None:
            marks.clear()
            change = decide(answers)
            if change == NOTHING:
                return None
            present = await self._present(connection, change) if asks_presence(change) else Present()
            made = plan(change, self._person, present, after=locked.seq, mark=uuid4())
            left.note(locked, {query: answers[query] for query in queries}, change, made.written)
            marks.append(made.mark)
            return made

        written = await self._write(Batch.of(queries, self._person), planning)
        if marks:
            left.moved(marks[0], written)
        return written

    async def restore(self, entries: Sequence[LogEntry]) -> None:
        asked = [self._ask("entries_there", seqs=[entry.seq for entry in entries])]
        if any(entry.op == "erase" for entry in entries):
            asked += [self._ask(name, ids=None) for name in ("turn_ids", "record_ids")]

        async def planning(connection: Connection, locked: Locked, answers: Answers) -> Plan | None:
            there, *names = [frozenset(row[0] for row in found) for found in await send(connection, asked)]
            present = Present(turns=names[0], records=names[1]) if names else Present()
            if there >= {entry.seq for entry in entries}:
                return None
            return plan_restore(entries, self._person, present, there=there, after=locked.seq, mark=uuid4())

        async with self._queues.of(self._person.id).turn(self._connections.patience) as left:
            left.forget()
            await self._write(Batch.of((), self._person), planning)

    async def wipe(self) -> None:
        erasing = [Statement(each, {"user": self._person.id}) for each in wiping()]
        gone = self._ask("clear_hint"), self._ask("unregister")

        async def work(connection: Connection) -> None:
            await send(connection, [*self._begun(_WRITE), self._ask("lock_head"), *erasing, *gone, _COMMIT])

        async with self._queues.of(self._person.id).turn(self._connections.patience) as left:
            left.forget()
            await self._connections.persist(work, whose=self._person.id)

    def _ask(self, name: str, /, **values: Any) -> Statement:
        return Statement(statement(name), {"user": self._person.id, **values})

    def _begun(self, how: Statement) -> tuple[Statement, ...]:
        """Opens a transaction as the application role, for this user.

        `set local` is a statement, not a function call, because a sharded cluster passes only the statement on; a session's
        own settings stay on the coordinator.
        """
        begun = how, _ROLE, Statement(f"set local hitherto.user_id = '{self._person.id}'", {}, once=True)
        if self._connections.sharded and how is _WRITE:
            wait = f"set local lock_timeout = '{int(self._connections.patience * 1000)}ms'"
            return *begun, Statement(wait, {})
        return begun

    async def _read(self, statements: Sequence[Statement]) -> list[Fetched]:
        begun = self._begun(_READ)

        async def work(connection: Connection) -> list[Fetched]:
            return (await send(connection, [*begun, *statements, _COMMIT]))[len(begun) : -1]

        return await self._connections.persist(work, whose=self._person.id)

    async def _write(self, batch: Batch, planning: Planning) -> Written:
        while True:
            try:
                written = await self._connections.persist(
                    lambda on: self._attempt(on, batch, planning), whose=self._person.id
                )
            except _UnknownOutcomeError as unknown:
                written = await self._outcome(unknown)
            if written is not None:
                return written

    async def _attempt(self, connection: Connection, batch: Batch, planning: Planning) -> Written | None:
        """One transaction; None if it has to be retried."""
        first = uuid4()
        begun = *self._begun(_WRITE), self._ask("create_head", mark=first)
        sent = await send(connection, [*begun, self._ask("lock_head"), *batch.statements])
        rows, *fetched = sent[len(begun) :]
        if not rows:
            # The user was wiped while this write waited for the lock.
            await connection.rollback()
            return None
        locked = Locked(*rows[0])
        planned = await planning(connection, locked, batch.answers(fetched))
        if planned is None:
            await connection.rollback()
            return Written(turns=(), records=(), head=locked.seq)
        statements = list(planned.statements)
        if locked.mark == first:
            statements.append(self._ask("register", tenant=self._key.tenant, name=self._key.user))
        await self._commit(connection, statements, locked, planned)
        return planned.written

    async def _commit(
        self, connection: Connection, statements: Sequence[Statement], locked: Locked, planned: Plan
    ) -> None:
        try:
            await send(connection, [*statements, _COMMIT])
        except psycopg.Error as error:
            if connection.closed or lost_worker(error) is not None:
                raise _UnknownOutcomeError(locked, planned.mark, planned.written) from error
            raise

    async def _outcome(self, unknown: _UnknownOutcomeError) -> Written | None:
        """What became of a commit whose answer was lost: the user's mark tells, unless others wrote since. The server may
        still be working on it, so this waits for the lock that it holds."""
        begun = self._begun(_WRITE)

        async def work(connection: Connection) -> Fetched:
            return (await send(connection, [*begun, self._ask("lock_head"), _COMMIT]))[len(begun)]

        rows = await self._connections.persist(work, whose=self._person.id)
        mark = Locked(*rows[0]).mark if rows else None
        if mark == unknown.mine:
            return unknown.written
        if mark == unknown.locked.mark or (mark is None and unknown.locked.seq == 0):
            return None
        raise StoreUnavailable(
            "the connection to PostgreSQL broke during a commit, and others have written since: whether this"
            " write was stored is unknown; repeating it with the same ids is safe"
        ) from unknown

    async def _present(self, connection: Connection, change: Change) -> Present:
        asked = [self._ask("live_ids", ids=list(change.retire))]
        if change.erase is not None:
            asked.append(self._ask("turn_ids", ids=list(change.erase.turns)))
            asked.append(self._ask("record_ids", ids=list(change.erase.records)))
        return Present(*(frozenset(row[0] for row in found) for found in await send(connection, asked)))


POOL_SIZE = 10
PATIENCE = 10.0


class PostgresStore:
    """Many users' memories in one database.

    `pool_size` is the number of this process's connections; `patience` is how many seconds a call waits for a free
    connection, for a user's lock, or for a restarting server. `is_sealed` says that the caller seals users' texts and has
    the keys.
    """

    def __init__(
        self, url: str, *, pool_size: int = POOL_SIZE, patience: float = PATIENCE, is_sealed: bool = False
    ) -> None:
        self._connections = Connections(url, pool_size=pool_size, patience=patience)
        self._catalog = PostgresCatalog(self._connections)
        self._queues = Queues()
        self._is_sealed = is_sealed

    @property
    def catalog(self) -> PostgresCatalog:
        return self._catalog

    async def open(self) -> None:
        async with await self._connections.connect() as connection:
            with clear_errors(self._connections.settings):
                await migrate(connection)
                self._connections.sharded = bool(await distributed(connection))
        await self._connections.open()
        try:
            await (mark_sealed if self._is_sealed else refuse_sealed)(self._catalog)
        except StoreError:
            await self.close()
            raise

    async def close(self) -> None:
        await self._connections.close()

    def user(self, key: UserKey) -> PostgresUserStore:
        return PostgresUserStore(self._connections, self._queues, key)

    async def health(self) -> Health:
        async def work(connection: Connection) -> Health:
            return await inspect(connection)

        try:
            return await self._connections.persist(work)
        except StoreError as error:
            return Health(backend="postgresql", version="unknown", schema=0, users=0, bytes=0, problems=(str(error),))

    async def backup(self, target: str, *, progress: Callable[[int, int], None] | None = None) -> int:
        async with await self._connections.connect() as connection:
            with clear_errors(self._connections.settings):
                return await backups.save(connection, target, progress=progress)

    async def scrub(self, *, progress: Callable[[int, int], None] | None = None) -> Scrubbed:
        async with await self._connections.connect() as connection:
            with clear_errors(self._connections.settings):
                return await machines.scrub(connection, progress=progress)

    async def restore_backup(self, source: str) -> int:
        """Fills this empty database from a folder that `backup` wrote; returns the number of users."""
        async with await self._connections.connect() as connection:
            with clear_errors(self._connections.settings):
                return await backups.load(connection, source)
