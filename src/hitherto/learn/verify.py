"""Whether a note was really said. Pure.

A reader that writes also invents. A note stands only if its quote stands in the turn that it names, word for word; its
names must occur in the passage or be known, and its numbers must be said, or be a date or time that the passage's words mean.
Words are not compared: "Ana is allergic to peanuts" may rest on "one EpiPen evening was enough". Nothing here is a guess
in the reader's favour, but that a quote is looked for in every line, because models miscount lines.
"""

import re
import unicodedata
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime, timedelta
from functools import cached_property, lru_cache
from typing import Final
from zoneinfo import ZoneInfo

from rapidfuzz.distance import DamerauLevenshtein

from hitherto.learn.notes import Line
from hitherto.safety.quarantine import quarantine
from hitherto.safety.secrets import find_secrets
from hitherto.text.time.spans import ranges
from hitherto.types import Origin, Quote

_WORD: Final = re.compile(r"[^\W_]+", re.UNICODE)
_INSIDE: Final = re.compile(r"(?<![.!?:\"“„¿¡]\s)(?<![.!?:\"“„¿¡])(?<!^)\b[^\W\d_]{2,}", re.MULTILINE)
"""A word inside a sentence: a name in every script that has capitals, if it begins with one."""
_SUBJECT: Final = re.compile(
    r"(?:^|[.!?:\"“]\s*)([^\W\d_]{3,})(?:['’]s)?\s+(?:(?:and|y|et|e|und)\s+\S+\s+)?"
    r"(?:is|was|are|were|has|had|will|would|can|could|may|might|must|does|did|[a-z]+(?:s|ed)|became|began|bought|brought|built|came"
    r"|caught|chose|drove|fell|felt|flew|forgot|found|gave|got|grew|heard|held|hurt|kept|knew|left|lent|lost|made|meant|met|paid|ran"
    r"|said|sang|sat|saw|sent|slept|sold|spent|spoke|stole|stood|swam|taught|threw|thought|told|took|understood|went|woke|won|wore|wrote"
    r"|está|era|tiene|vive|trabaja|quiere|va|ha|est|habite"
    r"|a|ist|hat|wohnt|è|é|ha|abita|mora|tem)\b"
)
"""The word that opens a sentence, where a verb follows: a name, if it is no ordinary word."""
_OPENERS: Final = frozenset(
    """the this that these those there here they she her his him its one both all each some any none nobody everybody
everyone somebody someone something nothing everything who what when where which how why and but then also now later
today tomorrow yesterday tonight after before since until while because although though not his their our your mine
work life home time ella ellos ellas este esta eso esa todo todos nadie alguien mañana hoy ayer luego también elle
elles ils tout tous demain hier aujourd personne ceci cela lei lui loro tutto tutti domani ieri oggi ela eles elas
tudo todos amanhã ontem hoje people friends family feelings plans user users
    likes loves wants works lives plays has hates needs plans enjoys prefers goes knows thinks feels says uses owns
    keeps""".split()  # noqa: SIM905 -- a list of this many words is read more easily so
)
_NUMBER: Final = re.compile(r"\d+(?:[.,:/-]\d+)*")
_WORDS_BEFORE: Final = re.compile(r"(?:[^\s()“”\":,]+\s+){0,2}[^\s()“”\":,]*$")
_WORDS_AFTER: Final = re.compile(r"[^\s()“”\":,]*(?:\s+[^\s()“”\":,]+){0,2}")
_ISO: Final = re.compile(r"\b(\d{4})-(\d{2})-(\d{2})\b")
_MONTH: Final = re.compile(r"\b(\d{4})-(\d{2})\b(?!-)")
_CLOCK: Final = re.compile(r"\b(\d{1,2}):(\d{2})\b")
_TIME_NAMES: Final = frozenset(
    """monday tuesday wednesday thursday friday saturday sunday january february march april may june july august september
october november december mon tue wed thu fri sat sun jan feb mar apr jun jul aug sep sept oct nov dec christmas
easter new year eve english i""".split()  # noqa: SIM905 -- a list of this many words is read more easily so
)
_TITLES: Final = frozenset(("mr", "mrs", "ms", "dr", "prof", "st", "sr", "sra", "herr", "frau", "mme", "sig"))
"""Short for words that were said in full."""
_GERMAN: Final = frozenset(
    """ich und der die das nicht ist ein eine mit auf für zu war hab habe wir sie mir mich dir dich""".split()  # noqa: SIM905 -- a list of this many words is read more easily so
)
_SPELT: Final = {
    word: str(number)
    for number, words in enumerate(
        (
            "zero no null cero",
            "one a an once uno una ein eine einen einem un une um uma 一",
            "two twice couple both dos zwei deux dois due 二 两",
            "three tres drei trois três tre 三",
            "four cuatro vier quatre quatro quattro 四",
            "five cinco fünf cinq cinque 五",
            "six seis sechs sei 六",
            "seven siete sieben sept sete sette 七",
            "eight ocho acht huit oito otto 八",
            "nine nueve neun neuf nove 九",
            "ten diez zehn dix dez dieci 十",
            "eleven once elf onze undici",
            "twelve dozen doce zwölf douze doze dodici noon",
            "thirteen trece dreizehn treize treze tredici",
            "fourteen catorce vierzehn quatorze quattordici",
            "fifteen quince fünfzehn quinze quindici quarter",
            "sixteen dieciséis sechzehn seize dezesseis",
            "seventeen diecisiete siebzehn dezessete",
            "eighteen dieciocho achtzehn dezoito",
            "nineteen diecinueve neunzehn dezenove",
            "twenty veinte zwanzig vingt vinte venti",
        )
    )
    for word in words.split()
}
_TENS: Final = dict(
    zip(["thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"], range(30, 100, 10), strict=True)
)
_AMBIGUOUS: Final = frozenset(("once", "noon", "quarter", "dozen", "sei", "sept", "no"))
"""Number words that mean something else in another language, or a time."""
_COUNTED: Final = 3
_SCALES: Final = {"hundred": 100, "thousand": 1_000, "million": 1_000_000}
_KILO: Final = re.compile(r"\b(\d+(?:[.,]\d+)?)\s?([km])\b", re.IGNORECASE)
_ORDINALS: Final = dict(
    zip(
        [
            "first",
            "second",
            "third",
            "fourth",
            "fifth",
            "sixth",
            "seventh",
            "eighth",
            "ninth",
            "tenth",
            "eleventh",
            "twelfth",
        ],
        range(1, 13),
        strict=True,
    )
)
_LEEWAY: Final = 15
"""Days around a line that words such as "the weekend after" may mean."""
_WHEN: Final = re.compile(
    r"\b(?:mon|tues?|wed|thur?s?|fri|sat|sun|day|week|month|fortnight|year|night|morning|evening|tomorrow|tmrw|tmr|yesterday"
    r"|today|tonight|next|last|ago|since|weekend|lunes|martes|mi[eé]rcoles|jueves|viernes|s[aá]bado|domingo|ma[ñn]ana|ayer|hoy|semana|mes"
    r"|montag|dienstag|mittwoch|donnerstag|freitag|samstag|sonntag|morgen|gestern|heute|woche|monat|tage?|jour|demain|hier|semaine"
    r"|amanh[ãa]|ontem|domani|ieri|settimana)\w*|[日週周月年曜]|明日|昨日|今日|明天|昨天|今天",
    re.IGNORECASE,
)


