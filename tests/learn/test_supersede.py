from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hitherto.learn.supersede import Relation, Statement, relation, valid_until
from hitherto.text.analyser import stems

ENDED = [
    ("I work for Shell", "I resigned from Shell last month"),
    ("I have a boyfriend", "We broke up"),
    ("I smoke a pack a day", "I quit smoking"),
    ("I use Windows", "I switched to Linux"),
    ("My phone number is 555-0100", "My phone number is now 555-0199"),
    ("I'm a student at MIT", "I graduated and work at NASA now"),
    ("I take the bus to work", "I bike to work now"),
    ("I go to church every Sunday", "I stopped going to church"),
    ("I rent an apartment in Queens", "We bought a house in New Jersey"),
    ("My salary is 80k", "I got a raise to 95k"),
    ("I'm single", "I got engaged"),
    ("I eat meat", "I became vegan"),
    ("My manager is Lisa", "Omar is my manager now"),
    ("I subscribe to Netflix", "I cancelled Netflix"),
    ("I play the violin in an orchestra", "I left the orchestra"),
    ("I'm on a keto diet", "I gave up on keto"),
    ("I bank with Wells Fargo", "I moved all my accounts to a credit union"),
    ("My gym is in the basement of my building", "I joined a gym downtown instead"),
]
STILL_TRUE = [
    ("I work at Shell", "My brother left Shell"),
    ("I like tea", "I bought a new teapot"),
    ("I live in Rome", "My sister moved to Milan"),
    ("I have two cats", "One of them is sick"),
    ("I run every morning", "I stopped for coffee on my run today"),
    ("I use Windows", "I also use Linux at work"),
    ("I drive a Ford", "I drove to Boston yesterday"),
    ("I'm learning German", "I switched the TV to German"),
    ("I love my job", "I left the office early today"),
    ("I read a lot", "I finished Dune"),
    ("I have a dog", "I dropped my dog at the groomer"),
    ("I live in Rome", "I moved my desk to the window"),
    ("My mom lives in Oslo", "I moved to Bergen"),
    ("I work from home", "I left home at noon"),
    ("I eat meat", "I skipped lunch today"),
    ("I'm married", "My cousin got divorced"),
    ("I play chess", "I quit my match early yesterday"),
    ("I drink coffee", "I switched to a new coffee brand"),
    ("I live in Lyon", "I moved the sofa to the living room"),
    ("I teach yoga", "I took a yoga workshop last week"),
    ("I have a garden", "I sold some of the tomatoes"),
    ("I work at Google", "Google laid off 100 people"),
    ("I live in Austin", "I'm moving my mother to Austin"),
    ("I love pizza", "I quit my job at the pizzeria"),
    ("I have a sister", "My sister quit her job"),
    ("I drink wine", "I sold my wine glasses"),
    ("I run marathons", "I sold my old running shoes"),
    ("I play tennis", "I cancelled my tennis lesson this week"),
    ("I'm vegan", "I stopped by the vegan market"),
    ("I use Notion", "I deleted an old Notion page"),
    ("I live alone", "I moved on from the argument"),
    ("I teach math", "I switched classes with a colleague today"),
    ("I read the news daily", "I stopped the news podcast at half"),
    ("I own a house", "I closed the house windows"),
    ("I eat fish", "I gave up my seat on the bus"),
    ("I work nights", "I'm done with my homework"),
    ("I live in Denver", "We moved to a bigger table"),
    ("I drink tea", "I switched off the kettle"),
    ("I have a car", "I sold my old tires"),
    ("I work in a bakery", "I cancelled the work meeting today"),
    ("I study law", "I quit the study group"),
]


def related(old: str, new: str) -> Relation:
    return relation(Statement(text=new), Statement(text=old), stems=stems)


@pytest.mark.req("R3.12", "R2.12")
@pytest.mark.parametrize(("old", "new"), ENDED)
def test_a_change_ends_what_was_true(old: str, new: str) -> None:
    assert related(old, new) == "replaces"


@pytest.mark.parametrize(("old", "new"), STILL_TRUE)
def test_what_is_still_true_stays_open(old: str, new: str) -> None:
    assert related(old, new) != "replaces"


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("I live in Berlin", "I live in Berlin.", "duplicate"),
        ("I have a dog", "I have a brown dog called Rex", "refines"),
        ("I have a brown dog called Rex", "I have a dog", "duplicate"),
        ("I love jazz", "I also love opera", "apart"),
        ("I love jazz", "I hate jazz", "replaces"),
        ("I live in Rome", "If I moved to Milan I would be sad", "apart"),
    ],
)
def test_repeating_refining_and_standing_beside(old: str, new: str, expected: Relation) -> None:
    assert related(old, new) == expected


@pytest.mark.parametrize(
    ("attribute", "old", "new", "expected"),
    [
        ("home", "Berlin", "Lisbon", "replaces"),
        ("home", "Berlin", "Berlin, Germany", "refines"),
        ("home", "Berlin, Germany", "Berlin", "duplicate"),
        ("taste_food", "sushi", "ramen", "apart"),
        ("favorite_color", "blue", "green", "replaces"),
    ],
)
def test_a_known_attribute_decides_by_its_value(attribute: str, old: str, new: str, expected: Relation) -> None:
    before = Statement(text=f"It is {old}", attribute=attribute, value=old)
    after = Statement(text=f"It is {new}", attribute=attribute, value=new)
    assert relation(after, before, stems=stems) == expected


@pytest.mark.parametrize(
    ("text", "until"),
    [
        ("I am on leave until June 1 2024", "2024-06-01"),
        ("I am avoiding sugar for three weeks", "2024-03-22"),
        ("I'm staying with friends for the next ten days", "2024-03-11"),
        ("I live in Oslo", None),
        ("I worked there for five years", None),
    ],
)
def test_a_statement_may_name_its_own_end(text: str, until: str | None) -> None:
    found = valid_until(text, stated=datetime(2024, 3, 1, tzinfo=UTC), zone="UTC")
    assert (None if found is None else f"{found:%Y-%m-%d}") == until


@given(st.text(max_size=120), st.text(max_size=120))
def test_any_two_texts_are_related_somehow(old: str, new: str) -> None:
    assert related(old, new) in {"duplicate", "refines", "replaces", "apart"}
