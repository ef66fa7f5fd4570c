"""Applies a change inside the transaction that its caller began."""

from collections.abc import Iterable, Sequence
from datetime import datetime

from hitherto.clock import micros
from hitherto.errors import InvalidInput
from hitherto.ids import erased_name
from hitherto.store.codec import encode_json, encode_parts
from hitherto.store.protocol import Change, Cursor, Erasure, LogEntry, Row, RowDraft, StoredTurn, TurnDraft, Written
from hitherto.store.rows import stamp
from hitherto.store.sql import queries
from hitherto.store.sqlite import receipts, tracepages
from hitherto.store.sqlite.connections import Connection, Value
from hitherto.store.sqlite.migrations import grow
from hitherto.store.sqlite.queries import head
from hitherto.store.sqlite.rows import names, names_text

_WRITING = queries("sqlite", "writing")
_ERASING = queries("sqlite", "erasing")


def apply(connection: Connection, change: Change) -> Written:
    """Writes a change and numbers its entries."""
    before = head(connection)
    seq = before + len(change.turns) + len(change.records)
    turns, records = range(before + 1, before + 1 + len(change.turns)), range(before + 1 + len(change.turns), seq + 1)
    if turns:
        _write_turns(connection, change.turns, turns)
    if records:
        _write_records(connection, change.records, records)
    tracepages.tidy(connection, before=before, head=seq)
    grow(connection, before=before, head=seq)
    for name in change.retire:
        seq += retire(connection, name, seq=seq + 1, at=_ended_at(change))
    if change.erase is not None:
        seq = erase(connection, change.erase, head=seq, at=_ended_at(change))
    _write_side_tables(connection, change)
    return Written(turns=tuple(turns), records=tuple(records), head=seq)


def _ended_at(change: Change) -> int:
    if change.retired_at is None:
        raise InvalidInput("a change that retires or erases needs retired_at, the clock's time")
    return micros(change.retired_at)


def _write_turns(connection: Connection, drafts: Sequence[TurnDraft], seqs: range) -> None:
    """Writes versions of turns, the words they are found by, and their vectors. A version of an existing id ends the one
    before."""
    numbered = list(zip(seqs, drafts, strict=True))
    places = [seq if draft.place is None else draft.place for seq, draft in numbered]
    turns = [(seq, place, draft, None, draft.stems) for (seq, draft), place in zip(numbered, places, strict=True)]
    insert_turns(connection, turns)
    for seq, draft in numbered:
        if draft.version > 1:
            connection.execute(_WRITING["end_turn_before"], {"seq": seq, "id": draft.id})
    tracepages.add(connection, numbered)


def _write_records(connection: Connection, drafts: Sequence[RowDraft], seqs: range) -> None:
    """The same for records, with their links."""
    for seq, draft in zip(seqs, drafts, strict=True):
        insert_record(connection, draft, seq=seq, retired=None, retired_at=None, stems=draft.stems)
        if draft.version > 1:
            ended = {"seq": seq, "id": draft.id, "at": micros(draft.recorded_at)}
            connection.execute(_WRITING["end_record_before"], ended)
    tracepages.add(connection, zip(seqs, drafts, strict=True))


def insert_turns(
    connection: Connection, turns: Iterable[tuple[int, int, TurnDraft | StoredTurn, int | None, Sequence[str]]]
) -> None:
    """Writes turn versions, each with its entry, place, end and stems, and the words they are found by."""
    rows = [_turn_row(*turn) for turn in turns]
    connection.executemany(_WRITING["turn"], rows)
    if words := [(row[0], row[-1]) for row in rows if row[-1]]:
        connection.executemany(_WRITING["turn_words"], words)


