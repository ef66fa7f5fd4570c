"""Time phrases in other languages, translated into English, which is what the grammar reads.

The meaning of "pasado mañana a las tres de la tarde" or "来週の金曜" is worked out in one place; a language only says how it
phrases it. Its file lists phrases and their English, longest and most specific first. Whatever stands between two phrases
is left out; they are read as one phrase only if nothing but small words lies between them.
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
_SEASONS: Final = ("spring", "summer", "autumn", "winter")
_APART: Final = " elsewhere "
"""Stands for what is left out: a word that the grammar does not read across."""
_MOST_TEXT: Final = 4_000
_SENTENCE: Final = 60
_EVENING: Final = 6
"""Thai counts the hours anew from six in the evening."""
_ENDS: Final = re.compile(r"[.!?。！？\n]|\b(?:y|e|ed|et|and|und|en|и)\s*$")
"""After these words, another time begins."""
_HAN: Final = {character: number for number, character in enumerate("〇一二三四五六七八九")} | {"零": 0, "两": 2}
_HAN_NUMBER: Final = r"\d{1,4}|[〇零一二两三四五六七八九十]{1,3}"
_WIDE: Final = str.maketrans("０１２３４５６７８９：", "0123456789:")
_TRADITIONAL: Final = str.maketrans("週點後個兩號鐘時禮", "周点后个两号钟时礼")
_PLAIN: Final = str.maketrans(
    "áàâãéèêëíìîïóòôõúùûñçёÁÀÂÃÉÈÊËÍÌÎÏÓÒÔÕÚÙÛÑÇЁ", "aaaaeeeeiiiioooouuuncеAAAAEEEEIIIIOOOOUUUNCЕ"
)
_UMLAUTS: Final = {"ä": "ae?", "ö": "oe?", "ü": "ue?", "ß": "ss?"}
"""How they are typed without their dots: "uber" and "ueber"."""
_BUDDHIST: Final = 543
"""How far ahead the years of the Thai calendar are."""
_SLOT: Final = re.compile(r"\{(n|d|p|t|m|k|o|mo|s|wd|u|y)(2?)\}")
_COMMON: Final = r"""
{n}\.\s?{o}\.\s?{y} -> {n} {o} {y}
{n}[./-]{o}[./-]{y} -> {n} {o} {y}
{n}/{o}(?![\d/]) -> {n} {o}
(?<![\d.]){n}\.{o}\.(?!\d) -> {n} {o}
{y}-{o}-{n} -> {n} {o} {y}
(?<!\d){n}:{m} ?[-–~] ?{n2}:{m2}(?!\d) -> from {n}:{m} to {n2}:{m2}
(?<!\d){n}:{m}(?!\d) -> at {n}:{m}
"""


@dataclass(frozen=True, slots=True)
class Translation:
    """A text's time phrases in English, and where each one stood."""

    english: str
    places: tuple[tuple[int, int, int, int], ...]
    """Start and end in the English, start and end in the text."""

    def original(self, text: str, start: int, end: int) -> str:
        """The original words behind a stretch of the English."""
        first = max(bisect_right(self.places, start, key=lambda place: place[0]) - 1, 0)
        last = max(bisect_right(self.places, end - 1, key=lambda place: place[0]) - 1, first)
        return text[self.places[first][2] : self.places[last][3]]


