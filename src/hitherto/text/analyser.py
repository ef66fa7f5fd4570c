"""The one analyser: text to stems, for both stores and for queries.

Full-text engines tokenise each in their own way, so the same words would rank differently on SQLite and
PostgreSQL. Stems are therefore made here, stored as they are, and scored by `lexical.py`. Anything that
changes the output for an existing text must raise `ANALYSER_VERSION`, because stems already written then no
longer match.

Hostile text is ordinary input: NUL bytes, lone surrogates, a megabyte without a space, a thousand combining
marks. The text is cut into words before anything super-linear runs, and words are bounded.
"""

import re
import threading
import unicodedata
from functools import lru_cache
from itertools import pairwise
from typing import Final, Literal, Protocol, cast

# The module has no types; the pure-Python class is taken on purpose, whatever C stemmer is installed.
from snowballstemmer.english_stemmer import EnglishStemmer  # pyright: ignore[reportMissingTypeStubs]

ANALYSER_VERSION: Final = "1"

MAX_WORD: Final = 48
"""Longer words (hashes, base64, keyboard mashing) keep their beginning only."""

_CACHED_RUN: Final = 64
_MAX_MARKS: Final = 4
_LONG_TEXT: Final = 1 << 20
_LONG_TEXT_STEMS: Final = 50_000
_RUN = re.compile(r"[a-z0-9]++(?:'[a-z0-9]++)*+(?![^\x00-\x7f])|(?:[a-z0-9]|[^\x00-\x7f])(?:[a-z0-9']|[^\x00-\x7f])*+")
_DIGIT = re.compile(r"[0-9]")
_APOSTROPHES: Final = str.maketrans(dict.fromkeys("\u2019\u2018\u02bc\uff07\u2032", "'"))

# Scripts written without spaces between words: they are cut into overlapping pairs of characters.
_UNSPACED: Final = (
    (0x0E00, 0x0EFF),  # Thai, Lao
    (0x1000, 0x109F),  # Myanmar
    (0x1780, 0x17FF),  # Khmer
    (0x3040, 0x30FF),  # Hiragana, Katakana
    (0x3400, 0x4DBF),  # Han, extension A
    (0x4E00, 0x9FFF),  # Han
    (0xAC00, 0xD7AF),  # Hangul: spaced, but particles stick to the word
    (0xF900, 0xFAFF),  # Han, compatibility
    (0x20000, 0x3FFFF),  # Han, further extensions
)

Kind = Literal["word", "pairs", "emoji", "flag", "mark", "apostrophe", ""]

_local = threading.local()


class _Stemmer(Protocol):
    def stemWord(self, word: str) -> str: ...  # noqa: N802 - the library's name


def stems(text: str) -> list[str]:
    """The stems of `text` in reading order, repeated words repeated, stop words left out."""
    found: list[str] = []
    append = found.append
    stem_of = _stem if len(text) < _LONG_TEXT else _BoundedStems()
    for run in _runs(text):
        if run.isascii():
            stem = stem_of(run) if len(run) <= MAX_WORD else run[:MAX_WORD]
            if stem:
                append(stem)
        elif len(run) <= _CACHED_RUN:
            found.extend(_wide_cached(run))
        else:
            found.extend(_wide(run))
    return found


def words(text: str) -> list[str]:
    """The words of `text`, normalised but neither stemmed nor filtered: for names, cues and time words."""
    found: list[str] = []
    for run in _runs(text):
        if run.isascii():
            found.append(run[:MAX_WORD])
        else:
            found.extend(_segments(run))
    return found


class _BoundedStems:
    """Stems for one long text: past so many different words the rest stay as they are.

    Stemming costs 20 µs a new word, so ten megabytes of random letters would take half a minute; no prose
    comes near the bound. It counts this text's words only, so the outcome does not depend on what was
    cached before.
    """

    def __init__(self) -> None:
        self._known: dict[str, str] = {}

    def __call__(self, word: str) -> str:
        stem = self._known.get(word)
        if stem is None:
            if len(self._known) >= _LONG_TEXT_STEMS:
                return "" if word in STOPWORDS else word
            stem = self._known[word] = _stem(word)
        return stem


def _runs(text: str) -> list[str]:
    if not text.isascii():
        text = text.translate(_APOSTROPHES)
    return _RUN.findall(text.lower())


@lru_cache(maxsize=1 << 16)
def _stem(word: str) -> str:
    """The stem of an ASCII word, or an empty string when it is a stop word."""
    if word in STOPWORDS:
        return ""
    if word.endswith("'s"):
        word = word[:-2]
        if word in STOPWORDS:
            return ""
    if "'" in word:
        word = word.replace("'", "")
    if _DIGIT.search(word):
        return word
    stemmer: _Stemmer | None = getattr(_local, "stemmer", None)
    if stemmer is None:
        stemmer = _local.stemmer = cast(_Stemmer, EnglishStemmer())  # keeps its state in itself: one for each thread
    return stemmer.stemWord(word)


@lru_cache(maxsize=1 << 14)
def _wide_cached(run: str) -> tuple[str, ...]:
    return _wide(run)


def _wide(run: str) -> tuple[str, ...]:
    """Stems of a run that holds other than ASCII characters."""
    found: list[str] = []
    for segment in _segments(run):
        if segment.isascii():
            stem = _stem(segment[:MAX_WORD])
            if stem:
                found.append(stem)
        elif _kind(segment[0]) == "pairs":
            found.extend(_pairs(segment))
        else:
            found.append(segment[:MAX_WORD])
    return tuple(found)


