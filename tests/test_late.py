"""Fields that are made when somebody asks for them."""

from copy import copy
from dataclasses import asdict, dataclass, replace
from unittest.mock import Mock

import pytest

from hitherto.late import late, later


@late("told")
@dataclass(frozen=True, slots=True)
class Story:
    name: str
    told: list[str]


def test_it_is_made_once_and_only_when_asked_for() -> None:
    make = Mock(return_value=["once"])
    story = Story("a", later(make))
    assert story.name == "a"
    assert make.call_count == 0
    assert story.told == ["once"]
    assert story.told is story.told
    assert make.call_count == 1


def test_to_everybody_else_it_is_a_field_like_any_other() -> None:
    plain, made = Story("a", ["once"]), Story("a", later(lambda: ["once"]))
    assert made == plain
    assert repr(Story("a", later(lambda: ["once"]))) == repr(plain)
    assert asdict(Story("a", later(lambda: ["once"]))) == {"name": "a", "told": ["once"]}
    assert replace(Story("a", later(lambda: ["once"])), name="b") == Story("b", ["once"])
    assert copy(Story("a", later(lambda: ["once"]))) == plain


def test_it_stays_frozen() -> None:
    story = Story("a", ["once"])
    with pytest.raises(AttributeError):
        story.told = []  # pyright: ignore[reportAttributeAccessIssue] - what must not work
    assert story.told == ["once"]
