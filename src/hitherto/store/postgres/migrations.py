"""Brings the schema up to date, by the owner, once, however many processes start at the same time.

The numbered scripts, their record in the table `migrations`, and all that `layout` adds commit together: if the server is
killed in between, it has the old schema or the new one. What `layout` adds has a number of its own, by which it is repeated
after a change. An advisory lock keeps starting processes from doing the work twice; the record's primary key keeps them
from doing harm if the lock does not reach them.
"""

import asyncio
import random
from collections.abc import Mapping, Sequence
from hashlib import sha256

from psycopg import errors, sql

from hitherto.errors import SchemaMismatch, StoreError, StoreUnavailable
from hitherto.store.postgres import layout, shards
from hitherto.store.postgres.connections import query
from hitherto.store.postgres.layout import APPLICATION, FORMER, KINDS, SCHEMA, SEARCH, Migration
from hitherto.store.postgres.pipeline import Connection

OLDEST_SERVER = 16
_COMPLETION = "completion"
_LOCK = 0x7265636F6C6C  # "recoll": the same number in every process
_ATTEMPTS = 8

# Two processes that start on one cluster may create the same role, schema or extension at the same moment; the loser looks
# again.
_RACES = (
    errors.DuplicateObject,
    errors.DuplicateSchema,
    errors.DuplicateTable,
    errors.UniqueViolation,
    errors.InternalError_,
)


def require_server(version: int) -> None:
    """Refuses a server that is too old."""
    if version // 10_000 < OLDEST_SERVER:
        raise StoreUnavailable(f"PostgreSQL {version // 10_000} is too old: Hitherto needs {OLDEST_SERVER} or newer")


Numbers = Mapping[str, int]
"""The newest migration of each kind."""


def newest(steps: Sequence[Migration]) -> dict[str, int]:
    return {kind: max((step.number for step in steps if step.kind == kind), default=0) for kind in KINDS}


def refuse_newer(found: Numbers, known: Numbers) -> None:
    for kind, number in known.items():
        if found[kind] > number:
            raise SchemaMismatch(
                f"the data has schema {found[kind]}, this version of Hitherto knows up to {number};"
                " upgrade before opening it"
            )


async def migrate(connection: Connection, *, steps: Sequence[Migration] | None = None) -> None:
    """Applies what is missing. A schema newer than this code is refused and left untouched."""
    steps = layout.migrations() if steps is None else steps
    wanted = newest(steps) | {_COMPLETION: layout.COMPLETION}
    require_server(connection.info.server_version)
    for attempt in range(_ATTEMPTS):
        found = await _recorded(connection)
        refuse_newer(found, wanted)
        if found == wanted:
            return
        if not any(found.values()):
            await _refuse_former(connection)
        try:
            await _apply(connection, steps)
        except _RACES:
            if attempt == _ATTEMPTS - 1:
                raise
            await asyncio.sleep(random.uniform(0.05, 0.2))
        except errors.InsufficientPrivilege as error:
            raise StoreError(
                f"the PostgreSQL role may not prepare the database ({error.diag.message_primary}). The role must own the"
                " database or be allowed to create a schema in it, and an administrator runs once, with its name for ROLE:"
                f" CREATE ROLE {APPLICATION}; CREATE ROLE {SEARCH}; GRANT {APPLICATION}, {SEARCH} TO ROLE"
            ) from error


async def applied(connection: Connection) -> dict[str, int]:
    """The newest migration of each kind that was applied; 0 for none."""
    found = await _recorded(connection)
    return {kind: found[kind] for kind in KINDS}


async def _recorded(connection: Connection) -> dict[str, int]:
    """The same, with the newest completion."""
    numbers: dict[str, int] = dict.fromkeys((*KINDS, _COMPLETION), 0)
    cursor = await connection.execute("select to_regclass(%s)", (f"{SCHEMA}.migrations",))
    if await cursor.fetchone() != (None,):
        cursor = await connection.execute(query(f"select kind, max(number) from {SCHEMA}.migrations group by kind"))
        numbers |= dict(await cursor.fetchall())
    return numbers


async def _apply(connection: Connection, steps: Sequence[Migration]) -> None:
    async with connection.transaction():
        await connection.execute("select pg_advisory_xact_lock(%s)", (_LOCK,))
        await connection.execute(query(f"create schema if not exists {SCHEMA}"))
        await connection.execute(query(f"set local search_path = {SCHEMA}, public"))
        await connection.execute(query(layout.records_table()))
        found = await _recorded(connection)
        missing = [step for step in steps if step.number > found[step.kind]]
        if not missing and found[_COMPLETION] == layout.COMPLETION:
            return
        for role in (APPLICATION, SEARCH):
            await _ensure_role(connection, role)
        spread = await distributed(connection)
        for step in missing:
            await connection.execute(query(shards.unpartitioned(step.sql) if spread else step.sql))
            await connection.execute(
                "insert into migrations (kind, number, name, digest) values (%s, %s, %s, %s)",
                (step.kind, step.number, step.name, sha256(step.sql.encode()).hexdigest()),
            )
        for each in shards.completion(spread) if spread else layout.completion():
            await connection.execute(query(each))


async def _refuse_former(connection: Connection) -> None:
    """Keeps a memory under its former name from being left behind for an empty new one."""
    cursor = await connection.execute("select to_regclass(%s)", (f"{FORMER}.migrations",))
    if await cursor.fetchone() != (None,):
        raise SchemaMismatch(
            f"the database holds a memory of version 0.1.0, in the schema {FORMER!r}: stop what still uses it, and give it"
            f" its new name (hitherto schema --rename-from {FORMER} | psql …; see docs/storage.md)"
        )


async def distributed(connection: Connection) -> frozenset[str]:
    """The tables that are distributed over a cluster's machines; none on a single server."""
    cursor = await connection.execute("select to_regclass('pg_catalog.pg_dist_partition')")
    if await cursor.fetchone() == (None,):
        return frozenset()
    cursor = await connection.execute(
        "select c.relname::text from pg_catalog.pg_dist_partition p join pg_class c on c.oid = p.logicalrelid"
        " where c.relnamespace = to_regnamespace(%s)",
        (SCHEMA,),
    )
    return frozenset(row[0] for row in await cursor.fetchall())


async def _ensure_role(connection: Connection, role: str) -> None:
    """A role that nobody logs in as; the owner may become it, but inherits nothing from it."""
    cursor = await connection.execute("select pg_has_role(oid, 'set') from pg_roles where rolname = %s", (role,))
    row = await cursor.fetchone()
    if row is None:
        await connection.execute(sql.SQL("create role {} nologin").format(sql.Identifier(role)))
    if row is None or not row[0]:
        await connection.execute(
            sql.SQL("grant {} to current_user with inherit false, set true").format(sql.Identifier(role))
        )
