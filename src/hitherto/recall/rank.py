"""From raw scores to an order, with a reason for each place.

Full-text and dense scores live on different scales, so each is standardised over the user's rows before they are added
(reciprocal ranks throw away how much better the best one is). A turn is read with its neighbours: a short one leans on what
was said around it, a long one speaks for itself. The rest are small bonuses: who spoke, whether the speaker tells something
about themselves, when it was, how good the rest of its session is, and a bounded number of standing requests.

All weights are in `Weights`, a value that a recipe can set; the defaults are tuned on development conversations of three
kinds at once. docs/measured/recall.md tells what each of them is worth.

The recipes' own ways to order memories are here too, to the number: `boosted` is the recall recipe's (threshold, recency
boost, importance), `blended` the personas recipe's (similarity, recency with a half-life, how often an entity comes up),
`by_lane` the lanes recipe's (full text first, other lanes only if they are named or the match is strong). Similarities are
calibrated (`embed.base`), ages are in days.
"""

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import sqrt
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hitherto.recall.query import Question
from hitherto.recall.traits import INSTRUCTION, PREFERENCE, TELLS, TIMED
from hitherto.recall.vectors import top

Scores = NDArray[np.float64]
Integers = NDArray[np.int64]

DECIMALS: Final = 6
_DAY: Final = 86_400.0
USER: Final = 1
PERSONA: Final = 2
OTHER: Final = 3
"""A tool's or the system's: neither side of the conversation."""
_NONE: Final = np.zeros(0, dtype=np.int64)
FEW: Final = 20
"""Fewer rows than this have no spread of their own: a single match would be its own average, and count for nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Weights:
    """How much each finding adds. Scores they add to are standardised: 1 is one standard deviation."""

    lexical: float = 1.0
    related: float = 0.25
    """What a related word counts relative to an asked one."""
    dense: float = 1.0
    """Multiplied by how far the embedder can be trusted (`Embedder.trust`)."""
    previous: float = 0.7
    next: float = 0.4
    beyond: float = 0.2
    """The full-text score of the turn before, the turn after, and those one step further on either side."""
    lean: float = 50.0
    """A turn with this many stems takes in half as much of its neighbours as an empty one."""
    speaker: float = 1.5
    of_user: float = 1.2
    of_persona: float = 0.3
    tells: float = 1.5
    """A turn in which speakers tell something about themselves counts this much more if that speaker is meant."""
    period: float = 2.5
    beside: float = 0.7
    """What is left of the bonus for a period just outside it."""
    fade_days: float = 7.0
    """How fast it fades further away."""
    told: float = 2.0
    """How many times the bonus a note gets that tells of such a period, whenever it was written."""
    timed: float = 0.5
    session: float = 0.1
    session_share: float = 0.7
    session_rows: int = 5
    """For ranking sessions: the share of their following rows that is added to the best one, and how many of them."""
    instruction: float = 1.5
    preference: float = 1.5
    shelf: int = 3
    """At most this many standing requests of each kind are lifted."""
    duplicate: float = 0.98
    """Turns with a cosine at least this high are one result."""


DEFAULT: Final = Weights()


@dataclass(frozen=True, slots=True, kw_only=True)
class Rows:
    """One user's rows as parallel arrays in log order. -1 stands for "none"."""

    seqs: Integers
    previous: Integers
    next: Integers
    sessions: Integers
    """Numbers from 0 without gaps."""
    speakers: Integers
    """Places in `names`."""
    names: tuple[str, ...]
    roles: Integers
    """USER, PERSONA, OTHER, or 0 for what is not a turn of anybody's, like a memory."""
    times: Scores
    """Seconds since the epoch."""
    flags: NDArray[np.uint8]
    lengths: NDArray[np.float32]

    def __len__(self) -> int:
        return len(self.seqs)


class Part(NamedTuple):
    """What one finding adds to every row: a column, above a level, times a weight."""

    column: Scores
    weight: float = 1.0
    level: float = 0.0

    def of(self, rows: Integers) -> Scores:
        return (self.column[rows] - self.level) * self.weight


class Ranked(NamedTuple):
    """A row in its place; `parts` add up to `score`."""

    row: int
    seq: int
    score: float
    parts: Mapping[str, float]
    duplicates: tuple[int, ...] = ()
    """Sequence numbers of near-identical turns that this one stands for."""


def leans(lengths: NDArray[np.float32], *, lean: float = DEFAULT.lean) -> NDArray[np.float32]:
    """How much of its neighbours each row takes in: 1 for an empty row, falling with its length."""
    return (lean / (lean + lengths)).astype(np.float32, copy=False)


