"""Columns for ranking: traces, which are turns and records without their texts, and full-text matches.

A trace is a narrow row, and a user's ten thousand of them are read at once, before the first search. So they travel as
columns: numbers as arrays, the few names that repeat on every row as small numbers with a list of their meanings, and all
vectors in one piece. A single one is a `Trace`.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from math import log
from typing import Any, Final, Literal, NamedTuple, cast, overload

import numpy as np
from numpy.typing import NDArray

from hitherto.types import RecordKind, Role

Integers = NDArray[np.int64]
Name = str | None


class Trace(NamedTuple):
    """One turn or record version.

    `place` orders turns in their conversation; `at` is in microseconds since 1970; `vector` is the embedding of its own
    text as the embedder wrote it.
    """

    seq: int
    place: int
    noun: Literal["turn"] | RecordKind
    id: str
    at: int
    role: Role | None
    persona: str | None
    lane: str | None
    session: str | None
    speaker: str | None
    vector: bytes


Label = Literal["noun", "role", "persona", "lane", "session", "speaker"]
LABELS: Final[tuple[Label, ...]] = ("noun", "role", "persona", "lane", "session", "speaker")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Labels:
    """A column of names: for each row, an index into the list of distinct names."""

    names: tuple[Name, ...]
    numbers: Integers

    @classmethod
    def of(cls, column: Sequence[Name]) -> "Labels":
        names = {name: number for number, name in enumerate(dict.fromkeys(column))}
        return cls(names=tuple(names), numbers=np.fromiter(map(names.__getitem__, column), np.int64, len(column)))

    @classmethod
    def joined(cls, parts: Sequence["Labels"]) -> "Labels":
        numbers = {name: number for number, name in enumerate(parts[0].names)}
        columns = [part.numbers if part.names == parts[0].names else part.renumbered(numbers) for part in parts]
        return cls(names=tuple(numbers), numbers=np.concatenate(columns))

    def renumbered(self, numbers: dict[Name, int]) -> Integers:
        """The column in another numbering, which learns the names that are new to it."""
        meant = [numbers.setdefault(name, len(numbers)) for name in self.names]
        return np.array(meant, dtype=np.int64)[self.numbers]

    def column(self) -> list[Name]:
        return [self.names[number] for number in self.numbers.tolist()]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Traced(Sequence[Trace]):
    """Traces as columns, ordered by `seq`; equal to a tuple of the same traces."""

    seqs: Integers
    places: Integers
    times: Integers
    labels: Mapping[Label, Labels]
    ids: tuple[str, ...]
    sizes: Integers
    """How many bytes of `vectors` belong to each row."""
    vectors: bytes

    @classmethod
    def of(cls, rows: Iterable[tuple[Any, ...]]) -> "Traced":
        """Builds columns from rows that hold a trace's fields in order."""
        columns: tuple[tuple[Any, ...], ...] = tuple(zip(*rows, strict=True)) or ((),) * len(Trace._fields)
        seqs, places, nouns, ids, times, *names, vectors = columns
        return cls(
            seqs=np.array(seqs, dtype=np.int64),
            places=np.array(places, dtype=np.int64),
            times=np.array(times, dtype=np.int64),
            labels=dict(zip(LABELS, map(Labels.of, (nouns, *names)), strict=True)),
            ids=ids,
            sizes=np.fromiter(map(len, vectors), np.int64, len(vectors)),
            vectors=b"".join(vectors),
        )

    @classmethod
    def joined(cls, parts: Sequence["Traced"]) -> "Traced":
        """Joins several into one, in order."""
        if len(parts) == 1:
            return parts[0]
        return cls(
            seqs=np.concatenate([part.seqs for part in parts]),
            places=np.concatenate([part.places for part in parts]),
            times=np.concatenate([part.times for part in parts]),
            labels={name: Labels.joined([part.labels[name] for part in parts]) for name in LABELS},
            ids=tuple(chain.from_iterable(part.ids for part in parts)),
            sizes=np.concatenate([part.sizes for part in parts]),
            vectors=b"".join(part.vectors for part in parts),
        )

    def after(self, seq: int) -> "Traced":
        """Those written after an entry."""
        return self._between(int(np.searchsorted(self.seqs, seq, side="right")), len(self))

    def __len__(self) -> int:
        return len(self.ids)

    def __iter__(self) -> Iterator[Trace]:
        nouns, *names = (self.labels[name].column() for name in LABELS)
        ends = self._borders()[1:].tolist()
        vectors = [self.vectors[end - size : end] for end, size in zip(ends, self.sizes.tolist(), strict=True)]
        seqs, places, times = self.seqs.tolist(), self.places.tolist(), self.times.tolist()
        return map(Trace._make, zip(seqs, places, nouns, self.ids, times, *names, vectors, strict=True))

    @overload
    def __getitem__(self, index: int) -> Trace: ...
    @overload
    def __getitem__(self, index: slice) -> "Traced": ...
    def __getitem__(self, index: int | slice) -> "Trace | Traced":
        if isinstance(index, slice):
            return self._between(*index.indices(len(self))[:2])
        row = range(len(self))[index]
        return next(iter(self._between(row, row + 1)))

    def _between(self, start: int, end: int) -> "Traced":
        if (start, end) == (0, len(self)):
            return self
        if start >= end:
            return NO_TRACES
        part, borders = slice(start, end), self._borders()
        return Traced(
            seqs=self.seqs[part],
            places=self.places[part],
            times=self.times[part],
            labels={name: replace(one, numbers=one.numbers[part]) for name, one in self.labels.items()},
            ids=self.ids[part],
            sizes=self.sizes[part],
            vectors=self.vectors[borders[start] : borders[end]],
        )

    def _borders(self) -> Integers:
        """Where each row's vector begins, and where the last one ends."""
        return np.append(0, np.cumsum(self.sizes))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Traced | tuple) and tuple(self) == tuple(cast("Sequence[object]", other))

    def __hash__(self) -> int:
        return hash(tuple(self))


