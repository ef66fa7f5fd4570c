"""Making forgetting reach the disk.

PostgreSQL only marks what was erased; the bytes stay in their pages until something else takes the place, and in the
write-ahead log until its files go. Scrubbing writes every table of users anew, one partition at a time (each is locked
while it is written), and lets the log begin a new file. The server then removes the old files, or reuses them under a new
name where `wal_recycle` is on; replicas, archives and backups of the server are beyond its reach.
"""

from collections.abc import Callable

from psycopg import errors

from recollect.store.postgres.connections import Connection, query
from recollect.store.postgres.layout import SCHEMA, USER_TABLES


async def scrub(connection: Connection, *, progress: Callable[[int, int], None] | None = None) -> tuple[str, ...]:
    """Writes all user tables anew; what could not be done, in words."""
    cursor = await connection.execute(
        "select c.oid::regclass::text from pg_class c"
        " where c.relnamespace = %s::regnamespace and c.relkind = 'r' and (c.relispartition or c.relname = any (%s))"
        " order by 1",
        (SCHEMA, list(USER_TABLES)),
    )
    tables = [row[0] for row in await cursor.fetchall()]
    for done, table in enumerate(tables, start=1):
        await connection.execute(query(f"vacuum (full, analyze) {table}"))
        if progress is not None:
            progress(done, len(tables))
    return await _new_log(connection)


async def _new_log(connection: Connection) -> tuple[str, ...]:
    left: list[str] = []
    try:
        # The first checkpoint still needs the file that is being written; the second does not.
        for _ in range(2):
            await connection.execute("select pg_switch_wal()")
            await connection.execute("checkpoint")
    except errors.InsufficientPrivilege:
        left.append(
            "the write-ahead log keeps what was erased until the server's next checkpoints: grant pg_checkpoint and"
            " execute on pg_switch_wal() to the owner, or run CHECKPOINT as an administrator"
        )
    cursor = await connection.execute("show wal_recycle")
    if await cursor.fetchone() == ("on",):
        left.append("wal_recycle is on: files of the write-ahead log are reused with their old content in them")
    return tuple(left)
