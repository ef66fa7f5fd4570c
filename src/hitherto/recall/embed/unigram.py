"""Words cut as SentencePiece's unigram models cut them, without that library.

The pieces of a vocabulary have scores, logarithms of how frequent they are, and of all ways to cut a word the one with the
highest sum is taken. Scripts without spaces are cut the same way, a sentence at a time. A word that is no piece as it is
written may be one in another case, which is how people write to each other.
"""

import re
import unicodedata
from collections.abc import Sequence
from functools import lru_cache
from typing import Final

from hitherto.text.analyser import bound_marks

_SPACE: Final = "▁"
_LONGEST_PIECE: Final = 16
_LONGEST_RUN: Final = 200
"""A longer run without a space is cut here: finding the best cut takes time with the length of the run."""
_MAX_WORD: Final = 64
"""Hashes, base64 and keyboard mashing have no meaning to find."""
_TELLING: Final = re.compile(r"[^\W_]")
_RUN: Final = re.compile(r"\S+")


class Unigram:
    """Cuts text into the likeliest pieces of a vocabulary. Safe to share between threads."""

    def __init__(self, pieces: Sequence[str], scores: Sequence[float]) -> None:
        self._places = {piece: place for place, piece in enumerate(pieces)}
        self._scores = list(scores)
        self._unknown = min(self._scores) - 10.0
        self._cached = lru_cache(maxsize=1 << 15)(self._run)

    def encode(self, text: str) -> list[int]:
        """Places of pieces in the vocabulary; what no piece covers is left out."""
        found: list[int] = []
        for run in _RUN.findall(unicodedata.normalize("NFKC", bound_marks(text))):
            if _TELLING.search(run) is None or (run.isascii() and len(run) > _MAX_WORD):
                continue
            for start in range(0, len(run), _LONGEST_RUN):
                found.extend(self._cached(run[start : start + _LONGEST_RUN]))
        return found

    def _run(self, run: str) -> tuple[int, ...]:
        spellings = dict.fromkeys((run, run.lower(), run.capitalize()))
        return max((self._cut(_SPACE + spelling) for spelling in spellings), key=lambda cut: cut[0])[1]

    def _cut(self, run: str) -> tuple[float, tuple[int, ...]]:
        """The best cut and its score, by the best way to reach each place of the run."""
        size = len(run)
        best = [0.0, *([float("-inf")] * size)]
        came: list[tuple[int, int]] = [(0, -1)] * (size + 1)
        for start in range(size):
            for end in range(start + 1, min(start + _LONGEST_PIECE, size) + 1):
                place = self._places.get(run[start:end])
                if place is None and end > start + 1:
                    continue
                score = best[start] + (self._unknown if place is None else self._scores[place])
                if score > best[end]:
                    best[end], came[end] = score, (start, -1 if place is None else place)
        found: list[int] = []
        at = size
        while at:
            at, place = came[at]
            if place >= 0:
                found.append(place)
        return best[size], tuple(reversed(found))
