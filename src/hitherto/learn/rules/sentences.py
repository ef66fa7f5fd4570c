"""Sentences of a turn, and the pieces of them that rules keep."""

import re
from datetime import datetime
from typing import Final

from hitherto.text.patterns import PatternTable
from hitherto.text.time.grammar import Tense
from hitherto.text.time.spans import ranges

__all__ = ["TABLE", "claims", "dated", "object_of", "plain_end", "sentences", "shortened", "third_person"]

TABLE: Final = PatternTable.read("hitherto.learn.rules", "rules.toml")

_LONGEST: Final = 320
_MOST: Final = 40
_SCANNED: Final = 6000
_BREAK: Final = re.compile(r"(?<=[.!?…])[\"'”’)]*\s+|\n+|(?<=[a-z0-9])\s+-\s+(?=[A-Z])")
_SHORT: Final = re.compile(r"\b(?:Mr|Mrs|Ms|Dr|St|Prof|vs|e\.g|i\.e|etc|a\.m|p\.m)\.$")
_QUOTED: Final = re.compile(r"```.*?(?:```|\Z)|^\s*>.*$", re.DOTALL | re.MULTILINE)
_PICTURE: Final = re.compile(r"\[shares [^\]]*\]")
_UNREAL: Final = TABLE.pattern("unreal")
_CLAUSE_END: Final = TABLE.pattern("clause_end")
_ASIDE: Final = TABLE.pattern("aside")
_RELATIVE_DAY: Final = TABLE.pattern("relative_day")
_EMPTY: Final = frozenset(
    (
        "it",
        "that",
        "this",
        "them",
        "you",
        "him",
        "her",
        "those",
        "these",
        "one",
        "some",
        "everything",
        "nothing",
        "me",
        "us",
    )
)
_PERSONS: Final = (
    (r"\bI'm\b|\bI am\b|\bI’m\b", "they are"),
    (r"\bI've\b|\bI’ve\b", "they have"),
    (r"\bI'll\b|\bI’ll\b", "they will"),
    (r"\bI'd\b|\bI’d\b", "they would"),
    (r"\bI was\b", "they were"),
    (r"\bI\b", "they"),
    (r"\bmyself\b", "themselves"),
    (r"\b[Mm]y\b", "their"),
    (r"\bmine\b", "theirs"),
    (r"\bme\b", "them"),
    (r"\bwe're\b|\bwe’re\b", "they are"),
    (r"\bwe've\b", "they have"),
    (r"\b[Ww]e\b", "they"),
    (r"\bour\b", "their"),
    (r"\bus\b", "them"),
)


def sentences(text: str) -> list[str]:
    """The sentences of a turn, without code, quotations and shared pictures; what is too long is no statement."""
    plain = _PICTURE.sub(" ", _QUOTED.sub(" ", text[:_SCANNED])).replace("’", "'")
    found: list[str] = []
    for piece in _BREAK.split(plain):
        sentence = piece.strip()
        if found and _SHORT.search(found[-1]):
            found[-1] = f"{found[-1]} {sentence}"
        elif sentence:
            found.append(sentence)
    return [sentence for sentence in found if len(sentence) <= _LONGEST][:_MOST]


def claims(text: str) -> list[str]:
    """The sentences that state something as a fact: no questions, no conditions, no wishes."""
    return [one for one in sentences(text) if not one.rstrip("\"' )").endswith("?") and _UNREAL.search(one) is None]


def object_of(rest: str, *, most: int = 10) -> str:
    """What a statement is about: the words up to the end of the clause, or nothing if that says nothing."""
    end = _CLAUSE_END.search(rest)
    words = plain_end(rest[: end.start()] if end else rest).split()
    if not words or len(words) > most or words[0].lower() in _EMPTY:
        return ""
    return " ".join(words).strip(" ,'\"*_")


def plain_end(text: str) -> str:
    """The text without the asides at its end ("by the way", "lol")."""
    while (shorter := _ASIDE.sub("", text)) != text:
        text = shorter
    return text


def dated(text: str, *, at: datetime, zone: str, tense: Tense | None = None) -> str:
    """A sentence that says "yesterday" means another day when it is read later: the day is added."""
    if _RELATIVE_DAY.search(text) is None:
        return text
    days = [
        f"{found.start:%Y-%m-%d}" for found in ranges(text, now=at, zone=zone, tense=tense) if found.start.year > 1000
    ]
    return f"{text.rstrip()} [{days[0]}]" if days else text


def third_person(text: str) -> str:
    """A first-person sentence as others would tell it."""
    for pattern, word in _PERSONS:
        text = re.sub(pattern, word, text)
    return text


def shortened(text: str, *, most: int) -> str:
    """The text, cut at a word with a mark if it is too long."""
    return text if len(text) <= most else f"{text[: most - 1].rsplit(' ', 1)[0]}…"
