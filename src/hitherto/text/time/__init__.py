"""Dates and times written the way the user's region writes them. The process's own locale plays no part.

Formats come from the Unicode locale data, as lines in each language's file. Without a locale, or for a language that has no
formats, English ones are used that read the same everywhere.
"""

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Final

from hitherto.text.languages import CODES, ENGLISH, language

__all__ = ["written_clock", "written_date", "written_day"]

_AS_IN_AMERICA: Final = ("", "us")
"""Regions of English that write the month first."""


def written_date(value: datetime, locale: str | None = None) -> str:
    """Such as `Monday, March 2, 2026`."""
    own, region = _formats(locale)
    table = own or language(ENGLISH).tables["situation"]
    elsewhere = region not in _AS_IN_AMERICA and "date_elsewhere" in table
    return _filled(table["date_elsewhere" if elsewhere else "date"], table["weekdays"], table["months"], value)


def written_day(value: datetime, locale: str | None = None, *, year: bool) -> str:
    """A short date, such as `Mon 2 Mar` or `Mo., 2. März 2026`."""
    own, region = _formats(locale)
    table = own or language(ENGLISH).tables["situation"]
    here = own is not None and region in _AS_IN_AMERICA
    short: str = table["short"] if here else table.get("short_elsewhere", table["short"])
    day, with_year = short.split(" | ")
    return _filled(with_year if year else day, table["short_weekdays"], table["short_months"], value)


def written_clock(value: datetime, locale: str | None = None) -> str:
    """Such as `14:05`, or `2:05 PM` in regions with a 12-hour clock."""
    own, region = _formats(locale)
    if own and (region or own.get("twelve_at_home")) in own.get("twelve", "").split():
        half = own["halves"].split()[value.hour // 12].replace("_", "\u00a0")
        return f"{value.hour % 12 or 12}:{value:%M} {half}"
    return f"{value:%H:%M}"


def _formats(locale: str | None) -> tuple[Mapping[str, Any] | None, str]:
    """The formats of a locale's language, if its file has them, and the locale's region."""
    code, _, region = (locale or "").replace("_", "-").lower().partition("-")
    return (language(code).tables.get("situation") if code in CODES else None), region.rpartition("-")[2]


def _filled(form: str, weekdays: str, months: str, value: datetime) -> str:
    return form.format(
        weekday=weekdays.split()[value.weekday()],
        month=months.split()[value.month - 1],
        day=value.day,
        year=value.year,
    )
