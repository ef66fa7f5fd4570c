"""Numbered migrations, each committed together with the record that it was applied.

The newest one's number is in the file's header (`user_version`), where every write can check it at almost no cost. After a
kill between two migrations, the next open continues with the next one.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from importlib.resources import files
from typing import Final, Literal

from hitherto.errors import SchemaMismatch
from hitherto.store.sql import queries
from hitherto.store.sqlite import receipts
from hitherto.store.sqlite.connections import Connection, roll_back

_INDEXES = queries("sqlite", "indexes")
Kind = Literal["user", "catalog"]
_RECORDS = "CREATE TABLE IF NOT EXISTS migrations (number INTEGER PRIMARY KEY, name TEXT NOT NULL, digest TEXT NOT NULL) STRICT"


@dataclass(frozen=True, slots=True)
class Migration:
    """`then` runs in the same transaction, for what SQL cannot do."""

    number: int
    name: str
    sql: str
    then: Callable[[Connection], None] | None = None


_THEN: Mapping[tuple[Kind, int], Callable[[Connection], None]] = {("user", 4): receipts.pack_all}


@cache
def migrations(kind: Kind) -> tuple[Migration, ...]:
    """All migrations of that kind of file, in order."""
    folder = files("hitherto.store.sqlite") / "migrations" / kind
    found = sorted(
        (file.name, file.read_text(encoding="utf-8")) for file in folder.iterdir() if file.name.endswith(".sql")
    )
    return tuple(Migration(number := int(name[:4]), name[5:-4], sql, _THEN.get((kind, number))) for name, sql in found)


def newest(kind: Kind) -> int:
    return migrations(kind)[-1].number


def schema_of(connection: Connection) -> int:
    return int(connection.execute("PRAGMA user_version").get)


def migrate(connection: Connection, steps: Sequence[Migration]) -> None:
    """Brings a file up to date; one written by a newer version is refused and left untouched."""
    refuse_newer(schema_of(connection), steps[-1].number)
    for step in steps:
        if schema_of(connection) < step.number:
            _apply(connection, step)


# Four indexes of turns take a sixth of a short conversation's file and a tenth of the time of a write. Below this many
# entries, the order of places or the table itself answers as quickly.

GROWN: Final = 256
"""The number of entries from which a user's file has them."""


def grow(connection: Connection, *, before: int, head: int) -> None:
    """Creates the indexes of a longer conversation once the log has grown that long; only missing ones, in case a power
    loss interrupted it."""
    if before < GROWN <= head and not connection.execute(_INDEXES["are_made"]).get:
        for name in ("by_persona", "by_lane", "by_session", "by_time"):
            connection.execute(_INDEXES[name]).fetchall()


def refuse_newer(found: int, known: int) -> None:
    if found > known:
        raise SchemaMismatch(
            f"the data has schema {found}, this version of Hitherto knows up to {known}; upgrade before opening it"
        )


def _apply(connection: Connection, step: Migration) -> None:
    connection.execute("BEGIN IMMEDIATE")
    try:
        if schema_of(connection) < step.number:
            connection.execute(_RECORDS)
            connection.execute(step.sql).fetchall()
            if step.then is not None:
                step.then(connection)
            digest = sha256(step.sql.encode()).hexdigest()
            connection.execute("INSERT INTO migrations VALUES (?, ?, ?)", (step.number, step.name, digest))
            connection.execute(f"PRAGMA user_version = {step.number}")
        connection.execute("COMMIT")
    except BaseException:
        roll_back(connection)
        raise
