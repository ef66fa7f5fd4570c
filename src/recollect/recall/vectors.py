"""Exact vector search over one user's rows.

A user has thousands of turns, rarely a hundred thousand, so a scan beats an index and never misses. Rows
are unit vectors. Up to `EXACT_ROWS` they are float32; above that they are int8, scanned with simsimd and
rescored against the float query, which costs a quarter of the memory and a third of the time.

A turn is read together with its neighbours: its blended similarity is that of `norm(e + .4·previous + .2·next)`,
both weights times how much the row leans on its neighbours. Only own vectors are kept; since the dot product is
linear, the blend is made from the dots of one scan and a norm for each row that is known once its neighbours are.
"""

from dataclasses import dataclass
from typing import Any, Final, TypeVar

import numpy as np
import simsimd
from numpy.typing import NDArray

EXACT_ROWS: Final = 50_000
PREVIOUS: Final = 0.4
NEXT: Final = 0.2
DECIMALS: Final = 6

_SCALE: Final = 127.0
_RESCORE: Final = 4
_RESCORE_MIN: Final = 200
_BLOCKS: Final = 4
_AT_HAND: Final = 512
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
    """Unit rows as int8 codes, each row using the whole range (the scale is lost: only directions are
    kept).
    """
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


def dequantise(codes: Codes) -> Vectors:
    vectors = codes.astype(np.float32)
    lengths = np.sqrt(np.einsum("ij,ij->i", vectors, vectors))
    vectors /= np.where(lengths > 0, lengths, 1)[:, None]
    return vectors


