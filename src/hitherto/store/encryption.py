"""Encryption by columns: a store whose texts are sealed with a key of the user's own before they reach the database.

It wraps any store and needs no support from it. Sealed are the words of turns and their parts, the words and bodies of
records, snapshots with their texts, notes, and noted errors. The stems that full text needs become keyed hashes, so that
the database can compare and count them but not read them. What it has to order, filter and join by stays readable: ids,
times, roles, names of personas, lanes, conversations and speakers, memory keys and entity references, numbers, and vectors
(from which much of a short text can be guessed). The embedded store needs none of this: it encrypts a user's file as a
whole.
"""

import json
from base64 import b64decode, b64encode
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import blake2b
from secrets import token_bytes
from typing import Any, Final, cast

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from hitherto.errors import KeyDestroyed, StoreCorrupt
from hitherto.ids import SEAL
from hitherto.store import codec
from hitherto.store import records as nouns
from hitherto.store.catalog import KEY_BYTES, Catalog, Keys, UserKey
from hitherto.store.protocol import (
    Answers,
    Blobs,
    Change,
    Cursor,
    Decide,
    Health,
    LogEntry,
    Matches,
    Note,
    Query,
    Row,
    RowDraft,
    Scrubbed,
    Store,
    StoredSnapshot,
    TurnDraft,
    UserStore,
    Written,
)
from hitherto.text.analyser import stems
from hitherto.types import StoredTurn, Thinking

_MARK: Final = "sealed1:"
_NONCE_BYTES: Final = 12
_WORD_BYTES: Final = 12
Progress = Callable[[int, int], None]


@dataclass(frozen=True, slots=True)
class Seal:
    """One user's key in use: seals and opens texts, makes stems unreadable."""

    digest: str
    texts: AESGCM
    words: bytes

    @classmethod
    def of(cls, digest: str, key: bytes) -> "Seal":
        """Derives a key per purpose, so that one says nothing about another."""
        text_key, word_key = (
            blake2b(name, key=key, digest_size=KEY_BYTES, person=SEAL).digest() for name in (b"texts", b"words")
        )
        return cls(digest, AESGCM(text_key), word_key)

    def shut(self, text: str, what: str) -> str:
        """Seals a text for this user and this kind of column; None stays None."""
        if not text:
            return text
        nonce = token_bytes(_NONCE_BYTES)
        return _MARK + b64encode(nonce + self.texts.encrypt(nonce, _bytes(text), self._bound(what))).decode()

    def open(self, text: str, what: str) -> str:
        if not text.startswith(_MARK):
            return text
        sealed = b64decode(text[len(_MARK) :])
        try:
            opened = self.texts.decrypt(sealed[:_NONCE_BYTES], sealed[_NONCE_BYTES:], self._bound(what))
        except InvalidTag as error:
            raise StoreCorrupt("a sealed text was changed, or belongs to another user or key") from error
        return opened.decode("utf-8", "surrogatepass")

    def word(self, stem: str) -> str:
        """Equal for equal stems of this user, and of nobody else."""
        hashed = blake2b(_bytes(stem), key=self.words, digest_size=_WORD_BYTES)
        return b64encode(hashed.digest(), altchars=b"-_").decode()

    def _bound(self, what: str) -> bytes:
        return f"{self.digest}\0{what}".encode()


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


# --- values, sealed and opened -----------------------------------------------------------------------------------------


def _shut_turn(turn: TurnDraft | StoredTurn, seal: Seal) -> dict[str, Any]:
    parts = codec.encode_parts(turn.parts)
    shut = () if parts is None else (Thinking(text=seal.shut(parts, "parts")),)
    return {"text": seal.shut(turn.text, "turn"), "parts": shut}


def _open_turn(turn: StoredTurn, seal: Seal) -> StoredTurn:
    parts = turn.parts
    if len(parts) == 1 and isinstance(parts[0], Thinking) and parts[0].text.startswith(_MARK):
        parts = codec.decode_parts(seal.open(parts[0].text, "parts"))
    return replace(turn, text=seal.open(turn.text, "turn"), parts=parts)


def _shut_row(row: RowDraft | Row, seal: Seal) -> dict[str, Any]:
    return {"text": seal.shut(row.text, "record"), "body": json.dumps(seal.shut(row.body, "body"))}


def _open_row(row: Row, seal: Seal) -> Row:
    body = cast(object, json.loads(row.body))
    opened = seal.open(body, "body") if isinstance(body, str) else row.body
    return replace(row, text=seal.open(row.text, "record"), body=opened)


def _shut_snapshot(snapshot: StoredSnapshot, seal: Seal) -> StoredSnapshot:
    return replace(snapshot, body=seal.shut(snapshot.body, "snapshot"))


def _shut_cursor(cursor: Cursor, seal: Seal) -> Cursor:
    return replace(cursor, error=None if cursor.error is None else seal.shut(cursor.error, "error"))


