"""What a pending slot takes, type by type, and what it leaves alone."""

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hitherto.ingest.focus import fits
from hitherto.types import Slot

AT = datetime(2026, 3, 2, tzinfo=UTC)
CHOICES = ("red", "dark blue", "green")
TASKS = (
    "what's the weather in Rome?",
    "remind me to call the bank and then write the report for the board",
    "can you book me a table for four tomorrow?",
    "Actually let us talk about my sister, she got the job in Lisbon last week",
)

FITTING = {
    "yes_no": "yes|Yes please|nope|no thanks|sure, go ahead|of course|I don't|👍|❌|ja|nein danke|oui|sí|да|はい",
    "number": "3|3.5|1,200|about 20|two|twenty five|it's 4|4 people|-2|85%|around 3 weeks|drei|a couple",
    "date": "tomorrow|2026-03-05|5/3/2026|on Monday|next Friday|May 12th|12 May 2026|in 3 days|monday at 5pm"
    "|tonight|tomorrow morning|the 5th of March|next week please|morgen um 9|demain|明天",
    "email": "ana@example.com|my email is ana.lopez+bot@mail.example.org|ANA@EXAMPLE.COM.",
    "phone": "+34 600 123 456|600-123-456|call me at (030) 1234567|it's 0171 2345678",
    "choice": "red|Dark blue|the green one|I'd like the red one please|the second one|2|b|last one",
    "text": "anything goes here|Ana Lopez|42|c/o Marta, second floor",
}
NOT_FITTING = {
    "yes_no": "maybe later I will|book a flight|yesterday was fun|knowing her, fine",
    "number": "12/05/2026|call 3 people and 4 dogs|room at the end of the street|I have to tell you 3 things about it",
    "date": "I may go|call me|the second one|march on|12 monkeys|tomorrow I want to talk about my mother",
    "email": "ana at example|@ana|a@b|ana@example.com or marta@example.com",
    "phone": "12345|2026-03-05|1234567890123456789|5 apples",
    "choice": "not the red one|red or green|purple|7|orange, and a coffee for the table over there now",
    "text": "/start| ",
}


def slot(expects: str) -> Slot:
    return Slot(id="s", at=AT, expects=expects, choices=CHOICES)  # pyright: ignore[reportArgumentType] - literals


def cases(table: dict[str, str]) -> list[tuple[str, str]]:
    return [(expects, message) for expects, messages in table.items() for message in messages.split("|")]


@pytest.mark.req("R4.2")
@pytest.mark.parametrize(("expects", "message"), cases(FITTING))
def test_a_value_fits(expects: str, message: str) -> None:
    assert fits(message, slot(expects))


@pytest.mark.req("R4.9")
@pytest.mark.parametrize(("expects", "message"), cases(NOT_FITTING))
def test_something_else_does_not_fit(expects: str, message: str) -> None:
    assert not fits(message, slot(expects))


@pytest.mark.req("R4.9")
@pytest.mark.parametrize("expects", [name for name in FITTING if name != "text"])
@pytest.mark.parametrize("message", TASKS)
def test_an_unrelated_task_fits_no_typed_slot(expects: str, message: str) -> None:
    assert not fits(message, slot(expects))


@pytest.mark.req("R4.9")
@pytest.mark.parametrize("sign", ["?", "？", "؟"])
@pytest.mark.parametrize("expects", list(FITTING))
def test_a_question_never_fits(expects: str, sign: str) -> None:
    assert not fits(f"{FITTING[expects].split('|')[0]}{sign}", slot(expects))


@given(st.text(max_size=400), st.sampled_from(sorted(FITTING)))
def test_any_text_is_decided(message: str, expects: str) -> None:
    assert fits(message, slot(expects)) in (True, False)


def test_a_choice_without_choices_takes_nothing() -> None:
    assert not fits("red", Slot(id="s", at=AT, expects="choice"))
