from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hitherto.text.time.spans import due, ranges

NOW = datetime(2024, 5, 15, 10, 30, tzinfo=UTC)  # a Wednesday
ZONES = ["UTC", "Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Asia/Kathmandu", "Pacific/Apia"]


def spans(text: str, *, now: datetime = NOW, zone: str = "UTC") -> list[tuple[str, str]]:
    shown = "%Y-%m-%d %H:%M"
    return [(found.start.strftime(shown), found.end.strftime(shown)) for found in ranges(text, now=now, zone=zone)]


def day(date: str) -> list[tuple[str, str]]:
    start = datetime.fromisoformat(date)
    return [(f"{date} 00:00", f"{start + timedelta(days=1):%Y-%m-%d} 00:00")]


@pytest.mark.parametrize(
    ("text", "date"),
    [
        ("what did I do yesterday?", "2024-05-14"),
        ("see you tomorrow", "2024-05-16"),
        ("we met two weeks ago", "2024-05-01"),
        ("I fly in three days", "2024-05-18"),
        ("we met on May 3rd", "2024-05-03"),
        ("I was born on 12 March 1990", "1990-03-12"),
        ("it was 2023-11-02", "2023-11-02"),
        ("the party was last Friday", "2024-05-10"),
        ("let's talk next Monday", "2024-05-20"),
        ("I'll go on Friday", "2024-05-17"),
        ("we went on Monday", "2024-05-13"),
        ("the day after tomorrow works", "2024-05-17"),
        ("we will see them on Christmas", "2024-12-25"),
        ("what happened on Halloween?", "2023-10-31"),
        ("What did I tell you on 11 December?", "2023-12-11"),
        ("what did we do on the 11th of December", "2023-12-11"),
        ("what did I do on the Tuesday before last?", "2024-05-07"),
        ("I signed up, it is on Saturday 18 May", "2024-05-18"),
        ("we met on Thursday, June 15th", "2023-06-15"),
        ("three Fridays ago I ran", "2024-04-26"),
        ("the day after Christmas", "2023-12-26"),
        ("the day before 11 December", "2023-12-10"),
        ("the Friday before Easter", "2024-03-29"),
        ("the Monday after Easter", "2024-04-01"),
    ],
)
def test_days(text: str, date: str) -> None:
    assert spans(text) == day(date)


@pytest.mark.parametrize(
    ("text", "start", "end"),
    [
        ("last week was hard", "2024-05-06 00:00", "2024-05-13 00:00"),
        ("next month I move", "2024-06-01 00:00", "2024-07-01 00:00"),
        ("last year", "2023-01-01 00:00", "2024-01-01 00:00"),
        ("we met in June 2022", "2022-06-01 00:00", "2022-07-01 00:00"),
        ("that was in 2019", "2019-01-01 00:00", "2020-01-01 00:00"),
        ("tomorrow morning", "2024-05-16 08:00", "2024-05-16 12:00"),
        ("this weekend", "2024-05-18 00:00", "2024-05-20 00:00"),
        ("we were at the lake over the weekend", "2024-05-11 00:00", "2024-05-13 00:00"),
        ("tomorrow at 5pm", "2024-05-16 17:00", "2024-05-16 17:00"),
        ("in 20 minutes", "2024-05-15 10:50", "2024-05-15 10:50"),
        ("it was loud from Monday to Friday", "2024-05-13 00:00", "2024-05-17 00:00"),
        ("the last three months", "2024-02-15 00:00", "2024-05-15 00:00"),
        ("the music of the 1990s", "1990-01-01 00:00", "2000-01-01 00:00"),
        ("what did I say last spring?", "2023-03-01 00:00", "2023-06-01 00:00"),
        ("what was I reading in the summer of 2022", "2022-06-01 00:00", "2022-09-01 00:00"),
        ("what did we do over the winter", "2023-12-01 00:00", "2024-03-01 00:00"),
        ("next summer we move", "2024-06-01 00:00", "2024-09-01 00:00"),
        ("the summer before last", "2022-06-01 00:00", "2022-09-01 00:00"),
        ("what did I say the week before last", "2024-04-29 00:00", "2024-05-06 00:00"),
        ("how was the weekend before last", "2024-05-04 00:00", "2024-05-06 00:00"),
        ("the week after Easter", "2024-04-01 00:00", "2024-04-08 00:00"),
        ("the weekend after 3 May", "2024-05-04 00:00", "2024-05-06 00:00"),
        ("the weekend before 5 May", "2024-04-27 00:00", "2024-04-29 00:00"),
        ("the evening before Christmas", "2023-12-24 16:00", "2023-12-24 20:00"),
        ("how did we do in Q1?", "2024-01-01 00:00", "2024-04-01 00:00"),
        ("Wie ging es mir letzten Frühling?", "2023-03-01 00:00", "2023-06-01 00:00"),
        ("¿Qué hice la primavera pasada?", "2023-03-01 00:00", "2023-06-01 00:00"),
        ("Qu'est-ce que j'ai fait au printemps dernier ?", "2023-03-01 00:00", "2023-06-01 00:00"),
        ("l'estate scorsa", "2023-06-01 00:00", "2023-09-01 00:00"),
        ("vorige zomer", "2023-06-01 00:00", "2023-09-01 00:00"),
        ("no verão passado", "2023-06-01 00:00", "2023-09-01 00:00"),
        ("прошлым летом", "2023-06-01 00:00", "2023-09-01 00:00"),
        ("去年の夏", "2023-06-01 00:00", "2023-09-01 00:00"),
    ],
)
def test_longer_and_shorter_spans(text: str, start: str, end: str) -> None:
    assert spans(text) == [(start, end)]


