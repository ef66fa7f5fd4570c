from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hitherto.learn.candidates import Candidate, Extraction, Said
from hitherto.learn.rules.extracting import extract
from hitherto.types import Role

NOW = datetime(2024, 5, 15, 10, 30, tzinfo=UTC)  # a Wednesday


def said(text: str, *, role: Role = "user") -> Extraction:
    return extract(Said(text=text, role=role, now=NOW))


def only(text: str) -> Candidate:
    (memory,) = said(text).memories
    return memory


@pytest.mark.parametrize(
    ("text", "attribute", "value"),
    [
        ("My name is Ana Lopez.", "name", "Ana Lopez"),
        ("Hi! I'm Tom, nice to meet you.", "name", "Tom"),
        ("You can call me Max!", "name", "Max"),
        ("I live in Austin, Texas now.", "home", "Austin, Texas"),
        ("We just moved to Lisbon because of work.", "home", "Lisbon"),
        ("I grew up in Sofia", "origin", "Sofia"),
        ("I work at Acme Corp.", "employer", "Acme Corp"),
        ("I'm a pediatric nurse.", "occupation", "pediatric nurse"),
        ("I am allergic to peanuts, so be careful.", "allergy_peanuts", "peanuts"),
        ("I'm vegetarian.", "diet", "vegetarian"),
        ("I'm married.", "status", "married"),
        ("my favourite colour is dark green", "favorite_colour", "dark green"),
        ("I can't stand olives.", "taste_olives", "olives"),
        ("I really love hiking in the Alps!", "taste_hiking_alps", "hiking in the Alps"),
        ("I'm working on a dashboard redesign", "project_dashboard_redesign", "a dashboard redesign"),
        ("I speak Portuguese and French", "language_portuguese_french", "Portuguese and French"),
    ],
)
@pytest.mark.req("R3.1", "R2.2")
def test_facts_about_oneself(text: str, attribute: str, value: str) -> None:
    found = only(text)
    assert (found.attribute, found.value) == (attribute, value)


@pytest.mark.req("R3.2", "R3.4")
def test_a_person_is_an_entity_with_a_key() -> None:
    found, fact = said("My sister Marta is a painter.").memories
    assert found.type == "PEOPLE"
    assert found.entities[0] == "person:marta"
    assert found.fact_type == "relationship"
    assert found.key == "people|person|marta|relationship|relation_sister"
    assert (fact.text, fact.entities[0]) == ("Marta is a painter", "person:marta")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("I moved to Denver last week", "Lives in Denver"),
        ("I'm allergic to peanuts by the way.", "Is allergic to peanuts"),
        ("My cofounder John handles the backend.", "John is the user's cofounder"),
        ("My cofounder John handles the backend.", "John handles the backend"),
        ("I quit my job at Acme.", "No longer works at Acme"),
        ("I'm no longer vegan.", "Is no longer vegan"),
        ("I don't live in Rome anymore.", "No longer lives in Rome"),
        ("I moved to Denver last week", "Moved to Denver (2024-05-06 to 2024-05-13)"),
    ],
)
@pytest.mark.req("R3.1", "R3.2")
def test_a_memory_says_what_was_stated_and_no_more(text: str, expected: str) -> None:
    assert expected in [memory.text for memory in said(text).memories]


@pytest.mark.parametrize(
    ("text", "day"),
    [
        ("I went to a pottery class yesterday", "2024-05-14"),
        ("Last Friday I finally passed my driving test!", "2024-05-10"),
        ("I have an interview on Monday", "2024-05-20"),
        ("I start at Acme on Monday!", "2024-05-20"),
    ],
)
def test_events_carry_their_day(text: str, day: str) -> None:
    event = next(one for one in said(text).memories if one.category == "EVENT")
    assert event.time is not None
    assert f"{event.time.start:%Y-%m-%d}" == day
    assert day in event.text


