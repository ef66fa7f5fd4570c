"""What an embedder is, and what a similarity means whichever embedder made it.

Cosines of different models are not comparable: two unrelated sentences score .1 with one and .75 with another.
Recipes write thresholds as a *calibrated* similarity instead: each embedder's cosines are mapped through the
quantiles of its own cosines between unrelated everyday sentences, so that .7 always reads "closer than 99 in 100
unrelated pairs".
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Final, Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from hitherto.recall.embed.topics import TOPICS
from hitherto.recall.vectors import Vectors, products

Purpose = Literal["query", "passage"]


class Embedder(Protocol):
    """Makes unit vectors of texts. A text with nothing known in it becomes a zero vector."""

    @property
    def name(self) -> str:
        """What settings call it."""
        ...

    @property
    def version(self) -> str:
        """Changes whenever the vectors do: rows of different versions are never mixed."""
        ...

    @property
    def dimension(self) -> int: ...

    @property
    def at_once(self) -> bool:
        """Fast enough to run inside `record`."""
        ...

    @property
    def trust(self) -> float:
        """How much its scores count beside full text's."""
        ...

    def embed(self, texts: Sequence[str], *, purpose: Purpose = "passage") -> Vectors: ...


@dataclass(frozen=True, slots=True)
class Calibration:
    """A monotone map from an embedder's cosine to a similarity that means the same for every embedder."""

    points: tuple[tuple[float, float], ...]
    """(cosine, calibrated), both rising; straight lines between them."""

    def __call__(self, cosine: float) -> float:
        return float(self.all(np.array([cosine]))[0])

    def all(self, cosines: NDArray[np.floating[Any]]) -> NDArray[np.float64]:
        """The same for many at once."""
        places, values = zip(*self.points, strict=True)
        return np.round(np.interp(cosines, places, values), 6)

    def cosine(self, calibrated: float) -> float:
        """The cosine that has this calibrated similarity: what a threshold is turned into before a scan."""
        places, values = zip(*self.points, strict=True)
        return float(np.interp(calibrated, values, places))

    @property
    def middle(self) -> float:
        """The cosine in the middle of unrelated pairs."""
        return self.cosine(MEANINGS[0][1])

    @property
    def deviation(self) -> float:
        """The standard deviation of unrelated pairs, read off the nine tenths that are less similar."""
        return (self.cosine(MEANINGS[1][1]) - self.middle) / NINE_TENTHS


NINE_TENTHS: Final = 1.2816
"""Standard deviations above the middle below which nine tenths of a normal distribution lie."""
MEANINGS: Final = ((0.50, 0.30), (0.90, 0.55), (0.99, 0.70))
"""The share of unrelated pairs that are less similar, and the calibrated similarity that it is called."""


_measured: dict[str, Calibration] = {}


def calibrate(embedder: Embedder) -> Calibration:
    """The quantile map of an embedder, measured once in a process: a few milliseconds for a static one."""
    known = _measured.get(embedder.version)
    if known is None:
        known = _measured[embedder.version] = _measure(embedder)
    return known


def _measure(embedder: Embedder) -> Calibration:
    """On `TOPICS`. One that tells no texts apart, as a test's may, has its cosines taken as they are."""
    vectors = embedder.embed([sentence for topic in TOPICS for sentence in topic], purpose="passage")
    owners = np.repeat(np.arange(len(TOPICS)), [len(topic) for topic in TOPICS])
    unrelated = products(vectors, vectors)[np.triu(owners[:, None] != owners)].astype(np.float64)
    quantiles = np.quantile(unrelated, [share for share, _ in MEANINGS])
    points = [(-1.0, 0.0), *((float(q), value) for q, (_, value) in zip(quantiles, MEANINGS, strict=True)), (1.0, 1.0)]
    if not all(low < high for (low, _), (high, _) in pairwise(points)):
        return Calibration(points=((-1.0, 0.0), (1.0, 1.0)))
    return Calibration(points=tuple((round(place, 6), value) for place, value in points))
