"""A small grammar of time: words in, spans of wall-clock time out.

`find` walks over the words once. At each word it tries to read a date, lets a clock time or a part
of the day narrow it, and then looks at what stands before ("since", "until", "end of") and behind ("to Friday").
"""

import re
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Final

from hitherto.text.time.calendar import wall
from hitherto.text.time.hours import clock_at
from hitherto.text.time.relative import Grain, Reader, Span, Tense, midnight

__all__ = ["FoundTime", "Grain", "Tense", "find"]

FAR_PAST: Final = wall(1000, 1, 1)
FAR_FUTURE: Final = wall(9000, 1, 1)

_TOKEN: Final = re.compile(
    r"\d{4}[-/.]\d{1,2}[-/.]\d{1,2}|\d{1,2}(?P<between>[/.-])\d{1,2}(?P=between)\d{2,4}|\d{1,2}/\d{1,2}"
    r"|\d{1,2}[:.]\d{2}(?::\d{2})?|\d+(?:st|nd|rd|th)\b|\d+(?:\.\d+)?|\b[qQhH][1-4]\b|[^\W\d_]+(?:['’][^\W\d_]+)*|[-–~]",
)
_TRIGGER: Final = re.compile(
    r"\d|\b(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec|mon|tue|wed|thu|fri|sat|sun|spring|summer|autumn|fall"
    r"|winter|today|tonight|tonite|tomorrow|tmrw|yesterday|now|day|week|month|year|hour|minute|decade|quarter|morning"
    r"|afternoon|evening|night|noon|midnight|christmas|easter|halloween|thanksgiving|valentine|xmas|ago|fortnight"
    r"|eod|ninet|eight|seventies|sixties|lunch|dinner|nineteen)",
    re.IGNORECASE,
)
_SINCE: Final = frozenset({"since", "after", "starting", "from"})
_BEFORE: Final = frozenset({"before", "until", "till", "by", "til"})
_LEADING: Final = frozenset({"on", "at", "in", "the", "around", "about", "circa", "of", "during", "for", "over"})
_HOUR_JOINTS: Final = {"-", "–", "to", "and", "till", "until"}
_MOST_WORDS: Final = 400


@dataclass(frozen=True, slots=True)
class FoundTime:
    """A span of wall-clock time with the words it came from; `elapsed` is its distance from now on the time line if the
    words counted hours or minutes.
    """

    start: datetime
    end: datetime
    text: str
    grain: Grain
    before: bool = False
    elapsed: timedelta | None = None
    at: int = 0
    """Where the words begin."""


def find(text: str, *, now: datetime, tense: Tense) -> list[FoundTime]:
    """All times in a text, in order, none inside another."""
    if _TRIGGER.search(text) is None:
        return []
    tokens = list(_TOKEN.finditer(text))[:_MOST_WORDS]
    walk = _Walk(
        text=text,
        tokens=tokens,
        reader=Reader(_plain(tokens), text=text, tokens=tokens, now=now, tense=tense),
    )
    return walk.all()


def _plain(tokens: list[re.Match[str]]) -> list[str]:
    return [token[0].lower().replace("’", "'").removesuffix("'s") for token in tokens]


