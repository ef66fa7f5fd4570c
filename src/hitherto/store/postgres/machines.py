"""The machines of a database, one server or a coordinator and its workers: what they report about themselves, and
scrubbing.

A coordinator answers a session's questions for itself. Questions about a machine's own files and settings go to each
machine.
"""

import asyncio
import time
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass

from psycopg import errors

from hitherto.store.postgres.connections import query
from hitherto.store.postgres.layout import APPLICATION, SCHEMA, SEARCH, USER_TABLES, migrations
from hitherto.store.postgres.migrations import distributed, newest
from hitherto.store.postgres.pipeline import Connection
from hitherto.store.postgres.shards import TABLES
from hitherto.store.protocol import Health, Scrubbed

HERE = "the server"


@dataclass(frozen=True, slots=True)
class Reply:
    """One machine's reply to a statement: its first value, or why it failed."""

    machine: str
    text: str
    done: bool = True


async def ask_each(connection: Connection, statement: str) -> list[Reply]:
    """Runs a statement outside any transaction on every machine and returns the first value of the first row."""
    replies = [await _ask_here(connection, statement)]
    if await distributed(connection):
        cursor = await connection.execute(
            "select n.nodename || ':' || n.nodeport, r.success, r.result"
            " from run_command_on_workers(%s) r join pg_dist_node n using (nodename, nodeport) order by 1",
            (statement,),
        )
        replies += [Reply(name, text or "", done) for name, done, text in await cursor.fetchall()]
    return replies


async def _ask_here(connection: Connection, statement: str) -> Reply:
    try:
        cursor = await connection.execute(query(statement))
    except (errors.InsufficientPrivilege, errors.ObjectNotInPrerequisiteState) as error:
        return Reply(HERE, str(error.diag.message_primary), done=False)
    return Reply(HERE, str((await cursor.fetchone() or ("",))[0]) if cursor.description else "")


def refused(replies: list[Reply]) -> dict[str, str]:
    """The machines that failed, and why."""
    return {reply.machine: " ".join(reply.text.split()) for reply in replies if not reply.done}


async def citus_workers(connection: Connection) -> int:
    """How many workers the database has, whether or not they hold any of this memory."""
    cursor = await connection.execute("select to_regclass('pg_catalog.pg_dist_node')")
    if await cursor.fetchone() == (None,):
        return 0
    cursor = await connection.execute("select count(*) from pg_catalog.pg_dist_node where groupid <> 0")
    return int((await cursor.fetchone() or (0,))[0])


# --- what the store says of itself -------------------------------------------------------------------------------------

_FACTS = query(f"""
select
    current_setting('server_version'),
    (select coalesce(max(number), 0) from {SCHEMA}.migrations where kind = 'user'),
    (select count(*) from {SCHEMA}.users),
    (select coalesce(sum(pg_total_relation_size(c.oid)), 0)
     from pg_class c where c.relnamespace = '{SCHEMA}'::regnamespace and c.relkind in ('r', 'm')),
    (select array_agg(c.relname::text)
     from pg_class c
     where c.relnamespace = '{SCHEMA}'::regnamespace and c.relrowsecurity and c.relforcerowsecurity),
    (select array_agg(rolname::text)
     from pg_roles where rolname = any (%(roles)s) and not rolsuper and not rolbypassrls)
""")

_SHARDS = query(f"""
select
    (select coalesce(sum(citus_total_relation_size(logicalrelid)), 0)
     from pg_dist_partition p join pg_class c on c.oid = p.logicalrelid
     where c.relnamespace = '{SCHEMA}'::regnamespace),
    (select count(distinct (nodename, nodeport)) from citus_shards
     where table_name = '{SCHEMA}.{USER_TABLES[0]}'::regclass),
    (select count(*) from pg_dist_node where isactive and noderole = 'primary' and shouldhaveshards)
""")


async def inspect(connection: Connection) -> Health:
    cursor = await connection.execute(_FACTS, {"roles": [APPLICATION, SEARCH]})
    row = await cursor.fetchone()
    assert row is not None
    version, schema, users, size, walled, roles = row
    problems: list[str] = []
    latest = newest(migrations())["user"]
    if schema != latest:
        problems.append(f"the schema is {schema}, this code knows {latest}")
    problems += [
        f"synchronous_commit is off on {reply.machine}: turns that were acknowledged can be lost when it stops"
        for reply in await ask_each(connection, "select current_setting('synchronous_commit')")
        if reply.text == "off"
    ]
    spread = await distributed(connection)
    if spread:
        size, found = await _shards(connection, spread)
        problems += found
    elif await citus_workers(connection):
        problems.append("the database has Citus and workers, but all users are on the coordinator; see docs/scaling.md")
    missing = sorted(set(USER_TABLES) - set(walled or ()))
    if missing:
        problems.append(f"no row-level security on {', '.join(missing)}")
    problems += [
        f"the role {role} is missing or is not held back by row-level security"
        for role in sorted({APPLICATION, SEARCH} - set(roles or ()))
    ]
    return Health(
        backend="postgresql",
        version=version,
        schema=schema,
        users=users,
        bytes=int(size),
        problems=tuple(problems),
    )


