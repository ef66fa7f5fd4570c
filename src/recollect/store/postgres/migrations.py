"""Bringing the schema up to date, by the owner, once, however many processes start at the same time.

The numbered scripts, their record in the table `migrations`, and all that `layout` adds commit together: a server that is
killed in between has the old schema or the new one. An advisory lock keeps starters from doing the work twice; the
record's primary key keeps them from doing harm if the lock does not reach them.
"""

import asyncio
import random
from collections.abc import Sequence

from psycopg import errors, sql

from recollect.clock import micros, system_clock
from recollect.errors import SchemaMismatch, StoreError, StoreUnavailable
from recollect.store.postgres import layout
from recollect.store.postgres.connections import Connection, query
from recollect.store.postgres.layout import APPLICATION, SCHEMA, SEARCH

OLDEST_SERVER = 16
OLDEST_VECTOR = (0, 7)
_LOCK = 0x7265636F6C6C  # "recoll": the same number in every process
_ATTEMPTS = 8

# Two starters on one cluster may make the same role, schema or extension at the same moment; the loser looks again.
_RACES = (
    errors.DuplicateObject,
    errors.DuplicateSchema,
    errors.DuplicateTable,
    errors.UniqueViolation,
    errors.InternalError_,
)


def require_server(version: int, vector: str | None, available: str | None) -> None:
    """Refuses a server that is too old or lacks pgvector; `vector` is its installed version, `available` the newest."""
    if version // 10_000 < OLDEST_SERVER:
        raise StoreUnavailable(
            f"PostgreSQL {version // 10_000} is too old: Recollect needs {OLDEST_SERVER} or newer"
        )
    found = vector or available
    if found is None:
        raise StoreUnavailable(
            "the PostgreSQL server has no pgvector: install the extension (the package is named like"
            " postgresql-18-pgvector) and try again"
        )
    if tuple(int(part) for part in found.split(".")[:2]) < OLDEST_VECTOR:
        raise StoreUnavailable(
            f"pgvector {found} is too old: Recollect needs {'.'.join(map(str, OLDEST_VECTOR))} or newer"
            " (ALTER EXTENSION vector UPDATE)"
        )


async def migrate(connection: Connection, *, names: Sequence[str] | None = None) -> int:
    """Applies what is missing; the schema's number. A schema newer than this code is refused."""
    wanted = layout.migration_names() if names is None else tuple(names)
    latest = layout.number(wanted[-1])
    await _check_server(connection)
    for attempt in range(_ATTEMPTS):
        found = await schema_number(connection)
        if found > latest:
            raise SchemaMismatch(
                f"the data has schema {found}, this version of Recollect knows {latest}; upgrade Recollect"
            )
        if found == latest:
            return latest
        try:
            await _apply(connection, wanted)
        except _RACES:
            if attempt == _ATTEMPTS - 1:
                raise
            await asyncio.sleep(random.uniform(0.05, 0.2))
        except errors.InsufficientPrivilege as error:
            raise StoreError(
                f"the PostgreSQL role may not prepare the database ({error.diag.message_primary}). It must be allowed"
                f" to create a schema, the extension vector and the roles {APPLICATION} and {SEARCH}; or let an"
                " administrator create these and grant both roles to it"
            ) from error
    return latest


async def schema_number(connection: Connection) -> int:
    """The newest migration that was applied; 0 for an empty database."""
    cursor = await connection.execute("select to_regclass(%s)", (f"{SCHEMA}.migrations",))
    if (await cursor.fetchone() or (None,))[0] is None:
        return 0
    cursor = await connection.execute(query(f"select coalesce(max(number), 0) from {SCHEMA}.migrations"))
    row = await cursor.fetchone()
    return int(row[0]) if row else 0


async def _check_server(connection: Connection) -> None:
    cursor = await connection.execute(
        "select installed_version, default_version from pg_available_extensions where name = 'vector'"
    )
    installed, available = await cursor.fetchone() or (None, None)
    require_server(connection.info.server_version, installed, available)


async def _apply(connection: Connection, wanted: Sequence[str]) -> None:
    async with connection.transaction():
        await connection.execute("select pg_advisory_xact_lock(%s)", (_LOCK,))
        await connection.execute(query(f"create schema if not exists {SCHEMA}"))
        await connection.execute(query(f"set local search_path = {SCHEMA}, public"))
        await connection.execute(
            "create table if not exists migrations"
            " (number integer primary key, name text not null, applied_at bigint not null)"
        )
        found = await schema_number(connection)
        missing = [name for name in wanted if layout.number(name) > found]
        if not missing:
            return
        await connection.execute("create extension if not exists vector")
        for role in (APPLICATION, SEARCH):
            await _ensure_role(connection, role)
        for name in missing:
            await connection.execute(query(layout.script(name)))
            await connection.execute(
                "insert into migrations (number, name, applied_at) values (%s, %s, %s)",
                (layout.number(name), name, micros(system_clock())),
            )
        for each in layout.completion():
            await connection.execute(query(each))


async def _ensure_role(connection: Connection, role: str) -> None:
    """A role nobody logs in as; the owner may become it, but inherits nothing of it."""
    cursor = await connection.execute(
        "select pg_has_role(oid, 'set') from pg_roles where rolname = %s", (role,)
    )
    row = await cursor.fetchone()
    if row is None:
        await connection.execute(sql.SQL("create role {} nologin").format(sql.Identifier(role)))
    if row is None or not row[0]:
        await connection.execute(
            sql.SQL("grant {} to current_user with inherit false, set true").format(sql.Identifier(role))
        )
