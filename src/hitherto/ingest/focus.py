"""The focus anchor: what a message most likely refers to.

"yes" is an answer to something. What it answers is, in this order: the message it replies to, the newest
assistant turn of its lane, or a value that the assistant still waits for. A pending slot comes last and
takes only a value of its own type, so that an old question of the assistant never captures a new task of
the user.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from hitherto.ingest.slots import fits, is_question
from hitherto.types import Slot, StoredTurn

Why = Literal["reply", "assistant", "slot", "none"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Anchor:
    """What a message refers to. `slot` is set when the message is that slot's value, whatever `turn` it
    answers.
    """

    turn: StoredTurn | None
    slot: Slot | None
    why: Why


def anchor(message: str, *, reply_to: StoredTurn | None, window: Sequence[StoredTurn], slot: Slot | None) -> Anchor:
    """The anchor of `message`; `window` holds the turns of its own lane, oldest first, without the
    message.
    """
    newest = next((turn for turn in reversed(window) if turn.role == "assistant" and turn.text.strip()), None)
    turn = reply_to or newest
    filled = slot if slot is not None and fits(message, slot) and _may_fill(slot, turn=turn) else None
    if reply_to is not None:
        return Anchor(turn=reply_to, slot=filled, why="reply")
    if newest is not None:
        return Anchor(turn=newest, slot=filled, why="assistant")
    return Anchor(turn=None, slot=filled, why="none" if filled is None else "slot")


def _may_fill(slot: Slot, *, turn: StoredTurn | None) -> bool:
    """A slot is filled by an answer to the turn that asked for it.

    Behind another turn it still takes a value that can be mistaken for nothing else, unless that turn
    asks a question of its own, which then is what the message answers.
    """
    if turn is None or slot.anchor is None or turn.id == slot.anchor:
        return True
    return slot.expects in {"email", "phone"} and turn.role == "assistant" and not is_question(turn.text)
