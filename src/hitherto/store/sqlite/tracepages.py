"""Traces stored together as columns, many to a row.

Before a user's first search every trace is read, and ten thousand rows one by one cost more than all the rest of a context.
So the writer moves the oldest loose rows into a page whenever enough of them have accumulated; the newest stay loose,
because they are what a search asks for that has seen the others.

A page lies at the slot of its last trace and is never changed. Whoever adds or erases a trace that falls into one first
opens it, which turns it back into loose rows, and closes pages before the transaction ends. So for readers, all loose rows
of an embedder come after all its pages.
"""

import json
from bisect import bisect_left
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from itertools import chain, islice
from typing import Any, Final

import numpy as np

from hitherto.store.columns import LABELS, Labels, Traced
from hitherto.store.protocol import RowDraft, Traces, TurnDraft, Untraced, Vector
from hitherto.store.sql import queries
from hitherto.store.sqlite import rows
from hitherto.store.sqlite.connections import Connection, Value

ROWS: Final = 512
"""Traces in a page; up to twice as many if some were added in between."""
LOOSE: Final = 64
"""How many of the newest stay loose."""
WIDTH: Final = 2**40
"""More entries than any user's log will have."""
_SEPARATOR: Final = "\0"
"""Occurs in no id, because no stored text may contain it."""
_TRACES = queries("sqlite", "traces")
_NOBODY: Final = -1


@dataclass(frozen=True, slots=True)
class Shelf:
    """Where one embedder's traces lie: `base` plus the seq of their entry."""

    base: int

    @classmethod
    def of(cls, embedder: int) -> "Shelf":
        return cls(embedder * WIDTH)

    @property
    def end(self) -> int:
        return self.base + WIDTH

    def past(self, seq: int) -> dict[str, Value]:
        return {"after": self.base + seq, "end": self.end}


def traced(connection: Connection, shelf: Shelf, *, after: int, limit: int) -> Traced:
    """The next traces after an entry."""
    parts: list[Traced] = []
    room = limit
    with rows.sense():
        for page in connection.execute(_TRACES["pages"], shelf.past(after)):
            parts.append(_decoded(*page).after(after))
            room -= len(parts[-1])
            if room <= 0:
                return Traced.joined(parts)[:limit]
    return Traced.joined([*parts, _loose(connection, shelf, shelf.past(after), limit=room)])


def paged(connection: Connection, shelf: Shelf, *, after: int) -> set[int]:
    """The entries after one that lie in pages."""
    found = connection.execute(_TRACES["page_numbers"], shelf.past(after))
    with rows.sense():
        return set(chain.from_iterable(_numbers(numbers)[0].tolist() for (numbers,) in found))


def open_pages(connection: Connection, shelf: Shelf, seqs: Iterable[int]) -> bool:
    """Turns the pages into which these entries fall into loose rows; returns whether there were any."""
    slots = _slots(connection, shelf)
    places = {bisect_left(slots, shelf.base + seq) for seq in seqs} - {len(slots)}
    for place in places:
        with rows.sense():
            [page] = connection.execute(_TRACES["remove_page"], (slots[place],)).fetchall()
            traces = _decoded(*page)
        connection.executemany(_TRACES["add_row"], [(shelf.base + trace.seq, trace.vector) for trace in traces])
    return bool(places)


def is_time(*, before: int, head: int) -> bool:
    """Whether the log has grown enough to look for new pages."""
    return before // LOOSE != head // LOOSE


