"""What a search asks, and how its results become hits or the material of a context.

Records are ordered by the recipe's own blend. What is no longer true is found only if the question is about the past.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final

from hitherto.clock import micros
from hitherto.recall.passages import LongTexts
from hitherto.recall.query import Question
from hitherto.recall.rank import (
    DEFAULT,
    Blended,
    Boosts,
    RankCandidate,
    Ranked,
    Shares,
    Weights,
    blended,
    boosted,
    by_lane,
    by_words,
)
from hitherto.recall.vectors import Floats
from hitherto.store.protocol import (
    ANY,
    Everything,
    Scope,
)
from hitherto.text.languages import ENGLISH, detect, language
from hitherto.types import Hit, HitKind, Memory, Recalled, Record, RecordKind, StoredTurn

SIDES: Final[tuple[RecordKind, ...]] = ("memory", "episode", "summary")


_DAY: Final = 86_400_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Blending:
    """How a recipe orders memories; the default is the personas' blend without a threshold."""

    lexical_first: bool = False
    top_k: int = 50
    threshold: float = 0.0
    confidence: float = 0.85
    shares: Shares | None = None
    boosts: Boosts | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Search:
    """A question to a user's memory. `anchor` is the text that a short message answers."""

    text: str
    anchor: str | None = None
    limit: int
    turns: int | None = None
    """How many turns, if they have a limit of their own."""
    kinds: tuple[HitKind, ...] = ("turn", "memory", "episode", "summary")
    persona: Scope = ANY
    lane: Scope = ANY
    now: datetime
    zone: str = "UTC"
    known: int | None = None
    skip: frozenset[int] = frozenset()
    """Entries of turns that the context contains anyway."""
    blending: Blending | None = None
    """How records are ordered; None ranks them on one scale with the turns."""
    weights: Weights = field(default=DEFAULT)
    around: bool = False
    """Whether questions come with their answers, and answers with their questions."""
    home: Scope = ANY
    """The message's own lane; turns of other lanes must be nearly as good as the best of all."""
    elsewhere: float = 0.0
    """How nearly: a share of the best score."""
    room: int | None = None
    """The characters that results may take together; beyond them, no long text is searched for its best passage."""
    open_session: str | None = None
    """The session in which secrets may be repeated, if any."""

    @property
    def sides(self) -> tuple[RecordKind, ...]:
        return tuple(noun for noun in SIDES if noun in self.kinds)


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """Rows that were ranked, before their texts are read."""

    turns: Sequence[Ranked]
    records: Sequence[Ranked]
    question: Question
    similarity: Mapping[int, float]
    """Calibrated, by the entry of a record; what has no vector yet is assumed to be just similar enough."""
    passages: Mapping[int, Floats]
    """By the entry of a long text: how similar each of its passages is."""
    long: LongTexts
    lanes: frozenset[str] = frozenset()
    """Other lanes that the message names."""
    problem: str = ""
    """Why there are no similarities; empty where there are."""
    around: Mapping[int, tuple[int, int]] = field(default_factory=dict[int, tuple[int, int]])
    """By a turn's entry, those of the question before it and of the answer after it; 0 for none."""
    clean: frozenset[int] = frozenset()
    """Entries known to contain no secret."""

    def recalled(self, what: StoredTurn | Record, ranked: Ranked) -> Recalled:
        return Recalled(what=what, score=ranked.score, parts=ranked.parts, excerpt=self.excerpt(what))

    def excerpt(self, what: StoredTurn | Record) -> str:
        similarities = self.passages.get(what.seq)
        return "" if similarities is None else self.long.best(what.text, self.question.stems, similarities)


def in_scope(turn: StoredTurn, search: Search, lanes: frozenset[str]) -> bool:
    persona = isinstance(search.persona, Everything) or turn.persona == search.persona
    return persona and (isinstance(search.lane, Everything) or turn.lane == search.lane or turn.lane in lanes)


