"""Rows of the tables as values of the protocol."""

import json
from collections.abc import Callable, Generator, Iterable
from contextlib import contextmanager
from typing import TypeVar

from hitherto.errors import StoreCorrupt
from hitherto.store import rows
from hitherto.store.protocol import Cursor, LogEntry, Note, Row, StoredSnapshot
from hitherto.store.rows import Columns
from hitherto.types import StoredTurn

T = TypeVar("T")


@contextmanager
def sense() -> Generator[None]:
    """A row that makes no sense is damage, not a mistake of the caller."""
    try:
        yield
    except (ValueError, TypeError, KeyError, OverflowError) as error:
        raise StoreCorrupt(f"a data file is damaged (a row reads {error!r}); restore it from a backup") from error


def built(build: Callable[[Columns], T], found: Iterable[Columns]) -> tuple[T, ...]:
    """Rows as values."""
    with sense():
        return tuple(map(build, found))


def names(text: str | None) -> tuple[str, ...]:
    """A list of names as a record's row stores it: NULL for none."""
    return () if text is None else tuple(json.loads(text))


def names_text(values: tuple[str, ...]) -> str | None:
    return json.dumps(values) if values else None


def stems_of(text: str) -> tuple[str, ...]:
    return tuple(text.split(" ")) if text else ()


def turn(row: Columns) -> StoredTurn:
    return rows.turn(row, row[5])


def record(row: Columns) -> Row:
    return rows.record(row, row[2], row[16], names(row[8]), names(row[9]))


def turn_entry(row: Columns) -> LogEntry:
    return rows.turn_entry(turn(row), stems_of(row[-1]))


def record_entry(row: Columns) -> LogEntry:
    return rows.record_entry(record(row), stems_of(row[-1]))


def cursor(row: Columns) -> Cursor:
    return rows.cursor(row, row[4])


def snapshot(row: Columns) -> StoredSnapshot:
    return rows.snapshot(row, row[3])


def note(row: Columns) -> Note:
    return rows.note(row, row[1])
