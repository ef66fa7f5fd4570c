"""The default embedder: a table with one vector for each WordPiece, distilled from a sentence encoder.

A text's vector is the weighted sum of its pieces' vectors, rare pieces weighing more. There is no model to run, so a
turn is embedded within `record` and a message within the query. `scripts/distil_static.py` makes the table.
"""

from collections import Counter
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from hitherto.recall.embed.base import Purpose
from hitherto.recall.embed.wordpiece import WordPiece
from hitherto.recall.vectors import Codes, Vectors, unit

TABLE: Final = Path(__file__).with_name("static.npz")
VERSION: Final = "32392f06d41e0ae7965e8c1b5273a0a9eb091ffb7344b915251b4d1b19d12f9b"
"""The SHA-256 of the table's file."""


class StaticEmbedder:
    """Sums of table rows. Safe to share between threads."""

    def __init__(self, codes: Codes, scales: NDArray[np.float32], vocabulary: Sequence[str]) -> None:
        self.name = "static"
        self.version = VERSION
        self.at_once = True
        self.trust = 0.7
        self._codes = codes
        self._scales = scales
        self._pieces = WordPiece(vocabulary)

    @property
    def dimension(self) -> int:
        return self._codes.shape[1]

    def embed(self, texts: Sequence[str], *, purpose: Purpose = "passage") -> Vectors:
        """One row for each text; queries and passages are treated alike."""
        del purpose
        rows = np.zeros((len(texts), self.dimension), dtype=np.float32)
        for row, text in zip(rows, texts, strict=True):
            counts = Counter(self._pieces.encode(text))
            if counts:
                places = np.fromiter(counts.keys(), dtype=np.int64, count=len(counts))
                weights = np.fromiter(counts.values(), dtype=np.float32, count=len(counts)) * self._scales[places]
                row[:] = weights @ self._codes[places].astype(np.float32)
        return unit(rows)


@cache
def static_embedder() -> StaticEmbedder:
    """The table that comes with the package, loaded once."""
    with np.load(TABLE) as table:
        codes: Codes = table["codes"]
        scales: NDArray[np.float32] = table["scales"]
        vocabulary = bytes(table["vocabulary"]).decode().split("\n")
    return StaticEmbedder(codes, scales, vocabulary)