@lru_cache(maxsize=4_096)
def folded(text: str) -> str:
    """The words of a text, one space between them: case, punctuation and typographic marks left out."""
    return " ".join(_WORD.findall(unicodedata.normalize("NFKC", text).casefold()))


def same_words(quote: Quote, turn: str, words: str) -> bool:
    """Whether a quote is of these words of this turn: one holds the other."""
    return quote.turn == turn and (stands(quote.words, words) or stands(words, quote.words))


def stands(words: str, text: str) -> bool:
    """Whether a text holds these words as they are; parts that a reader joined by dots must follow each other."""
    pieces = [folded(piece) for piece in re.split(r"…|\.\.\.|\[…\]", words)]
    wanted = [piece for piece in pieces if piece]
    if not wanted:
        return False
    whole, place = f" {folded(text)} ", 0
    for piece in wanted:
        found = whole.find(f" {piece} " if piece.isascii() else piece, place)
        if found < 0:
            return False
        place = found + len(piece)
    return True


@dataclass(frozen=True)
class Ground:
    """What notes can rest on: the lines of a passage, and what is known (texts of memories, loops, names)."""

    lines: Sequence[Line]
    zone: str
    now: datetime
    known: Sequence[str] = ()
    """Texts that were verified before."""
    names: Sequence[str] = ()
    """Names of who talks and who is known."""
    earlier: Mapping[str, frozenset[str]] = field(default_factory=dict[str, frozenset[str]])
    """Words of earlier turns that known notes quote, by turn."""

    @cached_property
    def _by_turn(self) -> Mapping[str, Line]:
        return {line.turn.id: line for line in self.lines}

    @cached_property
    def _vocabulary(self) -> frozenset[str]:
        texts = (*(line.text for line in self.lines), *(line.speaker for line in self.lines), *self.known, *self.names)
        return frozenset(word for text in texts for word in folded(text).split())

    @cached_property
    def _german(self) -> bool:
        words = [word for line in self.lines for word in folded(line.text).split()]
        return sum(word in _GERMAN for word in words) * 12 > len(words) > 0

    @cached_property
    def _numbers(self) -> frozenset[str]:
        texts = (*(line.text for line in self.lines), *self.known, *self.names)
        plain = [_ISO.sub(" ", text) for text in texts]
        found = {part for text in plain for number in _NUMBER.findall(text) for part in _parts(number)}
        words = [word for text in plain for word in folded(text).split()]
        found |= _spoken_numbers(words)
        found |= {str(_ORDINALS[word]) for word in words if word in _ORDINALS}
        for text in texts:
            found |= {_thousands(match) for match in _KILO.finditer(text)}
        digits = [re.sub(r"\D", "", word) for word in words]
        found |= {digit.lstrip("0") or digit for digit in digits if digit}
        return frozenset(found)

    @cached_property
    def days(self) -> frozenset[date]:
        """Every day that the lines' words can mean, the days on which they were said, and those beside the days that are known:
        the evening before a race is on no calendar."""
        there = ZoneInfo(self.zone)
        found: set[date] = {self.now.astimezone(there).date()}
        for line in self.lines:
            said = line.turn.at.astimezone(there).date()
            found |= {said + timedelta(days=n) for n in (-1, 0, 1)}
            if _WHEN.search(line.text):
                found |= {said + timedelta(days=n) for n in range(-_LEEWAY, _LEEWAY + 1)}
            for tense in ("past", "near", "future"):
                for one in ranges(line.text, now=line.turn.at, zone=self.zone, tense=tense):
                    found |= _span(one.start.astimezone(there).date(), one.end.astimezone(there).date())
        for text in self.known:
            known = [day for match in _ISO.findall(text) if (day := _day(*match)) and 1 < day.year < 9999]
            found |= {day + timedelta(days=n) for day in known for n in (-1, 0, 1)}
        return frozenset(found)

    @cached_property
    def _years(self) -> frozenset[int]:
        return frozenset(day.year + n for day in self.days for n in (-1, 0, 1))

    def said_day(self, at: datetime | None) -> bool:
        """Whether the lines' words can mean the day of this moment; the end of a day is that day's."""
        if at is None:
            return True
        day = (at - timedelta(seconds=1)).astimezone(ZoneInfo(self.zone)).date()
        return day in self.days or f"{day}" in " ".join(self.known)

    def quotes(self, given: Iterable[Quote]) -> tuple[Quote, ...]:
        """Those quotes that stand in their turn, or in another line of the passage, which is then named."""
        found: dict[tuple[str, str], Quote] = {}
        for quote in given:
            turn = self._turn_of(quote)
            if turn is not None:
                found.setdefault((turn, folded(quote.words)), Quote(turn=turn, words=" ".join(quote.words.split())))
        return tuple(found.values())

    def _turn_of(self, quote: Quote) -> str | None:
        line = self._by_turn.get(quote.turn)
        if line is not None and stands(quote.words, line.text):
            return quote.turn
        if quote.words in self.earlier.get(quote.turn, ()):
            return quote.turn
        if len(folded(quote.words).split()) < 2 and quote.words.isascii():
            return None
        return next((line.turn.id for line in reversed(self.lines) if stands(quote.words, line.text)), None)

    def refused(self, text: str, *, origin: Origin = "assistant") -> str | None:
        """Why a sentence cannot stand: a secret or order in it, a name or number that nobody said. A user may give orders
        that stand (`origin`), but attack nobody."""
        if find_secrets(text):
            return "secret"
        if quarantine(text, origin) is not None:
            return "order"
        if self.unknown_name(text) is not None:
            return "name"
        return None if self._numbers_said(text) else "number"

    def unknown_name(self, text: str) -> str | None:
        """The first name in a text that nobody said and nobody is known by. German writes every noun like a name."""
        if self._german:
            return None
        for name in (
            *_INSIDE.findall(text),
            *(word for word in _SUBJECT.findall(text) if folded(word) not in _OPENERS),
        ):
            if not name[0].isupper():
                continue
            word = folded(name.removesuffix("'s").removesuffix("’s"))
            if word not in _TIME_NAMES and not self.named(word):
                return name
        return None

    def unstated_name(self, text: str, quotes: Collection[Quote]) -> str | None:
        """The first name in a text on the user that the persona alone has said, in lines that are neither quoted nor answered
        by a quoted one: what was asked about, or what the persona talked of, is no news of the user."""
        quoted = {quote.turn for quote in quotes}
        heard: list[Line] = []
        asked: Line | None = None
        for line in self.lines:
            if line.turn.role != "assistant":
                heard.append(line)
                if asked is not None and line.turn.id in quoted:
                    heard.append(asked)
            elif line.turn.id in quoted:
                heard.append(line)
            else:
                asked = line
        return replace(self, lines=heard).unknown_name(text)

    def named(self, name: str) -> bool:
        """Whether every word of a name occurs, give or take its spelling."""
        return all(self._said(word) for word in folded(name).split())

    def _said(self, word: str) -> bool:
        if word in self._vocabulary or word.removesuffix("s") in self._vocabulary or word in _TITLES:
            return True
        if not word.isascii() and any(word in other for other in self._vocabulary):
            return True
        return len(word) >= 4 and any(_spelt_alike(word, other) for other in self._vocabulary)

    def _numbers_said(self, text: str) -> bool:
        rest = text
        for pattern, allowed in ((_ISO, self._iso_said), (_MONTH, self._month_said), (_CLOCK, self._clock_said)):
            for match in pattern.finditer(rest):
                if not allowed(match[0], match):
                    return False
            rest = pattern.sub(" ", rest)
        said = self._numbers | {str(year) for year in self._years}
        unsaid = (found for found in _NUMBER.finditer(rest) if not said.issuperset(_parts(found[0])))
        if not all(self._day_named(rest, found) for found in unsaid):
            return False
        return all(map(self._run_said, _runs(folded(rest).split())))

    def _day_named(self, text: str, number: re.Match[str]) -> bool:
        """Whether a number is the day of a month, as in "2 March", and that day was meant."""
        before, after = _WORDS_BEFORE.search(text[: number.start()]), _WORDS_AFTER.match(text, number.end())
        phrase = f"{before[0] if before else ''}{number[0]}{after[0] if after else ''}"
        meant = {(day.month, day.day) for day in self.days}
        for one in ranges(phrase, now=self.now, zone=self.zone):
            start = one.start.astimezone(ZoneInfo(self.zone)).date()
            if number[0] in _NUMBER.findall(one.text) and (start.month, start.day) in meant:
                return True
        return False

    def _run_said(self, run: Sequence[str]) -> bool:
        """Whether a number in words was said, or all of its words; one and two are words for much else."""
        if all((_value(word) < _COUNTED and word not in _SCALES) or word in _AMBIGUOUS for word in run):
            return True
        if _meanings(run) & self._numbers:
            return True
        return _SCALES.keys().isdisjoint(run) and all(str(_value(word)) in self._numbers for word in run)

    def _iso_said(self, text: str, match: re.Match[str]) -> bool:
        day = _day(*match.groups())
        if day is None:
            return False
        if day in self.days or any(text in known for known in self.known):
            return True
        return str(day.day) in self._numbers and (day.year in self._years or str(day.year) in self._numbers)

    def _month_said(self, text: str, match: re.Match[str]) -> bool:
        del text
        year, month = int(match[1]), int(match[2])
        return 1 <= month <= 12 and (year in self._years or match[1] in self._numbers)

    def _clock_said(self, text: str, match: re.Match[str]) -> bool:
        hour, minute = int(match[1]), int(match[2])
        if any(text in line.text for line in self.lines) or any(text in known for known in self.known):
            return True
        hours = {str(hour), str(hour % 12 or 12), str(hour % 12 + 1)}
        spoken = bool(hours & self._numbers)
        return spoken and (
            minute in (0, 15, 30, 45) or str(minute) in self._numbers or f"{hour % 12}{minute:02}" in self._numbers
        )