def close_pages(connection: Connection, shelf: Shelf) -> None:
    """Moves loose rows into pages: those that lie before a page, and all but the newest once there are enough behind the
    last one."""
    slots = _slots(connection, shelf)
    newest = slots[-1] if slots else shelf.base
    while (first := connection.execute(_TRACES["first_row"], {"after": shelf.base, "end": newest}).get) is not None:
        between: dict[str, Value] = {"after": first - 1, "end": slots[bisect_left(slots, first)]}
        _close(connection, shelf, _loose(connection, shelf, between, limit=2 * ROWS))
    behind: dict[str, Value] = {"after": newest, "end": shelf.end}
    count = connection.execute(_TRACES["count_rows"], behind).get
    for _ in range((count - LOOSE) // ROWS):
        _close(connection, shelf, _loose(connection, shelf, behind, limit=ROWS))


def _close(connection: Connection, shelf: Shelf, traces: Traced) -> None:
    first, last = (shelf.base + int(seq) for seq in traces.seqs[[0, -1]])
    connection.execute(_TRACES["add_page"], (last, *_encoded(traces)))
    connection.execute(_TRACES["remove_rows"], {"first": first, "last": last})


def _slots(connection: Connection, shelf: Shelf) -> list[int]:
    return [slot for (slot,) in connection.execute(_TRACES["page_slots"], shelf.past(0))]


def _loose(connection: Connection, shelf: Shelf, between: dict[str, Value], *, limit: int) -> Traced:
    values = {"base": shelf.base, "limit": limit, **between}
    with rows.sense():
        return Traced.of(connection.execute(_TRACES["rows"], values))


def _encoded(traces: Traced) -> tuple[Value, ...]:
    columns = [traces.labels[name] for name in LABELS]
    return (
        np.array([traces.seqs, traces.places, traces.times], dtype="<i8").tobytes(),
        np.array([column.numbers for column in columns], dtype="<u2").tobytes(),
        traces.sizes.astype("<u4").tobytes(),
        json.dumps([column.names for column in columns]),
        _SEPARATOR.join(traces.ids).encode(),
        traces.vectors,
    )


def _decoded(numbers: bytes, labels: bytes, sizes: bytes, names: str, ids: bytes, vectors: bytes) -> Traced:
    seqs, places, times = _numbers(numbers)
    columns = np.frombuffer(labels, dtype="<u2").astype(np.int64).reshape(len(LABELS), len(seqs))
    meant: list[list[Any]] = json.loads(names)
    widths = np.frombuffer(sizes, dtype="<u4").astype(np.int64)
    called = tuple(ids.decode().split(_SEPARATOR))
    if (len(called), len(widths), widths.sum()) != (len(seqs), len(seqs), len(vectors)):
        raise ValueError(f"a page of {len(seqs)} traces with {len(called)} ids and {len(vectors)} bytes of vectors")
    if any(highest >= len(texts) for highest, texts in zip(columns.max(axis=1).tolist(), meant, strict=True)):
        raise ValueError("a page of traces with a name that is none of its own")
    return Traced(
        seqs=seqs,
        places=places,
        times=times,
        labels={
            name: Labels(names=tuple(texts), numbers=column)
            for name, texts, column in zip(LABELS, meant, columns, strict=True)
        },
        ids=called,
        sizes=widths,
        vectors=vectors,
    )


def _numbers(numbers: bytes) -> Any:
    """Seqs, places and times."""
    return np.frombuffer(numbers, dtype="<i8").astype(np.int64, copy=False).reshape(3, -1)


# --- for the store ---------------------------------------------------------------------------------------------------


def traces(connection: Connection, query: Traces) -> Traced:
    return traced(connection, _shelf(connection, query.embedder), after=query.after, limit=query.limit)


def untraced(connection: Connection, query: Untraced) -> tuple[int, ...]:
    shelf = _shelf(connection, query.embedder)
    there = paged(connection, shelf, after=query.after)
    found = connection.execute(_TRACES["untraced"], {"base": shelf.base, "after": query.after})
    return tuple(islice((seq for (seq,) in found if seq not in there), query.limit))


def add(connection: Connection, drafts: Iterable[tuple[int, TurnDraft | RowDraft]]) -> None:
    """Stores the vectors of turns or records that are being written, each with its entry."""
    shelves: dict[str, Shelf] = {}
    rows: list[tuple[Value, ...]] = []
    for seq, draft in drafts:
        vector = draft.vector
        if vector is not None:
            shelf = shelves.get(vector.embedder) or shelves.setdefault(vector.embedder, _shelf_for(connection, vector))
            rows.append((shelf.base + seq, vector.data))
    if rows:
        connection.executemany(_TRACES["add_row"], rows)


def add_later(connection: Connection, vectors: Sequence[tuple[int, Vector]]) -> None:
    """Stores vectors for entries written before; ignores erased ones."""
    shelves = {vector.embedder: _shelf_for(connection, vector) for _, vector in vectors}
    for embedder, shelf in shelves.items():
        own = {seq: vector.data for seq, vector in vectors if vector.embedder == embedder}
        open_pages(connection, shelf, own)
        rows = [{"slot": shelf.base + seq, "seq": seq, "vector": data} for seq, data in own.items()]
        connection.executemany(_TRACES["add_row_later"], rows)
        close_pages(connection, shelf)


def tidy(connection: Connection, *, before: int, head: int) -> None:
    """Called when the log has grown: makes pages of what has accumulated."""
    if is_time(before=before, head=head):
        for shelf in _shelves(connection):
            close_pages(connection, shelf)


def erase(connection: Connection, seqs: Collection[int]) -> None:
    """Removes the vectors of entries, for every embedder."""
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
    """Where a vector belongs, even if it is the first of its embedder."""
    shelf = _shelf(connection, vector.embedder)
    if shelf == Shelf.of(_NOBODY):
        connection.execute(_TRACES["add_embedder"], {"name": vector.embedder})
        shelf = _shelf(connection, vector.embedder)
    return shelf
