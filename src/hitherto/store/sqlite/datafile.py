"""Data files as a whole: created, opened at the right schema, removed.

A file appears under its name complete or not at all: it is created beside it, synced and renamed. So a file without a
schema is damaged, never new.
"""

import os
from collections.abc import Callable, Mapping
from contextlib import closing
from pathlib import Path
from typing import Final

from hitherto.errors import StoreCorrupt, StoreUnavailable
from hitherto.store.sqlite.connections import (
    BUSY,
    BUSY_MILLISECONDS,
    PAGE_SIZE,
    Connection,
    attach,
    close,
    connect,
    copy_log,
    truncate_log,
)
from hitherto.store.sqlite.layout import companions_of, sync_folder
from hitherto.store.sqlite.migrations import Kind, grow, migrate, migrations, newest, refuse_newer, schema_of
from hitherto.store.sqlite.queries import head

_PAGE_SIZES: Final[Mapping[Kind, int]] = {"user": PAGE_SIZE, "catalog": 4 * PAGE_SIZE}
_PLAIN: Final = b"SQLite format 3\0"
_COPIED: Final = """
SELECT name FROM pragma_table_list
WHERE schema = 'old' AND type IN ('table', 'shadow') AND name NOT IN ('sqlite_schema', 'sqlite_temp_schema')
"""
"""The tables whose rows are copied, full-text indexes as their underlying tables."""
_CATALOG_CACHE_KIB: Final = 256
"""The catalog keeps growing, mostly through the audit log, and hardly a page of it is read twice."""


def create(
    path: Path, kind: Kind, *, key: bytes | None = None, fill: Callable[[Connection], None] | None = None
) -> None:
    """Creates a file with the newest schema and what `fill` adds. The caller holds the lock; the folder exists."""
    fresh = path.with_suffix(".new")
    remove(fresh)
    with closing(connect(fresh, create=True, key=key, page_size=_PAGE_SIZES[kind])) as connection:
        connection.pragma("synchronous", "OFF")
        migrate(connection, migrations(kind))
        if fill is not None:
            fill(connection)
        if not truncate_log(connection):
            raise StoreUnavailable(f"{fresh} is in use; try again later")
    put_in_place(fresh, path)


def put_in_place(fresh: Path, path: Path) -> None:
    """Gives a closed file its name. What stands there is removed first, with its log: no log may meet another file."""
    _sync_closed(fresh)
    remove(path)
    fresh.rename(path)
    sync_folder(path.parent)


def open_writer(path: Path, kind: Kind, *, key: bytes | None = None) -> Connection:
    """A connection that writes, with its file brought up to date. The caller holds the lock."""
    connection = _open_writer(path, kind, key=key)
    if kind != "user" or connection.pragma("page_size") == PAGE_SIZE or not _is_alone(connection):
        return connection
    close(connection)
    _rewrite(path, kind, key=key)
    return _open_writer(path, kind, key=key)


def _open_writer(path: Path, kind: Kind, *, key: bytes | None) -> Connection:
    connection = connect(path, key=key)
    try:
        _limit_cache(connection, kind)
        if schema_of(connection) == 0:
            raise StoreCorrupt(f"{path} is damaged (it has lost its schema); restore it from a backup")
        if is_short(connection, path) and copy_log(connection) and is_short(connection, path):
            raise StoreCorrupt(f"{path} is damaged (its end is cut off); restore it from a backup")
        migrate(connection, migrations(kind))
        if kind == "user":
            grow(connection, before=0, head=head(connection))
        connection.pragma("journal_mode", "WAL")
    except BaseException:
        close(connection)
        raise
    return connection


def _is_alone(connection: Connection) -> bool:
    """Whether nobody else has the file open. It then has no log any more, so a file with other pages can take its place.
    Whoever opens it from here on sees that the folder holds another file, as after a restore."""
    connection.set_busy_timeout(0)
    try:
        return connection.pragma("journal_mode", "DELETE") == "delete"
    except BUSY:
        return False
    finally:
        connection.set_busy_timeout(BUSY_MILLISECONDS)


def _rewrite(path: Path, kind: Kind, *, key: bytes | None) -> None:
    """Gives a file of an older version pages of the current size. The new file replaces the old one in a single step."""
    fresh = path.with_suffix(".new")
    remove(fresh)
    with closing(connect(fresh, create=True, key=key)) as connection:
        connection.pragma("synchronous", "OFF")
        migrate(connection, migrations(kind))
        attach(connection, path, key=key)
        connection.execute("BEGIN")
        for (name,) in connection.execute(_COPIED).fetchall():
            connection.execute(f'DELETE FROM main."{name}"; INSERT INTO main."{name}" SELECT * FROM old."{name}"')
        connection.execute("COMMIT")
        connection.execute("DETACH old")
        if not truncate_log(connection):
            raise StoreUnavailable(f"{fresh} is in use; try again later")
    _sync_closed(fresh)
    fresh.rename(path)
    sync_folder(path.parent)


def open_reader(path: Path, kind: Kind, *, key: bytes | None = None, checked: bool = False) -> Connection | None:
    """A connection that reads; None if the file must be opened for writing first: to bring it up to date or, unless it was
    just `checked`, to see whether its end is in the log."""
    connection = connect(path, writes=False, key=key)
    try:
        _limit_cache(connection, kind)
        schema = schema_of(connection)
        refuse_newer(schema, newest(kind))
        is_ready = schema == newest(kind) and (checked or not is_short(connection, path))
    except BaseException:
        close(connection)
        raise
    if is_ready:
        return connection
    close(connection)
    return None


def _limit_cache(connection: Connection, kind: Kind) -> None:
    if kind == "catalog":
        connection.pragma("cache_size", -_CATALOG_CACHE_KIB)


def is_short(connection: Connection, path: Path) -> bool:
    """Whether the file ends before its last page. That page may still be in the log; otherwise it was cut off, and SQLite
    would read the missing part as zeros."""
    return path.stat().st_size < connection.pragma("page_count") * connection.pragma("page_size")


def refuse_plain(path: Path) -> None:
    """Checks a file without a key, which no connection has open: if it was never encrypted, its key was not destroyed
    either."""
    try:
        with path.open("rb") as file:
            begins = file.read(len(_PLAIN))
    except FileNotFoundError:
        return
    if begins == _PLAIN:
        raise StoreUnavailable(
            f"{path} is not encrypted, and a master key was given; open it without one, or copy it into a new memory"
        )


def remove(path: Path) -> None:
    """Removes a file and its companions. The file goes first: a log without its file is never read."""
    for part in (path, *companions_of(path)):
        part.unlink(missing_ok=True)


def _sync_closed(path: Path) -> None:
    """Syncs a file that no connection has open; on an open one, closing this descriptor would drop SQLite's locks."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
