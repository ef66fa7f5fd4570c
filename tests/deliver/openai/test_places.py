"""Laying a request along a lane: what is known of it, whatever the client did to it."""

from __future__ import annotations

from random import Random

from hypothesis import given
from hypothesis import strategies as st

from hitherto.deliver.openai.places import Place, Said, along, branch, place
from hitherto.types import StoredTurn
from tests.assemble.build import turn


def lane(*texts: str) -> list[StoredTurn]:
    return [turn(number, text) for number, text in enumerate(texts, start=1)]


def said(*texts: str) -> list[Said]:
    return [Said("user" if place % 2 == 0 else "assistant", text) for place, text in enumerate(texts)]


def test_places() -> None:
    known = lane("u1", "a1", "u2", "a2")
    assert place(said("u1", "a1", "u2", "a2", "u3"), known) == Place(4, 3)
    assert place(said("u2", "a2", "u3"), known) == Place(2, 3)
    assert place(said("u1", "a1", "u2"), known) == Place(3, 2), "the answer again"
    assert place(said("u1", "a1", "other"), known) == Place(2, 1), "edited"
    assert place(said("u1", "a1 ", " u2 "), known) == Place(3, 2), "blanks around the words do not count"
    assert place(said("x", "y", "z"), known) is None
    assert place(said("u1"), known) is None, "a single message that was said before is said again"
    assert place(said("u1"), []) is None


def test_the_end_of_the_lane_comes_first() -> None:
    known = lane("hi", "hello", "weather?", "rain", "hi", "hello")
    assert place(said("hi", "hello", "weather?"), known) == Place(2, 5)


def test_a_branch_is_found_again() -> None:
    first = Said("user", "edited")
    assert branch(None, turn="t2", first=first) == branch(None, turn="t2", first=Said("user", "edited "))
    assert branch("work", turn="t2", first=first).startswith("work~")
    assert branch(None, turn="t2", first=first) != branch(None, turn="t3", first=first)
    name = branch("work", turn="t2", first=first)
    assert branch(name, turn="t9", first=first).count("~") == 1
    assert along(said("u", "a", "v"), lane("u", "a")) == Place(2, 1)
    assert along(said("u", "b"), lane("u", "a")) == Place(1, 0)
    assert along(said("x"), lane("u", "a")) is None


@given(st.integers(0, 2**32), st.integers(2, 12), st.integers(0, 10))
def test_a_client_that_adds_one_message_is_recognised(seed: int, length: int, dropped: int) -> None:
    """Whatever was said before, and however much of the beginning the client left out (but for the last exchange)."""
    rng = Random(seed)
    texts = [rng.choice(["yes", "no", "ok", f"word {rng.random()}"]) for _ in range(length * 2)]
    kept = min(dropped - dropped % 2, len(texts) - 2)
    asked = said(*texts[kept:], "the new message")
    found = place(asked, lane(*texts))
    assert found == Place(len(asked) - 1, len(texts) - 1)
