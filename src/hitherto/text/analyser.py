"""The one analyser: text to stems, for both stores and for queries.

Full-text engines tokenise in ways of their own, so the same words would rank differently on SQLite and PostgreSQL. Stems
are therefore made here, stored as they are, and scored by `store/columns.py`. A text is stemmed in its own language, or as
English if the language cannot be told. A question asks for the stems of every language that the user writes in, and for the
English ones as well, because earlier versions stemmed every text as English: nothing is missed while those texts wait to be
re-indexed. Any change that alters the output for an existing text must raise `ANALYSER_VERSION`, by which background work
knows what to re-index.

Hostile text is ordinary input: NUL bytes, lone surrogates, a megabyte without a space, a thousand combining marks. The text
is cut into words before anything super-linear runs, and words are bounded.
"""

import re
import threading
import unicodedata
from collections.abc import Collection
from functools import lru_cache
from importlib import import_module
from itertools import pairwise
from typing import Final, Literal, Protocol, cast

from hitherto.text.languages import ENGLISH, Language, detect, language

ANALYSER_VERSION: Final = "2"

MAX_WORD: Final = 48
"""Longer words (hashes, base64, keyboard mashing) keep only their beginning."""

_CACHED_RUN: Final = 64
_MAX_MARKS: Final = 4
_SHORT_TEXT: Final = 2_000
_LONG_TEXT: Final = 1 << 20
_LONG_TEXT_STEMS: Final = 50_000
_RUN = re.compile(r"[a-z0-9]++(?:'[a-z0-9]++)*+(?![^\x00-\x7f])|(?:[a-z0-9]|[^\x00-\x7f])(?:[a-z0-9']|[^\x00-\x7f])*+")
_ASCII_RUNS: Final = bytes(
    ord(sign.lower()) if sign.isalnum() or sign == "'" else ord(" ") for sign in map(chr, range(128))
).ljust(256)
_PIECE = re.compile(r"[^\W\d_]+(?:'[^\W\d_]+)*|[\w]+|[^\w']+")
_DIGIT = re.compile(r"[0-9]")
_APOSTROPHES: Final = str.maketrans(dict.fromkeys("\u2019\u2018\u02bc\uff07\u2032", "'"))

# Scripts written without spaces between words are cut into overlapping pairs of characters.
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

_UNSPACED_SCRIPTS: Final = frozenset({"kana", "han", "hangul"})
_LIGATURES: Final = {"œ": "oe", "æ": "ae", "ß": "ss", "ø": "o", "ł": "l", "ı": "i", "đ": "d"}

Kind = Literal["word", "pairs", "emoji", "flag", "mark", "apostrophe", ""]

_local = threading.local()


class _Stemmer(Protocol):
    def stemWord(self, word: str) -> str: ...  # noqa: N802 - the library's name


def stems(text: str) -> list[str]:
    """The stems of `text` in reading order, repetitions included, stop words left out."""
    return list(_cached_stems(text)) if len(text) <= _SHORT_TEXT else _stems(text)


def _stems(text: str) -> list[str]:
    code = detect(text)
    return _stems_in(text, language(code)) if code and code != ENGLISH else _plain_stems(text)


@lru_cache(maxsize=256)
def _cached_stems(text: str) -> tuple[str, ...]:
    """Recording asks for the stems of a text twice, for the index and for its length, which would take an eighth of its
    time. In a batch, the second request comes after the first requests for all the other texts."""
    return tuple(_stems(text))


def asked_stems(text: str, *, likely: Collection[str] = ()) -> tuple[list[str], list[str]]:
    """The stems of a question, plus the stems of the same words in other languages the answer may be in: `likely` are those
    the user writes in.
    """
    code = detect(text, likely=likely) or ENGLISH
    others = dict.fromkeys(one for one in (ENGLISH, *sorted(likely)) if one != code)
    own = stems_as(text, code)
    if not others:
        return own, []
    said = set(own)
    # "how" and "did" are not stop words in other languages, where they would mean nothing.
    telling = " ".join(run for run in _runs(text) if stems_as(run, code))
    return own, [stem for other in others for stem in dict.fromkeys(stems_as(telling, other)) if stem not in said]


