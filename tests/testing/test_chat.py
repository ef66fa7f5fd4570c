"""The validator bites: every rule has a message list that only it refuses."""

from __future__ import annotations

import pytest

from hitherto.testing import chat_faults
from hitherto.types import Json

USER: dict[str, Json] = {"role": "user", "content": "hi"}


def call(*links: str, name: str = "look", args: str = "{}") -> dict[str, Json]:
    functions: list[Json] = [
        {"id": link, "type": "function", "function": {"name": name, "arguments": args}} for link in links
    ]
    return {"role": "assistant", "content": None, "tool_calls": functions}


def answer(link: str) -> dict[str, Json]:
    return {"role": "tool", "tool_call_id": link, "content": "seen"}


def test_a_good_list_has_no_fault() -> None:
    messages: list[dict[str, Json]] = [
        {"role": "system", "content": "s"},
        USER,
        call("a", "b"),
        answer("b"),
        answer("a"),
        USER,
    ]
    assert chat_faults(messages) == []
    assert chat_faults([USER, call("a"), answer("a")]) == []


FAULTY: list[tuple[list[dict[str, Json]], str]] = [
    ([{"role": "narrator", "content": "x"}, USER], "no such role"),
    ([USER, answer("a")], "did not call"),
    ([USER, call("a"), answer("a"), answer("a")], "did not call"),
    ([USER, call("a"), USER], "not answered before it"),
    ([USER, call("a", "b"), answer("a"), USER], "not answered before it"),
    ([USER, call("a")], "never answered"),
    ([USER, call("a", "a"), answer("a"), USER], "given twice"),
    ([USER, call("", name="x"), answer(""), USER], "missing or given twice"),
    ([USER, call("a", name="a b"), answer("a"), USER], "cannot be a function's name"),
    ([USER, call("a", args="[1]"), answer("a"), USER], "no JSON object"),
    ([USER, call("a", args="{"), answer("a"), USER], "no JSON object"),
    ([USER, {"role": "assistant", "content": ""}, USER], "neither content nor calls"),
    ([USER, {"role": "assistant", "content": None, "tool_calls": []}, USER], "at least one"),
    ([{"role": "user", "content": None}], "must be a text"),
    ([USER, {"role": "assistant", "content": "x"}], "last message"),
    ([USER, call("a"), {"role": "tool", "tool_call_id": "a"}, USER], "needs content"),
    ([USER, {"role": "assistant", "tool_calls": [{"id": "a", "type": "custom"}]}, USER], "type function"),
]


@pytest.mark.parametrize(("messages", "fault"), FAULTY)
def test_each_rule_is_checked(messages: list[dict[str, Json]], fault: str) -> None:
    assert any(fault in found for found in chat_faults(messages))
