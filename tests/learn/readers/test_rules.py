"""Reading without a model: notes that are quotes, from chat as people write it."""

from __future__ import annotations

import asyncio
from datetime import UTC, date, datetime

import pytest

from hitherto.learn.notes import Detail, Sitting
from hitherto.learn.readers.rules import RuleReader
from hitherto.learn.summaries import told
from hitherto.types import Support
from tests.learn.readers.talk import THURSDAY, close, lines, loop, read, scene


def texts(*said: str) -> str:
    return "\n".join(note.text for note in read(*said).facts)


@pytest.mark.parametrize(
    "said",
    [
        "im allergic to penicillin",
        "I'm allergic to penicillin",
        "i live in hackney",
        "my niece leela turns six on sunday",
    ],
)
def test_chat_without_capitals_or_apostrophes_is_ordinary_input(said: str) -> None:
    [note] = read(said).facts
    assert note.text.startswith(f"Ana (5 March): “{said}”")
    assert note.quotes[0].words == said


def test_an_answer_is_quoted_with_the_question_before_it() -> None:
    [note] = read("N: How long have you had Gravy?", "5 yrs, found him behind a dennys when he was a kitten").facts
    assert note.text.startswith("Ana (5 March), asked “How long have you had Gravy?”: “5 yrs")
    assert [quote.turn for quote in note.quotes] == ["t1", "t2"]


@pytest.mark.parametrize(
    "said",
    [
        "i am a scientist now lol, i boiled an egg",
        "if i ever won the lottery id live in maine",
        "do you think i live in leeds?",
        "apparently i work for the mayor now, says my barber",
        "jess k was telling the whole office she lives in paris",
    ],
)
def test_jokes_conditions_questions_and_hearsay_type_nothing(said: str) -> None:
    assert not [note for note in read(said).facts if note.sure]


def test_a_typed_fact_is_cut_to_its_own_sentence() -> None:
    sure = [
        note for note in read("had a lovely day. i live in hackney with two cats. the bus was late").facts if note.sure
    ]
    assert [(note.attribute, note.value, note.quotes[0].words) for note in sure] == [
        ("home", "hackney", "i live in hackney with two cats.")
    ]


def test_a_pronoun_alone_says_nothing() -> None:
    assert not read("i like it").facts
    assert not read("he does that").facts


def test_a_pronoun_is_read_with_who_was_named_before() -> None:
    notes = read("my new boss hank let me true a wheel", "he pays 19 an hour and i get parts at cost").facts
    assert any("Hank" in note.about and "19 an hour" in note.text for note in notes)


@pytest.mark.parametrize("said", ["my password is TangerineMoth_4471", "TangerineMoth_4471", "the pin's 4419"])
def test_secrets_are_never_noted(said: str) -> None:
    reading = read(said)
    assert "4471" not in str(reading)
    assert "4419" not in str(reading)


@pytest.mark.parametrize(
    ("said", "name"),
    [
        ("my niece leela is six", "Leela"),
        ("Leela's my niece", "Leela"),
        ("n theo drove. hes my brother", None),
        ("gravy. my cat. hes got one eye", "Gravy"),
        ("meine frau swantje kommt morgen", "Swantje"),
        ("mi hermano beto viene el sabado", "Beto"),
    ],
)
def test_names_are_found_in_any_case(said: str, name: str | None) -> None:
    found = {note.name for note in read(said).people}
    assert found == ({name} if name else set())


def test_spellings_of_one_name_are_one_person() -> None:
    [one] = read("N: Is Priyanka home?", "my best friend pri says hi", "priyanka is in the kitchen").people
    assert {one.name, *one.aliases} == {"Priyanka", "Pri"}


@pytest.mark.parametrize(
    ("said", "kind", "owner", "day"),
    [
        ("remind me to call mum tmrw", "promise", "persona", date(2026, 3, 6)),
        ("ill call the bank on monday", "commitment", "user", date(2026, 3, 9)),
        ("I start at Acme on Monday!", "topic", "user", date(2026, 3, 9)),
        ("N: I'll send you the recipe on Saturday.", "promise", "persona", date(2026, 3, 7)),
    ],
)
def test_loops_have_the_right_owner_and_day(said: str, kind: str, owner: str, day: date) -> None:
    [opened] = read(said).loops
    assert (opened.op, opened.kind, opened.owner) == ("open", kind, owner)
    assert opened.due is not None
    assert opened.due.date() == day


