"""One conversation through the engine: `record`, `settle`, then `search` and `context` for each of its questions.

Summaries and episodes speak for many turns at once, so they never count as evidence found: a hit counts by the turns that
it is or, for a memory, was taken from.
"""

import gzip
import json
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any, Final, Self, cast

import numpy as np

from hitherto.errors import InvalidInput
from hitherto.recall.rank import DEFAULT, Weights, rank_sessions
from hitherto.store import columns
from hitherto.text.analyser import stems
from hitherto.tokens import tokenizer
from hitherto.types import Context, Hit, Role, Turn

if TYPE_CHECKING:
    from hitherto.engine import Hitherto

# --- what is measured of one question, and how sure a mean over questions is; pure functions -------------------------------
#
# `frac` is the share of the evidence that came back, `all` is 1 where all of it did; `@k` is over the best k turns, a number
# of tokens over the turns that fit into so many, taken greedily from the best on. A session counts by its best turns.

PLACES: Final = (5, 10, 20)
BUDGETS: Final = (1_000, 2_000, 4_000)
SESSIONS: Final = 5
LINE_TOKENS: Final = 8
"""The cost of a rendered line beyond its text: speaker and date."""
RESAMPLES: Final = 2_000
_SEED: Final = 20

Interval = tuple[float, float, float]
"""The mean, and the ends of its 95 % bootstrap interval."""


def share(evidence: Collection[int], found: Collection[int]) -> float:
    return len(set(evidence) & set(found)) / len(evidence)


def of_ranking(
    ranked: Sequence[tuple[int, float]],
    evidence: Collection[int],
    *,
    tokens: Sequence[int],
    sessions: Sequence[int],
    weights: Weights = DEFAULT,
) -> dict[str, float]:
    """The metrics of one ranked list of turns, given as places with their scores."""
    order = [place for place, _ in ranked]
    found: dict[str, float] = {}
    for k in PLACES:
        found[f"frac@{k}"] = share(evidence, order[:k])
        found[f"all@{k}"] = float(found[f"frac@{k}"] == 1.0)
    for budget in BUDGETS:
        name = f"{budget // 1_000}k"
        found[f"frac {name}"] = share(evidence, fitting(order, tokens=tokens, budget=budget))
        found[f"all {name}"] = float(found[f"frac {name}"] == 1.0)
    best = rank_sessions(
        np.array([score for _, score in ranked]),
        np.array([sessions[place] for place in order], dtype=np.int64),
        weights=weights,
    )
    wanted = {sessions[place] for place in evidence}
    found[f"session all@{SESSIONS}"] = float(wanted <= {session for session, _ in best[:SESSIONS]})
    return found


def fitting(order: Sequence[int], *, tokens: Sequence[int], budget: int) -> set[int]:
    """The turns that fit, from the best on; one that is too long is passed over."""
    held: set[int] = set()
    for place in order:
        cost = tokens[place] + LINE_TOKENS
        if cost <= budget:
            budget -= cost
            held.add(place)
    return held


def interval(values: Sequence[float]) -> Interval:
    """The mean and the 95 % interval of its bootstrap distribution, the same on every run."""
    sample = np.array(values)
    draws = np.random.default_rng(_SEED).integers(0, len(sample), size=(RESAMPLES, len(sample)))
    low, high = np.quantile(sample[draws].mean(axis=1), [0.025, 0.975])
    return round(float(sample.mean()), 4), round(float(low), 4), round(float(high), 4)


def gain(ours: Sequence[Mapping[str, float]], plain: Sequence[Mapping[str, float]], metric: str) -> Interval:
    """Ours minus the baseline's, paired by question."""
    return interval([a[metric] - b[metric] for a, b in zip(ours, plain, strict=True)])


# Conversations with gold evidence, one a line: sessions of turns, and questions that name the turns that answer them.
#
# {"id", "sessions": [{"id", "time", "turns": [{"id", "speaker", "role", "text", "time"}]}], "questions": [{"id",
# "text", "category", "evidence": [turn ids], "asked_at", "answerable"}]}
#
# Times are ISO, in UTC unless they say otherwise; a turn without one has its session's. Questions that cannot be
# answered are left out: they have no evidence to find.


