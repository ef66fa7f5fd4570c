"""Erasing: rows, words, vectors and links go; the log keeps that something went, by the hash of its id."""

from hitherto.store.codec import erased_name
from hitherto.store.protocol import Erasure
from hitherto.store.sql import queries
from hitherto.store.sqlite import traces
from hitherto.store.sqlite.driver import Connection
from hitherto.store.sqlite.rows import names

_ERASING = queries("sqlite", "erasing")
_WRITING = queries("sqlite", "writing")


def erase(connection: Connection, erasure: Erasure, *, head: int, at: int) -> int:
    """Removes all this for good; the log's head after it."""
    gone: list[int] = []
    for names_, remove in ((erasure.turns, _erase_turn), (erasure.records, _erase_record)):
        for name in names_:
            if seqs := remove(connection, name, before=head + 1):
                gone += seqs
                head += 1
                connection.execute(_WRITING["ending"], (head, "erase", erased_name(name), at))
    traces.erase(connection, gone)
    for query, names_ in (("snapshot", erasure.snapshots), ("blob", erasure.blobs), ("note", erasure.notes)):
        connection.executemany(_ERASING[query], [(name,) for name in names_])
    return head


def _erase_turn(connection: Connection, name: str, *, before: int) -> list[int]:
    """Removes every version of a turn that was written before an entry, but for their vectors; which these were."""
    versions = connection.execute(_ERASING["turn_versions"], {"id": name, "before": before}).fetchall()
    for seq, stems in versions:
        if stems:
            connection.execute(_ERASING["turn_words"], (seq, stems))
        connection.execute(_ERASING["turn"], (seq,))
    if versions:
        connection.execute(_ERASING["retirements"], {"id": name, "before": before})
    return [seq for seq, _ in versions]


def _erase_record(connection: Connection, name: str, *, before: int) -> list[int]:
    """Removes every version of a record that was written before an entry, but for their vectors; which these were."""
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
    """Removes what an erasure elsewhere removed there: whatever id has that hash."""
    for query, remove in (("turn_ids", _erase_turn), ("record_ids", _erase_record)):
        for (candidate,) in connection.execute(_ERASING[query], {"before": before}).fetchall():
            if erased_name(candidate) == name:
                traces.erase(connection, remove(connection, candidate, before=before))