def test_thursday_evening_is_the_evening() -> None:
    wednesday = datetime(2026, 3, 4, 12, 0, tzinfo=UTC)
    [opened] = read("ill ring the landlady thursday evening", at=wednesday).loops
    assert opened.due is not None
    assert opened.due.date() == date(2026, 3, 5)
    assert opened.due.hour >= 16


@pytest.mark.parametrize(
    ("said", "how"),
    [("called mum, she cried", "done"), ("forgot to call mum", "missed"), ("nvm im not calling mum", "dropped")],
)
def test_what_is_settled_closes_what_is_open(said: str, how: str) -> None:
    closed = read(said, loops=[loop("call mum about the break-up", kind="commitment")]).loops
    assert [(note.op, note.ref) for note in closed] == [(how, "l1")]


def test_talk_of_something_else_closes_nothing() -> None:
    assert not read("done with the dishes", loops=[loop("call mum about the break-up", kind="commitment")]).loops


def test_a_session_of_small_talk_has_no_summary() -> None:
    notes = close("hey", "N: Hi! How was your day?", "fine lol", "N: Good to hear.", "gn")
    assert not notes.summary
    assert not notes.mattered
    assert not notes.tone
    assert notes.outcome is None


def test_a_summary_is_whole_sentences_with_names_and_the_right_day() -> None:
    notes = close(
        "I start at Acme on Monday!", "N: Congratulations!", "my niece leela is coming on saturday", at=THURSDAY
    )
    told = " ".join(note.text for note in (*notes.summary, *notes.mattered))
    assert "Ana said “I start at Acme on Monday!” (Monday 9 March)" in told
    assert "User:" not in told
    assert "2 March" not in told


def test_a_break_up_is_not_joyful() -> None:
    notes = close("theo n i broke up", "N: Oh, Ana.", "i laughed at first, it was so weird. cried after")
    assert notes.tone == "sad"
    assert notes.outcome is None


def test_what_a_persona_was_told_in_confidence_stays_with_it() -> None:
    notes = read("This stays with you, ok? We've started couples counselling.").facts
    assert notes
    assert all(note.private for note in notes)


@pytest.mark.req("R2.15")
def test_how_detailed_a_summary_is_can_be_set() -> None:
    said = lines(
        "I live in Leeds with my sister Ada.",
        "I work at the town library.",
        "I'm allergic to peanuts.",
        "My car broke down on the motorway yesterday.",
        "I finished my exams on Friday.",
        "We are moving to Hull in June.",
    )
    details: tuple[Detail, ...] = ("brief", "normal", "full")
    made = [
        asyncio.run(RuleReader().close(Sitting(scene=scene(), lines=said, detail=detail))).summary for detail in details
    ]
    lengths = [sum(len(one.text) for one in summary) for summary in made]
    assert lengths == sorted(lengths)
    assert lengths[0] < lengths[-1]


def test_where_somebody_starts_or_works_is_an_organisation() -> None:
    found = {note.name: note.kind for note in read("I start at Acme on Monday, and then we fly to Lisbon").people}
    assert found == {"Acme": "org", "Lisbon": "place"}


def test_who_is_named_in_an_answer_is_known() -> None:
    [one] = read("N: Who called you?", "Mukesh, he will be my manager.").people
    assert (one.name, one.kind, one.what) == ("Mukesh", "person", "Ana's manager")


def test_a_run_of_quotes_names_its_speaker_once_and_ends_with_one_mark() -> None:
    said = [
        "Ana said “so. Fifteen people”.",
        "Ana said “I froze!”",
        "Asked “Why?”, Ana said “no idea”.",
        "Bo said “x”.",
    ]
    sentences = [Support(text=text, sources=("t1",)) for text in said]
    assert told(sentences) == "Ana said “so. Fifteen people”; “I froze!” Asked “Why?”, Ana said “no idea”. Bo said “x”."
