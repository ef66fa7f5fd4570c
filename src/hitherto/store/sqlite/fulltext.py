"""Full-text matches by FTS5's own BM25."""

from typing import Final

import numpy as np

from hitherto.store.bm25 import PLACES, distinct
from hitherto.store.matches import NOTHING, Matched
from hitherto.store.protocol import Matches
from hitherto.store.sql import queries
from hitherto.store.sqlite.driver import Connection, Value

_SEARCH = queries("sqlite", "search")
_SCALE: Final = 10.0**PLACES


def matches(connection: Connection, query: Matches) -> Matched:
    if not query.stems:
        return NOTHING
    values: dict[str, Value] = {"stems": " OR ".join(map(_quoted, distinct(query.stems))), "scale": _SCALE}
    found: str | None = connection.execute(_SEARCH[f"{query.target}s"], values).get
    if not found:
        return NOTHING
    numbers = np.fromstring(found, dtype=np.int64, sep=" ")
    return Matched(numbers[::2], numbers[1::2] / _SCALE)


def _quoted(stem: str) -> str:
    """A stem as an FTS5 string, in which nothing but the quotation mark means anything."""
    return '"' + stem.replace('"', '""') + '"'
