"""One user's turns and records as columns in memory: what ranking reads without touching a text.

The log alone keeps this cache coherent: every search asks the store for the traces written since the last one, beginning
with the newest cached row, so that a user who was forgotten and came back, or a restored file, is noticed. A version that
was replaced is skipped before ranking, because its twin would be taken for its duplicate. What was retired or erased
otherwise drops out when the texts are fetched. The cache is bounded in bytes; the least recently used user goes first.
"""

from collections import OrderedDict
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hitherto.recall.rank import OTHER, PERSONA, USER, Rows, leans
from hitherto.recall.traits import Unpacked, languages, spoken, unpack
from hitherto.recall.vectors import Coded, Floats, Growing, Matrix, Vectors
from hitherto.store.catalog import UserKey
from hitherto.store.columns import Labels, Traced
from hitherto.store.protocol import Everything, Scope, Traces, UserStore

BATCH = 20_000
LARGEST = 256 * 1024 * 1024
"""Bytes that all users' columns may take together."""
_EMPTY: Final = 12 * 1024
"""Bytes per user without any rows, as a process with 5,000 of them grows."""


class Names:
    """Texts as small numbers, in the order in which they were first seen; -1 for an unknown one."""

    def __init__(self) -> None:
        self._numbers: dict[str | None, int] = {}

    def numbers(self, column: Labels) -> NDArray[np.int64]:
        return column.renumbered(self._numbers)

    def __len__(self) -> int:
        return len(self._numbers)

    def known(self, name: str | None) -> int:
        return self._numbers.get(name, -1)

    def texts(self) -> tuple[str, ...]:
        return tuple(name or "" for name in self._numbers)


@dataclass(slots=True)
class Columns:
    """Rows of one kind, turns or records, appended in log order."""

    matrix: Matrix
    passages: Coded
    fields: tuple[Growing[np.int64], ...] = field(default_factory=lambda: tuple(Growing(np.int64) for _ in range(6)))
    """Session, speaker, role, persona, lane and noun of each row, as numbers."""
    times: Growing[np.float64] = field(default_factory=lambda: Growing(np.float64))
    flags: Growing[np.uint8] = field(default_factory=lambda: Growing(np.uint8))
    lengths: Growing[np.float32] = field(default_factory=lambda: Growing(np.float32))
    marks: Growing[np.uint8] = field(default_factory=lambda: Growing(np.uint8))
    replaced: Growing[np.int64] = field(default_factory=lambda: Growing(np.int64))
    """The entry that wrote each row's next version; 0 for the newest version."""

    owners: Growing[np.int64] = field(default_factory=lambda: Growing(np.int64))
    """The row of each passage of a long text, ascending, beside the passage's vector."""

    @classmethod
    def of(cls, dimension: int) -> "Columns":
        return cls(Matrix(dimension), Coded(dimension))

    @property
    def nbytes(self) -> int:
        held = (
            self.matrix,
            self.passages,
            *self.fields,
            self.times,
            self.flags,
            self.lengths,
            self.marks,
            self.replaced,
            self.owners,
        )
        return sum(array.nbytes for array in held)

    def dots(self, query: Vectors) -> Floats:
        """The similarity of a unit vector to every row: to its whole text or to its best passage."""
        found = self.matrix.dots(query)
        if len(self.owners):
            np.maximum.at(found, self.owners.all, self.passages.dots(query))
        return found


_NOUN: Final = 5
_ROLES: Final[dict[str | None, int]] = {"user": USER, "assistant": PERSONA, "tool": OTHER, "system": OTHER, None: 0}


@dataclass(frozen=True, slots=True, kw_only=True)
class _Batch:
    """Turns or records on their way into columns. A cold user's first search brings ten thousand of them, so numpy does in
    bulk whatever it can."""

    seqs: NDArray[np.int64]
    places: NDArray[np.int64]
    times: NDArray[np.float64]
    fields: NDArray[np.int64]
    unpacked: Unpacked

    def some(self, rows: NDArray[np.int64]) -> "_Batch":
        """These rows, ascending; consecutive ones are not copied."""
        if len(rows) == len(self.seqs):
            return self
        found, moved = self.unpacked, np.full(len(self.seqs), -1)
        moved[rows] = np.arange(len(rows))
        owners = moved[found.owners]
        first, last = int(rows[0]), int(rows[-1])
        meant = slice(first, last + 1) if last - first < len(rows) else rows
        return _Batch(
            seqs=self.seqs[meant],
            places=self.places[meant],
            times=self.times[meant],
            fields=self.fields[:, meant],
            unpacked=Unpacked(
                codes=found.codes[meant],
                flags=found.flags[meant],
                lengths=found.lengths[meant],
                marks=found.marks[meant],
                owners=owners[owners >= 0],
                passages=found.passages[owners >= 0],
            ),
        )


