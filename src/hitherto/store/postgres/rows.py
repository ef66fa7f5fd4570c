"""Rows of PostgreSQL as the values of the protocol, and back."""

import re
import zlib
from base64 import b64decode, b64encode, urlsafe_b64encode
from collections.abc import Sequence
from hashlib import blake2b
from typing import Any
from uuid import UUID

from hitherto.clock import from_micros, micros
from hitherto.store import rows
from hitherto.store.catalog import Document
from hitherto.store.codec import encode_json, encode_parts
from hitherto.store.protocol import Cursor, LogEntry, Note, Row, RowDraft, StoredSnapshot, TurnDraft
from hitherto.store.rows import NAMES, Columns, stamp
from hitherto.types import StoredTurn

Values = dict[str, Any]
Fetched = Sequence[Columns]


def turn(row: Columns) -> StoredTurn:
    """The columns of `statements.TURN_COLUMNS`."""
    return rows.turn(row, unescape(row[5]))


def record(row: Columns) -> Row:
    """The columns of `statements.RECORD_COLUMNS`."""
    return rows.record(row, unescape(row[2]), unescape(row[16]), row[8], row[9])


def turn_entry(row: Columns) -> LogEntry:
    return rows.turn_entry(turn(row), stems(row[22]))


def record_entry(row: Columns) -> LogEntry:
    return rows.record_entry(record(row), stems(row[22]))


def cursor(row: Columns) -> Cursor:
    return rows.cursor(row, None if row[4] is None else unescape(row[4]))


def snapshot(row: Columns) -> StoredSnapshot:
    return rows.snapshot(row, unpacked(row[3]))


def note(row: Columns) -> Note:
    return rows.note(row, unescape(row[1]))


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
        "body": packed(snapshot.body),
        "whole": snapshot.full,
    }


def note_values(user: UUID, note: Note) -> Values:
    return {"user": user, "name": note.name, "body": escape(note.body), "expires": stamp(note.expires)}


# --- how text and stems become values of PostgreSQL ----------------------------------------------------------------------
#
# PostgreSQL's text cannot hold the character NUL, Python's can: it is written as two characters that nobody uses, and read
# back. A stem becomes a *word*: the user's mark and the stem. The mark, 24 bits of the user's digest, makes the inverted
# index of a partition with many users behave like one index per user; a collision costs a comparison, because every
# statement filters by user as well.

_ESCAPE = "\U0010fffd"
_LONGEST_STEM = 400
_HASHED = "\x01"
_MOST_BYTES = 500_000
"""A text vector ends at 1 MB; stems beyond this much of a single document are not indexed."""

MARK_LENGTH = 4


def embedder_id(name: str) -> UUID:
    """An embedder's name is long and would stand in every trace; its hash is enough to tell it apart."""
    return UUID(bytes=blake2b(name.encode(), digest_size=16).digest())


def escape(text: str) -> str:
    """`text` without NUL."""
    if "\x00" in text or _ESCAPE in text:
        return text.replace(_ESCAPE, _ESCAPE + "1").replace("\x00", _ESCAPE + "0")
    return text


def unescape(text: str) -> str:
    if _ESCAPE in text:
        return text.replace(_ESCAPE + "0", "\x00").replace(_ESCAPE + "1", _ESCAPE)
    return text


# A receipt names two hundred turns and texts, and names hardly compress. So each is stored once, as bytes, after the rest;
# in its place stands a mark and how many names ago it occurred, or nothing for the next new one.

_PACKED, _PACKED_BY_ROWS = _ESCAPE + "3", _ESCAPE + "2"
"""How a packed receipt begins; once escaped, no other text does. The second kind does not say which dictionary it was
compressed with: the first one."""
_MARKS = re.compile("\x01([0-9a-f]*)")
_NAME_DIGITS = 32


def packed(body: str) -> str:
    """A receipt for its column; left as it is if packing would not make it shorter."""
    if "\x01" in body:
        return escape(body)
    parts, places = NAMES.split(body), dict[str, int]()
    for at in range(1, len(parts), 2):
        name = parts[at]
        parts[at] = f"\x01{len(places) - places[name]:x}" if name in places else "\x01"
        places.setdefault(name, len(places))
    pressed = rows.press("".join(parts))
    names = zlib.compress(bytes.fromhex("".join(places)))
    text = _PACKED + b64encode(len(pressed).to_bytes(4, "big") + pressed + names).decode()
    return text if len(text) < len(body) else escape(body)


def unpacked(text: str) -> str:
    if not text.startswith((_PACKED, _PACKED_BY_ROWS)):
        return unescape(text)
    data = b64decode(text[len(_PACKED) :])
    end = 4 + int.from_bytes(data[:4], "big")
    listed = zlib.decompress(data[end:]).hex()
    names = [listed[start : start + _NAME_DIGITS] for start in range(0, len(listed), _NAME_DIGITS)]
    said = 0

    def whole(found: re.Match[str]) -> str:
        nonlocal said
        if found[1]:
            return names[said - int(found[1], 16)]
        said += 1
        return names[said - 1]

    pressed = data[4:end] if text.startswith(_PACKED) else b"\1" + data[4:end]
    return _MARKS.sub(whole, rows.unpress(pressed))


def mark(digest: str) -> str:
    """Four characters for a user, from the hex digest of their key."""
    return urlsafe_b64encode(bytes.fromhex(digest[:6])).decode()


def word(stem: str, *, mark: str) -> str:
    """A stem as it is indexed. One too long for an index entry is represented by its hash, because only equality counts."""
    stem = escape(stem)
    encoded = stem.encode()
    if len(encoded) > _LONGEST_STEM:
        stem = _HASHED + blake2b(encoded, digest_size=16).hexdigest()
    return mark + stem


def words(stems: Sequence[str], *, mark: str) -> list[str]:
    """A document's stems in order, as far as an index entry of PostgreSQL reaches."""
    found = [word(stem, mark=mark) for stem in stems]
    if sum(map(len, found)) * 4 <= _MOST_BYTES:
        return found
    seen: set[str] = set()
    size = 0
    for position, each in enumerate(found):
        if each not in seen:
            seen.add(each)
            size += len(each.encode())
            if size > _MOST_BYTES:
                return found[:position]
    return found


def stems(found: Sequence[str]) -> tuple[str, ...]:
    """The stems of a document's words."""
    return tuple(unescape(each[MARK_LENGTH:]) for each in found)


def asking(word: str) -> str:
    """A word as the text of a full-text query."""
    quoted = word.replace("\\", "\\\\").replace("'", "''")
    return f"'{quoted}'"
