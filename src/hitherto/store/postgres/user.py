"""One user's memory in PostgreSQL.

A read is one read-only transaction of one snapshot, sent in one go. A write takes the user's lock row first
and asks its questions after it: each statement then sees everything that writers before it committed, and a
second round trip carries the change and the commit. Both run as the application role, for this user only, by
settings that end with the transaction.
"""

from collections.abc import Awaitable, Callable, Sequence
from typing import Any
from uuid import UUID, uuid4

import psycopg

from hitherto.errors import StoreUnavailable
from hitherto.store.catalog import UserKey
from hitherto.store.postgres.connections import Connections
from hitherto.store.postgres.failures import lost_worker
from hitherto.store.postgres.layout import APPLICATION
from hitherto.store.postgres.reading import Batch, Person, Statement
from hitherto.store.postgres.rows import Fetched
from hitherto.store.postgres.sending import Connection, send
from hitherto.store.postgres.statements import statement, wiping
from hitherto.store.postgres.writing import Locked, Plan, Present, asks_presence, plan, plan_restore
from hitherto.store.protocol import NOTHING, Answers, Change, Decide, LogEntry, Query, Written

_READ = Statement("begin isolation level repeatable read read only", {})
_WRITE = Statement("begin isolation level read committed", {})
_ROLE = Statement(f"set local role {APPLICATION}", {})
_COMMIT = Statement("commit", {})

Planning = Callable[[Connection, Locked, Answers], Awaitable[Plan | None]]


class _UnknownOutcomeError(Exception):
    """The connection broke while the commit was under way."""

    def __init__(self, locked: Locked, mine: UUID, written: Written) -> None:
        super().__init__()
        self.locked = locked
        self.mine = mine
        self.written = written


class PostgresUserStore:
    """Everything here names the user in every statement, and the database's own wall stands behind it."""

    def __init__(self, connections: Connections, key: UserKey) -> None:
        self._connections = connections
        self._key = key
        self._person = Person.of(key)

    async def read(self, *queries: Query[Any]) -> Answers:
        batch = Batch.of(queries, self._person)
        return batch.answers(await self._read(batch.statements))

    async def write(self, decide: Decide, *queries: Query[Any]) -> Written:
        async def planning(connection: Connection, locked: Locked, answers: Answers) -> Plan | None:
            change = decide(answers)
            if change == NOTHING:
                return None
            present = await self._present(connection, change) if asks_presence(change) else Present()
            return plan(change, self._person, present, after=locked.seq, mark=uuid4())

        return await self._write(Batch.of(queries, self._person), planning)

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

        await self._write(Batch.of((), self._person), planning)

    async def wipe(self) -> None:
        erasing = [Statement(each, {"user": self._person.id}) for each in wiping()]
        gone = self._ask("clear_hint"), self._ask("unregister")

        async def work(connection: Connection) -> None:
            await send(connection, [*self._begun(_WRITE), self._ask("lock_head"), *erasing, *gone, _COMMIT])

        await self._connections.persist(work, whose=self._person.id)

    def _ask(self, name: str, /, **values: Any) -> Statement:
        return Statement(statement(name), {"user": self._person.id, **values})

    def _begun(self, how: Statement) -> tuple[Statement, ...]:
        """What opens a transaction as the application role, for this user.

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
        """One transaction; None when it has to be tried again."""
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
        try:
            await send(connection, [*statements, _COMMIT])
        except psycopg.Error as error:
            if connection.closed or lost_worker(error) is not None:
                raise _UnknownOutcomeError(locked, planned.mark, planned.written) from error
            raise
        return planned.written

    async def _outcome(self, unknown: _UnknownOutcomeError) -> Written | None:
        """What became of a commit whose answer was lost: the user's mark tells, unless others wrote since. The server may
        still be at it, so this waits for the lock that it holds."""
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
