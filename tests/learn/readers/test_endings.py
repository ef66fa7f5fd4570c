"""What a later word ends of the earlier notes, and what it leaves alone."""

from __future__ import annotations

from datetime import timedelta

import pytest

from hitherto.learn.notes import FactNote
from hitherto.types import Memory, Quote
from tests.learn.readers.talk import THURSDAY, loop, read


def note(words: str, *, turn: str = "old", name: str = "m1", **fields: object) -> Memory:
    quotes = (Quote(turn=turn, words=words),)
    at = THURSDAY - timedelta(days=9)
    return Memory(id=name, text=f"Ana (24 February): “{words}”", at=at, quotes=quotes, sources=(turn,), **fields)  # pyright: ignore[reportArgumentType] - any of its fields


def ended(*said: str, known: Memory) -> FactNote | None:
    return next((one for one in read(*said, memories=[known]).facts if one.ref == known.id), None)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (
            "the pilot launches on 4 May with eight schools",
            "the pilot launch moves to 18 May, the schools asked for it",
        ),
        ("the rent for the studio is 700 a month", "they put the studio rent up to 760 a month from now on"),
        ("the kitchen tap is leaking all over the floor", "the kitchen tap is fixed, no leaking any more"),
        ("the quote for the roof was 900", "it's 650 for the roof, not 900"),
    ],
)
def test_what_is_said_anew_ends_what_it_replaces(before: str, after: str) -> None:
    found = ended(after, known=note(before))
    assert found is not None
    assert found.op == "over"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("my sister Vera plays the cello in Graz", "Vera rang, she now wants 40 euros for the tickets"),
        ("the pilot launches on 4 May with eight schools", "I booked 18 chairs for the office party now"),
        ("i've had the tortoise since 2009", "sold the car, finally"),
        ("the rent for the studio is 700 a month", "does the studio rent go up to 760?"),
    ],
)
def test_what_is_of_another_matter_ends_nothing(before: str, after: str) -> None:
    assert ended(after, known=note(before)) is None


def test_the_other_sentences_of_a_note_stay() -> None:
    known = note("Vera leads the pilot and Tom does the maps. The pilot launches on 4 May.")
    found = ended("the pilot launch moves to 18 May", known=known)
    assert found is not None
    assert found.op == "sharper"
    assert found.text == "Ana (24 February): “Vera leads the pilot and Tom does the maps. …”"


def test_the_end_of_a_couple_ends_what_made_them_one() -> None:
    theirs = note("my bf theo, 3 yrs now", entities=("person:theo", "person:user"))
    other = note("my bf theo, 3 yrs now", entities=("person:mark", "person:user"))
    assert (one := ended("theo and i broke up", known=theirs)) is not None
    assert one.op == "over"
    assert ended("theo and i broke up", known=other) is None


def test_a_plan_ends_with_the_loop_that_it_was() -> None:
    opened = loop(
        "call the landlord by Friday",
        kind="commitment",
        quotes=(Quote(turn="old", words="i'll call the landlord by friday"),),
    )
    known = note("i'll call the landlord by friday")
    [over] = [one for one in read("called the landlord, all sorted", loops=[opened], memories=[known]).facts if one.ref]
    assert (over.op, over.ref) == ("over", "m1")


def test_whom_a_note_did_not_name_is_known_by_its_words_when_a_couple_parts() -> None:
    assert ended("kolya and i broke up", known=note("kolya i suppose. my bf, 2 yrs")) is not None
    assert ended("kolya and i broke up", known=note("my sister's bf works nights")) is None


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("Tilda is the one at the brewery in Ghent", "It's Maren who is at the brewery in Ghent, i mixed them up"),
        (
            "the dough takes four spoons of honey",
            "the book says six spoons of honey for that dough, so please alter that",
        ),
        (
            "Friday the 9th of May.",
            "I got the date wrong, the fair is on Friday the 16th of May, the 9th is the dress rehearsal",
        ),
        (
            "the gearbox will be four hundred eighty bucks",
            "it wasn't even the gearbox so it's ninety and not four eighty",
        ),
        ("fourteen stalls signed up for the fair", "five of the fair stalls pulled out, so nine stalls now"),
    ],
)
def test_what_is_put_right_was_not_so(before: str, after: str) -> None:
    assert ended(after, known=note(before)) is not None


def test_another_count_of_another_thing_puts_nothing_right() -> None:
    known = note("the dough takes four spoons of honey")
    assert ended("now i have six spoons in the drawer and no forks", known=known) is None
    assert ended("it's Maren who bakes at the brewery", known=note("Tilda is the one at the brewery in Ghent")) is None


def test_what_is_pinned_or_a_danger_is_not_ended_by_talk() -> None:
    known = note("the pilot launches on 4 May with eight schools", pinned=True)
    assert ended("the pilot launch moves to 18 May, the schools asked for it", known=known) is None
