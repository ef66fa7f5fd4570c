"""F8: the clock goes back and forth, over changes to summer time in six zones and a leap day: the order is that of the log, and
"today" and "yesterday" are the user's."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from datetime import UTC, date, datetime, timedelta
from itertools import count as numbers
from zoneinfo import ZoneInfo

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hitherto import Hitherto, Turn
from hitherto.testing import FakeClock
from hitherto.text.time.spans import ranges
from tests.effort import count
from tests.stores import Backend

CASES: dict[Backend, int] = {"sqlite": count(test=150, soak=1_500), "postgres": count(test=50, soak=500)}
SETTLED = 4
"""Every so many cases the work is done as well, which makes the days' summaries."""
# Half an hour of summer time, a change at midnight, one in the middle of Ramadan, offsets of odd minutes, both hemispheres.
ZONES = (
    "Europe/Berlin",
    "America/New_York",
    "Australia/Lord_Howe",
    "Africa/Cairo",
    "Africa/Casablanca",
    "America/St_Johns",
)
FIRST = datetime(2023, 6, 1, tzinfo=UTC)
LEAP_DAY = datetime(2024, 2, 29, tzinfo=UTC)


def _changes(zone: str) -> list[datetime]:
    """The days in two years on which the zone's offset changes, and the leap day."""
    days = [FIRST + timedelta(days=number) for number in range(731)]
    offset = {day: day.astimezone(ZoneInfo(zone)).utcoffset() for day in days}
    changed = [day for day in days[1:] if offset[day] != offset[day - timedelta(days=1)]]
    assert len(changed) >= 4, f"{zone} has no summer time"
    return [*changed, LEAP_DAY]


places = st.sampled_from([(zone, day) for zone in ZONES for day in _changes(zone)])
jumps = st.lists(st.integers(-3 * 24 * 60, 3 * 24 * 60), min_size=3, max_size=8)


def _day(moment: datetime, zone: str) -> date:
    return moment.astimezone(ZoneInfo(zone)).date()


def _is_whole_day(start: datetime, end: datetime, day: date, zone: str) -> bool:
    """All instants of that day of the user's, and none of another."""
    edge = timedelta(microseconds=1)
    start, end = start.astimezone(UTC), end.astimezone(UTC)  # in its own zone, time is subtracted on the clock's face
    inside = {_day(start, zone), _day(end - edge, zone)}
    return inside == {day} and _day(start - edge, zone) < day < _day(end, zone)


@pytest.fixture
def loop() -> Iterator[asyncio.AbstractEventLoop]:
    made = asyncio.new_event_loop()
    yield made
    made.close()


async def _case(
    memory: Hitherto, clock: FakeClock, user: str, zone: str, moments: list[datetime], *, work: bool
) -> None:
    await memory.set_user(user, zone=zone)
    for number, moment in enumerate(moments):
        clock.set(moment)
        await memory.record(Turn(user=user, role="user", text=f"I planted tree number {number}.", id=f"t{number}"))
    told = await memory.turns(user=user)
    assert [turn.id for turn in told] == [f"t{number}" for number in range(len(moments))], "the log's order"
    assert [turn.at for turn in told] == moments
    assert {turn.at.utcoffset() for turn in told} == {timedelta(0)}, "kept in UTC"
    assert (await memory.user(user)).zone == zone

    now = clock()
    context = await memory.context(user=user, message="and?", recipe="recall")
    here = now.astimezone(ZoneInfo(zone))
    assert f"Current date: {here:%A, %B} {here.day}, {here.year}" in context.system
    assert f"Current time: {here.isoformat(timespec='seconds')}" in context.system
    assert f"User timezone: {zone}" in context.system
    seen = [int(str(one["content"]).rstrip(".").rpartition(" ")[2]) for one in context.history]
    assert seen == sorted(seen)

    for words, back in (("What did I say today?", 0), ("What did I say yesterday?", 1)):
        [found] = ranges(words, now=now, zone=zone)
        assert _is_whole_day(found.start, found.end, _day(now, zone) - timedelta(days=back), zone), words
    if work:
        clock.set(max(moments))
        clock.tick(days=2)
        await memory.settle(user=user)
        days = {turn.id: _day(turn.at, zone).isoformat() for turn in told}
        daily = await memory.summaries(user=user, kind="daily")
        assert daily
        for summary in daily:
            assert {days[source] for source in summary.sources} == {str(summary.key).rpartition(":")[2]}


@pytest.mark.promise("F8")
@pytest.mark.req("R1.14", "R2.10")
def test_order_is_the_logs_and_days_are_the_users(
    store_url: str, backend: Backend, loop: asyncio.AbstractEventLoop, tried: Callable[[int], None]
) -> None:
    clock, users = FakeClock(), numbers()
    memory = Hitherto(store_url, clock=clock)
    loop.run_until_complete(memory.open())

    @settings(max_examples=CASES[backend], suppress_health_check=[HealthCheck.too_slow])
    @given(place=places, minutes=jumps)
    def case(place: tuple[str, datetime], minutes: list[int]) -> None:
        zone, day = place
        number = next(users)
        moments = [day + timedelta(minutes=minute) for minute in minutes]
        work = number % SETTLED == 0
        loop.run_until_complete(_case(memory, clock, f"user{number}", zone, moments, work=work))

    tried(CASES[backend])
    try:
        case()
    finally:
        loop.run_until_complete(memory.close())
