"""Which context a turn was answered from: the one that was kept, replayed, or one assembled again as of then."""

import json
from dataclasses import dataclass

from hitherto import Hitherto, Recipe
from hitherto.assemble.receipt import result_hash
from hitherto.errors import NotFound
from hitherto.types import Context, StoredTurn

LOOKED_BACK = 20
"""Turns before an answer among which its question is looked for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TracedContext:
    """A context and where it is from. `exact`: its bytes are those that were sent; None when none were kept."""

    context: Context
    exact: bool | None
    question: StoredTurn | None = None
    answer: StoredTurn | None = None

    @property
    def how(self) -> str:
        if self.exact is None:
            return "Nothing was kept of what the model saw here: assembled again, knowing only what was known then."
        if self.exact:
            return "Replayed from its snapshot, byte for byte what was sent."
        return "Replayed from its snapshot, but not with the bytes that were sent: see the warnings."


async def of_snapshot(memory: Hitherto, *, user: str, snapshot: str) -> TracedContext:
    """The context that was kept under this id."""
    context = await memory.replay(user=user, snapshot=snapshot)
    (stored,) = await memory.snapshots(user=user, ids=[snapshot])
    return TracedContext(
        context=context, exact=json.loads(stored.body)["result"] == result_hash(context.system, context.messages)
    )


async def of_turn(memory: Hitherto, *, user: str, turn: str, recipe: Recipe | None = None) -> TracedContext:
    """The context behind a turn: an answer's own, or the one that a message was or would have been answered from."""
    found = await memory.turns(user=user, ids=[turn])
    if not found:
        raise NotFound
    one = found[0]
    question = one if one.role == "user" else await _question(memory, user, one)
    answer = one if one.role == "assistant" else await _answer(memory, user, one)
    if recipe is None and answer is not None and answer.snapshot:
        kept = await memory.snapshots(user=user, ids=[answer.snapshot])
        if kept and kept[0].full:
            replayed = await of_snapshot(memory, user=user, snapshot=answer.snapshot)
            return TracedContext(context=replayed.context, exact=replayed.exact, question=question, answer=answer)
    if question is None:
        raise NotFound
    context = await as_of(memory, user=user, turn=question, recipe=recipe)
    return TracedContext(context=context, exact=None, question=question, answer=answer)


async def as_of(memory: Hitherto, *, user: str, turn: StoredTurn, recipe: Recipe | None = None) -> Context:
    """A message's context assembled again, knowing only what was known then."""
    return await memory.context(
        user=user,
        turn=turn.id,
        persona=turn.persona,
        lane=turn.lane,
        recipe=recipe,
        at=turn.at,
        known=turn.seq,
        keep=False,
    )


async def _question(memory: Hitherto, user: str, answer: StoredTurn) -> StoredTurn | None:
    """The message that an answer followed, of the same persona and lane."""
    before = await memory.turns(user=user, before=answer.place, limit=LOOKED_BACK)
    fitting = [turn for turn in before if turn.role == "user" and _together(turn, answer)]
    return fitting[-1] if fitting else None


async def _answer(memory: Hitherto, user: str, question: StoredTurn) -> StoredTurn | None:
    """The answer that followed a message before the next one."""
    for turn in await memory.turns(user=user, after=question.place, limit=LOOKED_BACK):
        if _together(turn, question):
            return turn if turn.role == "assistant" else None
    return None


def _together(one: StoredTurn, other: StoredTurn) -> bool:
    return (one.persona, one.lane) == (other.persona, other.lane)
