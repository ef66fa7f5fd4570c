"""Stored text as it stands on a page."""

from __future__ import annotations

import html
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hitherto.deliver.inspector.views import excerpt, in_words, shown, span
from hitherto.safety.visible import seen_and_hidden, visible

TAGS = "".join(chr(0xE0000 + ord(letter)) for letter in "hidden words")


@given(st.text())
def test_what_is_seen_is_kept_and_nothing_is_markup(text: str) -> None:
    made = str(shown(text))
    assert re.sub(r'<span class="hid" title="[^"<>]*">\[[^<>]*\]</span>', "", made).count("<") == 0
    assert html.unescape(re.sub(r"<span.*?</span>", "", made, flags=re.DOTALL)) == visible(text)


@given(st.text())
def test_pieces_are_the_whole_text(text: str) -> None:
    seen = "".join(piece for piece, is_seen in seen_and_hidden(text) if is_seen)
    assert seen == visible(text)
    assert all(len(piece) == 1 for piece, is_seen in seen_and_hidden(text) if not is_seen)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a\u202eb", "[U+202E]"),
        ("a\u200bb", "[U+200B]"),
        ("\u2066x\u2069", "[U+2066]"),
        (TAGS, "[hidden: hidden words]"),
        ("\u200b" * 40, "[40 invisible characters]"),
    ],
)
def test_what_cannot_be_seen_is_written_out(text: str, expected: str) -> None:
    assert expected in shown(text)


def test_joiners_of_emoji_stay() -> None:
    assert shown("👩‍👩‍👧 ok") == "👩‍👩‍👧 ok"


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (None, "none"),
        ([], "none"),
        (True, "yes"),
        ({"trust_level": 3, "list": ["a", 2]}, "trust level 3, list a; 2"),
        (1.5, "1.5"),
    ],
)
def test_values_in_words(value: object, words: str) -> None:
    assert in_words(value) == words  # pyright: ignore[reportArgumentType] -- JSON values of the table


def test_lengths() -> None:
    assert [span(seconds) for seconds in (5, 61, 7_200, 86_400, 200_000)] == [
        "5 seconds",
        "1 minute",
        "2 hours",
        "1 day",
        "2 days",
    ]
    assert excerpt("- a\n b", 80) == "a b"
    assert excerpt("x" * 100, 10) == "x" * 9 + "…"