class _Phrasebook:
    """How one language phrases times."""

    def __init__(self, table: Mapping[str, str], *, script: str, plain: bool) -> None:
        spaced, han = script in {"latin", "cyrillic"}, script in {"kana", "han"}
        self._written = _WIDE
        if script == "han":
            self._written = _WIDE | _TRADITIONAL
        elif plain:
            self._written = _WIDE | _PLAIN
            table = {name: said.translate(_PLAIN) for name, said in table.items()}
            table |= {name: _dotless(table.get(name, "")) for name in ("phrases", "units")}
        self._numbers = _typed(dict(zip(*[iter(table.get("numbers", "").split())] * 2, strict=True)))
        self._weekdays = _typed(_meanings(table["weekdays"].split(), _WEEKDAYS))
        self._months = _typed(_meanings(table.get("months", "").split(), _MONTHS))
        self._seasons = _typed(_meanings(table.get("seasons", "").split(), _SEASONS))
        units = [one.rpartition("=") for one in table["units"].split()]
        self._units = [(re.compile(said), meant) for said, _, meant in units]
        minutes = {said: number for said, number in self._numbers.items() if 5 <= int(number) < 60}
        kinds = {
            "n": _HAN_NUMBER if han else r"\d{1,4}|" + _either(self._numbers),
            "d": r"3[01]|[12]\d|0?[1-9]",
            "m": _HAN_NUMBER if han else r"[0-5]\d|" + _either(minutes),
            "o": _HAN_NUMBER if han else r"1[0-2]|0?[1-9]",
            "mo": _either(self._months) if self._months else "(?!)",
            "s": _either(self._seasons) if self._seasons else "(?!)",
            "wd": _either(self._weekdays),
            "u": "|".join(said.pattern for said, _ in self._units),
            "y": r"(?:19|20|25)\d\d" if not han else r"(?:19|20)\d\d|[一二][〇零一二三四五六七八九]{3}",
        }
        lines = [*table["phrases"].strip().split("\n"), *_COMMON.strip().split("\n")]
        edges = (r"(?<!\w)", r"(?!\w)") if spaced else ("", "")
        said = [self._phrase(line, kinds) for line in lines]
        self._phrases = [(re.compile(f"{edges[0]}(?:{one}){edges[1]}"), english) for one, english in said]
        self._any = re.compile(f"{edges[0]}(?:{'|'.join(_unnamed(one) for one, _ in said)}){edges[1]}")
        joints = "|".join(map(re.escape, table.get("joints", "").split()))
        self._joint = re.compile(rf"[\s,]*(?:(?:{joints})[\s,]*)*" if joints else r"[\s,]*")
        until = "|".join(map(re.escape, [*table.get("until", "").split(), "-", "–", "~", "〜"]))
        self._until = re.compile(rf"\s*(?:{until})\s*" + (rf"(?:(?:{joints})\s*)*" if joints else ""))

    def to_english(self, text: str) -> Translation | None:
        text = _lowered(text).translate(self._written)
        english, places, behind = "", list[tuple[int, int, int, int]](), 0
        for match in self._any.finditer(text):
            meant = self._meant(text, match.start())
            if not meant:
                continue
            if english:
                english += self._between(text[behind : match.start()], english, meant)
            places.append((len(english), len(english) + len(meant), match.start(), match.end()))
            english += meant
            behind = match.end()
        return Translation(english, tuple(places)) if places else None

    def _between(self, said: str, before: str, meant: str) -> str:
        """What joins two phrases in English: they are one time, the ends of one, or two."""
        hours = meant.startswith("at "), before.rpartition(_APART)[2].startswith("at ")
        if hours[0] == hours[1] and self._until.fullmatch(said):
            return " to "
        return " " if self._joint.fullmatch(said) or _one_time(before, meant, said) else _APART

    def _phrase(self, line: str, kinds: Mapping[str, str]) -> tuple[str, str]:
        """An expression and its English, both with slots."""
        said, _, english = line.partition(" -> ")
        count = dict.fromkeys(kinds, 0)

        def group(slot: re.Match[str]) -> str:
            count[slot[1]] += 1
            return f"(?P<{slot[1]}{slot[2]}_{count[slot[1]]}>{kinds[slot[1]]})"

        return _SLOT.sub(group, said), english

    def _meant(self, text: str, start: int) -> str:
        for pattern, english in self._phrases:
            match = pattern.match(text, start)
            if match is not None:
                found = {name.partition("_")[0]: value for name, value in match.groupdict().items() if value}
                return self._filled(english, found)
        return ""

    def _filled(self, english: str, found: Mapping[str, str]) -> str:
        return " ".join(_SLOT.sub(lambda slot: self._slot(slot[1], slot[2], found), english).split())

    def _slot(self, kind: str, place: str, found: Mapping[str, str]) -> str:
        said = found.get({"p": "n", "t": "n", "k": "m"}.get(kind, kind) + place, "")
        match kind:
            case "n" | "d":
                return str(self._number(said))
            case "p":
                return str(self._number(said) - 1 or 12)
            case "t":
                return str(self._number(said) + _EVENING)
            case "m":
                return f"{self._number(said):02d}" if said else "00"
            case "k":
                return f"{60 - self._number(said):02d}"
            case "o":
                return _MONTHS[(self._number(said) - 1) % 12]
            case "y":
                if not said:
                    return ""
                year = int(
                    said if said.isdigit() and said.isascii() else "".join(str(_HAN.get(one, 0)) for one in said)
                )
                return str(year - _BUDDHIST if year >= 2500 else year)
            case "u":
                return next(meant for unit, meant in self._units if unit.fullmatch(said))
            case "s":
                return self._seasons[said]
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
    """Whether an hour belongs to the day that the same sentence named: "Thursday I have an interview at two"."""
    day = before.rpartition(_APART)[2]
    return (
        meant.startswith("at ") and " at " not in f" {day}" and len(between) < _SENTENCE and not _ENDS.search(between)
    )