def _segments(run: str) -> list[str]:
    """Cut a run into words of one kind: spaced letters and digits, an unspaced script, one emoji."""
    segments: list[str] = []
    current: list[str] = []
    previous = ""
    for character in _fold(run):
        kind = _kind(character)
        if kind in {"mark", "apostrophe"}:
            if previous == "word" or (kind == "mark" and previous == "pairs"):
                current.append(character)
                continue
            kind = ""
        half_flag = kind == "flag" and previous == "flag" and len(current) == 1
        if (kind != previous or kind in {"emoji", "flag"}) and not half_flag:
            if current:
                segments.append("".join(current).rstrip("'"))
            current = []
        previous = kind
        if kind:
            current.append(character)
    if current:
        segments.append("".join(current).rstrip("'"))
    return segments


@lru_cache(maxsize=1 << 14)
def _kind(character: str) -> Kind:
    code = ord(character)
    if character == "'":
        return "apostrophe"
    category = unicodedata.category(character)
    if category[0] == "M":
        return "mark"
    if category[0] in "LN":
        return "pairs" if any(low <= code <= high for low, high in _UNSPACED) else "word"
    if category == "So":
        if 0x1F1E6 <= code <= 0x1F1FF:
            return "flag"
        if 0x2600 <= code <= 0x27BF or 0x1F000 <= code <= 0x1FAFF:
            return "emoji"
    return ""


def _fold(run: str) -> str:
    """Compatibility-normalised, case-folded, Latin letters without their accents; runs of marks are bounded.

    The bound is what keeps normalising linear: ordering marks takes time quadratic in their number.
    """
    decomposed = unicodedata.normalize("NFKD", bound_marks(run)).casefold()
    kept: list[str] = []
    latin = False
    for character in decomposed:
        if "\u0300" <= character <= "\u036f":
            if not latin:
                kept.append(character)
            continue
        latin = character.isascii()
        kept.append(character)
    return unicodedata.normalize("NFKC", "".join(kept)).translate(_APOSTROPHES)


def bound_marks(run: str) -> str:
    """A text with at most a few combining marks after each character."""
    kept: list[str] = []
    marks = 0
    for character in run:
        marks = marks + 1 if unicodedata.combining(character) else 0
        if marks <= _MAX_MARKS:
            kept.append(character)
    return "".join(kept)


def _pairs(segment: str) -> list[str]:
    """Overlapping pairs of characters (a mark belongs to its base); Han characters alone as well, as they
    are words.
    """
    bases: list[str] = []
    for character in segment:
        if bases and _kind(character) == "mark":
            bases[-1] += character
        else:
            bases.append(character)
    if len(bases) == 1:
        return bases
    pairs: list[str] = []
    for first, second in pairwise(bases):
        if _is_han(first):
            pairs.append(first)
        pairs.append(first + second)
    if _is_han(bases[-1]):
        pairs.append(bases[-1])
    return pairs


def _is_han(character: str) -> bool:
    code = ord(character[0])
    return 0x3400 <= code <= 0x9FFF or 0xF900 <= code <= 0xFAFF or code >= 0x20000


# The analyser's stop list.
#
# Pinned here rather than taken from a package, because a changed list silently changes every stored stem. It
# holds what carries no topic in a chat: function words, auxiliaries, question words, contractions and small
# talk's fillers. Negations are in it as well: BM25 cannot use them, and the stored text still says "not".

_FUNCTION_WORDS: Final = """
a about above across after again against all almost along already also although always am among an and
another any anyone anything are around as at away back be became because become been before behind being
below between both but by came can cannot could did do does doing done down during each either else enough
etc even ever every few for from further get gets getting give gives go goes going gone got had has have
having he her here hers herself him himself his how however i if in instead into is it its itself just keep
kept kind least less let like likely made make makes making many may maybe me might mine more most much must
my myself neither never no nobody none nor not nothing now of off often on once one ones only onto or other
others ought our ours ourselves out over own per perhaps quite rather really said same saw say says see seem
seems shall she should since so some someone something sometimes somewhat soon still such take takes taking
than that the their theirs them themselves then there these they thing things this those though through
throughout till to together too took toward towards under until unto up upon us use used using very via was
way we well went were what whatever when whenever where wherever whether which while who whoever whole whom
whose why will with within without would yes yet you your yours yourself yourselves
"""

_CONTRACTIONS: Final = """
i'm i've i'd i'll you're you've you'd you'll he's he'd he'll she's she'd she'll it's it'd it'll we're we've
we'd we'll they're they've they'd they'll that's that'd that'll there's there'd there'll here's what's
what're what'd what'll who's who'd who'll who're where's where'd when's why's why'd how's how'd how're let's
isn't aren't wasn't weren't don't doesn't didn't hasn't haven't hadn't won't wouldn't can't couldn't shan't
shouldn't mustn't mightn't needn't ain't y'all ma'am o'clock im ive youre youve dont doesnt didnt isnt arent
wasnt werent hasnt havent hadnt wont wouldnt cant couldnt shouldnt thats theres whats s t d ll m re ve
"""

_FILLERS: Final = """
ah aha eh er hey hi hm hmm hello huh lol mm oh ok okay omg please pls thank thanks uh uhm um wow yeah yep
yup nope haha
"""

STOPWORDS: Final = frozenset(f"{_FUNCTION_WORDS} {_CONTRACTIONS} {_FILLERS}".split())
