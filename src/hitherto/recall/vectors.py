"""Exact vector search over one user's rows.

A user has thousands of turns, rarely a hundred thousand, so a scan beats an index and never misses. Rows are kept as the
int8 codes that the store holds: a quarter of the memory of floats, and nothing to convert before a user's first search. The
query is converted to such codes as well, so every sum is one of integers: the same on every machine, and faster than one of
floats.

A turn is read together with its neighbours: its blended similarity is that of `norm(e + .4·previous + .2·next)`, both
weights times how much the row leans on its neighbours. Only own vectors are kept; since the dot product is linear, the
blend follows from the dots of one scan and a norm per row that is known once its neighbours are.
"""

from dataclasses import dataclass
from math import sqrt
from typing import Any, Final, Generic, TypeVar

import numpy as np
import simsimd
from numpy.typing import NDArray

PREVIOUS: Final = 0.4
NEXT: Final = 0.2
DECIMALS: Final = 6

_SCALE: Final = 127.0
_BLOCKS: Final = 4
_AT_HAND: Final = 2_048
_LOWEST: Final = float(np.finfo(np.float32).min)

Vectors = NDArray[np.float32]
Codes = NDArray[np.int8]
Floats = NDArray[np.float32]
Integers = NDArray[np.int64]
N = TypeVar("N", bound=np.generic)


@dataclass(frozen=True, slots=True)
class Blend:
    """How much of its neighbours' vectors a row takes in."""

    previous: float = PREVIOUS
    next: float = NEXT


def unit(vectors: Vectors) -> Vectors:
    """Rows scaled to length 1; a zero row (a text with no known word) stays zero."""
    lengths = np.linalg.norm(vectors, axis=-1, keepdims=True)
    return (vectors / np.where(lengths > 0, lengths, 1)).astype(np.float32)


def quantise(vectors: Vectors) -> Codes:
    """Unit rows as int8 codes, each row using the whole range (the scale is lost: only directions are kept)."""
    peaks = np.abs(vectors).max(axis=-1, keepdims=True, initial=0.0)
    return np.rint(vectors * (_SCALE / np.where(peaks > 0, peaks, 1))).astype(np.int8)


def products(rows: Vectors, others: Vectors) -> Floats:
    """The dot product of every row with every other one.

    One thread of simsimd rather than numpy's product, which spreads even a small one over all cores: on a machine
    with anything else to do, it then waits for them, tens of milliseconds instead of a fifth of one.
    """
    if not len(rows) or not len(others):
        return np.zeros((len(rows), len(others)), dtype=np.float32)
    return np.asarray(simsimd.cdist(rows, others, metric="dot"), dtype=np.float32).reshape(len(rows), len(others))


class Growing(Generic[N]):
    """A column that grows at its end and is rarely copied."""

    __slots__ = ("_held", "_size")

    def __init__(self, kind: type[N]) -> None:
        self._held: NDArray[N] = np.zeros(0, dtype=kind)
        self._size = 0

    def __len__(self) -> int:
        return self._size

    @property
    def all(self) -> NDArray[N]:
        """Its content, to be read and changed in place until it grows."""
        return self._held[: self._size]

    @property
    def nbytes(self) -> int:
        return self._held.nbytes

    def extend(self, values: NDArray[Any]) -> None:
        start, self._size = self._size, self._size + len(values)
        self._held = _roomy(self._held, self._size)
        self._held[start : self._size] = values


