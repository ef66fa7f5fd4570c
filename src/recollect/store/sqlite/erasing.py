"""Erasing: rows, words, vectors and links go; the log keeps that something went, by the hash of its id."""

from collections.abc import Iterable

from recollect.store.base import Erasure
from recollect.store.codec import erased_name
from recollect.store.sqlite.driver import Connection
from recollect.store.sqlite.rows import names
from recollect.store.sqlite.sql import queries
from recollect.store.sqlite.traces import WIDTH

_ERASING = queries("erasing")
_WRITING = queries("writing")


def erase(connection: Connection, erasure: Erasure, *, head: int, at: int) -> int:
    """Removes all this for good; the log's head after it."""
    for names_, remove in ((erasure.turns, erase_turn), (erasure.records, erase_record)):
        for name in names_:
            if remove(connection, name, before=head + 1):
                head += 1
                connection.execute(_WRITING["ending"], (head, "erase", erased_name(name), at))
    for query, names_ in (("snapshot", erasure.snapshots), ("blob", erasure.blobs), ("note", erasure.notes)):
        connection.executemany(_ERASING[query], [(name,) for name in names_])
    return head


def erase_turn(connection: Connection, name: str, *, before: int) -> bool:
    """Removes every version of a turn that was written before an entry; False when there was none."""
    versions = connection.execute(_ERASING["turn_versions"], {"id": name, "before": before}).fetchall()
    for seq, stems in versions:
        if stems:
            connection.execute(_ERASING["turn_words"], (seq, stems))
        connection.execute(_ERASING["turn"], (seq,))
    _erase_traces(connection, (seq for seq, _ in versions))
    if versions:
        connection.execute(_ERASING["retirements"], {"id": name, "before": before})
    return bool(versions)


def erase_record(connection: Connection, name: str, *, before: int) -> bool:
    """Removes every version of a record that was written before an entry; False when there was none."""
    versions = connection.execute(_ERASING["record_versions"], {"id": name, "before": before}).fetchall()
    for seq, stems, sources, entities in versions:
        connection.executemany(_ERASING["source"], [(turn, seq) for turn in names(sources)])
        connection.executemany(_ERASING["entity"], [(ref, seq) for ref in names(entities)])
        if stems:
            connection.execute(_ERASING["record_words"], (seq, stems))
        connection.execute(_ERASING["record"], (seq,))
    _erase_traces(connection, (seq for seq, *_ in versions))
    if versions:
        connection.execute(_ERASING["retirements"], {"id": name, "before": before})
    return bool(versions)


def erase_by_hash(connection: Connection, name: str, *, before: int) -> None:
    """Removes what an erasure elsewhere removed there: whatever id has that hash."""
    for query, remove in (("turn_ids", erase_turn), ("record_ids", erase_record)):
        for (candidate,) in connection.execute(_ERASING[query], {"before": before}).fetchall():
            if erased_name(candidate) == name:
                remove(connection, candidate, before=before)


def _erase_traces(connection: Connection, seqs: Iterable[int]) -> None:
    for seq in seqs:
        connection.execute(_ERASING["trace"], {"width": WIDTH, "seq": seq})