def rank(
    rows: Rows,
    question: Question,
    *,
    lexical: Scores,
    dense: Scores | None,
    trust: float = 1.0,
    allowed: NDArray[np.bool_] | None = None,
    weights: Weights = DEFAULT,
    usual: "Spread | None" = None,
    related: Scores | None = None,
    told: Integers | None = None,
    limit: int,
) -> list[Ranked]:
    """The best rows, best first, ties by seq.

    `lexical` holds each row's own BM25 (0 without a match), `dense` its similarity blended with its neighbours', or None
    without an embedder. Rows that are not `allowed` neither appear nor count in the statistics. `usual` is how similarities
    are spread elsewhere, for when there are too few rows to tell. `related` is each row's BM25 for related words. `told` are
    the rows that tell of a period which the question names, whenever they were written.
    """
    total, parts = scored(
        rows,
        question,
        lexical=lexical,
        dense=dense,
        trust=trust,
        allowed=allowed,
        weights=weights,
        usual=usual,
        related=related,
        told=told,
    )
    best = top(total, rows.seqs, limit=limit)
    shares = [(name, np.round(part.of(best), DECIMALS).tolist()) for name, part in parts.items()]
    scores = np.round(total[best], DECIMALS)
    return [
        Ranked(row=row, seq=seq, score=score, parts={name: share[n] for name, share in shares if share[n]})
        for n, (row, seq, score) in enumerate(
            zip(best.tolist(), rows.seqs[best].tolist(), scores.tolist(), strict=True)
        )
    ]


def scored(
    rows: Rows,
    question: Question,
    *,
    lexical: Scores,
    dense: Scores | None,
    trust: float = 1.0,
    allowed: NDArray[np.bool_] | None = None,
    weights: Weights = DEFAULT,
    usual: "Spread | None" = None,
    related: Scores | None = None,
    told: Integers | None = None,
) -> tuple[Scores, dict[str, Part]]:
    """Every row's score and its parts; -inf for a row that is not allowed."""
    if not len(rows) or (allowed is not None and not allowed.any()):
        return np.full(len(rows), -np.inf), {}
    parts = _by_words(lexical, related, rows, allowed=allowed, weights=weights) | _parts(
        rows, question, dense=dense, trust=trust, allowed=allowed, weights=weights, usual=usual, told=told
    )
    total = np.full(len(rows), -sum(part.level * part.weight for part in parts.values()))
    weighed = np.empty(len(rows))  # one array for all: allocating costs more than adding
    for part in parts.values():
        total += np.multiply(part.column, part.weight, out=weighed)
    if allowed is not None:
        total[~allowed] = -np.inf
    parts["session"] = Part(_best_of_session(total, rows.sessions, weight=weights.session))
    total += parts["session"].column
    for places, weight in _shelf(total, rows, weights=weights):
        parts.setdefault("standing", Part(np.zeros(len(rows)))).column[places] += weight
        total[places] += weight
    return total, parts


def _by_words(
    lexical: Scores, related: Scores | None, rows: Rows, *, allowed: NDArray[np.bool_] | None, weights: Weights
) -> dict[str, Part]:
    """What full text adds: the asked words, related ones, and both in the turns around, on one scale."""
    matched = lexical
    if related is not None:
        matched = weights.related * related
        matched += lexical
    around = _of_neighbours(matched, rows, weights=weights)
    spread = standardiser(matched + around, allowed, least=FEW)
    scale = weights.lexical / spread.deviation
    parts = {"lexical": Part(lexical, scale, spread.mean), "neighbours": Part(around, scale)}
    return parts if related is None else parts | {"related": Part(related, weights.related * scale)}


def _parts(
    rows: Rows,
    question: Question,
    *,
    dense: Scores | None,
    trust: float,
    allowed: NDArray[np.bool_] | None,
    weights: Weights,
    usual: "Spread | None",
    told: Integers | None,
) -> dict[str, Part]:
    parts: dict[str, Part] = {}
    if dense is not None:
        spread = usual or standardiser(dense, allowed)
        parts["dense"] = Part(dense, weights.dense * trust / spread.deviation, spread.mean)
    if question.speakers:
        meant = [place for place, name in enumerate(rows.names) if name in question.speakers]
        parts["speaker"] = Part(_telling(rows, weights) * np.isin(rows.speakers, meant), weights.speaker)
    elif question.of_user:
        parts["speaker"] = Part(_telling(rows, weights) * (rows.roles == USER), weights.of_user)
    elif question.of_persona:
        parts["speaker"] = Part((rows.roles == PERSONA).astype(np.float64), weights.of_persona)
    if question.periods:
        near = closeness(
            rows.times,
            [(period.start.timestamp(), period.end.timestamp()) for period in question.periods],
            fade=weights.fade_days * _DAY,
            beside=weights.beside,
        )
        if told is not None:
            near[told] = weights.told
        parts["period"] = Part(near, weights.period)
    if question.asks_when:
        parts["timed"] = Part(((rows.flags & TIMED) > 0).astype(np.float64), weights.timed)
    return parts


