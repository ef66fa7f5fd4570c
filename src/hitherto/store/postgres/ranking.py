"""BM25 over what the search functions found: `hitherto.store.matches` for many documents at once.

The sums are made in the order of the query's words, as there, so that both stores give the same numbers.
"""

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from hitherto.store.matches import K1, NOTHING, PLACES, B, Matched, idf
from hitherto.store.postgres.rows import Fetched

_PACKED = np.dtype(">i8")
_BITS = 24
"""Of a packed integer, for the length or the frequency; the rest are the entry's. No text has so many words."""


def matched(found: Fetched) -> Matched:
    """Every entry that holds a word, once, with the sum of its gains."""
    if not found:
        return NOTHING
    _, documents, stems, *_ = found[0]
    seqs, lengths = _unpacked(row[4] for row in found)
    repeating, times = _unpacked(row[5] for row in found if row[5] is not None)
    frequencies = np.ones(len(seqs))
    frequencies[np.isin(seqs, repeating)] = times  # these come in the order of the same rows
    weights = np.repeat(
        [idf(documents=documents, holding=row[3]) for row in found],
        [len(row[4]) // _PACKED.itemsize for row in found],
    )
    norms = K1 * (1.0 - B + B * lengths / (stems / documents))
    first = int(seqs.min())
    gains = weights * ((frequencies * (K1 + 1.0)) / (frequencies + norms))
    sums = np.bincount(seqs - first, weights=gains).astype(np.float64, copy=False)
    there = np.flatnonzero(sums)
    return Matched(there + first, np.round(sums[there], PLACES))


def _unpacked(packed: Iterable[bytes]) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Entries, and the number that travels with each."""
    both = np.frombuffer(b"".join(packed), _PACKED).astype(np.int64)
    return both >> _BITS, (both & ((1 << _BITS) - 1)).astype(np.float64)