async def _shards(connection: Connection, spread: Collection[str]) -> tuple[int, list[str]]:
    """Bytes on all machines of a cluster, and tables that are not distributed as they should be."""
    cursor = await connection.execute(_SHARDS)
    [(size, used, machines)] = await cursor.fetchall()
    problems: list[str] = []
    alone = sorted(set(TABLES) - set(spread))
    if alone:
        problems.append(f"not distributed: {', '.join(alone)}")
    if used < machines:
        problems.append(f"users lie on {used} of {machines} machines; move shards (citus_rebalance_start)")
    return int(size), problems


# --- scrubbing: no byte of what was deleted stays on the disk of any machine ---------------------------------------------
#
# A deleted row stays in its page until the page is rewritten, in the samples of the planner's statistics, and in the
# write-ahead log until its files are gone. So the tables are rewritten (`VACUUM FULL`), the samples are taken anew and
# their table rewritten as well, and the log is advanced and its old files are removed. While a table's partition is being
# rewritten, nobody reads or writes it, and the disk needs room for the copy; everything else goes on.
#
# A coordinator passes the rewriting of a table on to the workers that hold it; samples and logs belong to each machine.
# Only a superuser may do the parts that concern a whole machine. The answer says what could not be done.

Progress = Callable[[int, int], None]
_SAMPLES = ("pg_catalog.pg_statistic", "pg_catalog.pg_statistic_ext_data")
_LOG_FILES = "select string_agg(name, ' ') from pg_ls_waldir()"
_WAIT_SECONDS = 0.2
_ROUNDS = 50


async def scrub(connection: Connection, *, progress: Progress | None = None) -> Scrubbed:
    """Rewrites everything that may hold deleted rows, on a connection of the owner outside any transaction."""
    begun = time.monotonic()
    await connection.execute("set statement_timeout = 0")
    await connection.execute("set lock_timeout = 0")
    tables = await _tables(connection)
    for done, table in enumerate(tables, start=1):
        await connection.execute(query(f"vacuum (full, analyze) {table}"))
        if progress is not None:
            progress(done, len(tables))
    left: list[str] = []
    for table in _SAMPLES:
        found = refused(await ask_each(connection, f"vacuum full {table}"))
        left += [f"{table} on {machine} was not rewritten: {why}" for machine, why in found.items()]
    left += await _drop_old_log(connection)
    return Scrubbed(files=len(tables), seconds=time.monotonic() - begun, left=tuple(left))


async def _tables(connection: Connection) -> list[str]:
    """Every table that holds rows of its own: partitions, if there are any."""
    cursor = await connection.execute(
        "select c.oid::regclass::text from pg_class c"
        " where c.relnamespace = %s::regnamespace and c.relkind = 'r' order by 1",
        (SCHEMA,),
    )
    return [row[0] for row in await cursor.fetchall()]


async def _drop_old_log(connection: Connection) -> list[str]:
    """Advances the write-ahead log until none of the earlier files is left, including those kept for reuse, which hold old
    bytes. Files archived elsewhere stay there until the archive's own retention ends."""
    barred = refused(await ask_each(connection, "alter system set wal_recycle = off"))
    try:
        await ask_each(connection, "select pg_reload_conf()")
        await asyncio.sleep(_WAIT_SECONDS)
        before = _files(await ask_each(connection, _LOG_FILES))
        held = await _moved_on(connection, before)
    finally:
        await ask_each(connection, "alter system reset wal_recycle")
        await ask_each(connection, "select pg_reload_conf()")
    archives = await ask_each(connection, "select current_setting('archive_mode')")
    left = [f"the write-ahead log of {machine}: {why}" for machine, why in barred.items()]
    left += [
        f"the write-ahead log of {machine}: a replication slot, a standby or a missing right holds on to its old files"
        for machine in sorted(held - set(barred))
    ]
    return left + [
        f"the archive of the write-ahead log of {reply.machine}: its own retention ends it"
        for reply in archives
        if reply.done and reply.text != "off"
    ]


async def _moved_on(connection: Connection, before: Mapping[str, frozenset[str]]) -> set[str]:
    """The machines that still have earlier files."""
    most = max(map(len, before.values()), default=0)
    switch = (
        "select max(pg_logical_emit_message(true, 'hitherto', 'scrub')::text || pg_switch_wal()::text)"
        f" from generate_series(1, {most})"
    )
    held = set(before)
    for _ in range(_ROUNDS):
        moved = [await ask_each(connection, each) for each in (switch, "checkpoint")]
        now = _files(await ask_each(connection, _LOG_FILES))
        held = {machine for machine, files in before.items() if files & now.get(machine, files)}
        if held <= {machine for replies in moved for machine in refused(replies)}:
            break
    return held


def _files(replies: list[Reply]) -> dict[str, frozenset[str]]:
    return {reply.machine: frozenset(reply.text.split()) for reply in replies if reply.done}
