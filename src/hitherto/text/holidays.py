"""Days that are named rather than dated."""

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Final

__all__ = ["holiday"]

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
    ("easter",): _easter,
    ("good", "friday"): lambda year: _easter(year) - timedelta(days=2),
}
_LONGEST: Final = max(len(name) for name in _NAMED)


def holiday(words: list[str], place: int) -> tuple[Holiday, int] | None:
    """The holiday named at `place`, as its day in a given year, and the place behind the name."""
    for length in range(min(_LONGEST, len(words) - place), 0, -1):
        named = _NAMED.get(tuple(words[place : place + length]))
        if named is not None:
            return named, place + length
    return None
