"""The columns that both databases give, in this order, as values of the protocol. Times are whole microseconds; what each
writes in its own way comes beside the row.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields
from datetime import datetime
from typing import Any, Final

from recollect.clock import from_micros, micros
from recollect.store.base import Cursor, Lease, LogEntry, Note, Row, StoredSnapshot
from recollect.store.codec import decode_json, decode_parts
from recollect.types import StoredTurn

Columns = tuple[Any, ...]


def moment(value: int | None) -> datetime | None:
    return None if value is None else from_micros(value)


def stamp(value: datetime | None) -> int | None:
    return None if value is None else micros(value)


_PUT: Final[Mapping[str, Callable[[StoredTurn, Any], None]]] = {
    field.name: getattr(StoredTurn, field.name).__set__ for field in fields(StoredTurn)
}
_PUT_ALL: Final = tuple(_PUT.values())


def turn(row: Columns, text: str) -> StoredTurn:
    """Made slot by slot, in six tenths of the time that a frozen dataclass takes to make itself: a context makes dozens."""
    made = object.__new__(StoredTurn)
    for put, value in zip(_PUT_ALL, row, strict=False):  # what a row has beyond them is not the turn's
        put(made, value)
    _PUT["text"](made, text)
    _PUT["at"](made, from_micros(row[6]))
    _PUT["recorded_at"](made, from_micros(row[7]))
    _PUT["parts"](made, decode_parts(row[15]))
    return made


def record(row: Columns, text: str, body: str, sources: Sequence[str], entities: Sequence[str]) -> Row:
    return Row(
        noun=row[0],
        id=row[1],
        text=text,
        persona=row[3],
        lane=row[4],
        key=row[5],
        status=row[6],
        origin=row[7],
        sources=tuple(sources),
        entities=tuple(entities),
        at=from_micros(row[10]),
        due=moment(row[11]),
        valid_from=moment(row[12]),
        valid_to=moment(row[13]),
        tokens=row[14],
        family=row[15],
        body=body,
        seq=row[17],
        version=row[18],
        recorded_at=from_micros(row[19]),
        retired=row[20],
        retired_at=moment(row[21]),
    )


def turn_entry(found: StoredTurn, stems: tuple[str, ...]) -> LogEntry:
    return LogEntry(seq=found.seq, op="turn", id=found.id, at=found.recorded_at, turn=found, stems=stems)


def record_entry(found: Row, stems: tuple[str, ...]) -> LogEntry:
    return LogEntry(seq=found.seq, op="record", id=found.id, at=found.recorded_at, row=found, stems=stems)


def ending_entry(row: Columns) -> LogEntry:
    seq, op, name, at = row
    return LogEntry(seq=seq, op=op, id=name, at=from_micros(at))


def cursor(row: Columns, error: str | None) -> Cursor:
    step, position, due, attempts, _, parked, body = row
    return Cursor(
        step=step,
        position=position,
        due=moment(due),
        attempts=attempts,
        error=error,
        parked=bool(parked),
        body=decode_json(body),
    )


def lease(row: Columns) -> Lease:
    holder, fence, expires = row
    return Lease(holder=holder, fence=fence, expires=from_micros(expires))


def snapshot(row: Columns, body: str) -> StoredSnapshot:
    name, at, known, _, full = row
    return StoredSnapshot(id=name, at=from_micros(at), known=known, body=body, full=bool(full))


def note(row: Columns, body: str) -> Note:
    name, _, expires = row
    return Note(name=name, body=body, expires=moment(expires))