def _turn_row(
    seq: int, place: int, turn: TurnDraft | StoredTurn, retired: int | None, stems: Sequence[str]
) -> tuple[Value, ...]:
    return (
        seq,
        place,
        retired,
        turn.persona,
        turn.lane,
        turn.session,
        micros(turn.at),
        turn.id,
        turn.version,
        turn.role,
        micros(turn.recorded_at),
        turn.conversation,
        turn.speaker,
        turn.reply_to,
        turn.origin,
        turn.snapshot,
        turn.position,
        turn.number,
        turn.tokens,
        turn.family,
        encode_parts(turn.parts),
        turn.text,
        " ".join(stems),
    )


def insert_record(
    connection: Connection,
    row: RowDraft | Row,
    *,
    seq: int,
    retired: int | None,
    retired_at: datetime | None,
    stems: tuple[str, ...],
) -> None:
    """Writes a record version, its links, and the words it is found by."""
    text = " ".join(stems)
    connection.execute(
        _WRITING["record"],
        (
            seq,
            row.noun,
            retired,
            row.persona,
            row.lane,
            row.status,
            row.key,
            micros(row.at),
            row.id,
            row.version,
            row.origin,
            stamp(row.due),
            stamp(row.valid_from),
            stamp(row.valid_to),
            micros(row.recorded_at),
            stamp(retired_at),
            row.tokens,
            row.family,
            names_text(row.sources),
            names_text(row.entities),
            row.text,
            row.body,
            text,
        ),
    )
    if row.sources:
        connection.executemany(_WRITING["source"], [(turn, seq) for turn in row.sources])
    if row.entities:
        connection.executemany(_WRITING["entity"], [(ref, seq) for ref in row.entities])
    if text:
        connection.execute(_WRITING["record_words"], (seq, text))


def retire(connection: Connection, name: str, *, seq: int, at: int) -> int:
    """Ends the live version of that id; returns the number of entries this took (0 if nothing was live)."""
    turns = connection.execute(_WRITING["end_turn"], {"seq": seq, "id": name}).fetchall()
    records = connection.execute(_WRITING["end_record"], {"seq": seq, "id": name, "at": at}).fetchall()
    if not turns and not records:
        return 0
    connection.execute(_WRITING["ending"], (seq, "retire", name, at))
    return 1


def _write_side_tables(connection: Connection, change: Change) -> None:
    """Writes what a change puts beside the log."""
    if change.vectors:
        tracepages.add_later(connection, change.vectors)
    for seq, stems in change.stems:
        _restem(connection, seq, " ".join(stems))
    if change.cursors:
        connection.executemany(_WRITING["cursor"], map(_cursor_row, change.cursors))
    if change.lease is not None:
        lease = change.lease
        connection.execute(_WRITING["lease"], (lease.holder, lease.fence, micros(lease.expires)))
    if change.snapshots or change.blobs:
        receipts.put(connection, change.snapshots, change.blobs)
    if change.notes:
        connection.executemany(_WRITING["note"], [(one.name, stamp(one.expires), one.body) for one in change.notes])


def _restem(connection: Connection, seq: int, text: str) -> None:
    """Gives an entry other stems; the index needs to know the previous ones."""
    for (before,) in connection.execute(_WRITING["turn_stems"], {"seq": seq, "stems": text}).fetchall():
        if before:
            connection.execute(_ERASING["turn_words"], (seq, before))
        if text:
            connection.execute(_WRITING["turn_words"], (seq, text))
        connection.execute(_WRITING["restem_turn"], {"seq": seq, "stems": text})
    for (before,) in connection.execute(_WRITING["record_stems"], {"seq": seq, "stems": text}).fetchall():
        if before:
            connection.execute(_ERASING["record_words"], (seq, before))
        if text:
            connection.execute(_WRITING["record_words"], (seq, text))
        connection.execute(_WRITING["restem_record"], {"seq": seq, "stems": text})


def _cursor_row(cursor: Cursor) -> tuple[str, int, int | None, int, str | None, int, str]:
    due, body = stamp(cursor.due), encode_json(cursor.body)
    return cursor.step, cursor.position, due, cursor.attempts, cursor.error, int(cursor.parked), body