@dataclass(frozen=True, slots=True, kw_only=True)
class SaidTurn:
    id: str
    session: int
    speaker: str
    role: Role | None
    """None if two people talk and neither is the persona."""
    text: str
    at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    id: str
    text: str
    category: str
    evidence: frozenset[int]
    """Places in the conversation's turns."""
    at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Conversation:
    id: str
    turns: tuple[SaidTurn, ...]
    questions: tuple[Asked, ...]
    """The answerable ones with evidence."""


def read(path: Path) -> Iterator[Conversation]:
    """The conversations of a JSONL file, plain or gzipped."""
    with gzip.open(path, "rt", encoding="utf-8") if path.suffix == ".gz" else path.open(encoding="utf-8") as lines:
        for number, line in enumerate(lines, start=1):
            if not line.strip():
                continue
            try:
                yield _conversation(cast(dict[str, Any], json.loads(line)))
            except (KeyError, TypeError, ValueError) as error:
                raise InvalidInput(
                    f"{path}, line {number}: not a conversation with gold evidence ({type(error).__name__}: {error})"
                ) from error


def _conversation(entry: dict[str, Any]) -> Conversation:
    turns = tuple(
        SaidTurn(
            id=turn["id"],
            session=number,
            speaker=turn["speaker"],
            role=turn["role"],
            text=turn["text"],
            at=_time(turn["time"] or session["time"]),
        )
        for number, session in enumerate(entry["sessions"])
        for turn in session["turns"]
    )
    places = {turn.id: place for place, turn in enumerate(turns)}
    questions = (
        Asked(
            id=question["id"],
            text=question["text"],
            category=question["category"],
            evidence=frozenset(places[turn] for turn in question["evidence"] if turn in places),
            at=_time(question["asked_at"]),
        )
        for question in entry["questions"]
        if question["answerable"]
    )
    return Conversation(id=entry["id"], turns=turns, questions=tuple(q for q in questions if q.evidence))


def _time(text: str) -> datetime:
    read = datetime.fromisoformat(text)
    return read if read.tzinfo else read.replace(tzinfo=UTC)


# --- plain BM25 over a conversation's turns: the ranking that every gain is measured against -------------------------------


@dataclass(frozen=True, slots=True)
class Index:
    """Texts by their stems, with the statistics that the stores keep."""

    counts: tuple[Counter[str], ...]
    lengths: tuple[int, ...]
    postings: dict[str, tuple[int, ...]]

    @classmethod
    def of(cls, texts: Sequence[str]) -> Self:
        counts = tuple(Counter(stems(text)) for text in texts)
        postings: dict[str, list[int]] = {}
        for place, found in enumerate(counts):
            for stem in found:
                postings.setdefault(stem, []).append(place)
        return cls(
            counts=counts,
            lengths=tuple(found.total() for found in counts),
            postings={stem: tuple(places) for stem, places in postings.items()},
        )

    def scores(self, asked: Sequence[str]) -> dict[int, float]:
        """The score of every text that contains one of these stems, by its place."""
        known = [stem for stem in columns.distinct(asked) if stem in self.postings]
        holding = {stem: len(self.postings[stem]) for stem in known}
        total = sum(self.lengths)
        return {
            place: columns.score(
                known,
                frequencies=self.counts[place],
                length=self.lengths[place],
                documents=len(self.counts),
                total=total,
                holding=holding,
            )
            for place in sorted({place for stem in known for place in self.postings[stem]})
        }

    def ranked(self, question: str) -> list[tuple[int, float]]:
        """Places and scores, best first, ties in the order of the conversation."""
        return sorted(self.scores(stems(question)).items(), key=lambda found: (-found[1], found[0]))


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
    memory: "Hitherto",
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
    """What is recorded: some conversations contain turns without words, which say nothing and find nothing."""
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
    memory: "Hitherto",
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
    bare = of_ranking(plain, asked.evidence, tokens=tokens, sessions=sessions, weights=_BEST_TURN)
    block = fitting([place for place, _ in plain], tokens=tokens, budget=BLOCK)
    beside = share(asked.evidence, block)
    ranked = [(places[hit.id], hit.score) for hit in turns]
    return Answered(
        id=asked.id,
        category=asked.category,
        ours={
            **of_ranking(ranked, asked.evidence, tokens=tokens, sessions=sessions),
            EVERY_KIND: share(asked.evidence, _of_hits(mixed, places)),
            LONG_TERM: share(asked.evidence, _of_context(context, places, section="long_term")),
            WHOLE: share(asked.evidence, _of_context(context, places)),
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
