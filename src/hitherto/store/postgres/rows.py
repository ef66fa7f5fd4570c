"""Rows of PostgreSQL as the values of the protocol, and back."""

from collections.abc import Sequence
from functools import lru_cache
from typing import Any
from uuid import UUID

from hitherto.clock import from_micros, micros
from hitherto.store import codec
from hitherto.store.catalog import Document
from hitherto.store.codec import OFTEN, Columns, encode_json, encode_parts, stamp
from hitherto.store.postgres.words import escape, stems, unescape, words
from hitherto.store.protocol import Cursor, LogEntry, Note, Row, RowDraft, StoredSnapshot, TurnDraft
from hitherto.types import StoredTurn

Values = dict[str, Any]
Fetched = Sequence[Columns]

_KEPT = 2_048
"""Turns that are kept as values, found by all that their row says; a service has read so many within minutes."""


def turn(row: Columns) -> StoredTurn:
    """The columns of `statements.TURN_COLUMNS`."""
    return codec.turn(row, unescape(row[5]))


_turn = lru_cache(maxsize=_KEPT)(turn)


def known_turn(row: Columns) -> StoredTurn:
    """The same as `turn`, for rows that are likely to be read again."""
    return _turn(row) if len(row[5]) <= OFTEN else turn(row)


def record(row: Columns) -> Row:
    """The columns of `statements.RECORD_COLUMNS`."""
    return codec.record(row, unescape(row[2]), unescape(row[16]), row[8], row[9])


def turn_entry(row: Columns) -> LogEntry:
    return codec.turn_entry(turn(row), stems(row[22]))


def record_entry(row: Columns) -> LogEntry:
    return codec.record_entry(record(row), stems(row[22]))


def cursor(row: Columns) -> Cursor:
    return codec.cursor(row, None if row[4] is None else unescape(row[4]))


def snapshot(row: Columns) -> StoredSnapshot:
    return codec.snapshot(row, unescape(row[3]))


def note(row: Columns) -> Note:
    return codec.note(row, unescape(row[1]))


def document(row: Columns) -> Document:
    return Document(name=row[0], version=row[1], body=unescape(row[2]), recorded_at=from_micros(row[3]), about=row[4])


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
        **found_by(found, mark=mark),
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
        **found_by(found, mark=mark),
    }


def found_by(stems: Sequence[str], *, mark: str) -> Values:
    """The columns by which a version is found."""
    said = words(stems, mark=mark)
    return {"words": said, "length": len(said), "repeats": len(set(said)) < len(said)}


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