def to_english(text: str, code: str) -> Translation | None:
    """The time phrases of a text in one language; if the language is unknown, in the one that finds most."""
    text = text[:_MOST_TEXT]
    if code:
        book = _phrasebook(code, plain=_is_plain(text, code))
        return book.to_english(text) if book is not None else None
    books = [book for one in CODES if (book := _phrasebook(one, plain=_is_plain(text, one))) is not None]
    found = [one for book in books if (one := book.to_english(text)) is not None]
    return max(found, key=lambda one: sum(end - start for *_, start, end in one.places), default=None)


@cache
def _phrasebook(code: str, *, plain: bool) -> _Phrasebook | None:
    known = language(code)
    table = known.tables.get("dates")
    return _Phrasebook(table, script=known.script, plain=plain) if table else None


def _is_plain(text: str, code: str) -> bool:
    """Whether a text may be typed without accents: none stands in it. Nobody has to write the two dots of "ё"."""
    script = language(code).script
    return script == "cyrillic" or (script == "latin" and text.translate(_PLAIN) == text)


def _lowered(text: str) -> str:
    """In lower case, letter for letter, because phrases are looked for twice as fast in one case."""
    lowered = text.lower()
    return (
        lowered if len(lowered) == len(text) else "".join(one if len(one.lower()) > 1 else one.lower() for one in text)
    )


def _dotless(said: str) -> str:
    """An expression that also finds what is typed without umlauts."""
    return re.sub("[äöüß]", lambda letter: f"(?:{letter[0]}|{_UMLAUTS[letter[0]]})", said)


def _typed(words: Mapping[str, str]) -> dict[str, str]:
    """Words by all the spellings that `_dotless` finds."""
    found = dict(words)
    for word, meant in words.items():
        for more in ("", "e"):
            bare = word.translate(str.maketrans({"ä": f"a{more}", "ö": f"o{more}", "ü": f"u{more}", "ß": "ss"}))
            found.setdefault(bare, meant)
    return found


def _meanings(said: list[str], meant: tuple[str, ...]) -> dict[str, str]:
    return {word: name for words, name in zip(said, meant, strict=False) for word in words.split("|")}


def _either(words: Mapping[str, str]) -> str:
    """Any of these words, longer ones first."""
    return "|".join(re.escape(word) for word in sorted(words, key=lambda word: -len(word)))


def _unnamed(pattern: str) -> str:
    return re.sub(r"\(\?P<\w+>", "(?:", pattern)