class Coded:
    """A growable set of vectors as int8 codes, each with the reciprocal of its length."""

    def __init__(self, dimension: int) -> None:
        self.dimension = dimension
        self._size = 0
        self._codes: Codes = np.zeros((0, dimension), dtype=np.int8)
        self._reciprocals = Growing(np.float32)
        """0 for a zero vector, which resembles nothing."""
        self._asked: tuple[Vectors, Floats] | None = None
        """The last query with its similarities: if it is asked again, only newer rows have to be compared."""

    def __len__(self) -> int:
        return self._size

    @property
    def nbytes(self) -> int:
        return self._codes.nbytes + self._reciprocals.nbytes

    def extend(self, codes: Codes) -> None:
        start, size = self._size, self._size + len(codes)
        if codes.shape[1:] != (self.dimension,):
            raise ValueError(f"{codes.shape} codes for rows of {self.dimension} dimensions")
        if start == size:
            return
        if start == 0:
            self._codes = np.ascontiguousarray(codes)  # not copied: later rows find no room and copy them
        else:
            self._codes = _roomy(self._codes, size)
            self._codes[start:size] = codes
        for first in range(start, size, _AT_HAND):
            part = self._codes[first : min(first + _AT_HAND, size)]
            squares = _pairs(part, part)
            self._reciprocals.extend(np.where(squares > 0, 1 / np.sqrt(np.maximum(squares, 1)), 0))
        self._size = size

    def dots(self, query: Vectors) -> Floats:
        """The similarity of `query`, a unit vector, to each row."""
        known = self._asked[1] if self._asked is not None and self._asked[0] is query else np.zeros(0, dtype=np.float32)
        if len(known) < self._size:
            known = np.append(known, self.some_dots(query, len(known), self._size))
            self._asked = query, known
        return known.copy()

    def some_dots(self, query: Vectors, start: int, end: int) -> Floats:
        """The same for the rows from `start` up to `end`."""
        if start >= end:
            return np.zeros(0, dtype=np.float32)
        codes = quantise(query)
        length = sqrt(_pairs(codes[None], codes[None])[0]) or 1.0
        found = np.asarray(simsimd.cdist(codes[None], self._codes[start:end], metric="dot"), dtype=np.float64)[0]
        found *= self._reciprocals.all[start:end]
        return (found / length).astype(np.float32)

    def likeness(self, rows: Integers) -> NDArray[np.float64]:
        """The similarity of each pair of some rows."""
        if not len(rows):
            return np.zeros((0, 0))
        codes, reciprocals = self._codes[rows], self._reciprocals.all[rows]
        found = np.array(simsimd.cdist(codes, codes, metric="dot"), dtype=np.float64).reshape(len(rows), len(rows))
        found *= reciprocals
        return found * reciprocals[:, None]

    def lengths(self, *terms: tuple[Integers, Floats | float]) -> NDArray[np.float64]:
        """The lengths of weighted sums of rows; row -1 is none."""
        total = np.zeros(len(terms[0][0]))
        before: list[tuple[Codes, NDArray[np.float64]]] = []
        for rows, weights in terms:
            codes = np.take(self._codes, rows, axis=0, mode="wrap")
            scales = np.where(rows >= 0, self._reciprocals.all[rows], np.float64(0))
            total += (scales > 0) * np.square(weights)
            scales *= weights
            for others, by in before:
                total += 2 * by * scales * _pairs(codes, others)
            before.append((codes, scales))
        return np.sqrt(np.maximum(total, 0))