def test_dislikes_are_negative_and_corrections_marked() -> None:
    assert only("I hate flying.").polarity == "negative"
    assert only("Actually, I live in Porto.").correction
    assert not only("I live in Porto.").correction


@pytest.mark.parametrize(
    "text",
    [
        "Please always answer in Spanish.",
        "never mention my ex",
        "From now on, keep your replies short.",
        "Don't call me sweetie.",
    ],
)
def test_standing_requests(text: str) -> None:
    (request,) = [one for one in said(text).memories if one.standing]
    assert request.fact_type == "preference"


@pytest.mark.parametrize(
    "text",
    [
        "If I lived in Paris I would be happy.",
        "Do you live in Berlin?",
        "I wish I had a dog named Rex.",
        "I love how you said that.",
        "Never give up!",
        "I used to live in Rome.",
        "```\nI live in Code\n```",
        "> I am allergic to quotes",
        "Thankfully, my son's ok.",
        "lol",
        "",
        "Ich wohne in Berlin und arbeite viel.",
    ],
)
def test_what_states_nothing_gives_nothing(text: str) -> None:
    assert said(text).memories == ()


@pytest.mark.req("R0.7")
def test_persona_events_belong_to_the_persona() -> None:
    found = said("I went to the sea yesterday and it was cold. You live in Rome, right?", role="assistant")
    (event,) = found.memories
    assert event.subject == "persona"
    assert event.category == "EVENT"
    assert said("I live in Rome and I went home yesterday", role="tool") == Extraction()


@pytest.mark.parametrize(
    ("text", "role", "kind", "owner"),
    [
        ("I'll let you know how the exam went tomorrow", "user", "promise", "user"),
        ("I promise to send you the photos", "assistant", "promise", "persona"),
        ("I need to renew my passport", "user", "commitment", "user"),
        ("Remind me to call mom tonight", "user", "commitment", "persona"),
        ("I'm trying to quit smoking", "user", "habit", "user"),
        ("I'm so annoyed with my landlord about the heating", "user", "friction", "user"),
        ("Let's talk about the trip tomorrow", "user", "topic", "user"),
        ("Nice! How did your interview with the bank go?", "assistant", "question", "user"),
        ("Did you ever finish your novel?", "user", "question", "persona"),
    ],
)
@pytest.mark.req("R0.5", "R1.3")
def test_loops_say_what_is_open_and_who_owes_it(text: str, role: Role, kind: str, owner: str) -> None:
    (loop,) = said(text, role=role).loops
    assert (loop.kind, loop.owner) == (kind, owner)


def test_a_loop_knows_when_it_is_due() -> None:
    (loop,) = said("I promise I'll call the doctor tomorrow morning").loops
    assert loop.due == datetime(2024, 5, 16, 8, tzinfo=UTC)


@pytest.mark.parametrize("text", ["Can you recommend a good book?", "How are you?", "It's nice, right?", "I'll see."])
def test_what_leaves_nothing_open(text: str) -> None:
    assert said(text).loops == ()


@pytest.mark.req("R2.12")
def test_a_secret_never_becomes_a_candidate() -> None:
    found = said("I need to change my password: hunter2Blue77. I live in Oslo.")
    assert [one.value for one in found.memories] == ["Oslo"]
    assert "hunter2" not in repr(found)


@pytest.mark.parametrize(
    ("text", "result"),
    [
        ("that worked, thanks!", "SUCCESS"),
        ("it still doesn't start", "PARTIAL"),
        ("gotta go, bye", "INTERRUPTED"),
        ("hm", None),
    ],
)
def test_outcomes(text: str, result: str | None) -> None:
    assert said(text).outcome == result


@given(st.text(max_size=400), st.sampled_from(["user", "assistant", "tool", "system"]))
def test_any_text_is_survived_and_gives_the_same_twice(text: str, role: Role) -> None:
    assert said(text, role=role) == said(text, role=role)
