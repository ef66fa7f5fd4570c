"""Times of day: "5pm", "17:30", "half past six", "noon"."""

import re
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Final, Literal

from hitherto.text.numbers import number_at

__all__ = ["PARTS", "Clock", "DayPart", "clock_at"]

DayPart = Literal["morning", "noon", "afternoon", "evening", "night"]

PARTS: Final[dict[str, tuple[DayPart, int, int]]] = {
    "morning": ("morning", 8, 12),
    "noon": ("noon", 12, 13),
    "lunchtime": ("noon", 11, 13),
    "afternoon": ("afternoon", 12, 16),
    "evening": ("evening", 16, 20),
    "night": ("night", 20, 24),
    "tonight": ("night", 20, 24),
    "tonite": ("night", 20, 24),
}
_CLOCK: Final = re.compile(r"(\d{1,2})[:.](\d{2})(?::(\d{2}))?")


@dataclass(frozen=True, slots=True)
class Clock:
    """A time of day; `half` is am, pm or unstated; `sure` says that it cannot be a bare number."""

    hour: int
    minute: int = 0
    second: int = 0
    half: Literal["am", "pm", ""] = ""
    sure: bool = True

    def offset(self) -> timedelta:
        """Hours since midnight. Without am or pm, working hours are assumed: 1 to 7 are in the afternoon."""
        hour = self.hour
        if self.half == "pm" and hour < 12:
            hour += 12
        elif self.half == "am" and hour == 12:
            hour = 0
        elif not self.half and 1 <= hour <= 7:
            hour += 12
        return timedelta(hours=hour, minutes=self.minute, seconds=self.second)

    def within(self, part: DayPart | None) -> "Clock":
        """The same time within a part of the day: 7 in the evening is 19:00."""
        if self.half or part is None or self.hour > 12:
            return self
        return replace(self, half="am" if part == "morning" or (part == "night" and self.hour < 4) else "pm")

    def paired(self, other: "Clock") -> tuple[timedelta, timedelta]:
        """From this time to the other; am or pm on one applies to both if it can."""
        first = self
        if not self.half and other.half:
            first = replace(self, half=other.half)
            if first.offset() >= other.offset():
                first = replace(self, half="am")
        start, end = first.offset(), other.offset()
        if end < start and not other.half and other.hour <= 12:
            end += timedelta(hours=12)
        return start, end


def clock_at(words: list[str], place: int, *, part: DayPart | None, bare: bool) -> tuple[Clock, int] | None:
    """A time of day that begins at `place`; a bare number counts only if `bare` says it was introduced."""
    while place < len(words) and words[place] in {"at", "around", "about", "circa", "for", "from", "by"}:
        place += 1
    if place >= len(words):
        return None
    read = _past(words, place) or _named(words, place) or _figures(words, place) or _spelled(words, place)
    if read is None:
        return None
    clock, behind = read
    clock, behind = _half(clock, words, behind)
    if behind < len(words) and words[behind] in {"oclock", "o'clock"}:
        clock, behind = replace(clock, sure=True), behind + 1
    clock, behind = _part(clock.within(part), words, behind)
    return (clock, behind) if clock.sure or bare else None


def _figures(words: list[str], place: int) -> tuple[Clock, int] | None:
    match = _CLOCK.fullmatch(words[place])
    if match is not None:
        hour, minute, second = int(match[1]), int(match[2]), int(match[3] or 0)
        sure = ":" in words[place]
        return (Clock(hour, minute, second, sure=sure), place + 1) if hour < 25 and minute < 60 else None
    if words[place].isdigit() and words[place].isascii():
        value = int(words[place])
        if len(words[place]) in {3, 4} and value % 100 < 60 and value // 100 < 24:
            return Clock(value // 100, value % 100, sure=False), place + 1
        return (Clock(value, sure=False), place + 1) if value < 25 and len(words[place]) < 3 else None
    return None


def _spelled(words: list[str], place: int) -> tuple[Clock, int] | None:
    """ "seven", "seven thirty", "six forty-three"."""
    hour = number_at(words, place)
    if hour is None or not 1 <= hour[0] <= 12:
        return None
    after = hour[1]
    minute = number_at(words, after) if after < len(words) and not words[after].isdigit() else None
    if minute is None and after < len(words) and words[after] in {"forty", "fifty", "thirty", "twenty"}:
        minute = number_at(words, after)
    if minute is not None and 10 <= minute[0] < 60:
        behind = minute[1]
        if words[behind : behind + 1] == ["-"]:
            unit = number_at(words, behind + 1)
            if unit is not None and unit[0] < 10:
                return Clock(int(hour[0]), int(minute[0] + unit[0]), sure=False), unit[1]
        return Clock(int(hour[0]), int(minute[0]), sure=False), behind
    return Clock(int(hour[0]), sure=False), after


def _past(words: list[str], place: int) -> tuple[Clock, int] | None:
    """ "half past six", "quarter to nine", "20 min past eight"."""
    behind = place + (words[place] == "a")
    if behind >= len(words):
        return None
    amount = {"half": 30.0, "quarter": 15.0}.get(words[behind])
    if amount is None:
        read = number_at(words, behind)
        if read is None:
            return None
        amount, behind = read
    else:
        behind += 1
    if behind < len(words) and words[behind] in {"min", "mins", "minutes", "minute"}:
        behind += 1
    if behind + 1 >= len(words) or words[behind] not in {"past", "to"} or amount >= 60:
        return None
    hour = number_at(words, behind + 1)
    if hour is None or not 1 <= hour[0] <= 12 or (words[behind] == "to" and amount not in {5, 10, 15, 20, 25, 30}):
        return None
    if words[behind] == "past":
        return Clock(int(hour[0]), int(amount)), hour[1]
    if words[place] not in {"a", "quarter", "half", "ten", "five", "twenty"}:
        return None
    return Clock(int(hour[0]) - 1 or 12, 60 - int(amount)), hour[1]


def _named(words: list[str], place: int) -> tuple[Clock, int] | None:
    named = {"noon": Clock(12), "midday": Clock(12), "midnight": Clock(0, half="am")}
    return (named[words[place]], place + 1) if words[place] in named else None


def _half(clock: Clock, words: list[str], place: int) -> tuple[Clock, int]:
    if place >= len(words) or clock.hour > 12:
        return clock, place
    word = words[place].replace(".", "")
    if word in {"am", "pm"}:
        return replace(clock, half="am" if word == "am" else "pm", sure=True), place + 1
    if word in {"a", "p"} and words[place + 1 : place + 2] == ["m"]:
        return replace(clock, half="am" if word == "a" else "pm", sure=True), place + 2
    if word == "p":
        return replace(clock, half="pm", sure=True), place + 1
    return clock, place


def _part(clock: Clock, words: list[str], place: int) -> tuple[Clock, int]:
    """ "… in the morning", "… at night" behind a time."""
    behind = place
    while behind < len(words) and words[behind] in {"in", "the", "at", "this"} and behind - place < 2:
        behind += 1
    named = PARTS.get(words[behind]) if behind < len(words) and clock.hour <= 12 else None
    if named is None or named[0] == "noon" or words[behind].startswith("to") or (behind == place and not clock.sure):
        return clock, place
    return replace(clock.within(named[0]), sure=True), behind + 1
