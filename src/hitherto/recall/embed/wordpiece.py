"""WordPiece as BERT's uncased models cut text, without a tokenizer library.

The default embedder must load in milliseconds with nothing but numpy. Words are cut once and remembered, which
makes a message cost a few microseconds.
"""

import re
import unicodedata
from collections.abc import Sequence
from functools import lru_cache
from typing import Final

from hitherto.text.analyser import bound_marks

_MAX_WORD: Final = 64
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
        """Vocabulary places of a word's pieces; none for a word that cannot be cut into known ones."""
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
    """Without accents. Runs of marks are bounded first: ordering them takes time quadratic in their number."""
    decomposed = unicodedata.normalize("NFD", bound_marks(text))
    return "".join(character for character in decomposed if not _dropped(character))


@lru_cache(maxsize=1 << 14)
def _dropped(character: str) -> bool:
    category = unicodedata.category(character)
    return category == "Mn" or (category[0] == "C" and not character.isspace())