@lru_cache(maxsize=16_384)
def _spelt_alike(word: str, other: str) -> bool:
    """Another spelling, ending or derived form of a word that was said."""
    if min(len(word), len(other)) < 3 or word[0] != other[0]:
        return False
    if len(word) >= 5 and len(other) >= 5 and (word.startswith(other[:5]) and abs(len(word) - len(other)) <= 4):
        return True
    return DamerauLevenshtein.distance(word, other) <= (1 if len(word) < 6 else 2)


def _thousands(match: re.Match[str]) -> str:
    """The number that "180k" or "1.5m" is short for."""
    return str(round(float(match[1].replace(",", ".")) * (1_000 if match[2].lower() == "k" else 1_000_000)))


def _spoken_numbers(words: Sequence[str]) -> set[str]:
    """Numbers as they are said: "fifty four", "six forty", "one eighty five", "two hundred ten", "oh nine"; of each run of
    number words what they may mean, alone, side by side and taken together."""
    found: set[str] = set()
    for run in _runs(words):
        for start in range(len(run)):
            for end in range(start + 1, min(len(run), start + 8) + 1):
                found |= _meanings(run[start:end])
    return found


def _runs(words: Sequence[str]) -> Iterator[Sequence[str]]:
    run: list[str] = []
    for word in (*words, ""):
        if word in _SPELT or word in _TENS or (run and word in _SCALES):
            run.append(word)
        elif word == "oh":
            run.append("zero")
        elif run and word != "and":
            yield run
            run = []


