"""Full-text matches by FTS5's own BM25."""

import json
from typing import Final

import numpy as np

from recollect.store.base import Everything, Match, Matches, Scored, Scores
from recollect.store.bm25 import PLACES, distinct
from recollect.store.sqlite.driver import Connection, Value
from recollect.store.sqlite.sql import queries

_SEARCH = queries("search")
_LATEST = 2**62
_SCALE: Final = 10.0**PLACES


def matches(connection: Connection, query: Matches) -> tuple[Match, ...]:
    """The best matches in the order of rounded scores.

    FTS5 gives them by unrounded score, so reading goes on to the end of the last rounded score before ties are
    settled by seq.
    """
    if not query.stems or query.limit <= 0:
        return ()
    found: list[tuple[float, int]] = []
    for seq, rank in connection.execute(_SEARCH[f"{query.target}s"], _values(query)):
        score = round(-rank, PLACES)
        if len(found) >= query.limit and score < found[-1][0]:
            break
        found.append((score, seq))
    found.sort(key=lambda one: (-one[0], one[1]))
    return tuple([Match(seq=seq, score=score) for score, seq in found[: query.limit]])


def scores(connection: Connection, query: Scores) -> Scored:
    """All matches, whoever they belong to and whether they are live or not."""
    values: dict[str, Value] = {"stems": _any(query), "scale": _SCALE}
    found: str | None = connection.execute(_SEARCH[f"scored_{query.target}s"], values).get if query.stems else None
    numbers = np.fromstring(found, dtype=np.int64, sep=" ") if found else np.zeros(0, dtype=np.int64)
    return Scored(numbers[::2], numbers[1::2] / _SCALE)


def _values(query: Matches) -> dict[str, Value]:
    values: dict[str, Value] = {
        "stems": _any(query),
        "known": _LATEST if query.known is None else query.known,
        "any_persona": isinstance(query.persona, Everything),
        "persona": None if isinstance(query.persona, Everything) else query.persona,
        "any_lane": isinstance(query.lane, Everything),
        "lane": None if isinstance(query.lane, Everything) else query.lane,
    }
    if query.target == "record":
        values |= {"any_noun": not query.nouns, "nouns": json.dumps(query.nouns)}
    return values


def _any(query: Matches | Scores) -> str:
    return " OR ".join(map(_quoted, distinct(query.stems)))


def _quoted(stem: str) -> str:
    """A stem as an FTS5 string, in which nothing but the quotation mark means anything."""
    return '"' + stem.replace('"', '""') + '"'
