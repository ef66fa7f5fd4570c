"""Full-text matches, as columns: one message may match a thousand turns, and ranking takes them all at once.

Their scores are the one BM25 of both stores: that of SQLite's FTS5, here as a pure function.

FTS5 fixes k1 = 1.2 and b = 0.75. Its statistics are those of the whole index of one user and target (turns
or records): every version with stems, live or retired, whatever its persona, lane or status; filters never
change a score. Over these versions,

- `documents` is their number, `total` the sum of their lengths, and a document's length is the number of its
  stems, repetitions included;
- a stem that `n` documents hold has idf = ln((documents - n + 0.5) / (n + 0.5)), or 1e-6 where that is not
  positive (a stem in half of all documents or more), so that a match always scores above zero;
- a document that holds it f times gains idf * f * (k1 + 1) / (f + k1 * (1 - b + b * length / average)).

The gains are added in the order of the query's distinct stems and the sum is rounded to six places.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import log
from typing import Final, NamedTuple, cast, overload

import numpy as np
from numpy.typing import NDArray


class Match(NamedTuple):
    """An entry and its score, higher is better: for full text BM25 with this user's own statistics, rounded to 1e-6."""

    seq: int
    score: float


@dataclass(frozen=True, slots=True, eq=False)
class Matched(Sequence[Match]):
    """Matches in the order of `seq`; equal to any tuple of the same ones."""

    seqs: NDArray[np.int64]
    scores: NDArray[np.float64]

    def __len__(self) -> int:
        return len(self.seqs)

    def __iter__(self) -> Iterator[Match]:
        return map(Match, self.seqs.tolist(), self.scores.tolist())

    @overload
    def __getitem__(self, index: int) -> Match: ...
    @overload
    def __getitem__(self, index: slice) -> "Matched": ...
    def __getitem__(self, index: int | slice) -> "Match | Matched":
        if isinstance(index, slice):
            return Matched(self.seqs[index], self.scores[index])
        return Match(int(self.seqs[index]), float(self.scores[index]))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Matched | tuple) and tuple(self) == tuple(cast("Sequence[object]", other))

    def __hash__(self) -> int:
        return hash(tuple(self))


NOTHING: Final = Matched(np.zeros(0, dtype=np.int64), np.zeros(0))


K1 = 1.2
B = 0.75
_LEAST_IDF = 1e-6
PLACES = 6


def distinct(stems: Sequence[str]) -> tuple[str, ...]:
    """A query's stems, each once, in order: saying a word twice does not count twice."""
    return tuple(dict.fromkeys(stems))


def idf(*, documents: int, holding: int) -> float:
    """How much a stem that `holding` of all documents hold says about one of them."""
    value = log((documents - holding + 0.5) / (holding + 0.5))
    return value if value > 0.0 else _LEAST_IDF


def score(
    stems: Sequence[str],
    *,
    frequencies: Mapping[str, int],
    length: int,
    documents: int,
    total: int,
    holding: Mapping[str, int],
) -> float:
    """One document's score: `frequencies` and `length` are its own, the rest are the index's statistics."""
    average = total / documents
    norm = K1 * (1.0 - B + B * length / average)
    gain = 0.0
    for stem in distinct(stems):
        frequency = frequencies.get(stem, 0)
        weight = idf(documents=documents, holding=holding.get(stem, 0))
        gain += weight * ((frequency * (K1 + 1.0)) / (frequency + norm))
    return round(gain, PLACES)