def stems_as(text: str, code: str) -> list[str]:
    """The stems of a text in a given language, whatever language it is written in."""
    return _plain_stems(text) if code == ENGLISH else _stems_in(text, language(code))


def _plain_stems(text: str) -> list[str]:
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


def _stems_in(text: str, known: Language) -> list[str]:
    """Stems by the rules of a language other than English; scripts without spaces are cut as everywhere else."""
    found: list[str] = []
    for run in _runs(text):
        found.extend(_run_in(run, known.code) if len(run) <= _CACHED_RUN else _wide(run))
    return found


@lru_cache(maxsize=1 << 16)
def _run_in(run: str, code: str) -> tuple[str, ...]:
    known = language(code)
    if known.script in _UNSPACED_SCRIPTS or not known.stemmer:
        return tuple(stem for stem in _wide(run) if stem not in known.stop)
    found: list[str] = []
    for piece in _PIECE.findall(unicodedata.normalize("NFC", bound_marks(run)).casefold()):
        if not piece[0].isalpha() or _kind(piece[0]) != "word":
            found.extend(_wide(piece))
            continue
        word = _without_elision(piece, known)
        if word not in known.stop and piece not in known.stop:
            found.append(_folded(_stemmer(known.stemmer).stemWord(word[:MAX_WORD]), known.keep))
    return tuple(stem for stem in found if stem)


def _without_elision(word: str, known: Language) -> str:
    """A word without its elided article: "l'église", "dell'anno"."""
    first, _, rest = word.partition("'")
    while rest and first in known.elisions:
        word = rest
        first, _, rest = word.partition("'")
    return word.replace("'", "")


def _folded(stem: str, keep: str) -> str:
    """Without accents, except on letters that are distinct in this language: "año" is not "ano"."""
    if stem.isascii():
        return stem
    return "".join(letter if letter in keep else _bare(letter) for letter in stem)


@lru_cache(maxsize=1 << 12)
def _bare(letter: str) -> str:
    return _LIGATURES.get(letter) or unicodedata.normalize("NFKD", letter)[0]


def words(text: str) -> list[str]:
    """The words of `text`, normalised but neither stemmed nor filtered: for names, cues and time expressions."""
    found: list[str] = []
    for run in _runs(text):
        if run.isascii():
            found.append(run[:MAX_WORD])
        else:
            found.extend(_segments(run))
    return found


class _BoundedStems:
    """Stems for one long text: beyond a bound of different words, the rest stay unstemmed.

    Stemming costs 20 µs per new word, so ten megabytes of random letters would take half a minute; no prose comes near the
    bound. It counts the words of this text only, so the result does not depend on what was cached before.
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
    """The runs of letters and digits of a text, in lower case. For pure ASCII, splitting at the other characters gives the
    same result in half the time."""
    if not text.isascii():
        return _RUN.findall(text.translate(_APOSTROPHES).lower())
    said = text.encode().translate(_ASCII_RUNS).decode()
    return _RUN.findall(said) if "'" in said else said.split()


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
    return _stemmer("english").stemWord(word)


def _stemmer(name: str) -> "_Stemmer":
    """Snowball's stemmer of that name, one per thread, because it keeps state."""
    held: dict[str, _Stemmer] | None = getattr(_local, "stemmers", None)
    if held is None:
        held = _local.stemmers = {}
    stemmer = held.get(name)
    if stemmer is None:
        # The module has no types. The pure-Python class is used on purpose, whichever C stemmer is installed.
        module = import_module(f"snowballstemmer.{name}_stemmer")
        stemmer = held[name] = cast(_Stemmer, getattr(module, f"{name.capitalize()}Stemmer")())
    return stemmer


@lru_cache(maxsize=1 << 14)
def _wide_cached(run: str) -> tuple[str, ...]:
    return _wide(run)


def _wide(run: str) -> tuple[str, ...]:
    """Stems of a run that contains characters beyond ASCII."""
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
    """Compatibility-normalised and case-folded, Latin letters without their accents; runs of marks are bounded.

    The bound keeps normalising linear: ordering marks takes time quadratic in their number.
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
    """Overlapping pairs of characters (a mark belongs to its base), and single Han characters as well, because they are
    words.
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


STOPWORDS: Final = language(ENGLISH).stop
"""Words that carry no topic in an English chat."""
