"""BM25 over what the search functions found: `recollect.store.bm25` for many documents at once.

The sums are made in the order of the query's words, as there, so that both stores give the same numbers.
"""

import numpy as np
from numpy.typing import NDArray

from recollect.store.base import Match, Scored
from recollect.store.bm25 import K1, PLACES, B, idf
from recollect.store.postgres.rows import Fetched

_SEQS = np.dtype(">i8")
_COUNTS = np.dtype(">i4")
NOTHING_SCORED = Scored(np.zeros(0, np.int64), np.zeros(0))


def ranked(found: Fetched, *, limit: int) -> tuple[Match, ...]:
    """The best matches, best first."""
    seqs, scores = scored(found)
    order = np.lexsort((seqs, -np.round(scores, PLACES)))[:limit]
    return tuple(
        Match(seq, round(score, PLACES))
        for seq, score in zip(seqs[order].tolist(), scores[order].tolist(), strict=True)
    )


def scored(found: Fetched) -> Scored:
    """Every entry that holds a word, once, with the sum of its gains."""
    entries: list[NDArray[np.int64]] = []
    gains: list[NDArray[np.float64]] = []
    for _, documents, stems, holding, seqs, lengths, frequencies in found:
        if seqs is None:
            continue
        average = stems / documents
        norm = K1 * (1.0 - B + B * np.frombuffer(lengths, _COUNTS).astype(np.float64) / average)
        frequency = np.frombuffer(frequencies, _COUNTS).astype(np.float64)
        weight = idf(documents=documents, holding=holding)
        entries.append(np.frombuffer(seqs, _SEQS).astype(np.int64))
        gains.append(weight * ((frequency * (K1 + 1.0)) / (frequency + norm)))
    if not entries:
        return NOTHING_SCORED
    unique, places = np.unique(np.concatenate(entries), return_inverse=True)
    return Scored(unique, np.bincount(places, weights=np.concatenate(gains)).astype(np.float64))
