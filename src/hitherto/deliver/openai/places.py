"""Which messages of a request are known already. Pure.

Clients of the chat API send the whole conversation with every request. What of it is new is found by laying it along the
turns of the lane: usually all but the last message lies at the lane's end. A conversation that goes on from an earlier
place, because a message was edited, an answer made again, or two chats take turns, is a branch: it gets a lane of its
own, named by the turn it leaves from and its first message, so that the same branch is found again.

Messages are compared by what they mean. Clients write tool arguments anew, with other blanks and keys in another order, and
one answer of several parts comes back as one message or as many: so arguments are compared as parsed JSON, words without
blanks, and what the assistant says in a row as one.
"""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Final, NamedTuple, TypeVar

from hitherto.ids import derived_id
from hitherto.types import Part, Role, StoredTurn, ToolCall, ToolReturn

SURE: Final = 3
"""So many messages in a row that are known make a place certain, whatever stands before them."""


CUT: Final = "-cut"
"""Ends the id of an answer that broke off, of which the client may have shown less than was heard here."""
_THOUGHT: Final = re.compile(r"\s*<think>.*?(?:</think>\s*|$)", re.DOTALL)

M = TypeVar("M", "Said", StoredTurn)


class Meaning(NamedTuple):
    """What makes two messages the same: role, words and tools; attachments and blanks do not."""

    role: Role
    words: str
    calls: tuple[tuple[str, str, str], ...] = ()
    returns: tuple[tuple[str, str], ...] = ()
    cut: bool = False


@dataclass(frozen=True, slots=True)
class Said:
    """One message of a request, or an answer, as it would be recorded."""

    role: Role
    text: str
    parts: tuple[Part, ...] = ()
    speaker: str | None = None

    @property
    def meaning(self) -> Meaning:
        return meaning(self.role, self.text, self.parts)


def meaning(role: Role, text: str, parts: Sequence[Part]) -> Meaning:
    words = "".join(text.split())
    if not parts:
        return Meaning(role, words)
    return Meaning(
        role,
        words,
        tuple((part.id, part.name, same_json(part.args)) for part in parts if isinstance(part, ToolCall)),
        tuple((part.id, same_json(part.content)) for part in parts if isinstance(part, ToolReturn)),
    )


def _stored(turn: StoredTurn) -> Meaning:
    return meaning(turn.role, turn.text, turn.parts)._replace(cut=turn.id.endswith(CUT))


def spoken(text: str) -> str:
    """An answer without the thinking that local models write before it and clients leave out when they send it back."""
    return _THOUGHT.sub("", text, count=1) if text.lstrip().startswith("<think>") else text


@lru_cache(maxsize=4096)
def same_json(text: str) -> str:
    """The same text for the same JSON, however it is written; what is no JSON stays itself, without blanks at its ends."""
    try:
        return json.dumps(json.loads(text), sort_keys=True, separators=(",", ":"))
    except (ValueError, RecursionError):
        return text.strip()


@dataclass(frozen=True, slots=True)
class Place:
    """Where a request lies along a lane: its first `known` messages end at turn `at` of the lane. `pairs` says which turn
    each message is; one that is several turns, or half of one, is left out.
    """

    known: int
    at: int
    pairs: Mapping[int, int] = field(default_factory=dict[int, int], compare=False)


def in_order(messages: Sequence[M]) -> list[M]:
    """Calls of tools before all that came back of them, which is in the order of the calls: some clients write each call and
    its result behind one another, where the model made all calls at once, others as the results came in."""
    ordered: list[M] = []
    returned: list[M] = []
    called: dict[str, int] = {}

    def place(message: M) -> int:
        return next((called.get(part.id, 0) for part in message.parts if isinstance(part, ToolReturn)), 0)

    for message in messages:
        if message.role == "tool":
            returned.append(message)
            continue
        only_calls = message.role == "assistant" and not message.text and bool(message.parts)
        if not only_calls:
            ordered += sorted(returned, key=place)
            returned = []
        for part in message.parts:
            if isinstance(part, ToolCall):
                called.setdefault(part.id, len(called))
        ordered.append(message)
    return ordered + sorted(returned, key=place)


def as_turns(said: Sequence[Said]) -> list[tuple[Said, int]]:
    """New messages as they are recorded, each with how many messages it is made of: calls made at once are one turn, so that
    what comes back of them follows it."""
    turns: list[tuple[Said, int]] = []
    for one in said:
        calls = one.role == "assistant" and not one.text and bool(one.parts)
        if calls and turns and turns[-1][0].role == "assistant":
            before, count = turns[-1]
            turns[-1] = (Said("assistant", before.text, before.parts + one.parts), count + 1)
        else:
            turns.append((one, 1))
    return turns


def place(said: Sequence[Said], turns: Sequence[StoredTurn], *, again: bool = False) -> Place | None:
    """The best place, the lane's end if it is one at all; None if nothing of the request is known there. `again` says that
    the request is known to repeat an earlier one, so that a single message may be the last one that was answered.
    """
    if not said or not turns:
        return None
    asked = [one.meaning for one in said]
    stored = [_stored(turn) for turn in turns]
    end = len(stored) - 1
    for known in range(len(asked), 0, -1):
        if (found := _ending(asked, stored, known=known, at=end)) is not None:
            return found
    if len(asked) == 1:
        # A single message that was also said before is said again, unless the client says that it repeats itself.
        last = next((at for at in range(end, -1, -1) if stored[at].role == "user"), None)
        return Place(1, last, {0: last}) if again and last is not None and stored[last] == asked[0] else None
    places: dict[Meaning, list[int]] = {}
    for at in range(end - 1, -1, -1):
        places.setdefault(stored[at], []).append(at)
    for known in range(len(asked), 1, -1):
        for at in places.get(asked[known - 1], ()):
            if (found := _ending(asked, stored, known=known, at=at)) is not None:
                return found
    # A conversation of one exchange goes on from another answer.
    other = end > 0 and asked[0] == stored[end - 1] and asked[1].role == stored[end].role == "assistant"
    return Place(1, end - 1, {0: end - 1}) if other else None