def _meanings(run: Sequence[str]) -> set[str]:
    """What number words mean when they are added up, or said digit by digit."""
    joined, total, part = "", 0, 0
    for before, word in zip(("", *run), run, strict=False):
        if word in _SCALES:
            part = max(part, 1) * _SCALES[word]
            total, part = (total + part, 0) if _SCALES[word] > 100 else (total, part)
            joined = ""
        else:
            value = _value(word)
            unit = before in _TENS and value < 10
            joined = joined[:-1] + str(value) if unit and joined else joined + str(value)
            part += value
    found = {str(total + part), joined.lstrip("0")} - {""}
    if joined.startswith("0") and len(joined) == 2:
        found |= {f"20{joined}", f"19{joined}"}
    return found


def _value(word: str) -> int:
    return int(_SPELT[word]) if word in _SPELT else _TENS.get(word, 0)


def _parts(number: str) -> Iterator[str]:
    """A number and the numbers that it is made of, without leading zeros and thousands' marks."""
    joined = re.sub(r"(?<=\d)[.,](?=\d{3}\b)", "", number)
    for part in re.split(r"[.,:/-]", joined):
        yield part.lstrip("0") or "0"


def _span(first: date, end: date) -> set[date]:
    days = (end - first).days
    if days > 40:
        return {first, end, end - timedelta(days=1)}
    return {first + timedelta(days=n) for n in range(max(days, 0) + 1)}


def _day(year: str, month: str, day: str) -> date | None:
    try:
        return date(int(year), int(month), int(day))
    except ValueError:
        return None


MORNING: Final = 9
"""The hour that stands for a whole day."""


def moment(text: str, *, zone: str, hour: int = MORNING) -> datetime | None:
    """A day, or a day with a time, as a reader writes it; a whole day is its morning."""
    found = re.search(r"(\d{4}-\d{2}-\d{2})(?:[T ](\d{1,2}:\d{2}))?", text or "")
    if found is None:
        return None
    try:
        day = date.fromisoformat(found[1])
        hours, minutes = map(int, found[2].split(":")) if found[2] else (hour, 0)
        at = datetime(day.year, day.month, day.day, hours, minutes, tzinfo=ZoneInfo(zone))
    except ValueError:
        return None
    return at.astimezone(UTC) if 1900 < at.year < 2200 else None
