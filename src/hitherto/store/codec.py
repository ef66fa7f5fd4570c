"""Values as both databases keep them: JSON for what has no column of its own, and rows of columns as values of the protocol.

Times in columns are whole microseconds; what each database writes in its own way comes beside the row.
"""

import json
import re
import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, fields, is_dataclass
from datetime import date, datetime
from functools import cache, partial
from hashlib import blake2b
from importlib.resources import files
from types import NoneType, UnionType
from typing import Any, Final, Literal, TypeVar, Union, cast, get_args, get_origin, get_type_hints

from hitherto.clock import from_micros, micros
from hitherto.ids import ERASED
from hitherto.store.protocol import (
    Change,
    Cursor,
    Everything,
    Lease,
    LogEntry,
    Note,
    Query,
    RecordList,
    Row,
    RowDraft,
    StoredSnapshot,
    TurnDraft,
    Window,
    Written,
)
from hitherto.types import Json, Media, Part, StoredTurn, Thinking, ToolCall, ToolReturn

OFTEN = 2_000
"""Contexts read the same few turns and records again and again, so some are kept as values: those of at most so many
characters."""

T = TypeVar("T")
Reader = Callable[[Any], Any]

_LARGEST: Final = 2**63 - 1
_PARTS: Final[Mapping[str, type[Part]]] = {
    "tool_call": ToolCall,
    "tool_return": ToolReturn,
    "thinking": Thinking,
    "media": Media,
}


def dump(value: object) -> str:
    """Canonical JSON: the same value always gives the same bytes."""
    return json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":"), default=_plain)


def _plain(value: object) -> object:
    if isinstance(value, datetime | date):
        return value.isoformat()
    if is_dataclass(value) and not isinstance(value, type):
        return asdict(value)
    raise TypeError(f"{type(value).__name__} cannot be stored")


def made(cls: type[T], values: Any) -> T:
    """A dataclass from the JSON of a stranger: every field must be there and of its type."""
    if not isinstance(values, dict):
        raise TypeError(f"{values!r:.40} is not an object")
    found = cast(dict[str, Any], values)
    return cls(**{name: _read(name, read, found[name]) for name, read in readers(cls, checked=True).items()})


def _rebuilt(cls: type[T], values: Mapping[str, Any]) -> T:
    """A dataclass from JSON that a store wrote; a field that was not there yet has its default."""
    found = readers(cls, checked=False)
    return cls(**{name: read(values[name]) if read else values[name] for name, read in found.items() if name in values})


@cache
def readers(cls: type[Any], *, checked: bool) -> Mapping[str, Reader | None]:
    """What makes each field of its JSON; None where the JSON is the value."""
    hints = get_type_hints(cls)
    return {field.name: reader(hints[field.name], checked=checked) for field in fields(cls)}


def reader(hint: Any, *, checked: bool) -> Reader | None:
    """What makes a value of a type of its JSON, checked if a stranger may have written it; None where nothing is to be done."""
    if get_origin(hint) in (Union, UnionType) and NoneType in get_args(hint):
        [inner] = [reader(each, checked=checked) for each in get_args(hint) if each is not NoneType]
        return partial(_optional, inner) if inner else None
    if get_origin(hint) is tuple:
        return partial(_listed, reader(get_args(hint)[0], checked=checked), checked=checked)
    if hint is Part:
        return partial(_part, made=made if checked else _rebuilt)
    if is_dataclass(hint):
        return partial(made if checked else _rebuilt, hint)
    if not checked:
        return {datetime: datetime.fromisoformat, date: date.fromisoformat}.get(hint)
    if get_origin(hint) is Literal:
        return partial(one_of, get_args(hint))
    return {int: whole, str: text, datetime: time}[hint]


def _optional(read: Reader, value: Any) -> Any:
    return None if value is None else read(value)


def _listed(read: Reader | None, value: Any, *, checked: bool) -> tuple[Any, ...]:
    if checked and not isinstance(value, list):
        raise TypeError(f"{value!r:.40} is not a list")
    values = cast("list[Any]", value)
    return tuple(values) if read is None else tuple([read(one) for one in values])


def _read(name: str, read: Reader | None, value: Any) -> Any:
    try:
        return read(value) if read else value
    except (TypeError, ValueError) as error:
        raise ValueError(f"{name}: {error}") from error


def _part(value: Any, *, made: Callable[[type[Part], Any], Part]) -> Part:
    kind = value["kind"]
    if kind not in _PARTS:
        raise ValueError(f"there is no part {kind!r}")
    return made(_PARTS[kind], value)


def whole(value: Any) -> int:
    if type(value) is not int or abs(value) > _LARGEST:
        raise TypeError(f"{value!r:.40} is not a whole number of 64 bits")
    return value


