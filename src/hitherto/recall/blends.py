"""The recipes' own ways to order memories, to the number.

`boosted` is the recall recipe's (threshold, recency boost, importance), `blended` the personas recipe's
(similarity, recency with a half-life, how often an entity comes up), `by_lane` the lanes recipe's (full text first,
other lanes only when they are named or the match is strong). Similarities are calibrated ones (`embed.base`), ages
are in days.
"""

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

DECIMALS: Final = 6


class Candidate(NamedTuple):
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


def boosted(candidates: Sequence[Candidate], *, boosts: Boosts | None = None) -> list[Blended]:
    """What is similar enough, times its boosts, the best few."""
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


def blended(candidates: Sequence[Candidate], *, shares: Shares | None = None) -> list[Blended]:
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
    candidates: Sequence[Candidate], *, lane: str | None, named: Collection[str] = (), confident: float = 0.85
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


def by_words(candidates: Sequence[Candidate]) -> list[Blended]:
    """By full text alone, for when no similarity is to be had."""
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
