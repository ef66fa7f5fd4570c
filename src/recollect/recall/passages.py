"""Long texts by paragraph: a story is found, and shown, by the paragraph that answers rather than by its average.

A text within `LONGEST` tokens is one passage. A longer one is cut at its paragraphs, and a paragraph
that is too long itself at its sentences, in the last resort between words. The cut depends on the text
alone, so what was indexed and what is shown are the same passages.
"""

import re
from collections.abc import Iterator, Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from recollect.text.analyse import stems
from recollect.tokens import tokenizer

LONGEST: Final = 500
"""Tokens of o200k, whatever family a context is counted in."""
MOST: Final = 64
"""Passages of one text; what stands behind them is found by its words only."""

_PARAGRAPH: Final = re.compile(r"\n\s*\n+")
_SENTENCE: Final = re.compile(r"(?<=[.!?…。！？])\s+|\n+")
_PROBABLY_SHORT: Final = LONGEST
"""A text has no more tokens than bytes, so one of so few needs no counting."""
_WORDS: Final = 200


def passages(text: str) -> tuple[str, ...]:
    """The passages of a long text, in order; nothing for one that is short enough to stand as a whole."""
    if len(text.encode("utf-8", "surrogatepass")) <= _PROBABLY_SHORT or _tokens(text) <= LONGEST:
        return ()
    found = [part for paragraph in _PARAGRAPH.split(text) for part in _pieces(paragraph) if part.strip()]
    return tuple(found[:MOST])


def best(found: Sequence[str], asked: Sequence[str], similarities: NDArray[np.float32]) -> int:
    """The passage that answers best: the share of the asked stems in it, and its similarity, which may be missing."""
    wanted = set(asked)
    shares = [len(wanted & set(stems(passage))) / max(len(wanted), 1) for passage in found]
    scores = np.array(shares)
    if len(similarities) == len(found):
        scores = scores + np.maximum(similarities, 0.0)
    return int(np.argmax(scores))


def _pieces(paragraph: str) -> Iterator[str]:
    if _tokens(paragraph) <= LONGEST:
        yield paragraph.strip()
        return
    held = ""
    for sentence in (part for whole in _SENTENCE.split(paragraph) for part in _bounded(whole)):
        joined = f"{held} {sentence}".strip()
        if held and _tokens(joined) > LONGEST:
            yield held
            held = sentence
        else:
            held = joined
    yield held


def _bounded(sentence: str) -> Iterator[str]:
    """A sentence, or what is left of one that never ends: runs of words, and of characters where there are no words."""
    if _tokens(sentence) <= LONGEST:
        yield sentence
        return
    words = sentence.split()
    if len(words) > 1:
        size = min(_WORDS, (len(words) + 1) // 2)
        for start in range(0, len(words), size):
            yield from _bounded(" ".join(words[start : start + size]))
    else:
        size = max(LONGEST // 4, 1)
        yield from (sentence[start : start + size] for start in range(0, len(sentence), size))


def _tokens(text: str) -> int:
    return tokenizer().count(text)
