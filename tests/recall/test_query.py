from dataclasses import dataclass
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hitherto.recall.query import GIST_WORDS, MAX_STEMS, gist, understand
from hitherto.text.time.spans import ranges

NOW = datetime(2024, 6, 12, 12, tzinfo=UTC)


@dataclass(frozen=True)
class _Day:
    start: datetime
    end: datetime


def test_speakers_are_taken_out_and_meant() -> None:
    question = understand("When did Mary Ann's brother meet Tom?", speakers=["Mary Ann", "Tom", "Lou"])
    assert question.speakers == {"Mary Ann", "Tom"}
    assert question.text == "When did brother meet ?"
    assert question.stems == ("brother", "meet")
    assert question.asks_when
    assert not question.of_user


@pytest.mark.parametrize("name", ["Jörg", "O'Neil", "李"])
def test_names_in_any_spelling(name: str) -> None:
    question = understand(f"What did {name} paint?", speakers=[name])
    assert question.speakers == {name}


def test_a_name_inside_a_word_is_not_named() -> None:
    assert not understand("the tomato soup", speakers=["Tom", "A"]).speakers


def test_whose_words_are_wanted() -> None:
    assert understand("Where did I buy my bike?").of_user
    assert not understand("Where was the bike bought?").of_user
    told = understand("What was the hotel you recommended to me?")
    assert told.of_persona
    assert not told.of_user


@pytest.mark.parametrize(
    "text",
    [
        "Can you recommend a film for me?",
        "What would you suggest I cook tonight?",
        "Could you list the books I own?",
        "Do you recommend my dentist?",
        "I want you to tell me a joke",
    ],
)
def test_a_request_is_no_question_about_earlier_words(text: str) -> None:
    asked = understand(text)
    assert not asked.of_persona
    assert asked.of_user


@pytest.mark.parametrize(
    "text",
    [
        "Can you remind me which film you recommended?",
        "What did you suggest I cook?",
        "Could you repeat the list from our last chat?",
        "I forgot what you'd told me about the lease",
    ],
)
def test_earlier_words_are_asked_for_in_any_form(text: str) -> None:
    assert understand(text).of_persona


@pytest.mark.parametrize(
    "text",
    [
        "In which order did I try the three flats?",
        "Give me an overview of the move",
        "How did my running plan change over time?",
        "In welcher Reihenfolge habe ich die Wohnungen angesehen?",
        "¿En qué orden vi los pisos?",
        "Peux-tu me faire un résumé de notre déménagement ?",
        "In che ordine ho visto gli appartamenti?",
        "In welke volgorde heb ik de huizen bekeken?",
        "Em que ordem vi os apartamentos?",
        "В каком порядке я смотрел квартиры?",
        "引っ越しの話を時系列で教えて",
        "请总结一下我搬家的事",
        "ช่วยสรุปเรื่องย้ายบ้านให้หน่อย",
    ],
)
def test_how_things_went_is_asked_in_every_language(text: str) -> None:
    assert understand(text).surveys


@pytest.mark.parametrize(
    "text", ["What do I take in order to sleep?", "How many flats have I seen?", "Wie viele Wohnungen?"]
)
def test_a_purpose_or_a_number_is_no_question_about_how_things_went(text: str) -> None:
    assert not understand(text).surveys


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Which race did I run four weeks ago?", ("race", "run")),
        ("What did I buy in the past few months?", ("buy",)),
        ("How many films have I seen in the last 2 weeks?", ("film", "seen")),
        ("What was I reading a couple of days ago?", ("read",)),
        ("What did I plant last June?", ("plant", "last", "june")),
        ("Two weeks ago", ("two", "week", "ago")),
    ],
)
def test_a_time_counted_from_now_is_looked_up_by_the_clock_alone(text: str, found: tuple[str, ...]) -> None:
    assert ranges(text, now=NOW, zone="UTC"), "the clock knows it"
    assert understand(text).stems == found


def test_a_time_is_enough_to_stand_without_the_anchor() -> None:
    text = "What happened two weeks ago?"
    assert understand(text, anchor="The ferry leaves at nine.").stems == ("happen",)


@pytest.mark.req("R1.7")
def test_a_short_message_borrows_its_anchor() -> None:
    question = understand("yes", anchor="Shall I book the table at the Italian restaurant?")
    assert "restaur" in question.stems
    assert "restaurant" in question.text
    long = understand(
        "I bought a red mountain bicycle helmet yesterday in Berlin", anchor="Shall I book the restaurant?"
    )
    assert "restaur" not in long.stems


@pytest.mark.req("R1.7")
def test_a_question_with_words_of_its_own_is_not_drowned_by_what_was_said_before() -> None:
    before = "Shall I book the table at the Italian restaurant?"
    assert (
        understand("Which bike did Caroline buy?", anchor=before).stems
        == understand("Which bike did Caroline buy?").stems
    )
    assert "restaur" in understand("why Italian?", anchor=before).stems, "one word asks about what was said"
    assert "restaur" in understand("the blue one, tomorrow", anchor=before).stems


def test_periods_are_handed_on() -> None:
    day = _Day(start=datetime(2024, 5, 1, tzinfo=UTC), end=datetime(2024, 5, 2, tzinfo=UTC))
    assert understand("what happened on May 1st", periods=[day]).periods == (day,)


def test_a_rant_is_reduced_to_what_it_is_about() -> None:
    filler = "And then it went on and on like you would not believe it. " * 12
    rant = f"{filler}The landlord broke the heating again. {filler}Can I hold back rent from the landlord? {filler}"
    reduced = gist(rant)
    assert len(reduced.split()) <= GIST_WORDS + 12
    assert "hold back rent" in reduced


@pytest.mark.parametrize(
    "text", ["", " ", "?", "🎉🎉", "the of and", "猫", "\x00", "\ud800", "' OR 1=1; --", "NEAR(a b) *"]
)
def test_odd_messages_are_understood(text: str) -> None:
    question = understand(text, speakers=["Tom", "", "🎉"])
    assert len(question.stems) <= MAX_STEMS


def test_a_huge_message_stays_bounded() -> None:
    question = understand(" ".join(f"word{number}" for number in range(20_000)), speakers=["Tom"])
    assert len(question.stems) == MAX_STEMS
    assert len(question.text.split()) <= GIST_WORDS


@given(st.text(max_size=200), st.lists(st.text(max_size=8), max_size=3))
def test_any_message_is_understood_the_same_way_twice(text: str, speakers: list[str]) -> None:
    question = understand(text, speakers=speakers)
    assert question == understand(text, speakers=speakers[::-1])
    assert len(set(question.stems)) == len(question.stems)
