"""Foreign JSON: a field of another type than expected reads as missing."""

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hitherto.deliver import untrusted as raw

ODD = {
    "none": None,
    "true": True,
    "seven": 7,
    "half": 7.5,
    "whole": 7.0,
    "word": "hi",
    "list": [1, {"a": 1}, True, {}],
    "object": {"a": 1},
}


def test_each_reader_takes_its_own_type_only() -> None:
    assert {key for key in ODD if raw.text(ODD, key)} == {"word"}
    assert {key: found for key in ODD if (found := raw.integer(ODD, key)) is not None} == {"seven": 7, "whole": 7}
    assert {key for key in ODD if raw.number(ODD, key) is not None} == {"seven", "half", "whole"}
    assert {key for key in ODD if raw.flag(ODD, key)} == {"true"}
    assert {key for key in ODD if raw.child(ODD, key)} == {"object"}
    assert raw.objects(ODD, "list") == [{"a": 1}]
    assert raw.integers(ODD, "list") == [1]
    assert raw.values(ODD, "missing") == raw.objects(ODD, "word") == []


@pytest.mark.parametrize(("given_text", "kept"), [("a\0b", "ab"), ("\ud800x", "?x"), (" \n", ""), ("é😀", "é😀")])
def test_text_is_made_storable(given_text: str, kept: str) -> None:
    assert raw.storable(given_text) == kept


@given(st.text())
def test_storable_text_can_be_written(value: str) -> None:
    kept = raw.storable(value)
    assert "\0" not in kept
    assert kept.encode().decode() == raw.storable(kept)


@pytest.mark.parametrize("seconds", [None, -1, 1e18, float("inf"), float("nan")])
def test_a_stamp_that_is_no_time_is_none(seconds: float | None) -> None:
    assert raw.instant(seconds) is None


def test_a_stamp_keeps_its_fraction() -> None:
    assert raw.instant(1.5) == datetime(1970, 1, 1, 0, 0, 1, 500_000, tzinfo=UTC)


@pytest.mark.parametrize("value", ["1e400", "x", "inf", True, None, []])
def test_what_is_no_finite_number_is_none(value: object) -> None:
    assert raw.number({"n": value}, "n") is None
    assert raw.number({"n": "12.5"}, "n") == 12.5
