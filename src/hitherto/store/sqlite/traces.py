"""Vectors and what stands beside them."""

from collections.abc import Collection, Sequence
from itertools import islice

from hitherto.clock import micros
from hitherto.store.protocol import RowDraft, Traces, TurnDraft, Untraced, Vector
from hitherto.store.sql import queries
from hitherto.store.sqlite.driver import Connection
from hitherto.store.sqlite.tracepages import Shelf, close_pages, is_time, open_pages, paged, traced
from hitherto.store.traces import Traced

_TRACES = queries("sqlite", "traces")
_NOBODY = -1


def traces(connection: Connection, query: Traces) -> Traced:
    return traced(connection, _shelf(connection, query.embedder), after=query.after, limit=query.limit)


def untraced(connection: Connection, query: Untraced) -> tuple[int, ...]:
    shelf = _shelf(connection, query.embedder)
    there = paged(connection, shelf, after=query.after)
    found = connection.execute(_TRACES["untraced"], {"base": shelf.base, "after": query.after})
    return tuple(islice((seq for (seq,) in found if seq not in there), query.limit))


def add_turn(connection: Connection, draft: TurnDraft, *, seq: int, place: int, vector: Vector) -> None:
    slot = _shelf_for(connection, vector).base + seq
    scope = (draft.role, draft.persona, draft.lane, draft.session, draft.speaker)
    connection.execute(_TRACES["add_row"], (slot, place, "turn", draft.id, micros(draft.at), *scope, vector.data))


def add_record(connection: Connection, draft: RowDraft, *, seq: int, vector: Vector) -> None:
    slot = _shelf_for(connection, vector).base + seq
    scope = (None, draft.persona, draft.lane, None, None)
    connection.execute(_TRACES["add_row"], (slot, seq, draft.noun, draft.id, micros(draft.at), *scope, vector.data))


def add_later(connection: Connection, vectors: Sequence[tuple[int, Vector]]) -> None:
    """Vectors for entries written before; nothing for those that have been erased."""
    shelves = {vector.embedder: _shelf_for(connection, vector) for _, vector in vectors}
    for embedder, shelf in shelves.items():
        own = {seq: vector.data for seq, vector in vectors if vector.embedder == embedder}
        open_pages(connection, shelf, own)
        rows = [{"slot": shelf.base + seq, "seq": seq, "vector": data} for seq, data in own.items()]
        connection.executemany(_TRACES["add_row_later"], rows)
        close_pages(connection, shelf)


def tidy(connection: Connection, *, before: int, head: int) -> None:
    """Called when the log has grown: makes pages of what has come together."""
    if is_time(before=before, head=head):
        for shelf in _shelves(connection):
            close_pages(connection, shelf)


def erase(connection: Connection, seqs: Collection[int]) -> None:
    """Removes the vectors of entries, of every embedder."""
    for shelf in _shelves(connection):
        opened = open_pages(connection, shelf, seqs)
        connection.executemany(_TRACES["remove_row"], [(shelf.base + seq,) for seq in seqs])
        if opened:
            close_pages(connection, shelf)


def _shelves(connection: Connection) -> list[Shelf]:
    return [Shelf.of(number) for (number,) in connection.execute(_TRACES["embedders"]).fetchall()]


def _shelf(connection: Connection, embedder: str) -> Shelf:
    found = connection.execute(_TRACES["embedder"], {"name": embedder}).get
    return Shelf.of(_NOBODY if found is None else found)


def _shelf_for(connection: Connection, vector: Vector) -> Shelf:
    """Where a vector belongs, also if it is the first of its embedder."""
    shelf = _shelf(connection, vector.embedder)
    if shelf == Shelf.of(_NOBODY):
        connection.execute(_TRACES["add_embedder"], {"name": vector.embedder})
        shelf = _shelf(connection, vector.embedder)
    return shelf