def shut(change: Change, seal: Seal) -> Change:
    """A change in the form that the database may see."""
    return replace(
        change,
        turns=tuple(replace(t, **_shut_turn(t, seal), stems=tuple(map(seal.word, t.stems))) for t in change.turns),
        records=tuple(replace(r, **_shut_row(r, seal), stems=tuple(map(seal.word, r.stems))) for r in change.records),
        stems=tuple((seq, tuple(map(seal.word, found))) for seq, found in change.stems),
        cursors=tuple(_shut_cursor(cursor, seal) for cursor in change.cursors),
        snapshots=tuple(_shut_snapshot(snapshot, seal) for snapshot in change.snapshots),
        blobs={name: seal.shut(text, "blob") for name, text in change.blobs.items()},
        notes=tuple(replace(note, body=seal.shut(note.body, "note")) for note in change.notes),
    )


def _shut_entry(entry: LogEntry, seal: Seal) -> LogEntry:
    return replace(
        entry,
        turn=None if entry.turn is None else replace(entry.turn, **_shut_turn(entry.turn, seal)),
        row=None if entry.row is None else replace(entry.row, **_shut_row(entry.row, seal)),
        stems=tuple(map(seal.word, entry.stems)),
    )


def _open_entry(entry: LogEntry, seal: Seal) -> LogEntry:
    """Makes the stems anew from the text, because stored ones cannot be read back."""
    turn = None if entry.turn is None else _open_turn(entry.turn, seal)
    row = None if entry.row is None else _open_row(entry.row, seal)
    searched = ""
    if turn is not None:
        captions = [part.caption for part in turn.parts if part.kind == "media" and part.caption]
        searched = "\n".join([turn.text, *captions])
    elif row is not None and row.noun in nouns.SEARCHABLE:
        searched = row.text
    found = tuple(stems(searched)) if entry.stems else ()
    return replace(entry, turn=turn, row=row, stems=found)


_OPENERS: Mapping[type, Callable[[Any, Seal], Any]] = {
    StoredTurn: _open_turn,
    Row: _open_row,
    LogEntry: _open_entry,
    StoredSnapshot: lambda snapshot, seal: replace(snapshot, body=seal.open(snapshot.body, "snapshot")),
    Note: lambda note, seal: replace(note, body=seal.open(note.body, "note")),
    Cursor: lambda cursor, seal: replace(cursor, error=cursor.error and seal.open(cursor.error, "error")),
}


def opened(query: Query[Any], answer: Any, seal: Seal) -> Any:
    """The database's answer in the form that the caller should see."""
    if isinstance(query, Blobs):
        return {name: seal.open(text, "blob") for name, text in answer.items()}
    if not isinstance(answer, tuple):
        return answer
    values = cast("tuple[Any, ...]", answer)
    return tuple(_OPENERS[type(value)](value, seal) if type(value) in _OPENERS else value for value in values)


def _asked(query: Query[Any], seal: Seal) -> Query[Any]:
    return replace(query, stems=tuple(map(seal.word, query.stems))) if isinstance(query, Matches) else query


# --- the stores ----------------------------------------------------------------------------------------------------------


class SealedUser:
    """One user's memory, sealed with their key."""

    def __init__(self, inner: UserStore, key: UserKey, keys: Keys) -> None:
        self._inner = inner
        self._digest = key.digest
        self._keys = keys

    def _seal(self, *, create: bool = False) -> Seal:
        try:
            return Seal.of(self._digest, self._keys(self._digest, create=create))
        except KeyDestroyed:
            # A user without a key has nothing to read; a temporary key asks for words that nobody wrote.
            return Seal.of(self._digest, token_bytes(KEY_BYTES))

    async def read(self, *queries: Query[Any]) -> Answers:
        seal = self._seal()
        asked = {query: _asked(query, seal) for query in queries}
        return _answers(asked, await self._inner.read(*asked.values()), seal)

    async def write(self, decide: Decide, *queries: Query[Any]) -> Written:
        seal = self._seal(create=True)
        asked = {query: _asked(query, seal) for query in queries}
        return await self._inner.write(
            lambda answers: shut(decide(_answers(asked, answers, seal)), seal), *asked.values()
        )

    async def restore(self, entries: Sequence[LogEntry]) -> None:
        seal = self._seal(create=True)
        await self._inner.restore([_shut_entry(entry, seal) for entry in entries])

    async def wipe(self) -> None:
        await self._inner.wipe()


def _answers(asked: Mapping[Query[Any], Query[Any]], answers: Answers, seal: Seal) -> Answers:
    return Answers({query: opened(query, answers[inner], seal) for query, inner in asked.items()})


class SealedStore:
    """A store that seals only users' own data; the catalog holds no content."""

    def __init__(self, inner: Store, keys: Keys) -> None:
        self._inner = inner
        self._keys = keys

    @property
    def catalog(self) -> Catalog:
        return self._inner.catalog

    async def open(self) -> None:
        await self._inner.open()

    async def close(self) -> None:
        await self._inner.close()

    def user(self, key: UserKey) -> SealedUser:
        return SealedUser(self._inner.user(key), key, self._keys)

    async def health(self) -> Health:
        return await self._inner.health()

    async def backup(self, target: str, *, progress: Progress | None = None) -> int:
        return await self._inner.backup(target, progress=progress)

    async def scrub(self, *, progress: Progress | None = None) -> Scrubbed:
        return await self._inner.scrub(progress=progress)
