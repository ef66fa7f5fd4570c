"""Times that hang on something that happened, as messages put it."""

from datetime import date

import pytest

from hitherto.recall.entities import events

RACE = date(2026, 3, 11)  # a Wednesday


def told(text: str) -> list[tuple[str, str, str]]:
    """Each event with the first and the last day that are meant if it happened on that Wednesday."""
    found: list[tuple[str, str, str]] = []
    for event in events(text):
        start, end = event.period(RACE)
        found.append((event.text, f"{start:%d %b}", f"{end:%d %b}"))
    return found


@pytest.mark.parametrize(
    ("text", "event", "start", "end"),
    [
        ("What did I eat the day after the race?", "the race", "12 Mar", "13 Mar"),
        ("the evening before the exam I could not sleep", "the exam", "10 Mar", "11 Mar"),
        ("what did I say on the night of the concert", "the concert", "11 Mar", "12 Mar"),
        ("What did we plan in the week before my wedding?", "my wedding", "04 Mar", "11 Mar"),
        ("the week after we moved", "we moved", "12 Mar", "19 Mar"),
        ("the week of the wedding did I buy shoes?", "the wedding", "09 Mar", "16 Mar"),
        ("the weekend after Anna's birthday", "Anna's birthday", "14 Mar", "16 Mar"),
        ("the weekend before the launch", "the launch", "07 Mar", "09 Mar"),
        ("what did I say two days after the interview at Acme about pay?", "the interview at Acme", "13 Mar", "14 Mar"),
        ("how was I 3 weeks after my surgery", "my surgery", "31 Mar", "03 Apr"),
        ("a month after the move", "the move", "10 Apr", "13 Apr"),
        ("the month before the trip", "the trip", "11 Feb", "11 Mar"),
        ("how did I feel right after the race?", "the race", "12 Mar", "15 Mar"),
        ("shortly before the exam", "the exam", "08 Mar", "11 Mar"),
        ("Was habe ich am Tag nach dem Rennen gegessen?", "dem Rennen gegessen", "12 Mar", "13 Mar"),
        ("Was war in der Woche vor meiner Hochzeit?", "meiner Hochzeit", "04 Mar", "11 Mar"),
        ("¿Qué comí dos días después de la carrera?", "la carrera", "13 Mar", "14 Mar"),
        ("Qu'est-ce que j'ai mangé le lendemain de la course ?", "la course", "12 Mar", "13 Mar"),
        ("Cosa ti ho detto la settimana prima del mio matrimonio?", "mio matrimonio", "04 Mar", "11 Mar"),
        ("Wat was er in de week voor mijn bruiloft?", "mijn bruiloft", "04 Mar", "11 Mar"),
        ("O que eu comi no dia depois da corrida?", "corrida", "12 Mar", "13 Mar"),
    ],
)
def test_what_lies_beside_an_event(text: str, event: str, start: str, end: str) -> None:
    assert told(text) == [(event, start, end)]


@pytest.mark.parametrize(
    "text",
    [
        "the day after tomorrow",
        "the week after next",
        "the Friday before last",
        "every day before work I run",
        "the best year of my life",
        "two weeks of holiday",
        "the first day of school",
        "days after that I cried",
        "the day before",
        "before the race I was calm",
        "",
    ],
)
def test_what_hangs_on_no_event(text: str) -> None:
    assert told(text) == []
