"""The default embedder: tables with one vector for each piece of a word, distilled from sentence encoders.

A text's vector is the weighted sum of its pieces' vectors, rare pieces weighing more. There is no model to run, so a
turn is embedded within `record` and a message within the query. The first table is English and knows that best; the second
knows the pieces of sixteen languages and lies in the first one's space, so that a question in one language finds what was
said in another. It is read when a text in another language comes. `scripts/distil_static.py` makes the first and
`scripts/distil_multilingual.py` the second.
"""

import re
from collections import Counter
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any, Final, Protocol

import numpy as np
from numpy.typing import NDArray

from hitherto.recall.embed.base import Purpose
from hitherto.recall.embed.pieces import Unigram, WordPiece, words
from hitherto.recall.vectors import Codes, Vectors, unit
from hitherto.text.languages import ENGLISH, detect

TABLE: Final = Path(__file__).with_name("static.npz")
MULTILINGUAL: Final = TABLE.with_name("multilingual.npz")
VERSION: Final = "610367e48d5e3cac84b65e956ba931563c085458346cfb464e741187a71ef23c"
"""The SHA-256 of the two tables' files, one after the other."""

_OTHER_SCRIPT: Final = re.compile(
    r"[\u0370-\u1cff\u2c00-\u2dff\u2e80-\ud7ff\uf900-\ufdff\ufe70-\ufeff\uff66-\uffdc\U00020000-\U0003ffff]+"
)
"""Letters for which the English table has no words."""
_WHOLE: Final = 0.75
"""A text too short for its language to be detected is read as English if this many of its words are English."""


class Table(Protocol):
    """Sums of the rows of a text's pieces."""

    def sum(self, text: str) -> NDArray[np.floating[Any]] | None: ...


class EnglishTable:
    """One row of 256 dimensions for each WordPiece."""

    def __init__(self, codes: Codes, scales: NDArray[np.float32], vocabulary: Sequence[str]) -> None:
        self.vocabulary = vocabulary
        self.dimension = codes.shape[1]
        self._codes = codes
        self._scales = scales
        self._pieces = WordPiece(vocabulary)

    def sum(self, text: str) -> NDArray[np.floating[Any]] | None:
        counts = Counter(self._pieces.encode(text))
        if not counts:
            return None
        places = np.fromiter(counts.keys(), dtype=np.int64, count=len(counts))
        weights = np.fromiter(counts.values(), dtype=np.float32, count=len(counts)) * self._scales[places]
        return weights @ self._codes[places].astype(np.float32)

    def embed(self, texts: Sequence[str]) -> Vectors:
        rows = np.zeros((len(texts), self.dimension), dtype=np.float32)
        for row, text in zip(rows, texts, strict=True):
            found = self.sum(text)
            if found is not None:
                row[:] = found
        return unit(rows)

    def knows(self, text: str) -> bool:
        """Whether most words of a text are whole pieces."""
        cut = [self._pieces.pieces(word) for word in words(text)]
        return sum(len(pieces) == 1 for pieces in cut) >= _WHOLE * len(cut)


class MultilingualTable:
    """One row of 128 dimensions, four bits each, for each piece of a unigram model; `axes` lead to the English space."""

    def __init__(
        self,
        codes: NDArray[np.uint8],
        scales: NDArray[np.float32],
        axes: NDArray[np.float32],
        pieces: Unigram,
    ) -> None:
        self._codes = codes
        self._scales = scales
        self._axes = axes
        self._pieces = pieces

    def sum(self, text: str) -> NDArray[np.floating[Any]] | None:
        counts = Counter(self._pieces.encode(text))
        if not counts:
            return None
        places = np.fromiter(counts.keys(), dtype=np.int64, count=len(counts))
        weights = np.fromiter(counts.values(), dtype=np.float32, count=len(counts)) * self._scales[places]
        pairs = self._codes[places]
        rows = np.empty((len(places), 2 * pairs.shape[1]), dtype=np.float32)
        rows[:, 0::2], rows[:, 1::2] = pairs >> 4, pairs & 15
        return (weights @ (rows - 8)) @ self._axes


class StaticEmbedder:
    """Sums of table rows. Safe to share between threads."""

    def __init__(self, english: EnglishTable) -> None:
        self.name = "static"
        self.version = VERSION
        self.at_once = True
        self.trust = 0.7
        self._english = english

    @property
    def dimension(self) -> int:
        return self._english.dimension

    def embed(self, texts: Sequence[str], *, purpose: Purpose = "passage") -> Vectors:
        """One row for each text; queries and passages are treated alike."""
        del purpose
        rows = np.zeros((len(texts), self.dimension), dtype=np.float32)
        for place, text in enumerate(texts):
            for table, part in self._parts(text):
                found = table.sum(part)
                if found is not None:
                    rows[place] += found
        return unit(rows)

    def _parts(self, text: str) -> list[tuple[Table, str]]:
        """A text with the table that knows its language; words in another script always use the second table."""
        code = detect(text)
        if code not in {"", ENGLISH} or (not code and not self._english.knows(text)):
            return [(multilingual_table(), text)]
        if text.isascii() or not (others := _OTHER_SCRIPT.findall(text)):
            return [(self._english, text)]
        return [(self._english, _OTHER_SCRIPT.sub(" ", text)), (multilingual_table(), " ".join(others))]


@cache
def english_table() -> EnglishTable:
    with np.load(TABLE) as table:
        codes: Codes = table["codes"]
        scales: NDArray[np.float32] = table["scales"]
        vocabulary = bytes(table["vocabulary"]).decode().split("\n")
    return EnglishTable(codes, scales, vocabulary)


@cache
def multilingual_table() -> MultilingualTable:
    with np.load(MULTILINGUAL) as table:
        codes: NDArray[np.uint8] = table["codes"]
        scales: NDArray[np.float32] = table["scales"].astype(np.float32)
        axes: NDArray[np.float32] = table["axes"].astype(np.float32)
        scores: list[float] = table["scores"].tolist()
        vocabulary = bytes(table["vocabulary"]).decode().split("\n")
    return MultilingualTable(codes, scales, axes, Unigram(vocabulary, scores))


@cache
def static_embedder() -> StaticEmbedder:
    """The tables that come with the package, loaded once."""
    return StaticEmbedder(english_table())