def meant(record: Record, search: Search) -> bool:
    """Whether a record is of a requested kind and persona."""
    return record.noun in search.sides and shared(record, search)


def shared(record: Record, search: Search) -> bool:
    """Whether a record is the persona's; what belongs to no persona is everybody's."""
    return isinstance(search.persona, Everything) or record.persona in (search.persona, None)


def ordered(records: Mapping[int, Record], found: Found, search: Search) -> list[Recalled]:
    """Records by the recipe's blend, followed by those that it leaves out, each with its reason."""
    ranked = [one for one in found.records if one.seq in records]
    if search.blending is None:
        return [found.recalled(records[one.seq], one) for one in ranked]
    out = {one.seq: reason for one in ranked if (reason := _reason(records[one.seq], found, search))}
    unknown = 0.0 if found.problem else search.blending.threshold
    candidates = [
        _candidate(records[one.seq], one, similarity=found.similarity.get(one.seq, unknown), now=search.now)
        for one in ranked
        if one.seq not in out
    ]
    order = by_words(candidates) if found.problem else _blend(candidates, search, named=found.lanes)
    if search.around and found.question.periods:
        inside = {one.seq for one in ranked if one.parts.get("period", 0.0) >= search.weights.period}
        order = sorted(order, key=lambda one: one.seq not in inside)
    shown = [
        Recalled(what=records[one.seq], score=one.score, parts=one.parts, excerpt=found.excerpt(records[one.seq]))
        for one in order
    ]
    placed = {one.seq for one in order}
    rest = [
        Recalled(
            what=records[one.seq], score=one.score, parts=one.parts, reason=out.get(one.seq, "ranked below the best")
        )
        for one in ranked
        if one.seq not in placed
    ]
    return [*shown, *rest]


def _blend(candidates: Sequence[RankCandidate], search: Search, *, named: frozenset[str]) -> list[Blended]:
    blending = search.blending or Blending()
    if blending.lexical_first:
        lane = None if isinstance(search.lane, Everything) else search.lane
        order = by_lane(candidates, lane=lane, named=named, confident=blending.confidence)
    elif blending.boosts is not None:
        order = boosted(candidates, boosts=blending.boosts)
    else:
        order = blended(candidates, shares=blending.shares)
    return order[: blending.top_k]


def _reason(record: Record, found: Found, search: Search) -> str:
    if ended(record, found.question, search):
        return "stale: no longer true"
    blending = search.blending
    if blending and not found.problem and found.similarity.get(record.seq, 1.0) < blending.threshold:
        return "below threshold"
    return ""


def ended(what: StoredTurn | Record, question: Question, search: Search) -> bool:
    """Whether a memory has ended and the message does not ask about the time when it held."""
    if not isinstance(what, Memory) or what.valid_to is None or what.valid_to > search.now:
        return False
    begins = what.valid_from or what.at
    asked = any(period.start < what.valid_to and period.end > begins for period in question.periods)
    return not asked and not language(detect(search.text) or ENGLISH).has("asking.before", search.text)


def _candidate(record: Record, ranked: Ranked, *, similarity: float, now: datetime) -> RankCandidate:
    importance = record.importance if isinstance(record, Memory) else 1
    return RankCandidate(
        seq=record.seq,
        similarity=similarity,
        lexical=max(ranked.parts.get("lexical", 0.0), 0.0),
        age_days=(micros(now) - micros(record.at)) / _DAY,
        importance=importance,
        entities=record.entities,
        lane=record.lane,
    )


def hit(found: StoredTurn | Record, ranked: Ranked) -> Hit:
    if isinstance(found, StoredTurn):
        kind: HitKind = "turn"
        sources: tuple[str, ...] = (found.id,)
    else:
        kind = "memory" if found.noun == "memory" else "episode" if found.noun == "episode" else "summary"
        sources = found.sources
    return Hit(
        id=found.id,
        kind=kind,
        text=found.text,
        score=ranked.score,
        parts=ranked.parts,
        sources=sources,
        at=found.at,
    )
