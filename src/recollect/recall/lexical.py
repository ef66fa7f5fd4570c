"""BM25 over statistics that a store hands in.

Both stores find the documents that hold a query stem and count; the arithmetic is here, once, so that the
same question gets the same order from each. Scores are rounded to 1e-6 and ties go to the lower `seq`: sums
that differ in the last bit then cannot reorder results.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

K1: Final = 1.2
B: Final = 0.75
DECIMALS: Final = 6
LEAST_IDF: Final = 1e-6

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Statistics:
    """What BM25 knows of one user's documents. `frequencies` counts the documents that hold each query
    stem.
    """

    documents: int
    average_length: float
    frequencies: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class Posting:
    """One document that holds a query stem: `count` times among its `length` stems."""

    seq: int
    stem: str
    count: int
    length: int


@dataclass(frozen=True, slots=True)
class Scores:
    """Documents with a positive score, by ascending `seq`."""

    seqs: Integers
    values: Floats

    def ranked(self, limit: int | None = None) -> list[tuple[int, float]]:
        order = np.lexsort((self.seqs, -self.values))[:limit]
        return [(int(self.seqs[i]), float(self.values[i])) for i in order]


def idf(frequency: int, *, documents: int) -> float:
    """How much a stem says that `frequency` documents hold; as FTS5 has it, hardly anything from half of them on."""
    return max(math.log((documents - frequency + 0.5) / (frequency + 0.5)), LEAST_IDF)


def bm25(
    postings: Sequence[Posting], *, query: Sequence[str], statistics: Statistics, k1: float = K1, b: float = B
) -> Scores:
    """Score every document among `postings`; a stem that the query repeats counts once."""
    weights = {
        stem: idf(statistics.frequencies[stem], documents=statistics.documents)
        for stem in dict.fromkeys(query)
        if statistics.frequencies.get(stem, 0) > 0
    }
    used = [posting for posting in postings if posting.stem in weights]
    return bm25_arrays(
        np.array([posting.seq for posting in used], dtype=np.int64),
        counts=np.array([posting.count for posting in used], dtype=np.float64),
        lengths=np.array([posting.length for posting in used], dtype=np.float64),
        weights=np.array([weights[posting.stem] for posting in used], dtype=np.float64),
        average_length=statistics.average_length,
        k1=k1,
        b=b,
    )


def bm25_arrays(
    seqs: Integers,
    *,
    counts: Floats,
    lengths: Floats,
    weights: Floats,
    average_length: float,
    k1: float = K1,
    b: float = B,
) -> Scores:
    """The same over parallel arrays, one entry for each pair of document and stem; `weights` are the stems'
    idf.
    """
    if not len(seqs):
        return Scores(seqs=np.zeros(0, dtype=np.int64), values=np.zeros(0))
    norm = k1 * (1.0 - b + b * lengths / max(average_length, 1e-9))
    parts = weights * counts * (k1 + 1.0) / (counts + norm)
    found, places = np.unique(seqs, return_inverse=True)
    totals = np.zeros(len(found))
    np.add.at(totals, places, parts)
    return Scores(seqs=found, values=np.round(totals, DECIMALS))