NO_TRACES: Final = Traced.of(())


# --- full-text matches: one message may match a thousand turns, and ranking takes them all at once -------------------------
#
# Their scores are the one BM25 of both stores: that of SQLite's FTS5, here as a pure function.
#
# FTS5 fixes k1 = 1.2 and b = 0.75. Its statistics are those of the whole index of one user and target (turns
# or records): every version with stems, live or retired, whatever its persona, lane or status; filters never
# change a score. Over these versions,
#
# - `documents` is their number, `total` the sum of their lengths, and a document's length is the number of its
#   stems, repetitions included;
# - a stem that `n` documents hold has idf = ln((documents - n + 0.5) / (n + 0.5)), or 1e-6 where that is not
#   positive (a stem in half of all documents or more), so that a match always scores above zero;
# - a document that holds it f times gains idf * f * (k1 + 1) / (f + k1 * (1 - b + b * length / average)).
#
# The gains are added in the order of the query's distinct stems and the sum is rounded to six places.


class Match(NamedTuple):
    """An entry and its score, higher is better: for full text, BM25 with this user's own statistics, rounded to 1e-6."""

    seq: int
    score: float


@dataclass(frozen=True, slots=True, eq=False)
class Matched(Sequence[Match]):
    """Matches ordered by `seq`; equal to a tuple of the same matches."""

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


NO_MATCHES: Final = Matched(np.zeros(0, dtype=np.int64), np.zeros(0))


K1 = 1.2
B = 0.75
_LEAST_IDF = 1e-6
PLACES = 6


def distinct(stems: Sequence[str]) -> tuple[str, ...]:
    """A query's distinct stems in order: repeating a word does not count twice."""
    return tuple(dict.fromkeys(stems))


def idf(*, documents: int, holding: int) -> float:
    """How much a stem that `holding` of all documents contain says about one of them."""
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