class Matrix:
    """A growable set of rows keyed by `seq`, in the order of the log."""

    def __init__(self, dimension: int, *, blend: Blend | None = None, exact_rows: int = EXACT_ROWS) -> None:
        self.dimension = dimension
        self.blend = blend or Blend()
        self._exact_rows = exact_rows
        self._size = 0
        self._vectors: Vectors | None = np.zeros((0, dimension), dtype=np.float32)
        self._codes: Codes | None = None
        self._lengths = np.zeros(0, dtype=np.float32)
        self._seqs = np.zeros(0, dtype=np.int64)
        self._previous = np.zeros(0, dtype=np.int64)
        self._next = np.zeros(0, dtype=np.int64)
        self._leans = np.zeros(0, dtype=np.float32)
        self._norms = np.zeros(0, dtype=np.float32)

    def __len__(self) -> int:
        return self._size

    @property
    def seqs(self) -> Integers:
        return self._seqs[: self._size]

    @property
    def previous(self) -> Integers:
        """Row of the turn before, in the same session, lane and persona; -1 where there is none."""
        return self._previous[: self._size]

    @property
    def next(self) -> Integers:
        return self._next[: self._size]

    @property
    def nbytes(self) -> int:
        held = (
            self._vectors,
            self._codes,
            self._lengths,
            self._leans,
            self._seqs,
            self._previous,
            self._next,
            self._norms,
        )
        return sum(array.nbytes for array in held if array is not None)

    def extend(self, seqs: Integers, vectors: Vectors, *, previous: Integers, leans: Floats | None = None) -> None:
        """Append unit rows. `previous` holds for each the row number of its predecessor (which may be new),
        or -1.
        """
        start, count = self._size, len(seqs)
        if vectors.shape != (count, self.dimension):
            raise ValueError(f"{vectors.shape} vectors for {count} rows of {self.dimension} dimensions")
        if count == 0:
            return
        if (start and seqs[0] <= self._seqs[start - 1]) or np.any(np.diff(seqs) <= 0):
            raise ValueError("rows are appended in the order of seq")
        self._reserve(start + count)
        new = slice(start, start + count)
        self._put(new, vectors)
        self._seqs[new] = seqs
        self._previous[new] = previous
        self._next[new] = -1
        self._leans[new] = 1.0 if leans is None else leans
        self._size += count
        rows = np.arange(start, start + count)
        self._next[previous[previous >= 0]] = rows[previous >= 0]
        self._renorm(np.unique(np.concatenate([rows, previous[previous >= 0]])))

    def remove(self, seqs: Integers) -> None:
        """Take rows out for good; their neighbours become each other's."""
        gone = np.isin(self.seqs, seqs)
        if not gone.any():
            return
        for row in np.flatnonzero(gone):
            before, after = self._previous[row], self._next[row]
            if before >= 0:
                self._next[before] = after
            if after >= 0:
                self._previous[after] = before
        keep = np.flatnonzero(~gone)
        places = np.full(self._size + 1, -1, dtype=np.int64)
        places[keep] = np.arange(len(keep))
        self._previous = places[self._previous[keep]]
        self._next = places[self._next[keep]]
        self._seqs, self._lengths = self._seqs[keep], self._lengths[keep]
        self._leans = self._leans[keep]
        if self._vectors is not None:
            self._vectors = self._vectors[keep]
        if self._codes is not None:
            self._codes = self._codes[keep]
        self._norms = np.zeros(len(keep), dtype=np.float32)
        self._size = len(keep)
        self._renorm(np.arange(self._size))

    def places(self, seqs: Integers) -> tuple[Integers, NDArray[np.bool_]]:
        """The rows of those entries that are held, and which ones these are."""
        found = np.searchsorted(self.seqs, seqs)
        there = found < self._size
        there[there] = self._seqs[found[there]] == seqs[there]
        return found[there], there

    def dots(self, query: Vectors) -> Floats:
        """The similarity of `query`, a unit vector, to every row's own vector."""
        if self._vectors is not None:
            return products(query[None, :], self._vectors[: self._size])[0]
        assert self._codes is not None
        if self._size == 0:
            return np.zeros(0, dtype=np.float32)
        code = quantise(query[None, :])
        scanned = np.asarray(simsimd.cdist(code, self._codes[: self._size], metric="dot"), dtype=np.float32)[0]
        return scanned / (self._lengths[: self._size] * _code_lengths(code)[0])

    def blended(self, dots: Floats) -> Floats:
        """The similarity to every row in the light of its neighbours, from the dots of one scan."""
        padded = np.append(dots, np.float32(0))  # row -1 is the zero at the end
        return self._mixed(slice(0, self._size), padded)

    def search(self, query: Vectors, *, limit: int) -> list[tuple[int, float]]:
        """The `limit` nearest rows by blended similarity as (seq, similarity), ties by seq."""
        scores = self.blended(self.dots(query))
        if self._vectors is None:
            scores = self._rescored(query, scores, limit=limit)
        rows = top(scores, self.seqs, limit=limit)
        return [(int(self._seqs[row]), round(float(scores[row]), DECIMALS)) for row in rows]

    def own(self, rows: Integers) -> Vectors:
        """The rows' own unit vectors."""
        if self._vectors is not None:
            return self._vectors[rows]
        assert self._codes is not None
        return dequantise(self._codes[rows])

    def _rescored(self, query: Vectors, scores: Floats, *, limit: int) -> Floats:
        count = min(self._size, max(_RESCORE * limit, _RESCORE_MIN))
        rows = np.argpartition(-scores, count - 1)[:count]
        exact = np.full(self._size, -np.inf, dtype=np.float32)
        dots = np.zeros(self._size + 1, dtype=np.float32)
        needed = np.unique(np.concatenate([rows, self._previous[rows], self._next[rows]]))
        needed = needed[needed >= 0]
        dots[needed] = products(query[None, :], self.own(needed))[0]
        exact[rows] = self._mixed(rows, dots)
        return exact

    def _mixed(self, rows: Integers | slice, padded: Floats) -> Floats:
        """Blended similarities of `rows` from own ones, which end with the zero that -1 points to."""
        around = self.blend.previous * padded[self._previous[rows]] + self.blend.next * padded[self._next[rows]]
        return ((padded[rows] + self._leans[rows] * around) / self._norms[rows]).astype(np.float32)

    def _reserve(self, size: int) -> None:
        """Room for `size` rows; past the limit of exact ones, codes take the vectors' place."""
        if size > self._exact_rows and self._vectors is not None:
            self._codes = quantise(self._vectors)
            self._lengths = _code_lengths(self._codes)
            self._vectors = None
        held = len(self._seqs)
        if size <= held:
            return
        room = max(size, held + held // 2, 256)
        self._seqs = _grown(self._seqs, room)
        self._previous = _grown(self._previous, room)
        self._next = _grown(self._next, room)
        self._leans = _grown(self._leans, room)
        self._norms = _grown(self._norms, room)
        self._lengths = _grown(self._lengths, room)
        if self._vectors is not None:
            self._vectors = _grown(self._vectors, room)
        if self._codes is not None:
            self._codes = _grown(self._codes, room)

    def _put(self, rows: slice, vectors: Vectors) -> None:
        if self._vectors is not None:
            self._vectors[rows] = vectors
        if self._codes is not None:
            codes = quantise(vectors)
            self._codes[rows], self._lengths[rows] = codes, _code_lengths(codes)

    def _renorm(self, rows: Integers) -> None:
        """The length of own + neighbours for rows whose neighbours changed, a few at a time, so that they stay at hand."""
        for start in range(0, len(rows), _AT_HAND):
            part = rows[start : start + _AT_HAND]
            mixed = self.own(part)
            for links, weight in ((self._previous, self.blend.previous), (self._next, self.blend.next)):
                linked = links[part]
                other = self.own(np.maximum(linked, 0))
                other *= (weight * self._leans[part] * (linked >= 0))[:, None]
                mixed += other
            lengths = np.sqrt(np.einsum("ij,ij->i", mixed, mixed))
            self._norms[part] = np.where(lengths > 0, lengths, 1)


def _grown(array: NDArray[N], size: int) -> NDArray[N]:
    """The array with room for more; what stands there is written before it is read."""
    grown = np.empty((size, *array.shape[1:]), dtype=array.dtype)
    grown[: len(array)] = array
    return grown


def _code_lengths(codes: Codes) -> Floats:
    lengths = np.linalg.norm(codes.astype(np.float32), axis=1)
    return np.where(lengths > 0, lengths, 1).astype(np.float32)


def top(scores: NDArray[np.floating[Any]], seqs: Integers, *, limit: int) -> Integers:
    """Rows of the `limit` highest scores, rounded, ties by seq, best first; a score of -inf is no score.

    The highest of each of a few blocks tell a floor that at least `limit` rows reach, with one look at every score.
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
