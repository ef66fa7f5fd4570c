"""Values as both databases keep them: JSON for what has no column of its own, and rows of columns as values of the protocol.

Times in columns are whole microseconds; what each database writes in its own way comes beside the row.
"""

import json
from collections.abc import Mapping, Sequence
from datetime import datetime
from hashlib import blake2b
from typing import Any, Final, cast

from hitherto.clock import from_micros, micros
from hitherto.ids import ERASED
from hitherto.store.protocol import Cursor, Lease, LogEntry, Note, Row, StoredSnapshot
from hitherto.store.slots import slots
from hitherto.types import Json, Media, Part, StoredTurn, Thinking, ToolCall, ToolReturn

OFTEN = 2_000
"""Contexts read the same few turns and records again and again, so some are kept as values: those of at most so many
characters."""

_PART_OF_KIND: dict[str, type[Part]] = {
    "tool_call": ToolCall,
    "tool_return": ToolReturn,
    "thinking": Thinking,
    "media": Media,
}


def encode_parts(parts: tuple[Part, ...]) -> str | None:
    """Parts as JSON; None for none, which is nearly always."""
    if not parts:
        return None
    return json.dumps([{name: getattr(part, name) for name in part.__slots__} for part in parts])


def decode_parts(text: str | None) -> tuple[Part, ...]:
    if text is None:
        return ()
    return tuple(_PART_OF_KIND[fields["kind"]](**fields) for fields in cast("list[dict[str, Any]]", json.loads(text)))


def encode_json(value: Mapping[str, Json]) -> str:
    return json.dumps(value, sort_keys=True)


def decode_json(text: str) -> Mapping[str, Json]:
    return cast("dict[str, Json]", json.loads(text))


def erased_name(identifier: str) -> str:
    """What the log keeps of an erased id: enough to recognise it, nothing to read it back."""
    return blake2b(identifier.encode(), digest_size=16, person=ERASED).hexdigest()


# --- rows ----------------------------------------------------------------------------------------------------------

Columns = tuple[Any, ...]
"""The columns that both databases give, in one order."""


def moment(value: int | None) -> datetime | None:
    return None if value is None else from_micros(value)


def stamp(value: datetime | None) -> int | None:
    return None if value is None else micros(value)


_TURN: Final = slots(StoredTurn)
_TURNS: Final = tuple(_TURN.values())
_ROW: Final = slots(Row)
_ROWS: Final = tuple(_ROW.values())


def turn(row: Columns, text: str) -> StoredTurn:
    made = object.__new__(StoredTurn)
    for put, value in zip(_TURNS, row, strict=False):  # what a row has beyond them is not the turn's
        put(made, value)
    _TURN["text"](made, text)
    _TURN["at"](made, from_micros(row[6]))
    _TURN["recorded_at"](made, from_micros(row[7]))
    _TURN["parts"](made, decode_parts(row[15]))
    return made


def record(row: Columns, text: str, body: str, sources: Sequence[str], entities: Sequence[str]) -> Row:
    made = object.__new__(Row)
    for put, value in zip(_ROWS, row, strict=False):
        put(made, value)
    _ROW["text"](made, text)
    _ROW["body"](made, body)
    _ROW["sources"](made, tuple(sources))
    _ROW["entities"](made, tuple(entities))
    _ROW["at"](made, from_micros(row[10]))
    _ROW["recorded_at"](made, from_micros(row[19]))
    for name, value in (("due", row[11]), ("valid_from", row[12]), ("valid_to", row[13]), ("retired_at", row[21])):
        if value is not None:
            _ROW[name](made, from_micros(value))
    return made


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
