"""Scrubbing: leaves no byte of what was deleted on the disk of any machine.

A deleted row stays in its page until the page is rewritten, in the statistics that the planner keeps samples in, and in
the write-ahead log until its files are gone. So the tables are rewritten (`VACUUM FULL`), the samples are taken anew and
their table rewritten as well, and the log is moved on and its old files are removed. While a table's partition is
rewritten, nobody reads or writes it, and the disk needs room for its copy; everything else goes on.

A coordinator passes the rewriting of a table on to the workers that hold it; samples and logs are each machine's own.
Only a superuser may do the parts that concern a whole machine. What could not be done is said in the answer.
"""

import asyncio
import time
from collections.abc import Callable, Mapping

from hitherto.store.postgres.connections import query
from hitherto.store.postgres.layout import SCHEMA
from hitherto.store.postgres.machines import Reply, ask_each, refused
from hitherto.store.postgres.sending import Connection
from hitherto.store.protocol import Scrubbed

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
    """Every table that holds rows of its own: partitions where there are any."""
    cursor = await connection.execute(
        "select c.oid::regclass::text from pg_class c"
        " where c.relnamespace = %s::regnamespace and c.relkind = 'r' order by 1",
        (SCHEMA,),
    )
    return [row[0] for row in await cursor.fetchall()]


async def _drop_old_log(connection: Connection) -> list[str]:
    """Moves the write-ahead log on until no file that was there before is left: also those that were kept for reuse
    hold old bytes. What is archived elsewhere stays there until the archive's own retention ends."""
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
    """The machines that still have files of before."""
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
