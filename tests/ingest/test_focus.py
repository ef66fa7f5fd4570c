"""The anchor's order: reply target, newest assistant turn, pending slot."""

import pytest

from hitherto.ingest.focus import anchor
from hitherto.types import Slot
from tests.ingest.turns import START, stored

ASKED = stored(2, "Shall I book the table?", role="assistant")
WINDOW = (stored(1, "I'm hungry"), ASKED, stored(3, "hold on"))


def slot(expects: str = "yes_no", *, asked_in: str | None = "t2") -> Slot:
    return Slot(id="s", at=START, name="table", expects=expects, anchor=asked_in)  # pyright: ignore[reportArgumentType] - the tests pass the type's literals


@pytest.mark.req("R4.2")
def test_the_reply_target_comes_first() -> None:
    target = stored(0, "My flight is at nine")
    found = anchor("why?", reply_to=target, window=WINDOW, slot=slot())
    assert (found.turn, found.slot, found.why) == (target, None, "reply")


@pytest.mark.req("R4.2", "R1.7")
@pytest.mark.parametrize("message", ["yes", "sure", "why?", "lol"])
def test_then_the_newest_assistant_turn_even_behind_the_users_own(message: str) -> None:
    found = anchor(message, reply_to=None, window=WINDOW, slot=None)
    assert (found.turn, found.slot, found.why) == (ASKED, None, "assistant")


def test_an_empty_assistant_turn_is_nothing_to_refer_to() -> None:
    tools_only = stored(4, " ", role="assistant")
    assert anchor("yes", reply_to=None, window=(*WINDOW, tools_only), slot=None).turn == ASKED


@pytest.mark.req("R4.2")
def test_then_the_slot_if_the_message_is_its_value() -> None:
    pending = slot(asked_in=None)
    found = anchor("yes", reply_to=None, window=(), slot=pending)
    assert (found.turn, found.slot, found.why) == (None, pending, "slot")


@pytest.mark.req("R4.2", "R4.9")
def test_a_message_that_is_no_value_leaves_the_slot_alone() -> None:
    found = anchor("what's the weather?", reply_to=None, window=(), slot=slot())
    assert (found.turn, found.slot, found.why) == (None, None, "none")


def test_the_answer_to_the_asking_turn_fills_its_slot() -> None:
    pending = slot()
    assert anchor("yes", reply_to=None, window=WINDOW, slot=pending).slot == pending
    assert anchor("yes", reply_to=ASKED, window=WINDOW, slot=pending).slot == pending


@pytest.mark.req("R4.9")
def test_an_answer_to_a_newer_question_does_not_fill_an_older_slot() -> None:
    newer = stored(4, "By the way, do you like jazz?", role="assistant")
    found = anchor("yes", reply_to=None, window=(*WINDOW, newer), slot=slot())
    assert (found.turn, found.slot) == (newer, None)
    later_question = anchor("ana@example.com", reply_to=None, window=(*WINDOW, newer), slot=slot("email"))
    assert later_question.slot is None


def test_an_unmistakable_value_still_reaches_its_slot_behind_a_remark() -> None:
    remark = stored(4, "Take your time.", role="assistant")
    pending = slot("email")
    assert anchor("ana@example.com", reply_to=None, window=(*WINDOW, remark), slot=pending).slot == pending
    assert anchor("yes", reply_to=None, window=(*WINDOW, remark), slot=slot()).slot is None
