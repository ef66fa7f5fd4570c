"""Which turns are shown, whole or shortened, and tools never by half."""

from __future__ import annotations

import json

import pytest

from hitherto.assemble.exchange import SHORT_ARGS
from hitherto.assemble.material import Assembled
from hitherto.assemble.render import LEAST, MARK, level, shorten
from hitherto.recipes.book import load, parse
from hitherto.types import Media, StoredTurn, Thinking, ToolCall, ToolReturn
from tests.assemble.build import (
    O200K,
    block,
    check_pairs,
    left_out,
    made,
    material,
    shown,
    summary,
    turn,
    turns,
)

SMALL = parse(
    """
    extends = "companion"
    name = "small"
    [groups.working]
    target = 300
    cap = 300
    [history]
    turn = 60
    least = 12
    """
)


def contents(context: Assembled) -> list[str]:
    return [str(message["content"]) for message in context.history]


def call(number: int, *, name: str = "weather", args: str = '{"city":"Lisbon"}') -> ToolCall:
    return ToolCall(id=f"c{number}", name=name, args=args)


def answer(number: int, content: str = "sunny", *, name: str = "weather") -> ToolReturn:
    return ToolReturn(id=f"c{number}", name=name, content=content)


@pytest.mark.req("R0.10", "R1.5")
def test_the_oldest_turns_go_first() -> None:
    context = made(SMALL, material(window=turns(30, "this is turn number {} of a long conversation")))
    kept = [item.id for item in shown(context, "working")]
    assert kept == [f"t{n}" for n in range(31 - len(kept), 31)]
    assert 6 < len(kept) < 30
    assert set(left_out(context, "working").values()) == {"over budget"}


@pytest.mark.req("R0.10")
def test_at_least_the_last_six_turns_stay_shortened_in_the_middle_the_newest_least() -> None:
    window = turns(12, "begin{0} " + "blah " * 200 + "end{0}")
    context = made(SMALL, material(window=window))
    found = contents(context)
    assert len(found) == SMALL.history.minimum == 6
    for number, text in zip(range(7, 13), found, strict=True):
        assert MARK in text
        assert text.startswith(f"begin{number} ")
        assert text.endswith(f"end{number}")
    *older, newest = [O200K.count(text) for text in found]
    assert max(older) <= SMALL.history.least < newest
    assert O200K.count("".join(found)) <= SMALL.history_group.cap


def test_the_longest_are_shortened_and_short_ones_stay_whole() -> None:
    window = (*turns(5, "short {}"), turn(6, "long " * 400 + "tail"), *turns(2, "short {}", first=7))
    found = contents(made(SMALL, material(window=window)))
    assert [text for text in found if MARK not in text] == [f"short {n}" for n in (3, 4, 5, 7, 8)]
    (cut,) = [text for text in found if MARK in text]
    assert cut.endswith("tail")


def test_the_newest_turn_is_shortened_last() -> None:
    question = "Would you rather take the early train to Porto or the night bus to Madrid? " * 5
    window = (*turns(5, "blah " * 300 + "{}"), turn(6, question))
    found = contents(made(SMALL, material(window=window)))
    assert found[-1] == question
    assert all(MARK in text for text in found[:-1])


def test_a_long_older_turn_is_shortened_before_it_costs_others_their_place() -> None:
    window = (*turns(4, "early {}"), turn(5, "story " * 500), *turns(6, "late {}", first=6))
    context = made(SMALL, material(window=window))
    assert [item.id for item in shown(context, "working")] == [f"t{n}" for n in range(1, 12)]
    (cut,) = [item for item in shown(context, "working") if item.reason]
    assert (cut.id, cut.reason) == ("t5", "shortened")
    assert cut.tokens <= SMALL.history.turn


