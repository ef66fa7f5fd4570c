"""Scrubbing: leaves no byte of what was deleted on the server's disk.

A deleted row stays in its page until the page is rewritten, in the statistics that the planner keeps samples in, and in
the write-ahead log until its files are gone. So the tables are rewritten (`VACUUM FULL`), the samples are taken anew and
their table rewritten as well, and the log is moved on and its old files are removed. While a table's partition is
rewritten, nobody reads or writes it, and the disk needs room for its copy; everything else goes on.

Only a superuser may do the parts that concern the whole server. What could not be done is said in the answer.
"""

import asyncio
import time
from collections.abc import Callable, Sequence

import psycopg

from hitherto.store.postgres.connections import query
from hitherto.store.postgres.layout import SCHEMA
from hitherto.store.postgres.sending import Connection
from hitherto.store.protocol import Scrubbed

Progress = Callable[[int, int], None]
_SAMPLES = ("pg_catalog.pg_statistic", "pg_catalog.pg_statistic_ext_data")
_WAIT_SECONDS = 0.2
_ROUNDS = 50


async def scrub(connection: Connection, *, progress: Progress | None = None) -> Scrubbed:
    """Rewrites everything that may hold deleted rows, on a connection of the owner outside any transaction."""
    begun = time.monotonic()
    await connection.execute("set statement_timeout = 0")
    await connection.execute("set lock_timeout = 0")
    left: list[str] = []
    tables = await _tables(connection)
    for done, table in enumerate(tables, start=1):
        await connection.execute(query(f"vacuum (full, analyze) {table}"))
        if progress is not None:
            progress(done, len(tables))
    for table in _SAMPLES:
        try:
            await connection.execute(query(f"vacuum full {table}"))
        except psycopg.errors.InsufficientPrivilege:
            left.append(f"{table}: only a superuser may rewrite it")
    left += await _drop_old_log(connection)
    return Scrubbed(files=len(tables), seconds=time.monotonic() - begun, left=tuple(left))


async def _tables(connection: Connection) -> list[str]:
    """Every table that holds rows of its own: partitions where there are any."""
    cursor = await connection.execute(
        "select c.oid::regclass::text from pg_class c"
        " where c.relnamespace = %s::regnamespace and c.relkind = 'r' order by 1",
        (SCHEMA,),
    )
    return [row[0] for row in await cursor.fetchall()]


async def _drop_old_log(connection: Connection) -> Sequence[str]:
    """Moves the write-ahead log on until no file that was there before is left: also those that were kept for reuse
    hold old bytes. What is archived elsewhere stays there until the archive's own retention ends."""
    try:
        await connection.execute("alter system set wal_recycle = off")
        await connection.execute("select pg_reload_conf()")
        try:
            await asyncio.sleep(_WAIT_SECONDS)
            before = await _log_files(connection)
            for _ in range(_ROUNDS):
                for _ in range(len(before)):
                    await connection.execute("select pg_logical_emit_message(true, 'hitherto', 'scrub')")
                    await connection.execute("select pg_switch_wal()")
                await connection.execute("checkpoint")
                if not before & await _log_files(connection):
                    return await _archived(connection)
        finally:
            await connection.execute("alter system reset wal_recycle")
            await connection.execute("select pg_reload_conf()")
    except psycopg.errors.InsufficientPrivilege:
        return ["the write-ahead log: only a superuser may move it on; it is gone after the next checkpoints"]
    return ["the write-ahead log: a replication slot or a standby holds on to its old files"]


async def _log_files(connection: Connection) -> set[str]:
    cursor = await connection.execute("select name from pg_ls_waldir()")
    return {row[0] for row in await cursor.fetchall()}


async def _archived(connection: Connection) -> Sequence[str]:
    cursor = await connection.execute("select current_setting('archive_mode')")
    mode = (await cursor.fetchone() or ("off",))[0]
    return () if mode == "off" else ["the archive of the write-ahead log: its own retention ends it"]