# Erasing removes rows, words, vectors and links; the log keeps the fact that something was removed, by the hash of its id.


def erase(connection: Connection, erasure: Erasure, *, head: int, at: int) -> int:
    """Removes all this for good; returns the log's new head."""
    gone: list[int] = []
    for names_, remove in ((erasure.turns, _erase_turn), (erasure.records, _erase_record)):
        for name in names_:
            if seqs := remove(connection, name, before=head + 1):
                gone += seqs
                head += 1
                connection.execute(_WRITING["ending"], (head, "erase", erased_name(name), at))
    tracepages.erase(connection, gone)
    for query, names_ in (("snapshot", erasure.snapshots), ("blob", erasure.blobs), ("note", erasure.notes)):
        connection.executemany(_ERASING[query], [(name,) for name in names_])
    return head


def _erase_turn(connection: Connection, name: str, *, before: int) -> list[int]:
    """Removes every version of a turn written before an entry, except their vectors; returns the entries removed."""
    versions = connection.execute(_ERASING["turn_versions"], {"id": name, "before": before}).fetchall()
    for seq, stems in versions:
        if stems:
            connection.execute(_ERASING["turn_words"], (seq, stems))
        connection.execute(_ERASING["turn"], (seq,))
    if versions:
        connection.execute(_ERASING["retirements"], {"id": name, "before": before})
    return [seq for seq, _ in versions]


def _erase_record(connection: Connection, name: str, *, before: int) -> list[int]:
    """Removes every version of a record written before an entry, except their vectors; returns the entries removed."""
    versions = connection.execute(_ERASING["record_versions"], {"id": name, "before": before}).fetchall()
    for seq, stems, sources, entities in versions:
        connection.executemany(_ERASING["source"], [(turn, seq) for turn in names(sources)])
        connection.executemany(_ERASING["entity"], [(ref, seq) for ref in names(entities)])
        if stems:
            connection.execute(_ERASING["record_words"], (seq, stems))
        connection.execute(_ERASING["record"], (seq,))
    if versions:
        connection.execute(_ERASING["retirements"], {"id": name, "before": before})
    return [seq for seq, *_ in versions]


def erase_by_hash(connection: Connection, name: str, *, before: int) -> None:
    """Repeats an erasure made elsewhere: removes whatever id has that hash."""
    for query, remove in (("turn_ids", _erase_turn), ("record_ids", _erase_record)):
        for (candidate,) in connection.execute(_ERASING[query], {"before": before}).fetchall():
            if erased_name(candidate) == name:
                tracepages.erase(connection, remove(connection, candidate, before=before))


# Log entries written as they are, with their own numbers: how a copy or an import comes in.


def restore(connection: Connection, entries: Sequence[LogEntry]) -> None:
    """Adds the entries that are missing, and ends what they ended."""
    before = head(connection)
    for entry in entries:
        if not connection.execute(_WRITING["is_written"], {"seq": entry.seq}).get:
            _restore(connection, entry)
    grow(connection, before=before, head=head(connection))


def _restore(connection: Connection, entry: LogEntry) -> None:
    ended = {"seq": entry.seq, "id": entry.id, "at": micros(entry.at)}
    turn, row = entry.turn, entry.row
    if entry.op in ("turn", "retire"):
        connection.execute(_WRITING["end_turn_before"], ended)
    if entry.op in ("record", "retire"):
        connection.execute(_WRITING["end_record_before"], ended)
    if turn is not None:
        insert_turns(connection, [(turn.seq, turn.place, turn, turn.retired, entry.stems)])
    elif row is not None:
        ended_at = row.retired_at
        insert_record(connection, row, seq=row.seq, retired=row.retired, retired_at=ended_at, stems=entry.stems)
    else:
        if entry.op == "erase":
            erase_by_hash(connection, entry.id, before=entry.seq)
        connection.execute(_WRITING["ending"], (entry.seq, entry.op, entry.id, ended["at"]))