class Newest(NamedTuple):
    """The newest cached row, by which a log is recognised."""

    seq: int
    id: str


class UserRows:
    """Everything cached about one user."""

    def __init__(self, dimension: int) -> None:
        self._dimension = dimension
        self.last: Newest | None = None
        self.names, self.sessions = Names(), Names()
        self.speakers, self.personas, self.lanes = Names(), Names(), Names()
        self.turns, self.records = Columns.of(dimension), Columns.of(dimension)
        self._tails: dict[tuple[int, ...], int] = {}
        """Row of the newest turn of each session, persona and lane."""
        self._revised: dict[int, int] = {}
        """Row of the newest version of a revised turn, by the turn's place."""
        self._versions: dict[str, int] = {}
        """Row of the newest version of each record."""
        self.languages: frozenset[str] = frozenset()
        self._spoken = spoken(np.zeros(0, dtype=np.uint8))
        """The languages of the user's texts, apart from English, which is always looked up."""

    @property
    def nbytes(self) -> int:
        return self.turns.nbytes + self.records.nbytes

    def extend(self, traces: Traced) -> None:
        if not traces:
            return
        self.last = Newest(int(traces.seqs[-1]), traces.ids[-1])
        batch = self._batch(traces)
        is_turn = batch.fields[_NOUN] == self.names.known("turn")
        if len(turns := np.flatnonzero(is_turn)):
            new = batch.some(turns)
            self._append(self.turns, new, previous=self._linked(new))
            self._revise(new)
        if len(records := np.flatnonzero(~is_turn)):
            new = batch.some(records)
            self._append(self.records, new, previous=np.full(len(records), -1, dtype=np.int64))
            self._renew(new, [traces.ids[row] for row in records.tolist()])

    def _batch(self, traces: Traced) -> _Batch:
        labels = traces.labels
        roles = np.array([_ROLES[role] for role in labels["role"].names], dtype=np.int64)
        return _Batch(
            seqs=traces.seqs,
            places=traces.places,
            times=traces.times / 1e6,
            fields=np.array(
                [
                    self.sessions.numbers(labels["session"]),
                    self.speakers.numbers(labels["speaker"]),
                    roles[labels["role"].numbers],
                    self.personas.numbers(labels["persona"]),
                    self.lanes.numbers(labels["lane"]),
                    self.names.numbers(labels["noun"]),
                ]
            ),
            unpacked=unpack(traces.vectors, traces.sizes, dimension=self._dimension),
        )

    def _linked(self, new: _Batch) -> NDArray[np.int64]:
        """For each turn, the row before it in its session, persona and lane; a revision stands alone."""
        start = len(self.turns.matrix)
        previous = np.full(len(new.seqs), -1, dtype=np.int64)
        rows = np.flatnonzero(new.places == new.seqs)
        if not len(rows):
            return previous
        where = new.fields[[0, 3, 4]][:, rows]
        key = (where[0] * len(self.personas) + where[1]) * len(self.lanes) + where[2]
        order = np.argsort(key, kind="stable")
        rows, same = rows[order], np.diff(key[order]) == 0
        previous[rows[1:][same]] = start + rows[:-1][same]
        firsts, lasts = np.flatnonzero(np.append(True, ~same)), np.flatnonzero(np.append(~same, True))
        for first, last in zip(firsts.tolist(), lasts.tolist(), strict=True):
            chain = tuple(where[:, order[first]].tolist())
            previous[rows[first]] = self._tails.get(chain, -1)
            self._tails[chain] = start + int(rows[last])
        return previous

    def _revise(self, new: _Batch) -> None:
        start = len(self.turns.matrix) - len(new.seqs)
        for revision in np.flatnonzero(new.places != new.seqs).tolist():
            place = int(new.places[revision])
            rows, there = self.turns.matrix.places(new.places[revision : revision + 1])
            before = self._revised.get(place, int(rows[0]) if there[0] else None)
            if before is not None:
                self.turns.replaced.all[before] = new.seqs[revision]
            self._revised[place] = start + revision

    def _renew(self, new: _Batch, ids: Sequence[str]) -> None:
        start = len(self.records.matrix) - len(ids)
        rows = dict(zip(ids, range(start, start + len(ids)), strict=True))
        if not self._versions and len(rows) == len(ids):
            self._versions = rows
            return
        for place, name in enumerate(ids):
            before = self._versions.get(name)
            if before is not None:
                self.records.replaced.all[before] = new.seqs[place]
            self._versions[name] = start + place

    def _append(self, columns: Columns, new: _Batch, *, previous: NDArray[np.int64]) -> None:
        found = new.unpacked
        columns.owners.extend(found.owners + len(columns.matrix))
        columns.passages.extend(found.passages)
        columns.matrix.extend(new.seqs, found.codes, previous=previous, leans=leans(found.lengths))
        for column, values in zip(columns.fields, new.fields, strict=True):
            column.extend(values)
        columns.times.extend(new.times)
        columns.flags.extend(found.flags)
        self._spoken += spoken(found.flags)
        self.languages = languages(self._spoken)
        columns.lengths.extend(found.lengths)
        columns.marks.extend(found.marks)
        columns.replaced.extend(np.zeros(len(new.seqs)))

    def rows(self, columns: Columns) -> Rows:
        return Rows(
            seqs=columns.matrix.seqs,
            previous=columns.matrix.previous,
            next=columns.matrix.next,
            sessions=columns.fields[0].all,
            speakers=columns.fields[1].all,
            names=self.speakers.texts(),
            roles=columns.fields[2].all,
            times=columns.times.all,
            flags=columns.flags.all,
            lengths=columns.lengths.all,
        )

    def allowed(
        self,
        columns: Columns,
        *,
        persona: Scope,
        lane: Scope,
        named: Collection[str],
        nouns: Sequence[str],
        shared: bool,
        known: int | None,
    ) -> NDArray[np.bool_]:
        """Which rows a search may find; `named` are lanes beside its own. With `shared`, what belongs to no persona counts
        as everybody's.
        """
        mask = _any_of(columns.fields[_NOUN].all, [self.names.known(noun) for noun in nouns])
        if not isinstance(persona, Everything):
            meant = [self.personas.known(persona), *([self.personas.known(None)] if shared else [])]
            mask &= _any_of(columns.fields[3].all, meant)
        if not isinstance(lane, Everything):
            mask &= _any_of(columns.fields[4].all, [self.lanes.known(name) for name in (lane, *named)])
        seqs, replaced = columns.matrix.seqs, columns.replaced.all
        if known is None or not len(seqs) or known >= seqs[-1]:
            return mask & (replaced == 0)
        return mask & (seqs <= known) & ((replaced == 0) | (replaced > known))


