"""Which messages of a request are known already. Pure.

Clients of the chat API send the whole conversation with every request. What of it is new is found by laying it along the
turns of the lane: usually all but the last message lies at the lane's end. A conversation that goes on from an earlier
place, because a message was edited, an answer made again, or two chats take turns, is a branch: it gets a lane of its
own, named by the turn it leaves from and its first message, so that the same branch is found again.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from hitherto.ids import derived_id
from hitherto.types import Part, Role, StoredTurn, ToolCall, ToolReturn

SURE: Final = 3
"""So many messages in a row that are known make a place certain, whatever stands before them."""


@dataclass(frozen=True, slots=True)
class Said:
    """One message of a request, or an answer, as it would be recorded."""

    role: Role
    text: str
    parts: tuple[Part, ...] = ()
    speaker: str | None = None

    @property
    def mark(self) -> tuple[object, ...]:
        """What makes two messages the same: role, words and tools; attachments and blanks around the words do not."""
        return mark(self.role, self.text, self.parts)


def mark(role: Role, text: str, parts: Sequence[Part]) -> tuple[object, ...]:
    calls = tuple((p.id, p.name, p.args) for p in parts if isinstance(p, ToolCall))
    returns = tuple((p.id, p.content) for p in parts if isinstance(p, ToolReturn))
    return (role, text.strip(), calls, returns)


@dataclass(frozen=True, slots=True)
class Place:
    """Where a request lies along a lane: its first `known` messages end at turn `at` of the lane."""

    known: int
    at: int


def place(said: Sequence[Said], turns: Sequence[StoredTurn]) -> Place | None:
    """The best place, the lane's end if it is one at all; None if nothing of the request is known there."""
    if not said or not turns:
        return None
    marks = [one.mark for one in said]
    stored = [mark(turn.role, turn.text, turn.parts) for turn in turns]
    end = len(stored) - 1
    for known in range(len(marks), 0, -1):
        if _fits(marks, stored, known=known, at=end):
            return Place(known, end)
    if len(marks) == 1:
        return None  # A single message that was also said before is said again.
    places: dict[object, list[int]] = {}
    for at in range(end - 1, -1, -1):
        places.setdefault(stored[at], []).append(at)
    for known in range(len(marks), 1, -1):
        for at in places.get(marks[known - 1], ()):
            if _fits(marks, stored, known=known, at=at):
                return Place(known, at)
    return None


def along(said: Sequence[Said], turns: Sequence[StoredTurn]) -> Place | None:
    """Where a branch's messages leave its lane, which they began."""
    known = 0
    for one, turn in zip(said, turns, strict=False):
        if one.mark != mark(turn.role, turn.text, turn.parts):
            break
        known += 1
    return Place(known, known - 1) if known else None


def _fits(marks: Sequence[object], stored: Sequence[object], *, known: int, at: int) -> bool:
    """Whether the first messages end there: all of them, or the last few if older ones are beyond the turns at hand."""
    run = 0
    while run < known and at - run >= 0 and marks[known - 1 - run] == stored[at - run]:
        run += 1
    return run == known or run >= SURE or (run > 0 and at - run < 0)


def branch(lane: str | None, *, turn: str, first: Said) -> str:
    """The lane of the branch that leaves a lane at that turn with that message."""
    name = (lane or "").partition("~")[0]
    return f"{name}~{derived_id(turn, repr(first.mark))[:12]}"


def turn_id(lane: str | None, *, after: str, number: int, said: Said) -> str:
    """The same for the same message at the same place, so that a request that comes twice is recorded once."""
    return f"chat-{derived_id(lane or '', after, str(number), repr(said.mark))}"
