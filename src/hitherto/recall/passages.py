"""Long texts by paragraph: a story is found, and shown, by the paragraph that answers rather than by its average.

A text within `LONGEST` tokens is one passage. A longer one is cut at its paragraphs, and a paragraph
that is too long itself at its sentences, in the last resort between words. The cut depends on the text
alone, so what was indexed and what is shown are the same passages.
"""

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import pairwise
from typing import Final

import numpy as np
from numpy.typing import NDArray

from hitherto.text.analyser import stems
from hitherto.tokens import tokenizer

LONGEST: Final = 500
"""Tokens of o200k, whatever family a context is counted in."""
SHOWN: Final = 500
"""Characters of an earlier turn in a context, but for the best one, which is shown by its passage."""
MOST: Final = 64
"""Passages of one text; what stands behind them is found by its words only."""

FEW_SENTENCES: Final = 9
"""In a text of more, somebody explains rather than tells."""

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


def about(text: str, asked: Sequence[str], *, most: int = SHOWN) -> str:
    """The run of whole sentences, in at most so many characters, that says most of what is asked; "" for a text that is
    short enough to be shown as it is, or that says nothing of it.

    Words are compared by how they begin: this runs for every long text of a context, so nothing is stemmed here.
    """
    if len(text) <= most or not asked:
        return ""
    starts = [0, *(gap.end() for gap in _SENTENCE.finditer(text))]
    said = [(bisect_right(starts, match.start()) - 1, match[0].lower()) for match in _beginning(asked).finditer(text)]
    if not said:
        return ""
    counts = Counter(word for _, word in said)
    ends = [*starts[1:], len(text)]
    best, span = -1.0, (0, 0)
    for first in dict.fromkeys(sentence for sentence, _ in said):
        last = first
        while last + 1 < len(starts) and ends[last + 1] - starts[first] <= most:
            last += 1
        worth = sum(1.0 / counts[word] for word in dict.fromkeys(w for at, w in said if first <= at <= last))
        if worth > best:
            best, span = worth, (starts[first], ends[last])
    begin, end = span
    shown = text[begin:end].strip()
    shown = shown if len(shown) <= most else shown[:most].rsplit(maxsplit=1)[0]
    return f"{'… ' if begin else ''}{shown}{' …' if begin + len(shown) < len(text.rstrip()) else ''}"


def couples(text: str) -> list[str]:
    """Each two sentences that follow each other; none of a text that has no more than two, or more than a few."""
    said = [part.strip() for part in _SENTENCE.split(text) if part.strip()]
    return [" ".join(two) for two in pairwise(said)] if 2 < len(said) <= FEW_SENTENCES else []


@lru_cache(maxsize=256)
def _beginning(asked: tuple[str, ...]) -> re.Pattern[str]:
    """Words that begin like one of these stems; the y of "happy" is an i in its stem."""
    begins = sorted({re.escape(stem.removesuffix("i")) for stem in asked}, key=lambda stem: (-len(stem), stem))
    return re.compile(rf"\b(?:{'|'.join(begins)})", re.IGNORECASE)


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
    return tokenizer().count_once(text)