@pytest.mark.req("R2.9")
def test_recall_keeps_the_first_two_and_the_newest_turns_and_summarises_the_middle() -> None:
    recipe = load("recall")
    firsts = turns(2, "how it began {}")
    window = turns(60, "turn {} " + "word " * 120, first=21)
    context = made(
        recipe,
        material(window=window, first_turns=firsts, rolling=summary("r", "They planned a trip.", kind="rolling")),
    )
    kept = [item.id for item in shown(context, "working")]
    assert kept[:2] == ["t1", "t2"]
    assert kept[-3:] == ["t78", "t79", "t80"]
    dropped = 62 - len(kept)
    assert dropped > 0
    assert block(context, "EARLIER IN THIS CONVERSATION").lines == (
        f"{dropped} turns between the first and the newest, in short:",
        "They planned a trip.",
    )
    assert context.tokens <= recipe.total.cap - recipe.total.reserve


@pytest.mark.req("R2.9")
def test_without_a_summary_the_middle_is_told_by_the_turns_beginnings() -> None:
    window = turns(60, "topic {} begins here " + "word " * 120)
    context = made("recall", material(window=window))
    kept = [item.id for item in shown(context, "working")]
    assert kept[:2] == ["t1", "t2"]
    lines = block(context, "EARLIER IN THIS CONVERSATION").lines
    assert lines[0] == f"{60 - len(kept)} turns between the first and the newest, in short:"
    assert lines[-1].startswith(("User: topic", "Nikita: topic"))
    limit = load("recall").history.middle
    assert O200K.count("\n".join(lines)) <= limit


@pytest.mark.req("R2.9")
def test_at_the_very_least_first_two_and_last_three() -> None:
    recipe = parse('extends = "recall"\nname = "tight"\n[groups.history]\ntarget = 150\ncap = 150')
    context = made(recipe, material(window=turns(40, "turn {} " + "word " * 100)))
    assert [item.id for item in shown(context, "working")] == ["t1", "t2", "t38", "t39", "t40"]


@pytest.mark.req("R2.9")
def test_a_conversation_that_fits_is_shown_whole() -> None:
    context = made("recall", material(window=turns(20)))
    assert len(context.history) == 20
    assert "EARLIER" not in context.system


def test_a_call_and_its_answer_are_one_whatever_turns_they_were_recorded_in() -> None:
    window = (
        turn(1, "what is the weather?"),
        turn(2, "", parts=[call(1), call(2)], role="assistant"),
        turn(3, "", parts=[answer(1)], role="tool"),
        turn(4, "", parts=[answer(2, "warm")], role="tool"),
        turn(5, "Sunny and warm", role="assistant"),
        turn(6, "Also windy", parts=[call(3), answer(3, "windy")], role="assistant"),
    )
    context = made("companion", material(window=window))
    check_pairs(context)
    assert [message["role"] for message in context.history] == [
        "user", "assistant", "tool", "tool", "assistant", "assistant", "tool", "assistant",
    ]  # fmt: skip
    assert [item.sources for item in shown(context, "working")][1] == ("t2", "t3", "t4")
    assert context.log["message_history_count"] == 4


def test_halves_of_a_pair_are_left_out() -> None:
    window = (
        turn(1, "", parts=[answer(7)], role="tool"),
        turn(2, "I looked it up", parts=[call(8)], role="assistant"),
        turn(3, "plain output", role="tool"),
        turn(4, "never mind", role="user"),
        turn(5, "rules", role="system"),
    )
    context = made("companion", material(window=window))
    check_pairs(context)
    assert contents(context) == ["I looked it up", "never mind"]
    assert left_out(context, "working") == {
        "t1": "a tool's answer without its call",
        "t3": "a tool's answer without its call",
        "t5": "neither the user's nor the persona's",
    }


def test_call_ids_may_repeat() -> None:
    window = tuple(
        turn(
            n,
            "",
            parts=[call(0, args=f'{{"n":{n}}}')] if n % 2 else [answer(0, f"out {n}")],
            role="assistant" if n % 2 else "tool",
        )
        for n in range(1, 7)
    )
    context = made("companion", material(window=window))
    check_pairs(context)
    assert [message["content"] for message in context.history if message["role"] == "tool"] == [
        "out 2",
        "out 4",
        "out 6",
    ]