def _any_of(column: NDArray[np.int64], values: Sequence[int]) -> NDArray[np.bool_]:
    """Where a column holds one of a few values: a few comparisons are far faster than numpy's `isin`."""
    mask = column == values[0]
    for value in values[1:]:
        mask |= column == value
    return mask


class TraceCache:
    """Columns of the users who were searched recently."""

    def __init__(self, *, embedder: str, dimension: int, largest: int = LARGEST) -> None:
        self._embedder = embedder
        self._dimension = dimension
        self._largest = largest
        self._users: OrderedDict[UserKey, UserRows] = OrderedDict()
        self._sizes: dict[UserKey, int] = {}
        self._size = 0
        """The sum of the sizes: a service holds thousands of users and checks after every message."""

    def held(self, key: UserKey) -> UserRows:
        """What is cached for this user; empty for an unknown one."""
        rows = self._users.get(key)
        if rows is None:
            rows = self._users[key] = UserRows(self._dimension)
            self._weigh(key, rows)
        self._users.move_to_end(key)
        return rows

    def query(self, rows: UserRows) -> Traces:
        """Asks for what these rows lack, from the newest cached one on."""
        return Traces(embedder=self._embedder, after=rows.last.seq - 1 if rows.last else 0, limit=BATCH)

    async def refresh(self, key: UserKey, store: UserStore, asked: Traces, found: Traced) -> UserRows:
        """Takes in the answer to `query`, and fetches what did not fit into it."""
        rows = self.held(key)
        if rows.last is None and asked.after:
            return await self._anew(key, store)
        if rows.last is not None:
            is_next = asked.after == rows.last.seq - 1
            if is_next and (not found or rows.last != (found.seqs[0], found.ids[0])):
                self.drop(key)
                return await self._anew(key, store)
            found = found.after(rows.last.seq)
        rows.extend(found)
        if len(found) >= BATCH - 1:
            more = self.query(rows)
            return await self.refresh(key, store, more, (await store.read(more))[more])
        self._weigh(key, rows)
        return rows

    def drop(self, key: UserKey) -> None:
        self._users.pop(key, None)
        self._size -= self._sizes.pop(key, 0)

    async def _anew(self, key: UserKey, store: UserStore) -> UserRows:
        asked = self.query(self.held(key))
        return await self.refresh(key, store, asked, (await store.read(asked))[asked])

    def _weigh(self, key: UserKey, rows: UserRows) -> None:
        """Notes this user's new size, and evicts others while the total is too large."""
        size = _EMPTY + rows.nbytes
        self._size += size - self._sizes.get(key, 0)
        self._sizes[key] = size
        while self._size > self._largest and len(self._users) > 1:
            self.drop(next(other for other in self._users if other != key))
