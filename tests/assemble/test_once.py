"""One fact appears once, in the most precious section that holds it."""

from __future__ import annotations

import pytest

from hitherto.assemble.candidates import fingerprint
from tests.assemble.build import left_out, made, material, memory, recalled, shown, turn, turns


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("I live in Austin", "The user lives in Austin."),
        ("Likes dark roast coffee", "likes  dark-roast coffee!"),
        ("Has two cats", "has two cat"),
        ("Ｌｉｋｅｓ Kaffee und Kuchen", "likes kaffee und kuchen"),
    ],
)
def test_nearly_the_same_words_are_the_same_fact(one: str, other: str) -> None:
    assert fingerprint(one) == fingerprint(other) != b""


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("likes tea", "does not like tea"),
        ("meets John at 3", "meets John at 5"),
        ("John hired Mary", "Mary hired John"),
        ("was married", "is married"),
        ("lives in Austin", "lives near Austin"),
    ],
)
def test_other_facts_in_nearly_the_same_words_stay_apart(one: str, other: str) -> None:
    assert fingerprint(one) != fingerprint(other)


@pytest.mark.parametrize("text", ["", "ok", "the", "!!!", "x" * 500])
def test_what_says_nothing_repeats_nothing(text: str) -> None:
    assert fingerprint(text) == b""


def test_the_same_memory_stays_in_the_more_precious_section() -> None:
    wish = memory("w", "Answer in Portuguese", standing=True)
    context = made("companion", material(requests=(wish,), recalled=recalled(wish, memory("m", "Ana plays the cello"))))
    assert [item.id for item in shown(context, "requests")] == ["w"]
    assert left_out(context, "long_term") == {"w": "duplicate of w in requests"}


def test_nearly_the_same_text_of_another_memory_counts_as_well() -> None:
    found = recalled(memory("a", "Ana plays the cello"), memory("b", "ana play the cello."))
    context = made("companion", material(recalled=found))
    assert left_out(context, "long_term") == {"b": "duplicate of a in long_term"}


def test_a_turn_of_the_window_is_not_recalled_again_but_said_twice_stays_twice() -> None:
    window = (turn(1, "I love tea in winter"), turn(2, "me too"), turn(3, "I love tea in winter"))
    context = made(
        "companion", material(window=window, recalled=recalled(window[0], memory("m", "Love tea in winter")))
    )
    assert [item.id for item in shown(context, "working")] == ["t1", "t2", "t3"]
    assert left_out(context, "long_term") == {
        "t1": "duplicate of turn t1 in working",
        "m": "duplicate of turn t1 in working",
    }


def test_when_the_keeper_is_trimmed_the_duplicate_comes_back() -> None:
    old = turn(1, "my sister Rita plays the cello in Porto")
    window = (old, *turns(20, "filler {} " + "word " * 150, first=2))
    context = made("companion", material(window=window, recalled=recalled(old)))
    assert left_out(context, "working")["t1"] == "over budget"
    assert [item.id for item in shown(context, "long_term")] == ["t1"]


def test_a_keeper_too_large_for_its_section_gives_way_to_its_duplicate() -> None:
    wish = memory("w", "Answer in rhymes about the sea " * 40, standing=True)
    context = made("companion", material(requests=(wish,), recalled=recalled(wish)))
    assert left_out(context, "requests") == {"w": "over budget"}
    assert [item.id for item in shown(context, "long_term")] == ["w"]
