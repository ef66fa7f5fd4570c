"""Times as a person would say them, in the user's own zone."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from hitherto.assemble.sections.situation import daypart, span
from hitherto.recipes.book import parse
from hitherto.text.time import written_clock, written_date, written_day
from tests.assemble.build import block, everything, made, memory, recalled


@pytest.mark.req("R0.8", "R2.10")
@pytest.mark.parametrize(
    ("passed", "words"),
    [
        (timedelta(seconds=-5), "less than a minute"),
        (timedelta(seconds=59), "less than a minute"),
        (timedelta(seconds=60), "1 minute"),
        (timedelta(minutes=59), "59 minutes"),
        (timedelta(hours=1, minutes=30), "1 hour"),
        (timedelta(hours=23), "23 hours"),
        (timedelta(days=1), "1 day"),
        (timedelta(days=400), "400 days"),
    ],
)
def test_a_span_is_said_in_its_largest_whole_unit(passed: timedelta, words: str) -> None:
    assert span(passed) == words


@pytest.mark.req("R0.8")
@pytest.mark.parametrize(
    ("hour", "words"),
    [
        (0, "night"),
        (4, "night"),
        (5, "morning"),
        (11, "morning"),
        (12, "afternoon"),
        (17, "evening"),
        (22, "night"),
    ],
)
def test_the_time_of_day(hour: int, words: str) -> None:
    assert daypart(datetime(2026, 3, 2, hour, tzinfo=UTC)) == words


@pytest.mark.req("R2.10")
def test_a_date_is_day_month_date_year() -> None:
    assert written_date(datetime(2024, 2, 29, tzinfo=UTC)) == "Thursday, February 29, 2024"


@pytest.mark.parametrize(
    ("locale", "written"),
    [
        ("en-US", "Thursday, February 29, 2024"),
        ("en_GB", "Thursday, 29 February 2024"),
        ("es", "jueves, 29 de febrero de 2024"),
        ("de-AT", "Donnerstag, 29. Februar 2024"),
        ("ja-JP", "2024年2月29日（木曜日）"),
        ("zh-Hant-TW", "2024年2月29日，星期四"),
        ("xx", "Thursday, February 29, 2024"),
        ("ko", "Thursday, February 29, 2024"),
    ],
)
def test_a_locale_says_how_a_date_is_written(locale: str, written: str) -> None:
    assert written_date(datetime(2024, 2, 29, tzinfo=UTC), locale) == written


@pytest.mark.parametrize(
    ("locale", "day", "clock"),
    [
        (None, "Tue 3 Mar 2026", "14:05"),
        ("xx", "Tue 3 Mar 2026", "14:05"),
        ("en-US", "Tue, Mar 3, 2026", "2:05 PM"),
        ("en_GB", "Tue 3 Mar 2026", "14:05"),
        ("es-ES", "mar, 3 mar 2026", "14:05"),
        ("es-MX", "mar, 3 mar 2026", "2:05 p.\u00a0m."),
        ("de", "Di., 3. März 2026", "14:05"),
        ("fr-CA", "mar. 3 mars 2026", "14:05"),
        ("it", "mar 3 mar 2026", "14:05"),
        ("pt-BR", "ter., 3 de mar. de 2026", "14:05"),
        ("nl", "di 3 mrt 2026", "14:05"),
        ("ru", "вт, 3 мар. 2026 г.", "14:05"),
        ("ja-JP", "2026年3月3日(火)", "14:05"),
        ("zh-Hant-TW", "2026年3月3日周二", "14:05"),
    ],
)
def test_a_locale_says_how_a_day_and_an_hour_are_written(locale: str | None, day: str, clock: str) -> None:
    at = datetime(2026, 3, 3, 14, 5, tzinfo=UTC)
    assert written_day(at, locale, year=True) == day
    assert written_clock(at, locale) == clock


@pytest.mark.req("R0.12")
def test_a_deferred_situation_leaves_its_times_to_be_filled_in() -> None:
    recipe = parse('extends = "companion-voice"\nname = "cached"\n[situation]\ndeferred = true')
    context = made(recipe, everything(recalled=recalled(memory("m", "she types {now} and {since} a lot"))))
    assert "Current time: {now}" in block(context, "SITUATION").lines
    assert "Last session: {since} ago" in block(context, "SITUATION").lines
    assert "she types {now} and {since} a lot" in context.system