def text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{value!r:.40} is not a text")
    if "\0" in value:
        raise ValueError("a text holds a NUL character")
    value.encode()
    return value


def time(value: Any) -> datetime:
    found = datetime.fromisoformat(text(value))
    if found.tzinfo is None:
        raise ValueError(f"the time {value!r} has no offset")
    return found


def one_of(options: Sequence[Any], value: Any) -> Any:
    if value not in options:
        raise ValueError(f"{value!r:.40} is none of {', '.join(map(str, options))}")
    return value


def encode_parts(parts: tuple[Part, ...]) -> str | None:
    """Parts as JSON; None for none, which is nearly always."""
    if not parts:
        return None
    return json.dumps([asdict(part) for part in parts])


def decode_parts(text: str | None) -> tuple[Part, ...]:
    return () if text is None else tuple(_part(fields, made=_rebuilt) for fields in json.loads(text))


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


def turn(row: Columns, text: str) -> StoredTurn:
    return StoredTurn(
        seq=row[0],
        place=row[1],
        id=row[2],
        version=row[3],
        role=row[4],
        text=text,
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


# --- answers that outlive a write -------------------------------------------------------------------------------------


def still_true(answers: Mapping[Query[Any], Any], change: Change, written: Written) -> dict[Query[Any], Any]:
    """Of answers from before a change, those that are sure after it: what recording a turn asks for, so that the next one need
    not ask."""
    if change.retire or change.erase or any(draft.version > 1 for draft in change.turns):
        return {}
    newest = {draft.persona: (draft, seq) for draft, seq in zip(change.turns, written.turns, strict=True)}
    kept: dict[Query[Any], Any] = {}
    for query, answer in answers.items():
        if isinstance(query, RecordList) and not any(_may_touch(draft, query) for draft in change.records):
            kept[query] = answer
        elif isinstance(query, Window) and query == Window(persona=query.persona, limit=1):
            if isinstance(persona := query.persona, Everything):
                continue
            turns = (_stored(*newest[persona]),) if persona in newest else answer
            if all(len(turn.text) <= OFTEN for turn in turns):
                kept[query] = turns
    return kept


def _may_touch(draft: RowDraft, query: RecordList) -> bool:
    """Whether a record that is written may change a list; a new one that is in another status does not."""
    return draft.noun == query.noun and (draft.version > 1 or not query.statuses or draft.status in query.statuses)


def _stored(draft: TurnDraft, seq: int) -> StoredTurn:
    """A new turn as it will be read."""
    return StoredTurn(
        seq=seq,
        place=seq,
        id=draft.id,
        version=draft.version,
        role=draft.role,
        text=draft.text,
        at=draft.at,
        recorded_at=draft.recorded_at,
        retired=None,
        persona=draft.persona,
        lane=draft.lane,
        conversation=draft.conversation,
        speaker=draft.speaker,
        reply_to=draft.reply_to,
        origin=draft.origin,
        parts=draft.parts,
        snapshot=draft.snapshot,
        session=draft.session,
        position=draft.position,
        number=draft.number,
        tokens=draft.tokens,
        family=draft.family,
    )


# --- receipts ------------------------------------------------------------------------------------------------------
#
# What a receipt says beside names of turns, records and texts is much the same in all: it is pressed with words that they have
# in common, those of receipts by rows or by columns. The first byte says with which.

NAMES: Final = re.compile(r"([0-9a-f]{32}(?<!\w.{32})(?!\w))")
"""What looks like an id made here, or like the hash of a text; splits a receipt into what stands between names and names. What
stands before one is looked at last: the other way round takes twice as long."""
_LEVEL: Final = 6
"""The highest takes twice the time and saves a fortieth."""


def press(text: str) -> bytes:
    words = 2 if '"columns":' in text else 1
    press = zlib.compressobj(_LEVEL, zlib.DEFLATED, -zlib.MAX_WBITS, 9, zlib.Z_DEFAULT_STRATEGY, _words(words))
    return bytes([words]) + press.compress(text.encode("utf-8", "surrogatepass")) + press.flush()


def unpress(pressed: bytes) -> str:
    """What was pressed; a ValueError for what was not."""
    if pressed[:1] not in (b"\1", b"\2"):
        raise ValueError(f"a receipt of format {pressed[:1]!r}")
    try:
        plain = zlib.decompressobj(-zlib.MAX_WBITS, _words(pressed[0])).decompress(pressed[1:])
    except zlib.error as error:
        raise ValueError(f"a receipt cannot be unpacked: {error}") from error
    return plain.decode("utf-8", "surrogatepass")


@cache
def _words(number: int) -> bytes:
    """Part of the format: a receipt is read with the words it was written with, so these files never change."""
    return (files("hitherto.store") / f"receipts-{number}.words").read_bytes()
