"""What an embedder is, and what a similarity means, whichever embedder computed it.

Cosines of different models are not comparable: two unrelated sentences score .1 with one and .75 with another. So recipes
write thresholds as a *calibrated* similarity: each embedder's cosines are mapped through the quantiles of its own cosines
between unrelated everyday sentences, so that .7 always means "closer than 99 in 100 unrelated pairs".
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Final, Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from hitherto.errors import HithertoError, ServiceError
from hitherto.recall.vectors import Vectors, products

Purpose = Literal["query", "passage"]


class Embedder(Protocol):
    """Turns texts into unit vectors. A text in which nothing is known becomes a zero vector."""

    @property
    def name(self) -> str:
        """The name used in settings."""
        ...

    @property
    def version(self) -> str:
        """Changes whenever the vectors do: rows of different versions are never mixed."""
        ...

    @property
    def dimension(self) -> int: ...

    @property
    def at_once(self) -> bool:
        """Whether it is fast enough to run inside `record`."""
        ...

    @property
    def trust(self) -> float:
        """How much its scores count relative to full text's."""
        ...

    def embed(self, texts: Sequence[str], *, purpose: Purpose = "passage") -> Vectors: ...


@dataclass(frozen=True, slots=True)
class Calibration:
    """A monotone map from an embedder's cosine to a similarity that means the same for every embedder."""

    points: tuple[tuple[float, float], ...]
    """Pairs of (cosine, calibrated), both ascending, joined by straight lines."""

    def __call__(self, cosine: float) -> float:
        return float(self.all(np.array([cosine]))[0])

    def all(self, cosines: NDArray[np.floating[Any]]) -> NDArray[np.float64]:
        """The same for many at once."""
        places, values = zip(*self.points, strict=True)
        return np.round(np.interp(cosines, places, values), 6)

    def cosine(self, calibrated: float) -> float:
        """The cosine with this calibrated similarity, computed from a threshold before a scan."""
        places, values = zip(*self.points, strict=True)
        return float(np.interp(calibrated, values, places))

    @property
    def middle(self) -> float:
        """The median cosine of unrelated pairs."""
        return self.cosine(MEANINGS[0][1])

    @property
    def deviation(self) -> float:
        """The standard deviation of unrelated pairs, estimated from the nine tenths that are less similar."""
        return (self.cosine(MEANINGS[1][1]) - self.middle) / NINE_TENTHS


NINE_TENTHS: Final = 1.2816
"""Standard deviations above the mean below which nine tenths of a normal distribution lie."""
MEANINGS: Final = ((0.50, 0.30), (0.90, 0.55), (0.99, 0.70))
"""The share of unrelated pairs that are less similar, and the calibrated similarity assigned to it."""


_measured: dict[str, Calibration] = {}


def calibrate(embedder: Embedder) -> Calibration:
    """The quantile map of an embedder, measured once per process: a few milliseconds for a static one."""
    known = _measured.get(embedder.version)
    if known is None:
        known = _measured[embedder.version] = _measure(embedder)
    return known


def _measure(embedder: Embedder) -> Calibration:
    """Measured on `TOPICS`. For an embedder that cannot tell texts apart, such as a test's, cosines are used as they are."""
    vectors = embedder.embed([sentence for topic in TOPICS for sentence in topic], purpose="passage")
    owners = np.repeat(np.arange(len(TOPICS)), [len(topic) for topic in TOPICS])
    unrelated = products(vectors, vectors)[np.triu(owners[:, None] != owners)].astype(np.float64)
    quantiles = np.quantile(unrelated, [share for share, _ in MEANINGS])
    points = [(-1.0, 0.0), *((float(q), value) for q, (_, value) in zip(quantiles, MEANINGS, strict=True)), (1.0, 1.0)]
    if not all(low < high for (low, _), (high, _) in pairwise(points)):
        return Calibration(points=((-1.0, 0.0), (1.0, 1.0)))
    return Calibration(points=tuple((round(place, 6), value) for place, value in points))


# Everyday sentences in groups of one topic each: what calibration measures an embedder on.
#
# Sentences of different groups are unrelated. They are written for this purpose and plain on purpose: the same mix of
# statements and questions that a chat has.

