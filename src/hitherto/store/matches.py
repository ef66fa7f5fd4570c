"""Full-text matches, as columns: one message may match a thousand turns, and ranking takes them all at once."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
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
