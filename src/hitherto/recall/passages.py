"""Splits long texts by paragraph: a story is found, and shown, by the paragraph that answers rather than by its average.

A text of at most `LONGEST` tokens is one passage. A longer one is cut into paragraphs, a paragraph that is still too long
into sentences, and as a last resort between words. The cut depends on the text alone, so the same passages are indexed and
shown.
"""

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import pairwise
from typing import Final, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from hitherto.text.analyser import stems_as
from hitherto.text.languages import ENGLISH, detect
from hitherto.tokens import tokenizer

LONGEST: Final = 500
"""Tokens of o200k, whichever family a context is counted in."""
SHOWN: Final = 500
"""Characters of an earlier turn in a context, except the best one, which is shown by its passage."""
MOST: Final = 64
"""The most passages of one text; what follows them is found by its words only."""

FEW_SENTENCES: Final = 9
"""In a text with more of them, somebody explains rather than tells."""

_PARAGRAPH: Final = re.compile(r"\n\s*\n+")
# A space after the end of a sentence, or a line feed; written so that the search can leap from space to space, in a third
# of the time.
_SENTENCE: Final = re.compile(r"\s(?:(?<=[.!?…。！？]\s)\s*|(?<=\n)\n*)")
# Where the same gaps end, in half the time.
_END: Final = re.compile(r"[.!?…。！？\n](?:(?<=\n)\n*|\s+)")
_ASCII_END: Final = re.compile(r"[.!?\n](?:(?<=\n)\n*|\s+)")
_WORDS: Final = 200


def passages(text: str) -> tuple[str, ...]:
    """The passages of a long text, in order; none for a text that is short enough to stand as a whole."""
    if _fits(text):
        return ()
    found = [part for paragraph in _PARAGRAPH.split(text) for part in _pieces(paragraph) if part.strip()]
    return tuple(found[:MOST])


class _Cut(NamedTuple):
    """A long text cut up: where each passage stands in it, or the passage where it was put together of what does not follow
    each other, and what is said where, by hash."""

    places: tuple[tuple[int, int] | str, ...]
    stems: NDArray[np.int64]
    owners: NDArray[np.uint8]
    """The passage of each stem; each has a stem once."""

    @classmethod
    def of(cls, text: str) -> Self:
        parts, code = passages(text), detect(text) or ENGLISH
        said = [dict.fromkeys(stems_as(part, code)) for part in parts]
        places: list[tuple[int, int] | str] = []
        end = 0
        for part in parts:
            begin = text.find(part, end)
            end = begin + len(part) if begin >= 0 else end
            places.append((begin, end) if begin >= 0 else part)
        return cls(
            tuple(places),
            np.array([hash(stem) for one in said for stem in one], dtype=np.int64),
            np.repeat(np.arange(len(parts), dtype=np.uint8), [len(one) for one in said]),
        )

    def best(self, asked: Sequence[str], similarities: NDArray[np.float32]) -> int:
        """The passage that answers best: the share of the asked stems in it, and its similarity, which may be missing."""
        wanted = set(asked)
        counts = np.zeros(len(self.places))
        for stem in wanted:
            counts[self.owners[self.stems == hash(stem)]] += 1
        scores = counts / max(len(wanted), 1)
        if len(similarities) == len(self.places):
            scores += np.maximum(similarities, 0.0)
        return int(np.argmax(scores))


class LongTexts:
    """Cuts and stems long texts once: that takes half a millisecond, a context shows ten of them, and the next one some
    of the same. Remembered by hash, without their words but for a passage put together of what does not follow each other;
    a text of 5,000 characters takes 7 kB."""

    def __init__(self, most: int = 1_024) -> None:
        self._most = most
        self._known: dict[tuple[int, int], _Cut] = {}

    def __len__(self) -> int:
        return len(self._known)

    def best(self, text: str, asked: Sequence[str], similarities: NDArray[np.float32]) -> str:
        """The passage of a text that answers best; "" for one that is short enough to stand as a whole."""
        name = hash(text), len(text)
        cut = self._known.pop(name, None) or _Cut.of(text)
        self._known[name] = cut
        if len(self._known) > self._most:
            del self._known[next(iter(self._known))]
        if not cut.places:
            return ""
        place = cut.places[cut.best(asked, similarities)]
        return place if isinstance(place, str) else text[slice(*place)]

    def forget(self) -> None:
        self._known.clear()


