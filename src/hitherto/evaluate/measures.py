"""What is measured of one question, and how sure a mean over questions is. Pure functions.

`frac` is the share of the evidence that came back, `all` is 1 where all of it did; `@k` is over the best k turns, a number
of tokens over the turns that fit into so many, taken greedily from the best on. A session counts by its best turns.
"""

from collections.abc import Collection, Mapping, Sequence
from typing import Final

import numpy as np

from hitherto.recall.rank import DEFAULT, Weights, rank_sessions

PLACES: Final = (5, 10, 20)
BUDGETS: Final = (1_000, 2_000, 4_000)
SESSIONS: Final = 5
LINE_TOKENS: Final = 8
"""What a rendered line costs beside its text: speaker and date."""
RESAMPLES: Final = 2_000
_SEED: Final = 20

Interval = tuple[float, float, float]
"""Mean, and the ends of its 95 % bootstrap interval."""


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
    """Mean and the 95 % interval of its bootstrap distribution, the same on every run."""
    sample = np.array(values)
    draws = np.random.default_rng(_SEED).integers(0, len(sample), size=(RESAMPLES, len(sample)))
    low, high = np.quantile(sample[draws].mean(axis=1), [0.025, 0.975])
    return round(float(sample.mean()), 4), round(float(low), 4), round(float(high), 4)


def gain(ours: Sequence[Mapping[str, float]], plain: Sequence[Mapping[str, float]], metric: str) -> Interval:
    """Ours minus the baseline's, paired by question."""
    return interval([a[metric] - b[metric] for a, b in zip(ours, plain, strict=True)])