@pytest.mark.parametrize(
    "text",
    [
        "I may go",
        "May I ask you something?",
        "we march on and on",
        "the sun is out and I sat down",
        "I have twenty-one coins",
        "day after day I waited",
        "there were 10 students",
        "version 2 of the plan",
        "give me a second",
        "mon ami",
        "spring rolls are nice",
        "the spring is broken",
        "I fall a lot",
        "after the fall my knee hurt",
        "",
    ],
)
def test_what_is_no_date(text: str) -> None:
    assert spans(text) == []


@pytest.mark.parametrize(
    ("text", "at"),
    [
        ("I'll call you tomorrow morning", "2024-05-16 08:00"),
        ("remind me on Monday", "2024-05-20 09:00"),
        ("in two weeks I'll send it", "2024-05-29 09:00"),
        ("let's meet at 5pm", "2024-05-15 17:00"),
        ("call me at 9am", "2024-05-16 09:00"),
        ("I need it by Friday", "2024-05-18 00:00"),
        ("yesterday I promised, tomorrow I deliver", "2024-05-16 09:00"),
    ],
)
def test_when_a_promise_is_due(text: str, at: str) -> None:
    found = due(text, now=NOW, zone="UTC")
    assert found is not None
    assert found.strftime("%Y-%m-%d %H:%M") == at


@pytest.mark.parametrize("text", ["we met last week", "I may call you", "no time here"])
def test_nothing_to_come_is_never_due(text: str) -> None:
    assert due(text, now=NOW, zone="UTC") is None


def test_today_is_the_users_own() -> None:
    late = datetime(2024, 5, 15, 23, 30, tzinfo=UTC)
    assert spans("today", now=late, zone="Asia/Tokyo") == day("2024-05-16")
    assert spans("today", now=late, zone="America/New_York") == day("2024-05-15")


def test_a_day_of_23_hours_and_a_skipped_hour() -> None:
    before = datetime(2024, 3, 30, 12, tzinfo=UTC)
    (tomorrow,) = ranges("tomorrow", now=before, zone="Europe/Berlin")
    assert tomorrow.end.astimezone(UTC) - tomorrow.start.astimezone(UTC) == timedelta(hours=23)
    (skipped,) = ranges("tomorrow at 2:30 am", now=before, zone="Europe/Berlin")
    assert skipped.start.isoformat() == "2024-03-31T03:30:00+02:00"


def test_hours_are_counted_on_the_time_line() -> None:
    before = datetime(2024, 3, 30, 23, tzinfo=UTC)
    (found,) = ranges("in 5 hours", now=before, zone="Europe/Berlin")
    assert found.start.astimezone(UTC) == before + timedelta(hours=5)


def test_a_naive_now_is_refused() -> None:
    with pytest.raises(ValueError, match="aware"):
        ranges("today", now=datetime(2024, 5, 15), zone="UTC")  # noqa: DTZ001 - the naive value is the point


PIECES = """in on at the last next this May march 31 2/29 30 2024 9999 0 a few weeks months days ago from now to between
and Monday Friday morning 5 pm 12:75 25:00 q3 1e9 ninety the 31st February decade before after until end of today -
tomorrow half past six quarter hour century first week Easter twenty eight hundred 1000 years for"""
WORDS = st.sampled_from(PIECES.split())


@given(
    st.lists(WORDS, max_size=12).map(" ".join) | st.text(max_size=60),
    st.integers(631152000, 3786912000).map(lambda second: datetime.fromtimestamp(second, UTC)),
    st.sampled_from(ZONES),
)
def test_any_words_get_ordered_aware_ranges(text: str, moment: datetime, zone: str) -> None:
    for found in ranges(text, now=moment, zone=zone):
        assert found.start.tzinfo is not None
        assert found.start.astimezone(UTC) <= found.end.astimezone(UTC)
        assert found.text in text
    due(text, now=moment, zone=zone)
