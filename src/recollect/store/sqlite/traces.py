"""Vectors and what stands beside them.

One embedder's traces lie together: `slot` is the embedder's number times `WIDTH` plus the entry's seq.
"""

from recollect.clock import micros
from recollect.store.base import RowDraft, Traces, TurnDraft, Untraced, Vector
from recollect.store.sqlite import rows
from recollect.store.sqlite.driver import Connection
from recollect.store.sqlite.sql import queries
from recollect.store.traced import Traced

_SEARCH = queries("search")
_WRITING = queries("writing")

WIDTH = 2**40
"""More entries than any user's log will have."""
_NOBODY = -1


def traces(connection: Connection, query: Traces) -> Traced:
    base = _number(connection, query.embedder) * WIDTH
    values = {"base": base, "end": base + WIDTH, "after": query.after, "limit": query.limit}
    with rows.sense():
        return Traced.of(connection.execute(_SEARCH["traces"], values))


def untraced(connection: Connection, query: Untraced) -> tuple[int, ...]:
    base = _number(connection, query.embedder) * WIDTH
    values = {"base": base, "after": query.after, "limit": query.limit}
    return tuple([seq for (seq,) in connection.execute(_SEARCH["untraced"], values)])


def add_turn(connection: Connection, draft: TurnDraft, *, seq: int, place: int, vector: Vector) -> None:
    slot = _slot(connection, vector, seq)
    scope = (draft.role, draft.persona, draft.lane, draft.session, draft.speaker)
    connection.execute(_WRITING["trace"], (slot, place, "turn", draft.id, micros(draft.at), *scope, vector.data))


def add_record(connection: Connection, draft: RowDraft, *, seq: int, vector: Vector) -> None:
    slot = _slot(connection, vector, seq)
    scope = (None, draft.persona, draft.lane, None, None)
    connection.execute(_WRITING["trace"], (slot, seq, draft.noun, draft.id, micros(draft.at), *scope, vector.data))


def add_later(connection: Connection, seq: int, vector: Vector) -> None:
    """A vector for an entry written before; nothing for one that has been erased."""
    slot = _slot(connection, vector, seq)
    connection.execute(_WRITING["trace_later"], {"slot": slot, "seq": seq, "vector": vector.data})


def _number(connection: Connection, embedder: str) -> int:
    found = connection.execute(_SEARCH["embedder"], {"name": embedder}).get
    return _NOBODY if found is None else found


def _slot(connection: Connection, vector: Vector, seq: int) -> int:
    number = _number(connection, vector.embedder)
    if number == _NOBODY:
        connection.execute(_WRITING["embedder"], {"name": vector.embedder})
        number = _number(connection, vector.embedder)
    return number * WIDTH + seq
