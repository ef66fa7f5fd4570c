"""Log entries written as they are, with their own numbers: how a copy or an import comes in."""

from collections.abc import Sequence

from hitherto.clock import micros
from hitherto.store.protocol import LogEntry
from hitherto.store.sql import queries
from hitherto.store.sqlite.driver import Connection
from hitherto.store.sqlite.erasing import erase_by_hash
from hitherto.store.sqlite.writing import insert_record, insert_turn

_WRITING = queries("sqlite", "writing")


def restore(connection: Connection, entries: Sequence[LogEntry]) -> None:
    """Adds the entries that are not there yet, and ends what they ended."""
    for entry in entries:
        if not connection.execute(_WRITING["is_written"], {"seq": entry.seq}).get:
            _restore(connection, entry)


def _restore(connection: Connection, entry: LogEntry) -> None:
    ended = {"seq": entry.seq, "id": entry.id, "at": micros(entry.at)}
    turn, row = entry.turn, entry.row
    if entry.op in ("turn", "retire"):
        connection.execute(_WRITING["end_turn_before"], ended)
    if entry.op in ("record", "retire"):
        connection.execute(_WRITING["end_record_before"], ended)
    if turn is not None:
        insert_turn(connection, turn, seq=turn.seq, place=turn.place, retired=turn.retired, stems=entry.stems)
    elif row is not None:
        ended_at = row.retired_at
        insert_record(connection, row, seq=row.seq, retired=row.retired, retired_at=ended_at, stems=entry.stems)
    else:
        if entry.op == "erase":
            erase_by_hash(connection, entry.id, before=entry.seq)
        connection.execute(_WRITING["ending"], (entry.seq, entry.op, entry.id, ended["at"]))
