"""Calendar dates: "May 29th, 2019", "in June", "last spring", "Q1 2019", "the 1990s", "Christmas"."""

import calendar
import re
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Final, Literal

from hitherto.text.numbers import number_at, ordinal_at, year_at
from hitherto.text.time.hours import Clock, DayPart

__all__ = ["DAY", "LAST", "MONTHS", "NEXT", "CalendarReader", "Grain", "Span", "Tense"]
__all__ += ["date", "holiday", "midnight", "months_on", "on_day", "time_on", "wall"]

Grain = Literal["moment", "part", "day", "week", "month", "year", "range"]
Tense = Literal["past", "future", "near"]

MONTHS: Final = (
    {name.lower(): n for n, name in enumerate(calendar.month_name) if name}
    | {name.lower(): n for n, name in enumerate(calendar.month_abbr) if name}
    | {"sept": 9}
)
# Everyday words that are also names of months count only in an unmistakable date.
_DOUBTFUL_MONTHS: Final = frozenset({"may", "march", "mar", "dec", "jan", "jun", "sep"})
NEXT: Final = frozenset({"next", "coming", "upcoming", "following"})
LAST: Final = frozenset({"last", "previous", "past"})
_MONTH_LEAD_WORDS: Final = """in this since until till by of early late mid from before after during through between to and
beginning middle end - – ~"""
_MONTH_LEADS: Final = NEXT | LAST | frozenset(_MONTH_LEAD_WORDS.split())
_SEASONS: Final = {"spring": 3, "summer": 6, "autumn": 9, "fall": 9, "winter": 12}
"""The month in which each begins, three months long."""
_SEASON_LEADS: Final = frozenset(
    {"in", "since", "until", "till", "by", "during", "over", "early", "late", "mid", "before", "of"}
)
_WORDS_TOO: Final = frozenset({"spring", "fall"})
"""Seasons that are everyday words as well: "the" alone does not make them one."""
_DECADES: Final = ["", "", "twenties", "thirties", "forties", "fifties", "sixties", "seventies", "eighties", "nineties"]
DAY: Final = timedelta(days=1)


@dataclass(frozen=True, slots=True)
class Span:
    """Wall-clock time `[start, end)`; `clock` and `day` say which of the two was spoken, `part` which part of the day.

    `anchor` is the point meant if the span limits another ("until the end of May"), `exact` says that a year was given,
    `inferred` that one had to be chosen.
    """

    start: datetime
    end: datetime
    grain: Grain
    clock: Clock | None = None
    day: datetime | None = None
    part: DayPart | None = None
    elapsed: timedelta | None = None
    anchor: datetime | None = None
    exact: bool = False
    inferred: bool = False


def wall(year: int, month: int, day: int) -> datetime:
    """The first moment of a day on the wall clock; the zone is added where the range leaves this package."""
    return datetime(year, month, day)  # noqa: DTZ001 - wall-clock time has no zone


def midnight(moment: datetime) -> datetime:
    return moment.replace(hour=0, minute=0, second=0, microsecond=0)


def on_day(day: datetime) -> Span:
    return Span(day, day + DAY, "day", day=day)


def date(year: int, month: int, day: int) -> datetime | None:
    if not (1 <= month <= 12 and 1000 <= year <= 8999) or not 1 <= day <= calendar.monthrange(year, month)[1]:
        return None
    return wall(year, month, day)


def time_on(moment: datetime, time: timedelta) -> datetime:
    """A time shifted forwards or backwards, as far as the calendar reaches."""
    first, last = wall(1000, 1, 1), wall(8999, 12, 31)
    return moment + min(max(time, first - moment), last - moment)


