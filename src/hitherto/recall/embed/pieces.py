"""Cuts words into the pieces of a vocabulary without a tokenizer library: WordPiece, as in BERT's uncased models, and
unigrams, as in SentencePiece's models.

The default embedder must load in milliseconds with nothing but numpy. Words are cut once and remembered, so a message costs
a few microseconds.
"""

import re
import unicodedata
from collections.abc import Sequence
from functools import lru_cache
from typing import Final

from hitherto.text.analyser import bound_marks

_MAX_WORD: Final = 64
"""Hashes, base64 and keyboard mashing have no meaning to find."""
_HAN: Final = "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0002fa1f"
_WORD: Final = re.compile(rf"[{_HAN}]|[^\W_{_HAN}]+|[^\w\s]|_")


def words(text: str) -> list[str]:
    """Lower-cased words, signs one by one, Han characters one by one; accents are dropped."""
    if not text.isascii():
        text = _plain(text)
    return _WORD.findall(text.lower())


class WordPiece:
    """Cuts words into the longest pieces of a vocabulary, from the left."""

    def __init__(self, vocabulary: Sequence[str]) -> None:
        self._places = {piece: place for place, piece in enumerate(vocabulary)}
        self._cached = lru_cache(maxsize=1 << 16)(self._cut)

    def pieces(self, word: str) -> tuple[int, ...]:
        """Vocabulary indexes of a word's pieces; none for a word that cannot be cut into known ones."""
        return self._cached(word) if len(word) <= _MAX_WORD else ()

    def encode(self, text: str) -> list[int]:
        found: list[int] = []
        for word in words(text):
            found.extend(self.pieces(word))
        return found

    def _cut(self, word: str) -> tuple[int, ...]:
        found: list[int] = []
        start = 0
        while start < len(word):
            for end in range(len(word), start, -1):
                piece = word[start:end] if start == 0 else f"##{word[start:end]}"
                place = self._places.get(piece)
                if place is not None:
                    found.append(place)
                    start = end
                    break
            else:
                return ()
        return tuple(found)


def _plain(text: str) -> str:
    """Removes accents. Runs of marks are bounded first, because ordering them takes time quadratic in their number."""
    decomposed = unicodedata.normalize("NFD", bound_marks(text))
    return "".join(character for character in decomposed if not _dropped(character))


@lru_cache(maxsize=1 << 14)
def _dropped(character: str) -> bool:
    category = unicodedata.category(character)
    return category == "Mn" or (category[0] == "C" and not character.isspace())


# --- unigrams ---------------------------------------------------------------------------------------------------------
#
# The pieces of a vocabulary have scores, logarithms of how frequent they are, and of all ways to cut a word the one
# with the highest sum is taken. Scripts without spaces are cut the same way, a sentence at a time. A word that is no
# piece as it is written may be one in another case, which is how people write to each other.

_SPACE: Final = "▁"
_LONGEST_PIECE: Final = 16
_LONGEST_RUN: Final = 200
"""A longer run without a space is cut here, because finding the best cut takes time proportional to the run's length."""
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
        """Vocabulary indexes of the pieces; what no piece covers is left out."""
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
        """The best cut and its score, found through the best way to reach each position of the run."""
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
