"""Time comes from outside: the engine is given a clock, and everything below it is given `now`.

Instants are stored as whole microseconds since 1970 in UTC; days and phrases such as "this morning" follow the user's time
zone.
"""

from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta
from functools import lru_cache
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from hitherto.errors import InvalidInput

Clock = Callable[[], datetime]

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
END = datetime(8000, 1, 1, tzinfo=UTC)
"""Calendars end with the year 9999, and the times that texts mention with 8999. Ending here leaves room for "in a hundred
years"."""
_MICROSECOND = timedelta(microseconds=1)


def system_clock() -> datetime:
    """The machine's time, aware, in UTC."""
    return datetime.now(UTC)


def instant(value: datetime, *, name: str = "at") -> datetime:
    """When something happens, in UTC; a naive time, or one outside 1970 to 7999, raises a clear error."""
    utc = _utc(value, name=name)
    if utc >= END:
        raise InvalidInput(f"{name}={value!r} is after 7999, which is not supported")
    return utc


def bound(value: datetime, *, name: str) -> datetime:
    """The limit of a range, in UTC. The end of the calendar is accepted, because people use it for "always"."""
    return min(_utc(value, name=name), END)


def _utc(value: datetime, *, name: str) -> datetime:
    if not isinstance(value, datetime):  # pyright: ignore[reportUnnecessaryIsInstance] -- callers are untyped too
        raise InvalidInput(
            f"{name}={value!r} is a {type(value).__name__}, not a datetime; pass an aware one, such as"
            ' datetime.fromisoformat("2026-03-02T10:00:00+00:00")'
        )
    if value.tzinfo is None:
        raise InvalidInput(
            f"{name}={value.isoformat()} has no time zone; pass an aware datetime, such as {value.isoformat()}Z"
        )
    try:
        utc = value.astimezone(UTC)
    except OverflowError as error:
        raise InvalidInput(f"{name}={value!r} cannot be expressed in UTC") from error
    if utc < EPOCH:
        raise InvalidInput(f"{name}={value!r} is before 1970, which is not supported")
    return utc


def micros(value: datetime) -> int:
    """Microseconds since 1970, exact (no floating point)."""
    return (value - EPOCH) // _MICROSECOND


def from_micros(value: int) -> datetime:
    return EPOCH + timedelta(microseconds=value)


@lru_cache(maxsize=512)
def zone(name: str) -> ZoneInfo:
    """The IANA zone of that name, or a clear error."""
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError) as error:
        raise InvalidInput(f"unknown time zone {name!r}; use an IANA name such as 'Europe/Berlin'") from error


def local(value: datetime, zone_name: str) -> datetime:
    return value.astimezone(zone(zone_name))


def local_day(value: datetime, zone_name: str) -> date:
    """The user's own calendar day at that instant."""
    return local(value, zone_name).date()


def day_bounds(day: date, zone_name: str) -> tuple[datetime, datetime]:
    """The instants at which the user's day begins and ends; a day may have 23 or 25 hours."""
    tz = zone(zone_name)
    start = datetime(day.year, day.month, day.day, tzinfo=tz)
    following = day + timedelta(days=1)
    end = datetime(following.year, following.month, following.day, tzinfo=tz)
    return start.astimezone(UTC), end.astimezone(UTC)
