"""Phrases of time in other languages, retold in English, which is what the grammar reads.

What "pasado mañana a las tres de la tarde" or "来週の金曜" means is reckoned in one place; a language only says how it puts it.
Its file lists phrases and their English, longest and most special first. What stands between two phrases is left
out; only where nothing but small words does, they are read as one.
"""

import re
from bisect import bisect_right
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Final

from hitherto.text.languages import CODES, language

__all__ = ["Translation", "to_english"]

_WEEKDAYS: Final = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_MONTHS: Final = (
    "January", "February", "March", "April", "May", "June",
    "July", "August", "September", "October", "November", "December",
)  # fmt: skip
_APART: Final = " elsewhere "
"""Stands for what is left out: a word that the grammar reads nothing across."""
_MOST_TEXT: Final = 4_000
_SENTENCE: Final = 60
_EVENING: Final = 6
"""Hours are counted anew from six in the evening in Thai."""
_ENDS: Final = re.compile(r"[.!?。！？\n]|\b(?:y|e|ed|et|and|und|en|и)\s*$")
"""Behind these another time begins."""
_HAN: Final = {character: number for number, character in enumerate("〇一二三四五六七八九")} | {"零": 0, "两": 2}
_HAN_NUMBER: Final = r"\d{1,4}|[〇零一二两三四五六七八九十]{1,3}"
_WIDE: Final = str.maketrans("０１２３４５６７８９：", "0123456789:")
_TRADITIONAL: Final = str.maketrans("週點後個兩號鐘時禮", "周点后个两号钟时礼")
_SLOT: Final = re.compile(r"\{(n|p|t|m|o|mo|wd|u|y|part)\}")
_COMMON: Final = r"""
{n}\.\s?{o}\.\s?{y} -> {n} {o} {y}
{n}[./]{o}[./]{y} -> {n} {o} {y}
{n}/{o}(?![\d/]) -> {n} {o}
(?<![\d.]){n}\.{o}\.(?!\d) -> {n} {o}
{y}-{o}-{n} -> {n} {o} {y}
(?<!\d){n}:{m}(?!\d) -> at {n}:{m}
"""


@dataclass(frozen=True, slots=True)
class Translation:
    """A text's phrases of time in English, and where each stood."""

    english: str
    places: tuple[tuple[int, int, int, int], ...]
    """Start and end in the English, start and end in the text."""

    def original(self, text: str, start: int, end: int) -> str:
        """What the text says where the English has this."""
        first = max(bisect_right(self.places, start, key=lambda place: place[0]) - 1, 0)
        last = max(bisect_right(self.places, end - 1, key=lambda place: place[0]) - 1, first)
        return text[self.places[first][2] : self.places[last][3]]


@dataclass(frozen=True, slots=True)
class _Phrase:
    pattern: re.Pattern[str]
    english: str