def test_tool_output_is_shortened_before_any_text() -> None:
    window = (
        *turns(2, "a question about the sea, number {}, that matters"),
        turn(3, "", parts=[call(1)], role="assistant"),
        turn(4, "", parts=[answer(1, "row " * 2000)], role="tool"),
        *turns(3, "an answer in words {} that should stay whole", first=5),
    )
    context = made(SMALL, material(window=window))
    check_pairs(context)
    outputs = [str(message["content"]) for message in context.history if message["role"] == "tool"]
    texts = [str(m["content"]) for m in context.history if m["role"] != "tool" and m["content"] is not None]
    assert all(MARK in output or output == LEAST for output in outputs)
    assert outputs
    assert not any(MARK in text for text in texts)


def test_long_arguments_stay_json() -> None:
    big = json.dumps({"text": "word " * 3000})
    window = (*turns(6, "hi {}"), turn(7, "done", parts=[call(1, args=big), answer(1)], role="assistant"))
    context = made(SMALL, material(window=window))
    check_pairs(context)
    assert SHORT_ARGS in json.dumps(context.history).replace("\\", "")


def test_reasoning_of_finished_turns_is_left_out_and_media_are_described() -> None:
    photo = Media(media_type="image/png", url="https://x.example/p.png", caption="a red boat")
    window = (
        turn(1, "look", parts=[photo]),
        turn(2, "Nice boat", parts=[Thinking(text="they want praise")], role="assistant"),
    )
    context = made("companion", material(window=window))
    assert contents(context) == ["(image/png: a red boat)\nlook", "Nice boat"]
    assert "praise" not in json.dumps(context.messages)


def test_stored_counts_are_used_for_their_own_family_only() -> None:
    text = "hello there my friend"
    wrong = turn(1, text, tokens=500)
    assert shown(made("companion", material(window=(wrong,))), "working")[0].tokens == 504
    other = turn(1, text, tokens=500, family="cl100k")
    assert shown(made("companion", material(window=(other,))), "working")[0].tokens == O200K.count(text) + 4


def test_wrong_stored_counts_do_not_break_the_cap() -> None:
    lying: tuple[StoredTurn, ...] = tuple(turn(n, "word " * 900, tokens=1) for n in range(1, 31))
    recipe = load("companion")
    context = made(recipe, material(window=lying))
    counted = O200K.count(context.system) + sum(O200K.count(str(message["content"])) for message in context.messages)
    assert counted <= context.tokens <= recipe.total.cap
    assert len(context.history) >= recipe.history.minimum


@pytest.mark.parametrize(
    ("amounts", "room", "limit"),
    [([], 5, 0), ([3, 3], 10, 3), ([10, 2, 10], 12, 5), ([5, 5], 0, 0), ([1, 9], 4, 3)],
)
def test_level_is_the_highest_limit_that_fits(amounts: list[int], room: int, limit: int) -> None:
    assert level(amounts, room) == limit
    assert sum(min(amount, limit) for amount in amounts) <= max(room, 0)


@pytest.mark.parametrize(
    "text", ["word " * 500, "日本語の文章です。" * 300, "👩‍👩‍👧 " * 300, "x" * 5000, " " * 5000, "a\n" * 900]
)
@pytest.mark.parametrize("limit", [1, 2, 7, 8, 9, 20, 100])
def test_a_shortened_text_is_within_its_limit(text: str, limit: int) -> None:
    short = shorten(text, limit, O200K)
    assert O200K.count(short) <= limit
    assert short
    assert short == LEAST or MARK in short
    assert "\u200d" not in short.replace("👩‍👩‍👧", "").replace("👩‍👧", "").replace("👩‍👩", "")