def months_on(day: datetime, months: int) -> datetime:
    index = day.year * 12 + day.month - 1 + months
    year, month = min(max(index // 12, 1000), 8999), index % 12 + 1
    return day.replace(year=year, month=month, day=min(day.day, calendar.monthrange(year, month)[1]))


@dataclass
class CalendarReader:
    """Reads calendar dates from the words of one text."""

    words: list[str]
    text: str
    tokens: list[re.Match[str]]
    now: datetime
    tense: Tense
    today: datetime = field(init=False)

    def __post_init__(self) -> None:
        self.today = midnight(self.now)

    def at(self, place: int) -> str:
        return self.words[place] if 0 <= place < len(self.words) else ""

    # -- calendar dates

    def numeric(self, place: int) -> tuple[Span, int] | None:
        word = self.at(place)
        parts = re.split(r"[-/.]", word)
        if len(parts) == 3 and all(part.isdigit() for part in parts):
            a, b, c = (int(part) for part in parts)
            if len(parts[0]) == 4:
                day = date(a, b, c)
            else:
                year = c if len(parts[2]) == 4 else c + (2000 if c < 70 else 1900)
                european = "." in word
                day = date(year, b, a) if european or a > 12 else date(year, a, b) or date(year, b, a)
            return (replace(on_day(day), exact=True), place + 1) if day else None
        if "/" in word and len(parts) == 2:
            return self._dated(int(parts[0]), int(parts[1]), place + 1)
        return None

    def month_first(self, place: int) -> tuple[Span, int] | None:
        """ "May 29th, 2019", "June 2019", "in May"."""
        month = MONTHS.get(self.at(place))
        if month is None:
            return None
        behind = place + 1 + (self.at(place + 1) in {"the", "/", "-"})
        year = year_at(self.words, behind + (self.at(behind) == "of"))
        if year is not None:
            behind_year = year[1]
            number = ordinal_at(self.words, behind_year + 1) if self.at(behind_year) == "-" else None
            return self._month(month, year[0], behind_year) if number is None else None
        number = ordinal_at(self.words, behind) or self.plain_day(behind)
        if number is not None and 1 <= number[0] <= 31:
            return self._dated(month, number[0], number[1])
        if self.at(place) in _DOUBTFUL_MONTHS and self.at(place - 1) not in _MONTH_LEADS:
            return None
        if self.at(place) in {"may", "march"} and self.at(place - 1) in {"to", "and", "-"} and not self.capital(place):
            return None
        return self._month(month, None, place + 1)

    def plain_day(self, place: int) -> tuple[int, int] | None:
        """A day of the month as a bare number, unless it is the hour of a clock time."""
        read = number_at(self.words, place)
        word = self.at(place)
        if read is None or "." in word or ":" in word or (len(word) > 2 and word.isdigit()):
            return None
        if self.at(read[1]) in {"am", "pm", "years", "people", "times"} or ":" in self.at(place):
            return None
        return int(read[0]), read[1]

    def day_first(self, place: int) -> tuple[Span, int] | None:
        """ "29 May", "the 29th of May 2019", "fourth of July"."""
        start = place + (self.at(place) == "the")
        number = ordinal_at(self.words, start) or self.plain_day(start)
        if number is None or not 1 <= number[0] <= 31:
            return None
        behind = number[1]
        if self.at(behind) == "day" and self.at(behind + 1) == "of":
            behind += 1
        behind += self.at(behind) == "of"
        month = MONTHS.get(self.at(behind))
        if month is None:
            return None
        return self._dated(month, number[0], behind + 1)

    def _dated(self, month: int, day: int, place: int) -> tuple[Span, int] | None:
        behind = place + (self.at(place) in {"of", "in"} or (self.at(place) == "-" and self.at(place - 2) == "-"))
        year = year_at(self.words, behind)
        if year is not None:
            exact = date(year[0], month, day)
            return (replace(on_day(exact), exact=True), year[1]) if exact else None
        if place > 0 and self.at(place) == "of" and self.at(place + 1).isdigit() and len(self.at(place + 1)) == 2:
            exact = date(1900 + int(self.at(place + 1)), month, day)
            return (on_day(exact), place + 2) if exact else None
        near = self.leaning([date(self.now.year + shift, month, day) for shift in range(-4, 5)])
        return (replace(on_day(near), inferred=True), place) if near else None

    def _month(self, month: int, year: int | None, behind: int) -> tuple[Span, int] | None:
        if year is None:
            lead = self.at(behind - 2)
            if self.at(behind) == "of" and self.at(behind + 1).isdigit() and len(self.at(behind + 1)) == 2:
                year, behind = 1900 + int(self.at(behind + 1)), behind + 2
            elif lead == "last":
                year = self.now.year - (month >= self.now.month)
            elif lead == "next":
                year = self.now.year + (month <= self.now.month)
            elif lead == "this":
                year = self.now.year
            else:
                near = self.leaning([date(self.now.year + shift, month, 1) for shift in (-1, 0, 1)], length=28)
                year = near.year if near else self.now.year
        start = wall(year, month, 1)
        return Span(start, months_on(start, 1), "month"), behind

    def leaning(self, days: list[datetime | None], *, length: int = 1, tense: Tense | None = None) -> datetime | None:
        """Among the days a date could mean, the nearest on the side that the text's tense points to."""
        known = [day for day in days if day is not None]
        past = [day for day in known if day < self.today]
        coming = [day for day in known if day + length * DAY > self.today]
        tense = tense or self.tense
        if tense == "past":
            return past[-1] if past else coming[0] if coming else None
        if tense == "future":
            return coming[0] if coming else past[-1] if past else None
        return min(known, key=lambda day: abs(day - self.today), default=None)

    def year(self, place: int) -> tuple[Span, int] | None:
        lead = self.at(place - 1)
        read = year_at(self.words, place)
        start = place
        if read is None and self.at(place) == "year":
            start = place + 1 + (self.at(place + 1) == "of")
            read = year_at(self.words, start)
            lead = "year"
        if read is None:
            return None
        words_lead = lead in _MONTH_LEADS | {
            "year",
            "for",
            "around",
            "than",
            "summer",
            "winter",
            "spring",
            "fall",
            "autumn",
            "or",
        }
        if not words_lead and not (self.at(start).isdigit() and self.at(read[1]) in {"-", "–", "~", "to"}):
            return None
        if self.at(read[1]) in {"people", "pieces", "dollars", "miles", "km", "steps", "words", "calories"}:
            return None
        begin = wall(read[0], 1, 1)
        return Span(begin, begin.replace(year=read[0] + 1), "year"), read[1]

    def decade(self, place: int) -> tuple[Span, int] | None:
        if self.at(place) in _DECADES and self.at(place - 1) in {"the", "in"}:
            start = wall(1900 + 10 * _DECADES.index(self.at(place)), 1, 1)
        elif re.fullmatch(r"[12]\d{2}0", self.at(place)) and self.at(place + 1) == "s":
            start = wall(int(self.at(place)), 1, 1)
            return Span(start, start.replace(year=start.year + 10), "range"), place + 2
        elif self.at(place + 1) == "century" and (number := ordinal_at(self.words, place)) and 11 <= number[0] <= 29:
            start = wall(100 * (number[0] - 1), 1, 1)
            return Span(start, start.replace(year=start.year + 100), "range"), place + 2
        else:
            return None
        return Span(start, start.replace(year=start.year + 10), "range"), place + 1

    def quarter(self, place: int) -> tuple[Span, int] | None:
        """ "Q1 2019", "2019 H2", "the first quarter of 2013"."""
        named = re.fullmatch(r"([qh])([1-4])", self.at(place))
        start = place + (self.at(place) == "the")
        number = ordinal_at(self.words, start)
        year = year_at(self.words, place)
        if year is not None:
            behind = year[1] + (self.at(year[1]) == "-")
            named, year = re.fullmatch(r"([qh])([1-4])", self.at(behind)), (year[0], behind + 1)
        elif named is not None:
            year = year_at(self.words, place + 1 + (self.at(place + 1) in {"-", "of"}))
        elif number is not None and self.at(number[1]) == "quarter" and self.at(number[1] + 1) == "of":
            named = re.fullmatch(r"([qh])([1-4])", f"q{number[0]}")
            behind = number[1] + 2
            year = year_at(self.words, behind) or (
                (self.now.year, behind + 2) if self.words[behind : behind + 2] == ["the", "year"] else None
            )
        if named is not None and year is None and self.at(place - 1) in _MONTH_LEADS:
            nearest: list[datetime | None] = [
                wall(self.now.year + shift, 3 * int(named[2]) - 2, 1) for shift in (-1, 0, 1)
            ]
            near = self.leaning(nearest, length=90) if named[1] == "q" else None
            year = (near.year, place + 1) if near else None
        if named is None or year is None:
            return None
        months = 3 if named[1] == "q" else 6
        if months == 6 and named[2] > "2":
            return None
        begin = wall(year[0], months * (int(named[2]) - 1) + 1, 1)
        return Span(begin, months_on(begin, months), "range"), year[1]

    def season(self, place: int) -> tuple[Span, int] | None:
        """ "Last spring", "in the summer of 2023", "this winter"; a winter is named for the year in which it begins."""
        start = place + (self.at(place) in LAST | NEXT | {"this"})
        begins = _SEASONS.get(self.at(start))
        if begins is None:
            return None
        lead, behind = self.at(start - 1), start + 1
        year = year_at(self.words, behind + (self.at(behind) in {"of", "in"}))
        if year is not None:
            first, behind = wall(year[0], begins, 1), year[1]
        else:
            known: list[datetime] = [wall(self.now.year + shift, begins, 1) for shift in (-2, -1, 0, 1)]
            first = self._season(known, lead, start, behind)
        if first is None:
            return None
        if self.words[behind : behind + 2] == ["before", "last"]:
            first, behind = self._year_before(first), behind + 2
        return Span(first, months_on(first, 3), "range"), behind

    def _season(self, known: list[datetime], lead: str, place: int, behind: int) -> datetime | None:
        """When the season without a year that is named at `place` begins; None where the word is not one for sure."""
        if lead in LAST:
            return [one for one in known if months_on(one, 3) <= self.today][-1]
        if lead in NEXT:
            return next(one for one in known if one > self.today)
        if lead == "this":
            return min(known, key=lambda one: abs(one + 45 * DAY - self.today))
        led = self.at(place - 2) if lead == "the" else lead
        sure = led in _SEASON_LEADS or (lead == "the" and self.at(place) not in _WORDS_TOO)
        if not sure and self.words[behind : behind + 2] != ["before", "last"]:
            return None
        return self.leaning(list[datetime | None]([*known]), length=90)

    def _year_before(self, start: datetime) -> datetime:
        """A season that began here, or else the one before it, moved to the year before the latest that is over."""
        while months_on(start, 3) > self.today:
            start = months_on(start, -12)
        while months_on(start, 15) <= self.today:
            start = months_on(start, 12)
        return months_on(start, -12)

    def the_day(self, place: int) -> tuple[Span, int] | None:
        """ "the 18th" of this month or a neighbouring one."""
        if self.at(place) != "the":
            return None
        number = ordinal_at(self.words, place + 1)
        if number is None or not re.match(r"\d", self.at(place + 1)) or number[0] > 31:
            return None
        if self.at(number[1]) in {
            "time",
            "century",
            "floor",
            "grade",
            "birthday",
            "anniversary",
            "place",
            "of",
            "day",
        }:
            return None
        days = [self.day_of_month(shift, number[0]) for shift in (-1, 0, 1)]
        near = self.leaning(days)
        return (on_day(near), number[1]) if near else None

    def day_of_month(self, months: int, day: int) -> datetime | None:
        first = months_on(self.today.replace(day=1), months)
        return date(first.year, first.month, day)

    def holiday_at(self, place: int) -> tuple[Span, int] | None:
        named = holiday(self.words, place)
        if named is None:
            return None
        on, behind = named
        year = year_at(self.words, behind + (self.at(behind) in {"in", "of"}))
        if year is not None:
            behind = year[1]
            fixed = on(year[0])
            return (self.weekend_with(fixed), behind + 1) if self.at(behind) == "weekend" else (on_day(fixed), behind)
        lead = self.at(place - 1)
        days: list[datetime | None] = [on(self.now.year + shift) for shift in (-1, 0, 1)]
        tense: Tense = "past" if lead in LAST else "future" if lead in NEXT else self.tense
        day = self.leaning(days, tense=tense)
        if day is not None and self.at(behind) == "weekend":
            return self.weekend_with(day), behind + 1
        return (on_day(day), behind) if day else None

    def weekend_with(self, day: datetime) -> Span:
        """The weekend next to a holiday, extended by a Friday or a Monday."""
        shift = -2 if day.weekday() == 0 else 5 - day.weekday()
        saturday = day + shift * DAY
        return Span(min(day, saturday), max(day, saturday + DAY) + DAY, "range")

    def capital(self, place: int) -> bool:
        return self.tokens[place][0][:1].isupper()


# Days that are named rather than dated.


Holiday = Callable[[int], datetime]


def _wall(year: int, month: int, day: int) -> datetime:
    return datetime(year, month, day)  # noqa: DTZ001 - wall-clock time has no zone


def _fixed(month: int, day: int) -> Holiday:
    return lambda year: _wall(year, month, day)


def _nth(month: int, weekday: int, nth: int) -> Holiday:
    def on(year: int) -> datetime:
        first = _wall(year, month, 1)
        return first + timedelta(days=(weekday - first.weekday()) % 7 + 7 * (nth - 1))

    return on


def _easter(year: int) -> datetime:
    """Western Easter Sunday, by the anonymous Gregorian reckoning."""
    golden, century, rest = year % 19, year // 100, year % 100
    epact = (19 * golden + century - century // 4 - (century - (century + 8) // 25 + 1) // 3 + 15) % 30
    week = (32 + 2 * (century % 4) + 2 * (rest // 4) - epact - rest % 4) % 7
    shift = epact + week - 7 * ((golden + 11 * epact + 22 * week) // 451) + 114
    return _wall(year, shift // 31, shift % 31 + 1)


_NAMED: Final[dict[tuple[str, ...], Holiday]] = {
    ("christmas", "eve"): _fixed(12, 24),
    ("christmas", "day"): _fixed(12, 25),
    ("christmas",): _fixed(12, 25),
    ("xmas",): _fixed(12, 25),
    ("boxing", "day"): _fixed(12, 26),
    ("new", "year", "eve"): _fixed(12, 31),
    ("new", "year", "day"): _fixed(1, 1),
    ("new", "year"): _fixed(1, 1),
    ("valentine", "day"): _fixed(2, 14),
    ("saint", "patrick"): _fixed(3, 17),
    ("st", "patrick", "day"): _fixed(3, 17),
    ("earth", "day"): _fixed(4, 22),
    ("halloween",): _fixed(10, 31),
    ("independence", "day"): _fixed(7, 4),
    ("veterans", "day"): _fixed(11, 11),
    ("labor", "day"): _nth(9, 0, 1),
    ("thanksgiving",): _nth(11, 3, 4),
    ("black", "friday"): lambda year: _nth(11, 3, 4)(year) + timedelta(days=1),
    ("mother", "day"): _nth(5, 6, 2),
    ("father", "day"): _nth(6, 6, 3),
    ("easter", "sunday"): _easter,
    ("easter", "saturday"): lambda year: _easter(year) - timedelta(days=1),
    ("easter", "monday"): lambda year: _easter(year) + timedelta(days=1),
    ("easter",): _easter,
    ("good", "friday"): lambda year: _easter(year) - timedelta(days=2),
}
_LONGEST: Final = max(len(name) for name in _NAMED)


def holiday(words: list[str], place: int) -> tuple[Holiday, int] | None:
    """The holiday named at `place`, as its day in a given year, and the place after the name."""
    for length in range(min(_LONGEST, len(words) - place), 0, -1):
        named = _NAMED.get(tuple(words[place : place + length]))
        if named is not None:
            return named, place + length
    return None