@dataclass
class _Walk:
    """One pass over the words of a text."""

    text: str
    tokens: list[re.Match[str]]
    reader: Reader

    def all(self) -> list[FoundTime]:
        found: list[FoundTime] = []
        place = 0
        while place < len(self.tokens):
            read = self.modified(place)
            if read is None:
                place += 1
                continue
            span, behind, first, before = read
            at = self.tokens[first].start()
            words = self.text[at : self.tokens[behind - 1].end()]
            found.append(FoundTime(span.start, span.end, words, span.grain, before, span.elapsed, at))
            place = behind
        return found

    def modified(self, place: int) -> tuple[Span, int, int, bool] | None:
        """A span at `place` with its limit; the place after it, its first word, and whether it is a deadline."""
        words = self.reader.words
        word = words[place]
        if word in {"between", "from"}:
            both = self.pair(place + 1, joints={"and", "to", "till", "until", "through", "-", "–", "~"})
            if both is not None:
                return both[0], both[1], place, False
        limit, after = self.limit(place)
        if limit:
            inner = self.edge(after, partner=limit == "until")
            if inner is not None:
                return self.limited(limit, inner, place)
        inner = self.pair(place, joints={"-", "–", "~", "to", "through", "till"}) or self.edge(place)
        return None if inner is None else (inner[0], inner[1], place, False)

    def limit(self, place: int) -> tuple[str, int]:
        """The word that turns the date after it into a limit, and where that date begins."""
        words = self.reader.words
        if words[place : place + 3] == ["no", "later", "than"]:
            return "by", place + 3
        if words[place + 1 : place + 2] == ["than"] and words[place] in {"later", "earlier"}:
            return ("after" if words[place] == "later" else "before"), place + 2
        behind = place + 1 + (words[place + 1 : place + 2] == ["from"])
        return (words[place], behind) if words[place] in _SINCE | _BEFORE else ("", place)

    def limited(self, word: str, inner: tuple[Span, int], place: int) -> tuple[Span, int, int, bool] | None:
        span, behind = inner
        if word in _BEFORE:
            last = span.end if word == "by" and span.grain in {"day", "week", "month", "year"} else span.start
            return Span(FAR_PAST, span.anchor or last, "range"), behind, place, True
        if word == "from":
            return span, behind, place + 1, False
        start = span.end if word == "after" and span.grain in {"year", "month", "week"} else span.start
        return Span(start, FAR_FUTURE, "range"), behind, place, False

    def pair(self, place: int, *, joints: set[str]) -> tuple[Span, int] | None:
        """ "X to Y": from the start of one to the start of the other, as calendars read it."""
        words = self.reader.words
        first = self.edge(place, partner=True)
        if first is None or first[1] >= len(words) or words[first[1]] not in joints:
            return None
        hourly = first[0].clock is not None
        second = self.reader.second(first[0], first[1] + 1) or self.edge(first[1] + 1, partner=hourly)
        if second is None:
            return None
        start, end = first[0], second[0]
        if end.day is not None and end.grain == "day" and start.grain == "moment" and start.clock is not None:
            return None
        if end.exact and start.inferred:
            start = replace(start, start=_year_of(start.start, end.start.year))
        if start.clock is not None and end.clock is not None:
            return self.hours(start, end, second[1])
        if end.start < start.start:
            start = replace(start, start=_year_of(start.start, end.start.year))
            if end.start < start.start:
                return None
        return Span(start.anchor or start.start, end.anchor or end.start, "range"), second[1]

    def hours(self, start: Span, end: Span, behind: int) -> tuple[Span, int] | None:
        """Two clock times; the first inherits "pm" and the day from the second if it has none of its own."""
        if start.clock is None or end.clock is None:
            return None
        day = start.day or end.day or midnight(self.reader.now)
        first, last = start.clock.paired(end.clock)
        until = day + last
        if until <= day + first:
            until += timedelta(days=1)
        return Span(day + first, until, "range", clock=start.clock, day=start.day or end.day), behind

    def edge(self, place: int, *, partner: bool = False) -> tuple[Span, int] | None:
        """A date, a clock time, or both in either order."""
        reader = self.reader
        if place >= len(reader.words):
            return None
        skip = place
        while skip < len(reader.words) and reader.words[skip] in _LEADING and skip - place < 2:
            skip += 1
        for start in dict.fromkeys((place, skip)):
            dated = reader.date_at(start)
            if dated is not None:
                return self.lasting(self.timed(dated[0], dated[1], partner=partner))
        clocked = self.clocked(place, skip, partner=partner)
        return None if clocked is None else self.lasting(clocked)

    def lasting(self, read: tuple[Span, int]) -> tuple[Span, int]:
        """ "… for two hours" after a moment makes a range of it."""
        span, behind = read
        length = self.reader.duration_at(behind + 1) if self.reader.at(behind) == "for" else None
        if length is None or span.grain not in {"moment", "day"}:
            return read
        return Span(span.start, self.reader.shifted(span.start, length[0], 1), "range"), length[1]

    def timed(self, span: Span, behind: int, *, partner: bool) -> tuple[Span, int]:
        """Narrows a day by the part of day or clock time that follows, or both."""
        reader = self.reader
        if span.grain not in {"day", "part"}:
            return span, behind
        if span.grain == "day":
            part = reader.part_at(behind, day=span.start)
            if part is not None:
                span, behind = part
        if reader.at(behind) == "for" and reader.duration_at(behind + 1) is not None:
            return span, behind
        if reader.at(behind) in {"before", "after", "until", "till"}:
            return self.until(span, behind)
        clock = clock_at(reader.words, behind, part=span.part, bare=_introduced(reader.words, behind))
        hours = self.pair(behind + _introducers(reader.words, behind), joints=_HOUR_JOINTS) if not partner else None
        if hours is not None and hours[0].clock is not None:
            moved = midnight(span.start) - midnight(hours[0].start)
            return Span(hours[0].start + moved, hours[0].end + moved, "range"), hours[1]
        if clock is None:
            return span, behind
        at = midnight(span.start) + clock[0].offset()
        return Span(at, at, "moment", clock=clock[0], day=midnight(span.start)), clock[1]

    def until(self, span: Span, behind: int) -> tuple[Span, int]:
        """A day and a limit within it: "tomorrow before 5pm"."""
        words = self.reader.words
        clock = clock_at(words, behind + 1, part=span.part, bare=True)
        if clock is None:
            return span, behind
        at = midnight(span.start) + clock[0].offset()
        if words[behind] == "after":
            return Span(at, FAR_FUTURE, "range"), clock[1]
        return Span(FAR_PAST, at, "range"), clock[1]

    def clocked(self, place: int, skip: int, *, partner: bool) -> tuple[Span, int] | None:
        """A clock time, today unless a day follows it ("9am on Tuesday")."""
        reader = self.reader
        bare = partner or reader.words[place] == "at" or (place > 0 and reader.words[place - 1] in {"between", "from"})
        clock = clock_at(reader.words, skip, part=None, bare=bare)
        if clock is None:
            return None
        behind = clock[1]
        after = behind
        while after < len(reader.words) and reader.words[after] in {"on", "of", "in", "the"} and after - behind < 2:
            after += 1
        for start in dict.fromkeys((behind, after)):
            dated = reader.date_at(start)
            if dated is not None and dated[0].grain in {"day", "part"}:
                dated = reader.part_at(dated[1], day=dated[0].start) or dated
                day = midnight(dated[0].start)
                time = clock[0].within(dated[0].part)
                return Span(day + time.offset(), day + time.offset(), "moment", clock=time, day=day), dated[1]
        if not clock[0].sure and not bare:
            return None
        at = reader.today_at(clock[0])
        return Span(at, at, "moment", clock=clock[0]), behind


def _introducers(words: list[str], place: int) -> int:
    count = 0
    while (
        place + count < len(words)
        and words[place + count] in {"at", "from", "between", "for", "around", "by"}
        and count < 2
    ):
        count += 1
    return count


def _introduced(words: list[str], place: int) -> bool:
    return _introducers(words, place) > 0


def _year_of(day: datetime, year: int) -> datetime:
    try:
        return day.replace(year=year)
    except ValueError:
        return day.replace(year=year, day=28)
