"""Traces: what ranking needs of turns and records without their texts.

One trace is a narrow row; a user's ten thousand of them are read at once, before the first search. So they travel as columns:
numbers as arrays, the few names that repeat on every row as small numbers beside a list of what they mean, and all vectors
in one piece. Looked at one by one they are `Trace`s.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
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
    """One column of names: each row's place in the list of those that occur."""

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
        """The column in somebody else's numbers, who learns the names that are new."""
        meant = [numbers.setdefault(name, len(numbers)) for name in self.names]
        return np.array(meant, dtype=np.int64)[self.numbers]

    def column(self) -> list[Name]:
        return [self.names[number] for number in self.numbers.tolist()]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Traced(Sequence[Trace]):
    """Traces as columns, in the order of `seq`; equal to any tuple of the same ones."""

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
        """From rows that hold a trace's fields in their order."""
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
        """Several as one; each begins after the one before it."""
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
            return NOTHING
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


NOTHING: Final = Traced.of(())
