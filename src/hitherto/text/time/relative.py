"""Dates relative to now: "last week", "in two months", "three days ago", "next Friday", "the end of May"."""

import calendar
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Final, Literal

from hitherto.text.numbers import ORDINALS, number_at, ordinal_at, year_at
from hitherto.text.time.calendar import (
    DAY,
    LAST,
    MONTHS,
    NEXT,
    CalendarReader,
    Grain,
    Span,
    Tense,
    date,
    midnight,
    months_on,
    on_day,
    time_on,
    wall,
)
from hitherto.text.time.hours import PARTS, Clock

__all__ = ["UNITS", "Beside", "Grain", "Reader", "Span", "Tense", "Unit", "midnight"]

_WEEKDAYS: Final = {name.lower(): n for n, name in enumerate(calendar.day_name)} | {
    "mon": 0, "tue": 1, "tues": 1, "wed": 2, "thu": 3, "thur": 3, "thurs": 3, "fri": 4, "sat": 5, "sun": 6
}  # fmt: skip
_DOUBTFUL_DAYS: Final = frozenset({"sat", "sun", "mon", "wed", "fri", "thu", "tue"})
_UNITS: Final = {
    "second": "second", "sec": "second", "minute": "minute", "min": "minute", "hour": "hour", "hr": "hour", "h": "hour",
    "day": "day", "night": "day", "week": "week", "wk": "week", "fortnight": "fortnight", "month": "month",
    "quarter": "quarter", "year": "year", "yr": "year", "decade": "decade", "weekend": "weekend", "century": "century",
}  # fmt: skip
_SECONDS: Final = {"second": 1, "minute": 60, "hour": 3600, "week": 604800, "weekend": 604800, "fortnight": 1209600}
Unit = Literal["day", "weekend", "week", "month", "year"]
UNITS: Final[tuple[Unit, ...]] = ("day", "weekend", "week", "month", "year")
_BESIDE: Final[dict[str, Unit]] = {unit: unit for unit in UNITS}
_THIS: Final = frozenset({"this", "current", "same", "the", "that"})


@dataclass(frozen=True, slots=True)
class Beside:
    """So many days, weeks or months after something (before it if negative); 0 is the day, the week itself."""

    unit: Unit
    count: float
    counted: bool = False
    """Whether the number was said: "two weeks after" is a day, "the week after" seven of them."""

    def of(self, start: datetime, end: datetime) -> tuple[datetime, datetime, Grain]:
        """The span beside `[start, end)`, two midnights."""
        if self.counted:
            day = self._moved(midnight(end - timedelta(microseconds=1)) if self.count > 0 else start, self.count)
            return (day, day + DAY, "day") if self.unit == "day" else (day - DAY, day + 2 * DAY, "range")
        if self.unit == "weekend":
            return (*self._weekend(start, end), "range")
        if not self.count:
            first = start - start.weekday() * DAY if self.unit == "week" else start
            return (first, self._moved(first, 1), "week") if self.unit == "week" else (start, end, "day")
        if self.count > 0:
            return end, self._moved(end, self.count), "day" if self.unit == "day" and self.count == 1 else "range"
        return self._moved(start, self.count), start, "day" if self.unit == "day" and self.count == -1 else "range"

    def _moved(self, day: datetime, count: float) -> datetime:
        if self.unit in {"month", "year"}:
            return months_on(day, round(count * (12 if self.unit == "year" else 1)))
        return day + count * (DAY if self.unit == "day" else 7 * DAY)

    def _weekend(self, start: datetime, end: datetime) -> tuple[datetime, datetime]:
        if self.count > 0:
            saturday = end + ((5 - end.weekday()) % 7) * DAY
        elif self.count < 0:
            saturday = start - ((start - 2 * DAY).weekday() - 5) % 7 * DAY - 2 * DAY
        else:
            saturday = start + (5 - start.weekday()) * DAY
        return saturday, saturday + 2 * DAY