def _telling(rows: Rows, weights: Weights) -> Scores:
    """1 for every row, and more for those in which speakers tell something about themselves."""
    return np.where((rows.flags & TELLS) > 0, 1.0 + weights.tells, 1.0)


@dataclass(frozen=True, slots=True)
class Spread:
    mean: float
    deviation: float


def standardiser(scores: Scores, allowed: NDArray[np.bool_] | None = None, *, least: int = 0) -> Spread:
    """Mean and standard deviation. If all scores are alike they say nothing, and a deviation of 1 makes them 0.

    With fewer than `least` scores, the missing ones count as 0.
    """
    out = _NONE if allowed is None else np.flatnonzero(~allowed)
    there = len(scores) - len(out)
    count = max(there, least)
    mean = float(np.add.reduce(scores) - np.add.reduce(scores[out])) / count
    away = scores - mean
    away[out] = 0
    away *= away
    deviation = sqrt((float(np.add.reduce(away)) + (count - there) * mean * mean) / count)
    return Spread(mean=mean, deviation=deviation if deviation > 1e-12 else 1.0)


def closeness(times: Scores, periods: Sequence[tuple[float, float]], *, fade: float, beside: float = 1.0) -> Scores:
    """1 inside a period, falling off from `beside` outside it with distance: a boost, never a filter."""
    best = np.zeros(len(times))
    for start, end in periods:
        outside = np.maximum(np.maximum(start - times, times - end), 0.0)
        best = np.maximum(best, np.where(outside > 0, beside * np.exp(-outside / fade), 1.0))
    return best


def collapse(
    ranked: Sequence[Ranked], likeness: NDArray[np.floating[Any]], *, threshold: float = DEFAULT.duplicate
) -> list[Ranked]:
    """Folds near duplicates into the best of them. `likeness` holds the cosine of each pair, in the order of `ranked`."""
    alike = likeness >= threshold
    np.fill_diagonal(alike, val=False)
    if not alike.any():
        return list(ranked)
    folded: dict[int, list[int]] = {}
    for place in range(len(ranked)):
        keeper = next((other for other in folded if alike[place, other]), None)
        if keeper is None:
            folded[place] = []
        else:
            folded[keeper].append(ranked[place].seq)
    return [ranked[place]._replace(duplicates=tuple(same)) for place, same in folded.items()]


def rank_sessions(totals: Scores, sessions: Integers, *, weights: Weights = DEFAULT) -> list[tuple[int, float]]:
    """Sessions by their best rows, best first: the best one, and a share of the next few that are above average.

    `totals` are the scores of all rows (from `scored`). One lucky turn does not make a session; several
    good ones do.
    """
    order = np.lexsort((np.arange(len(totals)), -totals, sessions))
    starts = np.flatnonzero(np.r_[True, np.diff(sessions[order]) != 0]) if len(order) else np.zeros(0, dtype=np.int64)
    found: list[tuple[int, float]] = []
    for start, end in zip(starts, [*starts[1:], len(order)], strict=False):
        best = totals[order[start : min(end, start + weights.session_rows)]]
        total = float(best[0]) + weights.session_share * float(np.maximum(best[1:], 0.0).sum())
        found.append((int(sessions[order[start]]), round(total, DECIMALS)))
    return sorted(found, key=lambda entry: (-entry[1], entry[0]))


def _of_neighbours(lexical: Scores, rows: Rows, *, weights: Weights) -> Scores:
    """What neighbours add to each row's score. Few rows contain any of the words, so each of those gives to its neighbours;
    the extra last element, which -1 points to, takes what has no receiver.
    """
    holding = np.flatnonzero(lexical != 0)
    scores, before, after = lexical[holding], rows.previous[holding], rows.next[holding]
    around = np.zeros(len(lexical) + 1)
    around[after] += weights.previous * scores
    around[before] += weights.next * scores
    if weights.beyond:
        around[np.where(after < 0, -1, rows.next[after])] += weights.beyond * scores
        around[np.where(before < 0, -1, rows.previous[before])] += weights.beyond * scores
    around[:-1] *= leans(rows.lengths, lean=weights.lean)
    return around[:-1]


def _best_of_session(total: Scores, sessions: Integers, *, weight: float) -> Scores:
    """For each row, a share of its session's best score, never below 0; most rows of a session are consecutive."""
    starts = np.flatnonzero(np.append(True, sessions[1:] != sessions[:-1]))
    best = np.zeros(int(sessions.max()) + 1)
    np.maximum.at(best, sessions[starts], np.maximum.reduceat(total, starts))
    best *= weight
    return best[sessions]