TOPICS: Final[tuple[tuple[str, ...], ...]] = (
    (
        "My sister is expecting her first baby in October.",
        "We are painting the nursery a pale yellow.",
        "Did the midwife say everything looks fine?",
        "I am going to be an uncle and I can hardly believe it.",
        "They have not agreed on a name yet.",
    ),
    (
        "The car makes a grinding noise whenever I brake.",
        "The mechanic wants four hundred for new discs.",
        "I had the oil changed two months ago.",
        "Is it safe to drive with worn tyres?",
        "I might just sell it and take the train.",
    ),
    (
        "I have been learning Portuguese for half a year.",
        "The verbs are harder than I expected.",
        "My teacher makes us speak for the whole lesson.",
        "How do you remember so many new words?",
        "Next spring I would like to take the exam.",
    ),
    (
        "The deployment failed because of a missing environment variable.",
        "We rolled back and opened a ticket for the database team.",
        "Could you review my pull request before lunch?",
        "All the integration tests pass on my machine.",
        "The new service uses half as much memory.",
    ),
    (
        "I baked sourdough this morning and the crust came out perfect.",
        "You need to feed the starter twice a day.",
        "Which flour works best for rye bread?",
        "The oven has to be very hot with some steam.",
        "I burnt the last loaf, so this was a relief.",
    ),
    (
        "Our landlord wants to raise the rent by ten percent.",
        "The lease runs out at the end of August.",
        "We looked at a flat near the park with a balcony.",
        "Who pays for the broken heating?",
        "Moving again would cost us a fortune.",
    ),
    (
        "I ran my first half marathon on Sunday.",
        "My knee hurts a little when I climb stairs.",
        "The training plan has four runs a week.",
        "Do you stretch before or after a workout?",
        "I want to finish the next race under two hours.",
    ),
    (
        "Our old cat sleeps on the radiator all winter.",
        "The vet gave us drops for her eyes.",
        "She brought a mouse into the kitchen again.",
        "Do dogs and cats really fight that much?",
        "We adopted her from a shelter eleven years ago.",
    ),
    (
        "The band plays in a small club downtown tonight.",
        "I have been practising the same guitar solo for weeks.",
        "Their second album is so much better than the first.",
        "Can you read sheet music?",
        "We recorded three songs in my basement.",
    ),
    (
        "I could not sleep again and felt anxious all day.",
        "My therapist suggested writing down three good things.",
        "Some evenings the loneliness is hard to bear.",
        "What helps you when everything feels too much?",
        "Talking to an old friend made me feel lighter.",
    ),
    (
        "The flight to Lisbon leaves at six in the morning.",
        "We booked a room with a view of the river.",
        "Should I take a raincoat or will it be sunny?",
        "The visa took longer than the whole holiday.",
        "I lost my suitcase at the airport last time.",
    ),
    (
        "My tomatoes have brown spots on their leaves.",
        "We planted tulips along the fence last autumn.",
        "How often should I water the basil?",
        "The apple tree finally carries fruit this year.",
        "Snails have eaten all of my lettuce.",
    ),
    (
        "The bank declined my application for a mortgage.",
        "I try to put aside two hundred every month.",
        "Are index funds a sensible way to save for retirement?",
        "The tax return is due at the end of May.",
        "Inflation has eaten up my pay rise.",
    ),
    (
        "The exam covers photosynthesis and cell division.",
        "Our biology teacher lost the test papers.",
        "I have to hand in the essay by Friday.",
        "Could you explain what an enzyme does?",
        "The library is full during the exam weeks.",
    ),
)


# Checks on what embedders return, before anybody relies on it.
#
# An embedder may belong to the application, a library or another company. Whatever goes wrong in it becomes one error that
# recall and background work can handle; a vector of another size or without a value would otherwise be stored, and spoil
# every later search of that user.


class CheckedEmbedder:
    """Wraps an embedder and turns each of its failures into a ServiceError."""

    def __init__(self, inner: Embedder) -> None:
        self._inner = inner
        self.name, self.version, self.dimension = inner.name, inner.version, inner.dimension
        self.at_once, self.trust = inner.at_once, inner.trust

    def embed(self, texts: Sequence[str], *, purpose: Purpose = "passage") -> Vectors:
        try:
            found = np.asarray(self._inner.embed(texts, purpose=purpose), dtype=np.float32)
        except HithertoError:
            raise
        except Exception as error:
            raise ServiceError(f"{self.name} returned no vectors: {type(error).__name__}: {error}") from error
        wanted = (len(texts), self.dimension)
        if found.shape != wanted:
            raise ServiceError(f"{self.name} returned vectors of {found.shape}, not {wanted}")
        if not np.isfinite(found).all():
            raise ServiceError(f"{self.name} returned vectors with values that are not numbers")
        return found
