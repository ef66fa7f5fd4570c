"""Rows of the tables as values of the protocol, and times as numbers."""

import json
from collections.abc import Callable, Generator, Iterable
from contextlib import contextmanager
from datetime import datetime
from functools import lru_cache
from typing import Any, TypeVar

from recollect.clock import from_micros, micros
from recollect.errors import StoreCorrupt
from recollect.store.base import Cursor, Lease, Note, Row, StoredSnapshot
from recollect.store.codec import KEPT, OFTEN, decode_json, decode_parts
from recollect.types import StoredTurn

T = TypeVar("T")


@contextmanager
def sense() -> Generator[None]:
    """A row that makes none is damage, not a mistake of the caller."""
    try:
        yield
    except (ValueError, TypeError, KeyError, OverflowError) as error:
        raise StoreCorrupt(f"a data file is damaged (a row reads {error!r}); restore it from a backup") from error


def built(build: Callable[[tuple[Any, ...]], T], found: Iterable[tuple[Any, ...]]) -> tuple[T, ...]:
    """Rows as values."""
    with sense():
        return tuple(map(build, found))


def time_or_none(value: int | None) -> datetime | None:
    return None if value is None else from_micros(value)


def number_or_none(value: datetime | None) -> int | None:
    return None if value is None else micros(value)


def names(text: str | None) -> tuple[str, ...]:
    """A list of names as a record's row keeps it: NULL for none."""
    return () if text is None else tuple(json.loads(text))


def names_text(values: tuple[str, ...]) -> str | None:
    return json.dumps(values) if values else None


def stems_of(text: str) -> tuple[str, ...]:
    return tuple(text.split(" ")) if text else ()


def turn(row: tuple[Any, ...]) -> StoredTurn:
    return StoredTurn(
        seq=row[0],
        place=row[1],
        id=row[2],
        version=row[3],
        role=row[4],
        text=row[5],
        at=from_micros(row[6]),
        recorded_at=from_micros(row[7]),
        retired=row[8],
        persona=row[9],
        lane=row[10],
        conversation=row[11],
        speaker=row[12],
        reply_to=row[13],
        origin=row[14],
        parts=decode_parts(row[15]),
        snapshot=row[16],
        session=row[17],
        position=row[18],
        number=row[19],
        tokens=row[20],
        family=row[21],
    )


def record(row: tuple[Any, ...]) -> Row:
    return Row(
        noun=row[0],
        id=row[1],
        text=row[2],
        persona=row[3],
        lane=row[4],
        key=row[5],
        status=row[6],
        origin=row[7],
        sources=names(row[8]),
        entities=names(row[9]),
        at=from_micros(row[10]),
        due=time_or_none(row[11]),
        valid_from=time_or_none(row[12]),
        valid_to=time_or_none(row[13]),
        tokens=row[14],
        family=row[15],
        body=row[16],
        seq=row[17],
        version=row[18],
        recorded_at=from_micros(row[19]),
        retired=row[20],
        retired_at=time_or_none(row[21]),
    )


_turn, _record = lru_cache(maxsize=KEPT)(turn), lru_cache(maxsize=KEPT)(record)


def known_turn(row: tuple[Any, ...]) -> StoredTurn:
    """The same as `turn`, for rows that are likely to be read again."""
    return _turn(row) if len(row[5]) <= OFTEN else turn(row)


def known_record(row: tuple[Any, ...]) -> Row:
    return _record(row) if len(row[2]) + len(row[16]) <= OFTEN else record(row)


def cursor(row: tuple[Any, ...]) -> Cursor:
    step, position, due, attempts, error, parked, body = row
    return Cursor(
        step=step,
        position=position,
        due=time_or_none(due),
        attempts=attempts,
        error=error,
        parked=bool(parked),
        body=decode_json(body),
    )


def lease(row: tuple[Any, ...]) -> Lease:
    holder, fence, expires = row
    return Lease(holder=holder, fence=fence, expires=from_micros(expires))


def snapshot(row: tuple[Any, ...]) -> StoredSnapshot:
    name, at, known, body, full = row
    return StoredSnapshot(id=name, at=from_micros(at), known=known, body=body, full=bool(full))


def note(row: tuple[Any, ...]) -> Note:
    name, body, expires = row
    return Note(name=name, body=body, expires=time_or_none(expires))
