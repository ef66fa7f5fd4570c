"""Rows of PostgreSQL as the values of the protocol, and back."""

from collections.abc import Sequence
from datetime import datetime
from functools import lru_cache
from typing import Any
from uuid import UUID

from recollect.clock import from_micros, micros
from recollect.store.base import Cursor, LogEntry, Note, Row, RowDraft, StoredSnapshot, TurnDraft
from recollect.store.codec import KEPT, OFTEN, decode_json, decode_parts, encode_json, encode_parts
from recollect.store.postgres.words import escape, stems, unescape, words
from recollect.types import StoredTurn

Values = dict[str, Any]
Fetched = Sequence[tuple[Any, ...]]


def stamp(value: datetime | None) -> int | None:
    return None if value is None else micros(value)


def moment(value: int | None) -> datetime | None:
    return None if value is None else from_micros(value)


def turn(row: tuple[Any, ...]) -> StoredTurn:
    """The columns of `statements.TURN_COLUMNS`."""
    return StoredTurn(
        seq=row[0],
        place=row[1],
        id=row[2],
        version=row[3],
        role=row[4],
        text=unescape(row[5]),
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


_turn = lru_cache(maxsize=KEPT)(turn)


def known_turn(row: tuple[Any, ...]) -> StoredTurn:
    """The same as `turn`, for rows that are likely to be read again."""
    return _turn(row) if len(row[5]) <= OFTEN else turn(row)


def record(row: tuple[Any, ...]) -> Row:
    """The columns of `statements.RECORD_COLUMNS`."""
    return Row(
        noun=row[0],
        id=row[1],
        text=unescape(row[2]),
        persona=row[3],
        lane=row[4],
        key=row[5],
        status=row[6],
        origin=row[7],
        sources=tuple(row[8]),
        entities=tuple(row[9]),
        at=from_micros(row[10]),
        due=moment(row[11]),
        valid_from=moment(row[12]),
        valid_to=moment(row[13]),
        tokens=row[14],
        family=row[15],
        body=unescape(row[16]),
        seq=row[17],
        version=row[18],
        recorded_at=from_micros(row[19]),
        retired=row[20],
        retired_at=moment(row[21]),
    )


def turn_entry(row: tuple[Any, ...]) -> LogEntry:
    found = turn(row)
    return LogEntry(seq=found.seq, op="turn", id=found.id, at=found.recorded_at, turn=found, stems=stems(row[22]))


def record_entry(row: tuple[Any, ...]) -> LogEntry:
    found = record(row)
    return LogEntry(seq=found.seq, op="record", id=found.id, at=found.recorded_at, row=found, stems=stems(row[22]))


def ending_entry(row: tuple[Any, ...]) -> LogEntry:
    return LogEntry(seq=row[0], op=row[1], id=row[2], at=from_micros(row[3]))


def cursor(row: tuple[Any, ...]) -> Cursor:
    step, position, due, attempts, error, parked, body = row
    return Cursor(
        step=step,
        position=position,
        due=moment(due),
        attempts=attempts,
        error=None if error is None else unescape(error),
        parked=parked,
        body=decode_json(body),
    )


def snapshot(row: tuple[Any, ...]) -> StoredSnapshot:
    return StoredSnapshot(id=row[0], at=from_micros(row[1]), known=row[2], body=unescape(row[3]), full=row[4])


def note(row: tuple[Any, ...]) -> Note:
    return Note(name=row[0], body=unescape(row[1]), expires=moment(row[2]))


def turn_values(user: UUID, seq: int, draft: TurnDraft | StoredTurn, found: Sequence[str], mark: str) -> Values:
    """The parameters of `insert_turn` for a draft, or for a version restored from elsewhere."""
    return {
        "user": user,
        "seq": seq,
        "place": seq if draft.place is None else draft.place,
        "id": draft.id,
        "version": draft.version,
        "role": draft.role,
        "text": escape(draft.text),
        "at": micros(draft.at),
        "recorded_at": micros(draft.recorded_at),
        "retired": draft.retired if isinstance(draft, StoredTurn) else None,
        "persona": draft.persona,
        "lane": draft.lane,
        "conversation": draft.conversation,
        "speaker": draft.speaker,
        "reply_to": draft.reply_to,
        "origin": draft.origin,
        "parts": encode_parts(draft.parts),
        "snapshot": draft.snapshot,
        "session": draft.session,
        "position": draft.position,
        "number": draft.number,
        "tokens": draft.tokens,
        "family": draft.family,
        **_found_by(words(found, mark=mark)),
    }


def record_values(user: UUID, seq: int, draft: RowDraft | Row, found: Sequence[str], mark: str) -> Values:
    """The parameters of `insert_record` for a draft, or for a version restored from elsewhere."""
    return {
        "user": user,
        "seq": seq,
        "noun": draft.noun,
        "id": draft.id,
        "version": draft.version,
        "text": escape(draft.text),
        "persona": draft.persona,
        "lane": draft.lane,
        "key": draft.key,
        "status": draft.status,
        "origin": draft.origin,
        "sources": list(draft.sources),
        "entities": list(draft.entities),
        "at": micros(draft.at),
        "due": stamp(draft.due),
        "valid_from": stamp(draft.valid_from),
        "valid_to": stamp(draft.valid_to),
        "tokens": draft.tokens,
        "family": draft.family,
        "body": escape(draft.body),
        "recorded_at": micros(draft.recorded_at),
        "retired": draft.retired if isinstance(draft, Row) else None,
        "retired_at": stamp(draft.retired_at) if isinstance(draft, Row) else None,
        **_found_by(words(found, mark=mark)),
    }


def _found_by(words: list[str]) -> Values:
    return {"words": words, "length": len(words), "repeats": len(set(words)) < len(words)}


def cursor_values(user: UUID, cursor: Cursor) -> Values:
    return {
        "user": user,
        "step": cursor.step,
        "position": cursor.position,
        "due": stamp(cursor.due),
        "attempts": cursor.attempts,
        "error": None if cursor.error is None else escape(cursor.error),
        "parked": cursor.parked,
        "body": encode_json(cursor.body),
    }


def snapshot_values(user: UUID, snapshot: StoredSnapshot) -> Values:
    return {
        "user": user,
        "id": snapshot.id,
        "at": micros(snapshot.at),
        "known": snapshot.known,
        "body": escape(snapshot.body),
        "whole": snapshot.full,
    }


def note_values(user: UUID, note: Note) -> Values:
    return {"user": user, "name": note.name, "body": escape(note.body), "expires": stamp(note.expires)}