class _Phrasebook:
    """How one language speaks of time."""

    def __init__(self, table: Mapping[str, str], *, script: str) -> None:
        simplified, spaced = script == "han", script in {"latin", "cyrillic"}
        han = script in {"kana", "han"}
        self._written = _WIDE | _TRADITIONAL if simplified else _WIDE
        self._numbers = dict(zip(*[iter(table.get("numbers", "").split())] * 2, strict=True))
        self._weekdays = _meanings(table["weekdays"].split(), _WEEKDAYS)
        self._months = _meanings(table.get("months", "").split(), _MONTHS)
        units = [one.rpartition("=") for one in table["units"].split()]
        self._units = [(re.compile(said), meant) for said, _, meant in units]
        self._spaced = spaced
        kinds = {
            "n": _HAN_NUMBER if han else r"\d{1,4}|" + _either(self._numbers),
            "t": _HAN_NUMBER if han else r"\d{1,4}|" + _either(self._numbers),
            "m": _HAN_NUMBER if han else r"[0-5]\d",
            "o": _HAN_NUMBER if han else r"1[0-2]|0?[1-9]",
            "mo": _either(self._months) if self._months else "(?!)",
            "wd": _either(self._weekdays),
            "u": "|".join(said.pattern for said, _ in self._units),
            "y": r"(?:19|20)\d\d" if not han else r"(?:19|20)\d\d|[一二][〇零一二三四五六七八九]{3}",
        }
        lines = [*table["phrases"].strip().split("\n"), *_COMMON.strip().split("\n")]
        self._phrases = [self._phrase(line, kinds) for line in lines]
        edges = (r"(?<!\w)", r"(?!\w)") if spaced else ("", "")
        starts = "|".join(f"(?:{_unnamed(phrase.pattern.pattern)})" for phrase in self._phrases)
        self._any = re.compile(f"{edges[0]}(?:{starts}){edges[1]}", re.IGNORECASE)
        joints = "|".join(map(re.escape, table.get("joints", "").split()))
        self._joint = re.compile(rf"[\s,]*(?:(?:{joints})[\s,]*)*" if joints else r"[\s,]*", re.IGNORECASE)

    def to_english(self, text: str) -> Translation | None:
        text = text.translate(self._written)
        english, places, behind = "", list[tuple[int, int, int, int]](), 0
        for match in self._any.finditer(text):
            meant = self._meant(match[0])
            if not meant:
                continue
            if english:
                between = text[behind : match.start()]
                english += " " if self._joint.fullmatch(between) or _one_time(english, meant, between) else _APART
            places.append((len(english), len(english) + len(meant), match.start(), match.end()))
            english += meant
            behind = match.end()
        return Translation(english, tuple(places)) if places else None

    def _phrase(self, line: str, kinds: Mapping[str, str]) -> _Phrase:
        said, _, english = line.partition(" -> ")
        count = dict.fromkeys(kinds, 0)

        def group(slot: re.Match[str]) -> str:
            count[slot[1]] += 1
            return f"(?P<{slot[1]}_{count[slot[1]]}>{kinds[slot[1]]})"

        return _Phrase(re.compile(_SLOT.sub(group, said), re.IGNORECASE), english)

    def _meant(self, said: str) -> str:
        for phrase in self._phrases:
            match = phrase.pattern.fullmatch(said)
            if match is not None:
                found = {name.partition("_")[0]: value for name, value in match.groupdict().items() if value}
                return self._filled(phrase.english, found)
        return ""

    def _filled(self, english: str, found: Mapping[str, str]) -> str:
        return " ".join(_SLOT.sub(lambda slot: self._slot(slot[1], found), english).split())

    def _slot(self, kind: str, found: Mapping[str, str]) -> str:
        said = found.get("n" if kind in "pt" else kind, "").lower()
        match kind:
            case "n":
                return str(self._number(said))
            case "p":
                return str(self._number(said) - 1 or 12)
            case "t":
                return str(self._number(said) + _EVENING)
            case "m":
                return f"{self._number(said):02d}" if said else "00"
            case "o":
                return _MONTHS[(self._number(said) - 1) % 12]
            case "y":
                return said if said.isdigit() and said.isascii() else "".join(str(_HAN.get(one, 0)) for one in said)
            case "u":
                return next(meant for unit, meant in self._units if unit.fullmatch(said))
            case "wd":
                return self._weekdays[said]
            case _:
                return self._months.get(said, "")

    def _number(self, said: str) -> int:
        if said.isdigit() and said.isascii():
            return int(said)
        if said in self._numbers:
            return int(self._numbers[said])
        tens, ten, ones = said.rpartition("十")
        return (_HAN.get(tens, 1) * 10 if ten else 0) + _HAN.get(ones, 0)


def _one_time(before: str, meant: str, between: str) -> bool:
    """Whether an hour belongs to the day that the same sentence has named: "Thursday I have an interview at two"."""
    day = before.rpartition(_APART)[2]
    return (
        meant.startswith("at ") and " at " not in f" {day}" and len(between) < _SENTENCE and not _ENDS.search(between)
    )


def to_english(text: str, code: str) -> Translation | None:
    """The phrases of time of a text in one language; of one that does not tell, those of the language that finds most."""
    text = text[:_MOST_TEXT]
    if code:
        book = _phrasebook(code)
        return book.to_english(text) if book is not None else None
    books = [book for one in CODES if (book := _phrasebook(one)) is not None]
    found = [one for book in books if (one := book.to_english(text)) is not None]
    return max(found, key=lambda one: sum(end - start for *_, start, end in one.places), default=None)


@cache
def _phrasebook(code: str) -> _Phrasebook | None:
    known = language(code)
    table = known.tables.get("dates")
    return _Phrasebook(table, script=known.script) if table else None


def _meanings(said: list[str], meant: tuple[str, ...]) -> dict[str, str]:
    return {word: name for words, name in zip(said, meant, strict=False) for word in words.split("|")}


def _either(words: Mapping[str, str]) -> str:
    """Any of these words, longer ones first."""
    return "|".join(re.escape(word) for word in sorted(words, key=lambda word: -len(word)))


def _unnamed(pattern: str) -> str:
    return re.sub(r"\(\?P<\w+>", "(?:", pattern)