class Reader(CalendarReader):
    """Reads any kind of date from the words of one text."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self._dates: dict[int, tuple[Span, int] | None] = {}

    def date_at(self, place: int) -> tuple[Span, int] | None:
        """A date or a longer span that begins at `place`, and the place after it. Remembered, because the grammar asks for a
        place up to four times, which took half of its time."""
        if place in self._dates:
            return self._dates[place]
        found = self._dates[place] = self._date_at(place) if place < len(self.words) else None
        return found

    def _date_at(self, place: int) -> tuple[Span, int] | None:
        for read in (
            self.numeric, self._last_but_one, self._beside, self._edge_of, self.month_first, self.day_first,
            self._simple_day, self._counted, self._relative, self._weekday, self.quarter, self.season, self.decade,
            self.year, self.the_day, self.holiday_at,
        ):  # fmt: skip
            found = read(place)
            if found is not None:
                return found
        return None

    # -- relative to now

    def _simple_day(self, place: int) -> tuple[Span, int] | None:
        word, behind = self.at(place), self.at(place + 1)
        if word == "day" and behind in {"after", "before"} and self.at(place + 2) in {"tomorrow", "yesterday", "tmrw"}:
            shift = 2 if behind == "after" else -2
            return on_day(self.today + shift * DAY), place + 3
        shifts = {"today": 0, "tomorrow": 1, "tmrw": 1, "tmr": 1, "yesterday": -1}
        if word in shifts:
            return on_day(self.today + shifts[word] * DAY), place + 1
        if word in {"tonight", "tonite"}:
            return self._part(self.today, "night"), place + 1
        if word == "now" and self.at(place - 1) in {
            "right",
            "until",
            "till",
            "and",
            "from",
            "between",
            "",
            "meet",
            "back",
        }:
            return Span(self.now, self.now, "moment", elapsed=timedelta(0)), place + 1
        return None

    def part_at(self, place: int, *, day: datetime) -> tuple[Span, int] | None:
        """A part of the day after a day: "Monday afternoon", "tomorrow in the morning"."""
        behind = place
        while self.at(behind) in {"in", "the", "at", "early", "late", "later"} and behind - place < 3:
            behind += 1
        named = self.at(behind)
        return (self._part(day, named), behind + 1) if named in PARTS else None

    def _part(self, day: datetime, name: str) -> Span:
        part, start, end = PARTS[name]
        until = day + timedelta(hours=end) if end < 24 else day + timedelta(hours=24) - timedelta(seconds=1)
        return Span(day + timedelta(hours=start), until, "part", day=day, part=part)

    def _unit(self, place: int) -> str | None:
        word = self.at(place)
        return _UNITS.get(word) or _UNITS.get(word.removesuffix("s"))

    def duration_at(self, place: int) -> tuple[list[tuple[float, str]], int] | None:
        """ "2 weeks and 2 days", "half an hour"."""
        if self.at(place) == "half" and self.at(place + 1) in {"an", "a"} and self._unit(place + 2):
            return [(0.5, self._unit(place + 2) or "")], place + 3
        amounts: list[tuple[float, str]] = []
        while True:
            start = place + (bool(amounts) and self.at(place) == "and")
            number = number_at(self.words, start, loose=True)
            unit = self._unit(number[1]) if number else None
            if number is None or unit is None:
                return (amounts, place) if amounts else None
            amounts.append((number[0], unit))
            place = number[1] + 1

    def shifted(self, moment: datetime, amounts: list[tuple[float, str]], sign: int) -> datetime:
        for count, unit in amounts:
            months = {"month": 1, "quarter": 3, "year": 12, "decade": 120, "century": 1200}.get(unit)
            if months is not None:
                moment = months_on(moment, sign * round(min(count, 5000) * months))
            else:
                seconds = min(count, 1e5) * _SECONDS.get(unit, 86400)
                moment = time_on(moment, sign * timedelta(seconds=seconds))
        return moment

    def _counted(self, place: int) -> tuple[Span, int] | None:
        """ "in two weeks", "3 days ago", "two months from tomorrow", "the last 3 months"."""
        word = self.at(place)
        start = place + (word == "the")
        stretch = self._range_at(start)
        if stretch is not None:
            return stretch
        introduced = word in {"in", "within"}
        amount = self.duration_at(place + introduced)
        if amount is None:
            return None
        amounts, behind = amount
        if self.at(behind) == "ago":
            return self._offset(self.now, amounts, -1), behind + 1
        if self.at(behind) in {"later", "hence"}:
            return self._offset(self.now, amounts, 1), behind + 1
        if self.at(behind) in {"from", "after", "before", "since"} and self.at(behind + 1) == "now":
            return self._offset(self.now, amounts, -1 if self.at(behind) == "before" else 1), behind + 2
        if self.at(behind) == "starting" or (self.at(place - 1) == "for" and self.at(behind) == "from"):
            base = self.date_at(behind + 1 + (self.at(behind + 1) == "from"))
            if base is not None and base[0].grain == "day":
                return Span(base[0].start, self.shifted(base[0].start, amounts, 1), "range"), base[1]
        if self.at(behind) in {"from", "after", "before"}:
            base = self.date_at(behind + 1)
            if base is not None and base[0].grain == "day":
                sign = -1 if self.at(behind) == "before" else 1
                return self._offset(base[0].start, amounts, sign), base[1]
        if introduced and self.at(behind) not in {"of", "row"} and self.at(place - 1) not in {"times", "once", "twice"}:
            return self._offset(self.now, amounts, 1), behind + (self.at(behind) == "time")
        return None

    def _range_at(self, place: int) -> tuple[Span, int] | None:
        """ "last three months", "next couple of weeks", "2 upcoming months"."""
        lead = self.at(place)
        if lead in LAST | NEXT:
            counted = number_at(self.words, place + 1) is not None or self.at(place + 1) in {"couple", "few"}
            amount = self.duration_at(place + 1) if counted else None
            return self._range(lead, amount) if amount else None
        number = number_at(self.words, place)
        if number is None or self.at(number[1]) not in LAST | NEXT:
            return None
        unit = self._unit(number[1] + 1)
        return self._range(self.at(number[1]), ([(number[0], unit)], number[1] + 2)) if unit else None

    def _offset(self, base: datetime, amounts: list[tuple[float, str]], sign: int) -> Span:
        moved = self.shifted(base, amounts, sign)
        if any(unit in {"second", "minute", "hour"} for _, unit in amounts):
            elapsed = moved - base if base == self.now else None
            return Span(moved, moved, "moment", elapsed=elapsed)
        return on_day(midnight(moved))

    def _range(self, lead: str, amount: tuple[list[tuple[float, str]], int]) -> tuple[Span, int]:
        """ "the last 3 months" until today, "the next two weeks" from tomorrow."""
        amounts, behind = amount
        fine = any(unit in {"second", "minute", "hour"} for _, unit in amounts)
        if lead in LAST:
            end = self.now if fine else self.today
            return Span(self.shifted(end, amounts, -1), end, "range"), behind
        start = self.now if fine else self.today + DAY
        return Span(start, self.shifted(start, amounts, 1), "range"), behind

    def _relative(self, place: int) -> tuple[Span, int] | None:
        """ "next week", "last Friday", "this morning", "the weekend"."""
        start = place + (self.at(place) == "the" and self.at(place + 1) in LAST | NEXT | _THIS)
        lead, word = self.at(start), self.at(start + 1)
        if lead not in _THIS | NEXT | LAST:
            alone = lead == "weekend" and self.at(place - 1) in {"the", "over", "on", "at", ""}
            return (self._weekend(self._weekend_shift()), place + 1) if alone else None
        shift = 1 if lead in NEXT else -1 if lead in LAST else 0
        after_next = self.words[start + 2 : start + 4] == ["after", "next"]
        if lead in {"the", "that"} and word != "weekend" and not (word == "week" and after_next):
            return None
        if word in PARTS and word not in {"tonight", "tonite"}:
            return self._part(self.today + shift * DAY, word), start + 2
        if word in _WEEKDAYS:
            return self._led_weekday(lead, _WEEKDAYS[word], start + 2)
        unit = _UNITS.get(word)
        if unit is None:
            return None
        if unit == "week" and after_next:
            span = self._period("week", 2)
            return (span, start + 4) if span else None
        if unit == "week" and self.at(start + 2) in _WEEKDAYS:
            monday = self.today - self.today.weekday() * DAY + 7 * shift * DAY
            return on_day(monday + _WEEKDAYS[self.at(start + 2)] * DAY), start + 3
        if unit == "weekend" and lead in {"the", "that"}:
            shift = self._weekend_shift()
        span = self._period(unit, shift)
        return (span, start + 2) if span else None

    def _weekend_shift(self) -> int:
        """In a story about the past, "the weekend" is the previous one, unless it is not over yet."""
        return -1 if self.tense == "past" and self.today.weekday() < 5 else 0

    def _period(self, unit: str, shift: int) -> Span | None:
        if unit == "day":
            return on_day(self.today + shift * DAY)
        if unit == "week":
            monday = self.today - self.today.weekday() * DAY + 7 * shift * DAY
            return Span(monday, monday + 7 * DAY, "week")
        if unit == "weekend":
            return self._weekend(shift)
        if unit == "hour":
            return Span(self.now, self.now + timedelta(hours=shift), "range") if shift > 0 else None
        months = {"month": 1, "quarter": 3, "year": 12, "decade": 120}.get(unit)
        if months is None:
            return None
        index = self.now.year * 12 + self.now.month - 1
        first = wall(max(index // months * months // 12, 1000), index // months * months % 12 + 1, 1)
        start = months_on(first, shift * months)
        grain: Grain = "month" if unit == "month" else "year" if unit == "year" else "range"
        return Span(start, months_on(start, months), grain)

    def _weekend(self, shift: int) -> Span:
        saturday = self.today - self.today.weekday() * DAY + (5 + 7 * shift) * DAY
        return Span(saturday, saturday + 2 * DAY, "range")

    def _last_but_one(self, place: int) -> tuple[Span, int] | None:
        """ "The week before last", "the Tuesday before last", "two Fridays ago"."""
        start = place + (self.at(place) == "the")
        word = self.at(start)
        number = number_at(self.words, place)
        if number is not None and self.at(number[1] + 1) == "ago":
            weekday = _WEEKDAYS.get(self.at(number[1]).removesuffix("s"))
            return None if weekday is None else (on_day(self._past(weekday, int(number[0]))), number[1] + 2)
        if self.words[start + 1 : start + 3] != ["before", "last"]:
            return None
        if word in PARTS:
            return self._part(self.today - 2 * DAY, word), start + 3
        if word in _WEEKDAYS:
            return on_day(self._past(_WEEKDAYS[word], 2)), start + 3
        period = self._period(_UNITS[word], -2) if word in _UNITS else None
        return (period, start + 3) if period else None

    def _past(self, weekday: int, count: int) -> datetime:
        """The last such day but `count` - 1."""
        return self.today - ((self.today.weekday() - weekday - 1) % 7 + 1 + 7 * (min(count, 5000) - 1)) * DAY

    def _beside(self, place: int) -> tuple[Span, int] | None:
        """ "The day after Christmas", "the weekend before 3 May", "the Friday after Easter"."""
        start = place + (self.at(place) == "the")
        word, side = self.at(start), self.at(start + 1)
        if side not in {"before", "after", "following"} or self.at(start + 2) in {
            "last",
            "tomorrow",
            "yesterday",
            "tmrw",
        }:
            return None
        unit = _BESIDE.get(word) or ("day" if word in PARTS or word in _WEEKDAYS else None)
        base = self.date_at(start + 2) if unit else None
        if unit is None or base is None or base[0].grain not in {"day", "week", "range"}:
            return None
        span, after = base[0], side != "before"
        if word in _WEEKDAYS:
            days = (_WEEKDAYS[word] - span.end.weekday()) % 7
            earlier = (span.start.weekday() - _WEEKDAYS[word] - 1) % 7 + 1
            return on_day(span.end + days * DAY if after else span.start - earlier * DAY), base[1]
        begin, end, grain = Beside(unit, 1 if after else -1).of(span.start, span.end)
        if word in PARTS:
            return self._part(begin, word), base[1]
        return Span(begin, end, grain, day=begin if grain == "day" else None), base[1]

    # -- weekdays

    def _weekday(self, place: int) -> tuple[Span, int] | None:
        word = self.at(place)
        if word not in _WEEKDAYS:
            return None
        number = ordinal_at(self.words, place + 1 + (self.at(place + 1) == "the"))
        if word in _DOUBTFUL_DAYS and number is None and not self._plain_weekday(place):
            return None
        if number is not None and number[0] <= 31 and not self._month_behind(number[1]):
            near = self.leaning([self._matching(shift, number[0], _WEEKDAYS[word]) for shift in range(-12, 13)])
            if near is not None:
                return on_day(near), number[1]
        behind = place + 1
        dated = self.month_first(behind) or self.day_first(behind) or self.numeric(behind)
        if dated is not None and dated[0].grain == "day":
            return self._on(_WEEKDAYS[word], dated[0]), dated[1]
        if self.at(behind) == "of" and self.at(behind + 1) in {"next", "last", "this", "the"}:
            week = self._relative(behind + 1)
            if week is not None and week[0].grain == "week":
                return on_day(week[0].start + _WEEKDAYS[word] * DAY), week[1]
        monday = self.today - self.today.weekday() * DAY
        days: list[datetime | None] = [monday + (7 * shift + _WEEKDAYS[word]) * DAY for shift in (-1, 0, 1)]
        near = self.leaning(days)
        return (on_day(near), behind) if near else None

    def _on(self, weekday: int, day: Span) -> Span:
        """A day without a year in the one in which it falls on that weekday, if this year or one beside it does."""
        if not day.inferred or day.start.weekday() == weekday:
            return day
        years = [date(self.now.year + shift, day.start.month, day.start.day) for shift in (-1, 0, 1)]
        found = [one for one in years if one is not None and one.weekday() == weekday]
        found = [one for one in found if self.tense != "future" or one >= self.today]
        near = min(found, key=lambda one: abs(one - self.today), default=None)
        return replace(on_day(near), inferred=True) if near else day

    def _month_behind(self, place: int) -> bool:
        return MONTHS.get(self.at(place + (self.at(place) == "of"))) is not None

    def _plain_weekday(self, place: int) -> bool:
        word = self.at(place)
        led = self.at(place - 1) in {"on", "next", "last", "this", "until", "by", "or", "since", "-", "week"}
        return (led and word != "sun") or (self.capital(place) and word not in {"sun", "sat", "mon"})

    def _matching(self, months: int, day: int, weekday: int) -> datetime | None:
        found = self.day_of_month(months, day)
        return found if found is not None and found.weekday() == weekday else None

    def _led_weekday(self, lead: str, weekday: int, behind: int) -> tuple[Span, int]:
        dated = self.month_first(behind) or self.numeric(behind)
        if dated is not None and dated[0].grain == "day":
            return dated
        monday = self.today - self.today.weekday() * DAY
        if lead == "past":
            day = monday + weekday * DAY
            return on_day(day if day < self.today else day - 7 * DAY), behind
        if lead in {"coming", "upcoming"}:
            day = monday + weekday * DAY
            return on_day(day if day > self.today else day + 7 * DAY), behind
        shift = 1 if lead in NEXT else -1 if lead in LAST else 0
        if shift == 0 and self.tense == "future" and monday + weekday * DAY < self.today:
            shift = 1
        return on_day(monday + (weekday + 7 * shift) * DAY), behind

    # -- edges and partners

    def _edge_of(self, place: int) -> tuple[Span, int] | None:
        """ "the end of March", "mid 1989", "early next week", "the last week of July"."""
        start = place + (self.at(place) == "the")
        word = self.at(start)
        ordinal = ORDINALS.get(word) or (5 if word == "last" else None) or (ordinal_at(self.words, start) or (None,))[0]
        if ordinal and self.at(start + 1) in {"week", "weekend"} and self.at(start + 2) in {"of", "in"}:
            return self._week_of(ordinal, start + 3)
        edges = {
            "beginning": 0,
            "start": 0,
            "early": 0,
            "earlier": 0,
            "middle": 1,
            "mid": 1,
            "end": 2,
            "late": 2,
            "later": 2,
        }
        if word in {"eod", "end"} and (word == "eod" or self.at(start + 1) == "of"):
            closing = self._end_of_day(start)
            if closing is not None:
                return closing
        if word in {"week", "weekend"}:
            return self._week_with(word, start + 1)
        if word not in edges:
            return None
        behind = start + 1 + (self.at(start + 1) in {"of", "in", "-"})
        bare = behind + (self.at(behind) == "the")
        base = self.month_first(bare) or self._relative(bare) or self._year_only(bare)
        if base is None and self.at(bare) in {"week", "month", "year"} and bare > behind:
            period = self._period(self.at(bare), 0)
            base = (period, bare + 1) if period else None
        if base is None or base[0].grain not in {"week", "month", "year"}:
            return None
        return self._slice(base[0], edges[word], halves=word in {"earlier", "later"}), base[1]

    def _slice(self, whole: Span, which: int, *, halves: bool) -> Span:
        """The beginning, middle or end of a week, month or year."""
        if whole.grain == "year":
            cuts = (0, 6, 6, 12) if halves else (0, 4, 8, 12)
            points = [months_on(whole.start, cut) for cut in cuts]
        elif whole.grain == "month":
            days = (0, 15, 15) if halves else (0, 9, 20)
            points = [*(whole.start + day * DAY for day in days), whole.end]
        else:
            points = [*(whole.start + day * DAY for day in (0, 3, 3)), whole.end]
        start, end = points[which], points[which + 1]
        anchor = end if which == 2 else start if which == 0 else midnight(whole.start + (whole.end - whole.start) / 2)
        return Span(start, end, "range", anchor=anchor)

    def _end_of_day(self, place: int) -> tuple[Span, int] | None:
        if self.at(place) == "eod" or self.at(place + 2) == "day":
            day, behind = self.today, place + (1 if self.at(place) == "eod" else 3)
        else:
            base = self._simple_day(place + 2) or self._relative(place + 2)
            if base is None or base[0].grain != "day":
                return None
            day, behind = base[0].start, base[1]
        at = day + DAY - timedelta(seconds=1)
        return Span(at, at, "moment", day=day), behind

    def _week_with(self, word: str, place: int) -> tuple[Span, int] | None:
        """ "the week of the 18th", "the week beginning February 4", "the weekend of Halloween"."""
        if self.at(place) not in {"of", "beginning", "commencing", "starting"}:
            return None
        base = self.date_at(place + 1)
        if base is None or base[0].grain != "day":
            return None
        monday = base[0].start - base[0].start.weekday() * DAY
        if word == "weekend":
            return self.weekend_with(base[0].start), base[1]
        return Span(monday, monday + 7 * DAY, "week"), base[1]

    def _year_only(self, place: int) -> tuple[Span, int] | None:
        read = year_at(self.words, place)
        if read is None:
            return None
        begin = wall(read[0], 1, 1)
        return Span(begin, begin.replace(year=read[0] + 1), "year"), read[1]

    def _week_of(self, ordinal: int, place: int) -> tuple[Span, int] | None:
        base = self.month_first(place) or self._relative(place)
        if base is None or base[0].grain != "month":
            return None
        first = base[0].start
        thursday = first + ((3 - first.weekday()) % 7) * DAY
        monday = thursday - 3 * DAY
        if ordinal == 5:
            last = base[0].end - DAY
            monday = last - last.weekday() * DAY
            if (monday + 3 * DAY).month != first.month:
                monday -= 7 * DAY
        else:
            monday += 7 * (ordinal - 1) * DAY
        return Span(monday, monday + 7 * DAY, "week"), base[1]

    def second(self, first: Span, place: int) -> tuple[Span, int] | None:
        """The other end of a range that omits what the first end said: "Nov 18-19", "Monday to Friday"."""
        number = ordinal_at(self.words, place) or self.plain_day(place)
        alone = number is not None and self.at(number[1]) not in {"am", "pm"} and self.at(number[1]) not in MONTHS
        if number and alone and first.grain == "day" and first.clock is None and number[0] > first.start.day:
            day = date(first.start.year, first.start.month, number[0])
            return (on_day(day), number[1]) if day else None
        if first.grain in {"day", "month"} and first.clock is None:
            other = self.date_at(place)
            if other is not None and other[0].grain == first.grain and not other[0].exact:
                moved = other[0].start
                while moved < first.start and (first.start - moved).days < 400:
                    moved = moved + 7 * DAY if self.at(place) in _WEEKDAYS else months_on(moved, 12)
                return replace(other[0], start=moved, end=moved + (other[0].end - other[0].start)), other[1]
        return None

    def today_at(self, clock: Clock) -> datetime:
        """A clock time without a day: today's, or tomorrow's if that has passed and the text looks ahead."""
        at = self.today + clock.offset()
        return at + DAY if self.tense == "future" and at < self.now else at