def about(text: str, asked: Sequence[str], *, most: int = SHOWN) -> str:
    """The run of whole sentences, within so many characters, that says most of what is asked; "" for a text that is short
    enough to be shown whole, or that says nothing about it.

    Words are compared by their beginnings: this runs for every long text of a context, so nothing is stemmed here.
    """
    if len(text) <= most or not asked:
        return ""
    found = _beginning(asked)(text)
    if not found:
        return ""
    starts = [0, *[gap.end() for gap in (_ASCII_END if text.isascii() else _END).finditer(text)]]
    ends = [*starts[1:], len(text)]
    words = [word for _, word in found]
    sentences = [bisect_right(starts, at) - 1 for at, _ in found]
    worths = {word: 1.0 / count for word, count in Counter(words).items()}
    best, span, last = -1.0, (0, 0), 0
    for place, first in enumerate(sentences):
        if place and first == sentences[place - 1]:
            continue
        last = max(last, first)
        while last + 1 < len(starts) and ends[last + 1] - starts[first] <= most:
            last += 1
        said = words[place : bisect_right(sentences, last, place)]
        worth = sum([worths[word] for word in dict.fromkeys(said)])
        if worth > best:
            best, span = worth, (starts[first], ends[last])
    begin, end = span
    shown = text[begin:end].strip()
    shown = shown if len(shown) <= most else shown[:most].rsplit(maxsplit=1)[0]
    return f"{'… ' if begin else ''}{shown}{' …' if begin + len(shown) < len(text.rstrip()) else ''}"


def beginning(text: str, most: int) -> str:
    """The first whole sentences within so many characters, or at least part of the first one."""
    if len(text) <= most:
        return text
    end = 0
    for gap in _SENTENCE.finditer(text):
        if gap.start() > most:
            break
        end = gap.start()
    return text[:end].rstrip() + " …" if end else text[:most].rsplit(maxsplit=1)[0] + " …"


def couples(text: str) -> list[str]:
    """Every two consecutive sentences; none for a text that has at most two, or too many."""
    said = [part.strip() for part in _SENTENCE.split(text) if part.strip()]
    return [" ".join(two) for two in pairwise(said)] if 2 < len(said) <= FEW_SENTENCES else []


@lru_cache(maxsize=256)
def _beginning(asked: tuple[str, ...]) -> "_Beginning":
    return _Beginning({stem.removesuffix("i") for stem in asked})


class _Beginning:
    """Finds where a word of a text begins like one of some stems, and which; the y of "happy" is an i in its stem."""

    def __init__(self, stems: set[str]) -> None:
        self._begins = sorted(stems, key=lambda stem: (-len(stem), stem))
        self._any = re.compile(rf"\b(?:{'|'.join(map(re.escape, self._begins))})", re.IGNORECASE)
        self._plain = all(stem.isascii() and stem.isalnum() for stem in stems)

    def __call__(self, text: str) -> list[tuple[int, str]]:
        """Looking for the stems one by one takes a tenth of the time of the expression, which ordinary text does not need."""
        if not (self._plain and text.isascii()):
            return [(match.start(), match[0].lower()) for match in self._any.finditer(text)]
        lower, places = text.lower(), dict[int, str]()
        for stem in self._begins:
            at = lower.find(stem)
            while at >= 0:
                if at == 0 or not (lower[at - 1].isalnum() or lower[at - 1] == "_"):
                    places.setdefault(at, stem)
                at = lower.find(stem, at + 1)
        return sorted(places.items())


def _pieces(paragraph: str) -> Iterator[str]:
    """A paragraph, or its sentences in as many pieces as needed. No token of o200k reaches from punctuation across a space,
    so the sentences' own tokens add up to those of the piece; as long as even their bytes fit, they are not counted."""
    if _fits(paragraph):
        yield paragraph.strip()
        return
    held, tokens, uncounted, size = "", 0, "", 0
    for sentence in (part for whole in _SENTENCE.split(paragraph) for part in _bounded(whole)):
        more = f" {sentence}".rstrip() if held else sentence.strip()
        longer = _bytes(more)
        if held and tokens + size + longer > LONGEST:
            tokens, uncounted, size = tokens + _tokens(uncounted), "", 0
            if tokens + longer > LONGEST and tokens + _tokens(more) > LONGEST:
                yield held
                more = sentence.strip()
                held, tokens, uncounted, size = sentence, 0, more, _bytes(more)
                continue
        held, uncounted, size = f"{held} {sentence}".strip(), uncounted + more, size + longer
    yield held


def _bounded(sentence: str) -> Iterator[str]:
    """A sentence, or what is left of one that never ends: runs of words, and of characters if there are no words."""
    if _fits(sentence):
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


def _fits(text: str) -> bool:
    """Whether a text fits in one passage; it has no more tokens than bytes, so a short one need not be counted."""
    return _bytes(text) <= LONGEST or _tokens(text) <= LONGEST


def _bytes(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))


def _tokens(text: str) -> int:
    return tokenizer().count_uncached(text)
