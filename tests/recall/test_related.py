from importlib.resources import files

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hitherto.recall.query import MOST, related
from hitherto.text.analyser import stems


@pytest.mark.parametrize(
    ("asked", "near"), [("doctor", "physician"), ("furniture", "sofa"), ("bike", "bicycle"), ("siblings", "sister")]
)
def test_another_way_to_say_it(asked: str, near: str) -> None:
    assert set(stems(near)) <= set(related(stems(asked)))


@pytest.mark.parametrize("text", ["Monday", "February", "two", "Rachel", "yesterday", "猫", "xyzzy", ""])
def test_names_days_and_numbers_stand_for_themselves(text: str) -> None:
    assert related(stems(text)) == ()


def test_each_word_has_its_nearest_before_any_has_its_next() -> None:
    [doctor, *_], [bike, *_] = related(["doctor"]), related(["bike"])
    assert related(["doctor", "bike"])[:2] == (doctor, bike)
    assert doctor not in related(["doctor", doctor])


@given(st.lists(st.sampled_from(["doctor", "bike", "furnitur", "movi", "marri", "spend", "sport", "x"]), max_size=12))
def test_they_are_few_and_new(asked: list[str]) -> None:
    found = related(asked)
    assert len(found) <= MOST
    assert len(set(found)) == len(found)
    assert not set(found) & set(asked)


def test_the_list_is_one_of_stems() -> None:
    lines = [line.split() for line in files("hitherto.recall").joinpath("related.txt").read_text().splitlines()]
    assert len({line[0] for line in lines}) == len(lines)
    assert all(2 <= len(line) <= 5 and line[0] not in line[1:] for line in lines)
