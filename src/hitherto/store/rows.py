"""Rows of both databases as values of the protocol, and what their columns hold.

Times in columns are whole microseconds; a column that each database writes in its own way is passed separately.
"""

import re
import zlib
from collections.abc import Mapping, Sequence
from datetime import datetime
from functools import cache
from importlib.resources import files
from typing import Any, Final

from hitherto.clock import from_micros, micros
from hitherto.store.codec import decode_json, decode_parts
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
from hitherto.types import StoredTurn

OFTEN = 2_000
"""Contexts read the same few turns and records again and again, so some are cached as values, if they have at most this
many characters."""

Columns = tuple[Any, ...]
"""The columns that both databases return, in one order."""


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
    """Which answers from before a change are certain to hold after it. They cover what recording a turn asks for, so that
    the next recording need not ask."""
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
    """Whether writing a record may change a list; a new record with another status does not."""
    return draft.noun == query.noun and (draft.version > 1 or not query.statuses or draft.status in query.statuses)


def _stored(draft: TurnDraft, seq: int) -> StoredTurn:
    """A new turn as it will be read back."""
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
# Apart from the names of turns, records and texts, receipts are much alike. They are compressed with a dictionary of what
# they share, one for receipts by rows and one for receipts by columns. The first byte says which was used.

NAMES: Final = re.compile(r"([0-9a-f]{32}(?<!\w.{32})(?!\w))")
"""Matches ids made here and text hashes; splits a receipt into the names and what lies between them. The lookbehind is
checked last: the other way round takes twice as long."""
_LEVEL: Final = 6
"""The highest level takes twice the time and saves a fortieth."""


def press(text: str) -> bytes:
    words = 2 if '"columns":' in text else 1
    press = zlib.compressobj(_LEVEL, zlib.DEFLATED, -zlib.MAX_WBITS, 9, zlib.Z_DEFAULT_STRATEGY, _words(words))
    return bytes([words]) + press.compress(text.encode("utf-8", "surrogatepass")) + press.flush()


def unpress(pressed: bytes) -> str:
    """Undoes `press`; raises ValueError for anything else."""
    if pressed[:1] not in (b"\1", b"\2"):
        raise ValueError(f"a receipt of format {pressed[:1]!r}")
    try:
        plain = zlib.decompressobj(-zlib.MAX_WBITS, _words(pressed[0])).decompress(pressed[1:])
    except zlib.error as error:
        raise ValueError(f"a receipt cannot be unpacked: {error}") from error
    return plain.decode("utf-8", "surrogatepass")


@cache
def _words(number: int) -> bytes:
    """Part of the format: a receipt is read with the dictionary it was written with, so these files never change."""
    return (files("hitherto.store") / f"receipts-{number}.words").read_bytes()
