"""What kind of thing a sentence is: a linear model over its static embedding, hashed pieces of its spelling and a few cues.

Chat is written without capitals, apostrophes and patience, in many languages, so what a sentence is for cannot be read off
patterns. The weights are learnt by `scripts/train_classifier.py` from labelled lines; nothing here knows a word by itself.
Pieces are hashed for a whole batch at once, so a sentence costs some tens of microseconds.
"""

import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from hitherto.recall.embed.static import static_embedder

__all__ = ["KINDS", "ClassifiedLine", "Classifier", "Judged", "Kind", "classifier"]

Kind = Literal[
    "change",
    "condition",
    "confided",
    "correction",
    "diet",
    "dropped",
    "event",
    "family",
    "feeling",
    "habit",
    "health",
    "hearsay",
    "home",
    "identity",
    "joke",
    "missed",
    "order",
    "people",
    "pet",
    "plan",
    "possession",
    "promise",
    "question",
    "remind",
    "request",
    "secret",
    "settled",
    "skill",
    "smalltalk",
    "study",
    "taste",
    "work",
]
KINDS: Final[tuple[Kind, ...]] = get_args(Kind)
WEIGHTS: Final = Path(__file__).with_name("classifier.npz")
VERSION: Final = "73b7fb9bac2e72d3061546c39e974d54e668468db1a9aa11e66da79805ff2b48"
"""The SHA-256 of the weights' file."""
BUCKETS: Final = 8_192
SIZES: Final = (2, 3, 4, 5)
"""Lengths of the hashed runs of characters."""
LONGEST: Final = 600
"""Characters that are looked at; what a longer line is shows by then."""
CUES: Final = 10

_DIGIT: Final = re.compile(r"\d")
Floats = NDArray[np.float32]


@dataclass(frozen=True, slots=True, kw_only=True)
class ClassifiedLine:
    """A sentence as it was said, by whom, and the one before it if that was somebody else's."""

    text: str
    persona: bool = False
    before: str = ""


@dataclass(frozen=True, slots=True)
class Judged:
    """Probabilities for one line: that it is worth a note, that it must be remembered, and of each kind."""

    worth: float
    must: float
    kinds: dict[Kind, float]

    def is_(self, kind: Kind, at_least: float = 0.5) -> bool:
        return self.kinds[kind] >= at_least

    def most(self, *kinds: Kind) -> float:
        """The highest probability among some kinds."""
        return max(self.kinds[kind] for kind in kinds)


class Classifier:
    """The weights. Safe to share between threads."""

    def __init__(self, pieces: NDArray[np.int8], dense: Floats, scales: Floats, bias: Floats, embedder: str) -> None:
        known = static_embedder()
        self._pieces = pieces
        self._dense = dense if embedder == known.version else _without_meaning(dense, known.dimension)
        self._scales = scales
        self._bias = bias

    def judge(self, lines: Sequence[ClassifiedLine]) -> list[Judged]:
        """One judgement for each line, in order."""
        if not lines:
            return []
        starts, buckets = pieces(lines)
        gathered = np.add.reduceat(self._pieces[buckets], starts, axis=0, dtype=np.int32)
        sizes = np.diff(np.append(starts, len(buckets))).astype(np.float32)
        hashed = gathered * (self._scales / np.sqrt(sizes)[:, None])
        raw = hashed + features(lines) @ self._dense + self._bias
        chances = 1.0 / (1.0 + np.exp(-np.clip(raw, -30, 30)))
        return [Judged(row[0], row[1], dict(zip(KINDS, row[2:], strict=True))) for row in np.round(chances, 6).tolist()]


@cache
def classifier() -> Classifier:
    """The weights that come with the package, loaded once."""
    with np.load(WEIGHTS) as table:
        return Classifier(
            table["pieces"],
            table["dense"].astype(np.float32),
            table["scales"].astype(np.float32),
            table["bias"].astype(np.float32),
            bytes(table["embedder"]).decode(),
        )