def after(said: Sequence[Said], turns: Sequence[StoredTurn], *, last: str) -> Place | None:
    """Where messages lie that are known to follow a turn; None if that turn is not at hand."""
    at = next((place for place, turn in enumerate(turns) if turn.id == last), None)
    if at is None:
        return None
    further = along(said, turns[at + 1 :])
    if further is None:
        return Place(0, at)
    return Place(further.known, at + 1 + further.at, {one: at + 1 + turn for one, turn in further.pairs.items()})


def along(said: Sequence[Said], turns: Sequence[StoredTurn]) -> Place | None:
    """Where a branch's messages leave its lane, which they began."""
    stored = [_stored(turn) for turn in turns]
    common = _agree([one.meaning for one in said], stored, back=False)
    return Place(common.run, common.taken - 1, dict(common.pairs)) if common.run else None


def _ending(asked: Sequence[Meaning], stored: Sequence[Meaning], *, known: int, at: int) -> Place | None:
    """The place at which the first messages end there, if they do: all of them, or the last few if older ones are beyond the
    turns at hand."""
    if asked[known - 1].role != stored[at].role:
        return None
    common = _agree(asked[known - 1 :: -1], stored[at::-1], back=True)
    if common.run == known or common.steps >= SURE or (common.run > 0 and common.taken > at):
        return Place(known, at, {known - 1 - one: at - turn for one, turn in common.pairs})
    return None


class _Common(NamedTuple):
    """How many messages and turns agree, in how many steps, and which of them are the same one by one."""

    run: int
    taken: int
    steps: int
    pairs: Sequence[tuple[int, int]]


def _agree(asked: Sequence[Meaning], stored: Sequence[Meaning], *, back: bool) -> _Common:
    """How far messages and turns agree from the beginning on (`back`: both are given newest first). What the assistant said
    in a row is one step, into however many messages or turns it is cut. Clients that keep an answer and not the tools that
    it took leave tool steps out.
    """
    run = taken = steps = 0
    pairs: list[tuple[int, int]] = []
    while run < len(asked) and taken < len(stored):
        bare = not asked[run].calls and asked[run].role != "tool"
        start, matched = taken, _step(asked, run, stored, taken, back=back)
        while matched is None and bare and _is_tools(stored[start]) and start + 1 < len(stored):
            start += 1
            matched = _step(asked, run, stored, start, back=back)
        if matched is None:
            break
        if matched == (run + 1, start + 1):
            pairs.append((run, start))
        (run, taken), steps = matched, steps + 1
    return _Common(run, taken, steps, pairs)


def _step(
    asked: Sequence[Meaning], run: int, stored: Sequence[Meaning], taken: int, *, back: bool
) -> tuple[int, int] | None:
    """Where messages and turns stand after the next of both, if these mean the same."""
    ours, theirs = asked[run], stored[taken]
    if theirs.cut:
        theirs = theirs._replace(words=ours.words if theirs.words.startswith(ours.words) else theirs.words, cut=False)
    run, taken = run + 1, taken + 1
    bare = not ours.calls
    while ours != theirs:
        further = taken
        while bare and further < len(stored) and stored[further].role == "tool":
            further += 1
        if _part(ours, theirs, back=back) and _goes_on(asked, run):
            ours, run = _joined(ours, asked[run], back=back), run + 1
        elif _part(theirs, ours, back=back) and _goes_on(stored, further):
            more = stored[further]._replace(calls=()) if bare else stored[further]
            theirs, taken = _joined(theirs, more, back=back), further + 1
        else:
            return None
    return run, taken


def _is_tools(turn: Meaning) -> bool:
    return turn.role == "tool" or bool(turn.calls)


def _goes_on(messages: Sequence[Meaning], place: int) -> bool:
    return place < len(messages) and messages[place].role == "assistant"


def _part(short: Meaning, long: Meaning, *, back: bool) -> bool:
    """Whether one is the beginning (`back`: the end) of what the assistant said in a row."""
    if short.role != "assistant" or long.role != "assistant" or short == long:
        return False
    begins = long.words.endswith(short.words) if back else long.words.startswith(short.words)
    count = len(short.calls)
    calls = long.calls[len(long.calls) - count :] if back else long.calls[:count]
    return begins and calls == short.calls


def _joined(one: Meaning, further: Meaning, *, back: bool) -> Meaning:
    first, second = (further, one) if back else (one, further)
    return Meaning("assistant", first.words + second.words, first.calls + second.calls)


def branch(lane: str | None, *, turn: str, first: Said) -> str:
    """The lane of the branch that leaves a lane at that turn with that message."""
    name = (lane or "").partition("~")[0]
    return f"{name}~{derived_id(turn, _name(first))[:12]}"


def turn_id(lane: str | None, *, persona: str | None, after: str, number: int, said: Said) -> str:
    """The same for the same message at the same place, so that a request that comes twice is recorded once."""
    whose = () if persona is None else (persona,)
    return f"chat-{derived_id(lane or '', after, str(number), _name(said), *whose)}"


def _name(said: Said) -> str:
    """What ids are derived from. Its letters are in the stores: other ones would make every branch a new one."""
    return repr((said.role, said.text.strip(), said.meaning.calls, said.meaning.returns))