class Matrix:
    """Rows keyed by `seq`, in log order, with their neighbours."""

    def __init__(self, dimension: int, *, blend: Blend | None = None) -> None:
        self.blend = blend or Blend()
        self._vectors = Coded(dimension)
        self._seqs, self._previous, self._next = Growing(np.int64), Growing(np.int64), Growing(np.int64)
        self._leans, self._norms = Growing(np.float32), Growing(np.float32)

    def __len__(self) -> int:
        return len(self._vectors)

    @property
    def seqs(self) -> Integers:
        return self._seqs.all

    @property
    def previous(self) -> Integers:
        """Row of the previous turn in the same session, lane and persona; -1 if there is none."""
        return self._previous.all

    @property
    def next(self) -> Integers:
        return self._next.all

    @property
    def nbytes(self) -> int:
        held = (self._vectors, self._leans, self._seqs, self._previous, self._next, self._norms)
        return sum(array.nbytes for array in held)

    def extend(self, seqs: Integers, codes: Codes, *, previous: Integers, leans: Floats | None = None) -> None:
        """Appends rows. `previous` holds for each the row number of its predecessor (which may be new), or -1."""
        start, size = len(self), len(self) + len(seqs)
        if len(codes) != len(seqs):
            raise ValueError(f"{len(codes)} codes for {len(seqs)} rows")
        if start == size:
            return
        if (start and seqs[0] <= self.seqs[-1]) or np.any(np.diff(seqs) <= 0):
            raise ValueError("rows are appended in the order of seq")
        self._vectors.extend(codes)
        self._seqs.extend(seqs)
        self._previous.extend(previous)
        self._next.extend(np.full(len(seqs), -1))
        self._leans.extend(np.ones(len(seqs)) if leans is None else leans)
        self._norms.extend(np.ones(len(seqs)))
        linked = previous >= 0
        self.next[previous[linked]] = np.arange(start, size)[linked]
        self._renorm(np.concatenate([np.unique(previous[linked & (previous < start)]), np.arange(start, size)]))

    def places(self, seqs: Integers) -> tuple[Integers, NDArray[np.bool_]]:
        """The rows of those entries that are present, and which entries these are."""
        found = np.searchsorted(self.seqs, seqs)
        there = found < len(self)
        there[there] = self.seqs[found[there]] == seqs[there]
        return found[there], there

    def dots(self, query: Vectors) -> Floats:
        """The similarity of `query`, a unit vector, to every row's own vector."""
        return self._vectors.dots(query)

    def blended(self, dots: Floats) -> Floats:
        """The similarity to every row in the light of its neighbours, from the dots of one scan."""
        padded = np.append(dots, np.float32(0))  # row -1 is the zero at the end
        around = self.blend.previous * padded[self.previous] + self.blend.next * padded[self.next]
        return ((dots + self._leans.all * around) / self._norms.all).astype(np.float32, copy=False)

    def search(self, query: Vectors, *, limit: int) -> list[tuple[int, float]]:
        """The `limit` nearest rows by blended similarity as (seq, similarity), ties by seq."""
        scores = self.blended(self.dots(query))
        rows = top(scores, self.seqs, limit=limit)
        return [(int(self.seqs[row]), round(float(scores[row]), DECIMALS)) for row in rows]

    def likeness(self, rows: Integers) -> NDArray[np.float64]:
        """How similar each pair of some rows is, by their own vectors."""
        return self._vectors.likeness(rows)

    def _renorm(self, rows: Integers) -> None:
        """Recomputes the length of own + neighbours for rows whose neighbours changed, a few at a time, so that they stay
        in cache. A row without neighbours has its own length."""
        rows = rows[(self.previous[rows] >= 0) | (self.next[rows] >= 0)]
        for start in range(0, len(rows), _AT_HAND):
            own = rows[start : start + _AT_HAND]
            before, after, leans = self.previous[own], self.next[own], self._leans.all[own]
            around = (before, self.blend.previous * leans), (after, self.blend.next * leans)
            lengths = self._vectors.lengths((own, 1.0), *around)
            self._norms.all[own] = np.where(lengths > 0, lengths, 1)


def _pairs(codes: Codes, others: Codes) -> NDArray[np.float64]:
    """The dot product of each row with the one beside it, exactly."""
    if not len(codes):
        return np.zeros(0)
    return np.array(simsimd.dot(codes, others), dtype=np.float64).reshape(len(codes))


def _roomy(array: NDArray[N], size: int) -> NDArray[N]:
    """The array with room for `size` rows and some more; new elements are written before they are read."""
    if size <= len(array):
        return array
    grown = np.empty((max(size, len(array) + len(array) // 2), *array.shape[1:]), dtype=array.dtype)
    grown[: len(array)] = array
    return grown


def top(scores: NDArray[np.floating[Any]], seqs: Integers, *, limit: int) -> Integers:
    """Rows of the `limit` highest scores, rounded, ties by seq, best first; a score of -inf does not count.

    The maxima of a few blocks give a floor that at least `limit` rows reach, with one look at every score.
    """
    if limit <= 0:
        return np.zeros(0, dtype=np.int64)
    blocks, floor = _BLOCKS * limit, _LOWEST
    if len(scores) > 2 * blocks:
        width = len(scores) // blocks
        peaks = np.sort(scores[: blocks * width].reshape(blocks, width).max(axis=1))
        floor = max(float(peaks[-limit]) - 10.0**-DECIMALS, floor)
    rows = np.flatnonzero(scores >= floor)
    return rows[np.lexsort((seqs[rows], -np.round(scores[rows].astype(np.float64), DECIMALS)))][:limit]
