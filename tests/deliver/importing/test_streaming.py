"""Walking a JSON file piece by piece gives what parsing it whole gives."""

import io
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hitherto.deliver.importing import source
from hitherto.deliver.importing.source import JsonStream
from hitherto.errors import InvalidInput

values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=20,
)


class Slow(io.BytesIO):
    """A file that hands out a few bytes at a time, so that every seam between reads is met."""

    def read(self, size: int | None = -1, /) -> bytes:
        return super().read(3 if size is None or size < 0 else min(size, 3))


def walked(stream: JsonStream) -> Any:
    """The next value, taken by stepping into everything."""
    match stream.peek():
        case b"[":
            return [walked(stream) for _ in stream.elements()]
        case b"{":
            return {key: walked(stream) for key in stream.members()}
        case _:
            return stream.value()


@given(value=values, indent=st.sampled_from([None, 1]), ascii_only=st.booleans(), mark=st.booleans())
def test_stepping_and_taking_agree_with_the_parser(
    value: Any, indent: int | None, ascii_only: bool, mark: bool
) -> None:
    text = json.dumps(value, indent=indent, ensure_ascii=ascii_only).encode("utf-8", "surrogatepass")
    if not ascii_only and any(0xD800 <= ord(c) <= 0xDFFF for c in json.dumps(value, ensure_ascii=False)):
        return
    data = (b"\xef\xbb\xbf" if mark else b"") + text + b"\n"
    assert walked(JsonStream(Slow(data), name="x")) == value
    assert JsonStream(Slow(data), name="x").value() == value
    stream = JsonStream(Slow(data), name="x")
    stream.skip()
    assert stream.peek() == b""


@given(st.lists(values, min_size=1, max_size=6))
def test_a_value_can_be_read_again_from_its_place(items: list[Any]) -> None:
    data = json.dumps(items).encode()
    stream = JsonStream(io.BytesIO(data), name="x")
    places: list[tuple[int, int]] = []
    for _ in stream.elements():
        stream.peek()
        start = stream.offset
        stream.skip()
        places.append((start, stream.offset))
    assert [json.loads(data[start:end]) for start, end in places] == items


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ('{"a": 1,\n "b": [1,\n 2', "line 3.*ends|line 3.*closed"),
        ('{"a": 1,\n b: 2}', "line 2: a key"),
        ('{"a": tru}', "line 1"),
        ("[1,\n2,\n,]", "line 3: expected a value"),
        ('{"a" 1}', "line 1: expected ':'"),
        ('["never closed', "line 1.*string"),
        ("", "line 1"),
        ('{"a": "\\x"}', "line 1"),
    ],
)
def test_a_mistake_is_named_with_its_line(text: str, complaint: str) -> None:
    with pytest.raises(InvalidInput, match=complaint):
        walked(JsonStream(io.BytesIO(text.encode()), name="export.json"))


def test_bytes_that_are_no_text_are_named_with_their_line() -> None:
    with pytest.raises(InvalidInput, match="line 2: this is not UTF-8"):
        JsonStream(io.BytesIO(b'\n"\xff"'), name="x").value()


def test_nesting_without_end_is_an_error_and_no_crash() -> None:
    deep = b"[" * 200_000 + b"]" * 200_000
    with pytest.raises(InvalidInput, match="nested"):
        JsonStream(io.BytesIO(deep), name="x").value()


def test_only_the_value_taken_is_held(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(source, "CHUNK", 1_000)
    data = json.dumps([{"n": n, "text": "x" * 500} for n in range(2_000)]).encode()
    stream = JsonStream(io.BytesIO(data), name="x")
    longest = 0
    for _ in stream.elements():
        stream.value()
        longest = max(longest, len(stream._text))  # pyright: ignore[reportPrivateUsage] - the buffer is what is measured
    assert longest < 5_000 < len(data)