def _shelf(total: Scores, rows: Rows, *, weights: Weights) -> Iterator[tuple[Integers, float]]:
    """The best few standing requests of each kind, whatever they are about, and how far they are lifted; the persona and
    tools make none."""
    marked = np.flatnonzero(rows.flags & (INSTRUCTION | PREFERENCE))
    marked = marked[rows.roles[marked] < PERSONA]
    for flag, weight in ((INSTRUCTION, weights.instruction), (PREFERENCE, weights.preference)):
        places = marked[(rows.flags[marked] & flag) > 0]
        if len(places):
            yield places[top(total[places], rows.seqs[places], limit=weights.shelf)], weight


class RankCandidate(NamedTuple):
    """A memory, episode or turn that was found, with what a blend weighs."""

    seq: int
    similarity: float
    lexical: float = 0.0
    age_days: float = 0.0
    importance: int = 1
    """0 trivial, 1 standard, 2 significant, 3 core."""
    entities: tuple[str, ...] = ()
    lane: str | None = None


class Blended(NamedTuple):
    seq: int
    score: float
    parts: dict[str, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class Boosts:
    limit: int = 5
    threshold: float = 0.7
    recency: float = 1.2
    recent_days: float = 7.0
    importance: float = 0.1
    """Added to a factor of 1 for each step of importance above standard; a trivial one loses as much."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Shares:
    similarity: float = 0.4
    recency: float = 0.3
    frequency: float = 0.3
    half_life_days: float = 14.0


def boosted(candidates: Sequence[RankCandidate], *, boosts: Boosts | None = None) -> list[Blended]:
    """The best few of what is similar enough, times their boosts."""
    boosts = boosts or Boosts()
    found: list[Blended] = []
    for candidate in candidates:
        if candidate.similarity < boosts.threshold:
            continue
        recency = boosts.recency if candidate.age_days < boosts.recent_days else 1.0
        importance = 1.0 + boosts.importance * (candidate.importance - 1)
        parts = {"similarity": candidate.similarity, "recency": recency, "importance": round(importance, DECIMALS)}
        found.append(_blended(candidate.seq, candidate.similarity * recency * importance, parts))
    return _ordered(found)[: boosts.limit]


def blended(candidates: Sequence[RankCandidate], *, shares: Shares | None = None) -> list[Blended]:
    """Similarity, recency and entity frequency in fixed shares; without any entity, similarity alone."""
    shares = shares or Shares()
    counts = Counter(entity for candidate in candidates for entity in set(candidate.entities))
    if not counts:
        return _ordered([_blended(c.seq, c.similarity, {"similarity": c.similarity}) for c in candidates])
    most = max(counts.values())
    found: list[Blended] = []
    for candidate in candidates:
        frequency = max((counts[entity] for entity in candidate.entities), default=0) / most
        parts = {
            "similarity": shares.similarity * candidate.similarity,
            "recency": shares.recency * decay(candidate.age_days, half_life=shares.half_life_days),
            "frequency": shares.frequency * frequency,
        }
        found.append(_blended(candidate.seq, sum(parts.values()), parts))
    return _ordered(found)


def by_lane(
    candidates: Sequence[RankCandidate], *, lane: str | None, named: Collection[str] = (), confident: float = 0.85
) -> list[Blended]:
    """Full text first: what shares words with the message, by BM25, then what is only similar.

    What belongs to another lane stays out unless the message names that lane or the match is a confident one.
    """
    found: list[Blended] = []
    for candidate in candidates:
        if candidate.lane not in (None, lane) and candidate.lane not in named and candidate.similarity < confident:
            continue
        parts = {"lexical": candidate.lexical, "similarity": candidate.similarity}
        # Any full-text match outranks every similarity, which is at most 1.
        found.append(
            _blended(candidate.seq, candidate.lexical + 1.0 if candidate.lexical > 0 else candidate.similarity, parts)
        )
    return _ordered(found)


def by_words(candidates: Sequence[RankCandidate]) -> list[Blended]:
    """By full text alone, for when there are no similarities."""
    return _ordered([_blended(c.seq, c.lexical, {"lexical": c.lexical}) for c in candidates])


def decay(age_days: float, *, half_life: float) -> float:
    """1 now, a half after each half-life; something dated in the future counts as new."""
    return 0.5 ** (max(age_days, 0.0) / half_life)


def _blended(seq: int, score: float, parts: dict[str, float]) -> Blended:
    return Blended(
        seq=seq,
        score=round(score, DECIMALS),
        parts={name: round(value, DECIMALS) for name, value in parts.items()},
    )


def _ordered(found: Sequence[Blended]) -> list[Blended]:
    return sorted(found, key=lambda entry: (-entry.score, entry.seq))
