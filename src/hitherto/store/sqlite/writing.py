"""A change, applied inside the transaction that its caller has begun."""

from datetime import datetime

from hitherto.clock import micros
from hitherto.errors import InvalidInput
from hitherto.store.codec import encode_json, encode_parts
from hitherto.store.columns import stamp
from hitherto.store.protocol import Change, Cursor, Row, RowDraft, StoredTurn, TurnDraft, Written
from hitherto.store.sql import queries
from hitherto.store.sqlite import traces
from hitherto.store.sqlite.driver import Connection
from hitherto.store.sqlite.erasing import erase
from hitherto.store.sqlite.reading import head
from hitherto.store.sqlite.rows import names_text

_WRITING = queries("sqlite", "writing")


def apply(connection: Connection, change: Change) -> Written:
    """Writes a change and numbers its entries."""
    seq = before = head(connection)
    turns: list[int] = []
    for draft in change.turns:
        seq += 1
        _write_turn(connection, draft, seq)
        turns.append(seq)
    records: list[int] = []
    for draft in change.records:
        seq += 1
        _write_record(connection, draft, seq)
        records.append(seq)
    traces.tidy(connection, before=before, head=seq)
    for name in change.retire:
        seq += retire(connection, name, seq=seq + 1, at=_ended_at(change))
    if change.erase is not None:
        seq = erase(connection, change.erase, head=seq, at=_ended_at(change))
    _write_beside(connection, change)
    return Written(turns=tuple(turns), records=tuple(records), head=seq)


def _ended_at(change: Change) -> int:
    if change.retired_at is None:
        raise InvalidInput("a change that retires or erases needs retired_at, the clock's time")
    return micros(change.retired_at)


def _write_turn(connection: Connection, draft: TurnDraft, seq: int) -> None:
    place = seq if draft.place is None else draft.place
    connection.execute(_WRITING["end_turn"], {"seq": seq, "id": draft.id}).fetchall()
    insert_turn(connection, draft, seq=seq, place=place, retired=None, stems=draft.stems)
    if draft.vector is not None:
        traces.add_turn(connection, draft, seq=seq, place=place, vector=draft.vector)


def _write_record(connection: Connection, draft: RowDraft, seq: int) -> None:
    ended = {"seq": seq, "id": draft.id, "at": micros(draft.recorded_at)}
    connection.execute(_WRITING["end_record"], ended).fetchall()
    insert_record(connection, draft, seq=seq, retired=None, retired_at=None, stems=draft.stems)
    if draft.vector is not None:
        traces.add_record(connection, draft, seq=seq, vector=draft.vector)


def insert_turn(
    connection: Connection,
    turn: TurnDraft | StoredTurn,
    *,
    seq: int,
    place: int,
    retired: int | None,
    stems: tuple[str, ...],
) -> None:
    """A turn version and the words it is found by."""
    text = " ".join(stems)
    connection.execute(
        _WRITING["turn"],
        (
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
            text,
        ),
    )
    if text:
        connection.execute(_WRITING["turn_words"], (seq, text))


def insert_record(
    connection: Connection,
    row: RowDraft | Row,
    *,
    seq: int,
    retired: int | None,
    retired_at: datetime | None,
    stems: tuple[str, ...],
) -> None:
    """A record version, its links, and the words it is found by."""
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
    """Ends what is live under that id; the number of entries this took (none when nothing was)."""
    turns = connection.execute(_WRITING["end_turn"], {"seq": seq, "id": name}).fetchall()
    records = connection.execute(_WRITING["end_record"], {"seq": seq, "id": name, "at": at}).fetchall()
    if not turns and not records:
        return 0
    connection.execute(_WRITING["ending"], (seq, "retire", name, at))
    return 1


def _write_beside(connection: Connection, change: Change) -> None:
    """What a change writes beside the log."""
    traces.add_later(connection, change.vectors)
    connection.executemany(_WRITING["cursor"], map(_cursor_row, change.cursors))
    if change.lease is not None:
        lease = change.lease
        connection.execute(_WRITING["lease"], (lease.holder, lease.fence, micros(lease.expires)))
    connection.executemany(
        _WRITING["snapshot"],
        [(one.id, micros(one.at), one.known, int(one.full), one.body) for one in change.snapshots],
    )
    connection.executemany(_WRITING["blob"], list(change.blobs.items()))
    connection.executemany(_WRITING["note"], [(one.name, stamp(one.expires), one.body) for one in change.notes])


def _cursor_row(cursor: Cursor) -> tuple[str, int, int | None, int, str | None, int, str]:
    due, body = stamp(cursor.due), encode_json(cursor.body)
    return cursor.step, cursor.position, due, cursor.attempts, cursor.error, int(cursor.parked), body
