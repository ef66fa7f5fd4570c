"""One conversation through the engine: `record`, `settle`, then `search` and `context` for each of its questions.

Summaries and episodes speak for many turns at once, so they never count as evidence found: a hit counts by the turns that it
is or, for a memory, was taken from.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from time import perf_counter
from typing import Final

from hitherto.engine import Hitherto
from hitherto.evaluate import measures
from hitherto.evaluate.baseline import Index
from hitherto.evaluate.conversations import Asked, Conversation
from hitherto.recall.rank import Weights
from hitherto.tokens import tokenizer
from hitherto.types import Context, Hit, Turn

HITS: Final = 250
"""Enough turns to fill the largest budget."""
BLOCK: Final = 800
"""Tokens of the companion's block of long-term memory: the baseline may fill as many."""
EXACT: Final = frozenset({"turn", "memory"})
"""Kinds that stand for the very turns they came from."""
FEW: Final = 10
EVERY_KIND, LONG_TERM, WHOLE = "every kind frac@10", "long-term block", "whole context"

_BEST_TURN: Final = Weights(session_share=0.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Answered:
    """The metrics of one question, and of the baseline on the same one."""

    id: str
    category: str
    ours: Mapping[str, float]
    plain: Mapping[str, float]
    search_ms: float
    context_ms: float


async def run(
    memory: Hitherto,
    conversation: Conversation,
    *,
    user: str,
    recipe: str = "continuity",
    settle: bool = True,
    done: Callable[[int], None] | None = None,
) -> list[Answered]:
    """Every question of one conversation; `done` is told how many were answered so far."""
    await memory.record(_turns(conversation, user=user))
    if settle:
        await memory.settle(user=user)
    count = tokenizer().count
    tokens = [count(turn.text) for turn in conversation.turns]
    index = Index.of([turn.text for turn in conversation.turns])
    answered: list[Answered] = []
    for asked in conversation.questions:
        answered.append(await _ask(memory, conversation, asked, user=user, recipe=recipe, tokens=tokens, index=index))
        if done is not None:
            done(len(answered))
    await memory.flush()
    return answered


def _turns(conversation: Conversation, *, user: str) -> list[Turn]:
    """What is recorded: some conversations hold turns without words, which say nothing and find nothing."""
    return [
        Turn(
            user=user,
            role=said.role or "user",
            text=said.text,
            id=said.id,
            at=said.at,
            speaker=said.speaker if said.speaker != said.role else None,
        )
        for said in conversation.turns
        if said.text.strip()
    ]


async def _ask(
    memory: Hitherto,
    conversation: Conversation,
    asked: Asked,
    *,
    user: str,
    recipe: str,
    tokens: Sequence[int],
    index: Index,
) -> Answered:
    places = {said.id: place for place, said in enumerate(conversation.turns)}
    sessions = [said.session for said in conversation.turns]
    begin = perf_counter()
    turns = await memory.search(user=user, query=asked.text, limit=HITS, kinds=["turn"], at=asked.at)
    searched = perf_counter()
    mixed = await memory.search(user=user, query=asked.text, limit=FEW, at=asked.at)
    before = perf_counter()
    context = await memory.context(user=user, message=asked.text, recipe=recipe, at=asked.at)
    built = perf_counter()
    plain = index.ranked(asked.text)
    bare = measures.of_ranking(plain, asked.evidence, tokens=tokens, sessions=sessions, weights=_BEST_TURN)
    block = measures.fitting([place for place, _ in plain], tokens=tokens, budget=BLOCK)
    beside = measures.share(asked.evidence, block)
    ranked = [(places[hit.id], hit.score) for hit in turns]
    return Answered(
        id=asked.id,
        category=asked.category,
        ours={
            **measures.of_ranking(ranked, asked.evidence, tokens=tokens, sessions=sessions),
            EVERY_KIND: measures.share(asked.evidence, _of_hits(mixed, places)),
            LONG_TERM: measures.share(asked.evidence, _of_context(context, places, section="long_term")),
            WHOLE: measures.share(asked.evidence, _of_context(context, places)),
        },
        plain={**bare, EVERY_KIND: bare["frac@10"], LONG_TERM: beside, WHOLE: beside},
        search_ms=(searched - begin) * 1_000,
        context_ms=(built - before) * 1_000,
    )


def _of_hits(hits: Sequence[Hit], places: Mapping[str, int]) -> set[int]:
    return {places[source] for hit in hits if hit.kind in EXACT for source in hit.sources if source in places}


def _of_context(context: Context, places: Mapping[str, int], *, section: str | None = None) -> set[int]:
    return {
        places[source]
        for item in context.items
        if item.included and item.kind in EXACT and section in (None, item.section)
        for source in item.sources
        if source in places
    }