def features(lines: Sequence[ClassifiedLine]) -> Floats:
    """The dense part: the embedding of each line and its cues."""
    known = static_embedder()
    meaning = known.embed([line.text[:LONGEST] for line in lines])
    return np.hstack([meaning, np.array([_cues(line) for line in lines], dtype=np.float32)])


def _cues(line: ClassifiedLine) -> tuple[float, ...]:
    text, before = line.text, line.before
    length = len(text)
    return (
        float(line.persona),
        float("?" in text or "？" in text),
        float(text.rstrip(" \"'”)😂💀").endswith(("?", "？"))),
        float(length < 16),
        min(length, 200) / 200,
        float(_DIGIT.search(text) is not None),
        float(bool(before)),
        float(before.rstrip().endswith(("?", "？"))),
        float("!" in text or "！" in text),
        float(line.persona and "?" in text),
    )


def _without_meaning(dense: Floats, dimension: int) -> Floats:
    """Weights of another embedder's numbers mean nothing, so the spelling decides alone."""
    return np.vstack([np.zeros((dimension, dense.shape[1]), dtype=np.float32), dense[-CUES:]])


def pieces(lines: Sequence[ClassifiedLine]) -> tuple[NDArray[np.intp], NDArray[np.int64]]:
    """Where each line's hashed pieces begin, and the buckets of all of them, line by line."""
    texts = [f" {line.text[:LONGEST].lower()} " for line in lines]
    codes = np.frombuffer("".join(texts).encode("utf-32-le", "surrogatepass"), dtype=np.uint32).astype(np.uint64)
    owners = np.repeat(np.arange(len(texts)), [len(text) for text in texts])
    voices = np.array([line.persona for line in lines], dtype=np.uint64)
    found: list[NDArray[np.uint64]] = []
    whose: list[NDArray[np.intp]] = []
    rolling = codes.copy()
    for size in range(2, max(SIZES) + 1):
        rolling = rolling[:-1] * np.uint64(1_000_003) + codes[size - 1 :]
        if size in SIZES:
            whole = owners[: len(rolling)] == owners[size - 1 :]
            found.append((rolling + np.uint64(size * 7919))[whole])
            whose.append(owners[: len(rolling)][whole])
    hashes, of = _words(codes, owners)
    two = of[:-1] == of[1:]
    for extra, owned in (
        (hashes, of),
        (hashes + (voices[of] + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15), of),
        ((hashes[:-1] * np.uint64(31) + hashes[1:])[two], of[:-1][two]),
    ):
        found.append(extra)
        whose.append(owned)
    all_hashes, all_owners = np.concatenate(found), np.concatenate(whose)
    order = np.argsort(all_owners, kind="stable")
    mixed = all_hashes[order] * np.uint64(0x9E3779B97F4A7C15)
    buckets = (mixed >> np.uint64(64 - 13)).astype(np.int64)
    starts = np.searchsorted(all_owners[order], np.arange(len(texts)))
    return starts, buckets


def _words(codes: NDArray[np.uint64], owners: NDArray[np.intp]) -> tuple[NDArray[np.uint64], NDArray[np.intp]]:
    """A hash for each run between spaces, and the line it stands in; an empty line has one empty word."""
    spaces = np.flatnonzero(codes == 32)
    places = np.arange(len(codes)) - spaces[np.searchsorted(spaces, np.arange(len(codes)), side="right") - 1]
    mixed = (codes + np.uint64(0x51ED27)) * (places.astype(np.uint64) * np.uint64(0x2545F4914F6CDD1D) + np.uint64(1))
    sums = np.add.reduceat(mixed ^ (mixed >> np.uint64(29)), spaces)
    lasting = np.append(np.diff(spaces), 1) > 1
    lasting |= np.append(owners[spaces][1:] != owners[spaces][:-1], True) & (owners[spaces] != owners[spaces - 1])
    return sums[lasting], owners[spaces][lasting]


def checksum() -> str:
    """The SHA-256 of the weights' file as it is."""
    return hashlib.sha256(WEIGHTS.read_bytes()).hexdigest()
