"""Answers to the protocol's queries: one table from a query's type to the function that asks SQLite.

Every function runs inside a transaction that its caller has begun.
"""

import json
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from heapq import merge
from itertools import islice
from typing import Any, Final

import numpy as np

from hitherto.clock import micros
from hitherto.ids import erased_name
from hitherto.store.columns import NO_MATCHES, PLACES, Matched, distinct
from hitherto.store.protocol import (
    Answers,
    Blobs,
    Count,
    Counts,
    CurrentLease,
    Cursor,
    Cursors,
    Erased,
    Everything,
    Head,
    Lease,
    Log,
    LogEntry,
    Matches,
    Note,
    Notes,
    Query,
    RecordList,
    RecordsByEntity,
    RecordsById,
    RecordsByKey,
    RecordsBySeq,
    RecordsBySource,
    Row,
    Scope,
    SnapshotList,
    SnapshotsById,
    TenantDocuments,
    Traces,
    TurnList,
    TurnsById,
    TurnsBySeq,
    Untraced,
    Window,
)
from hitherto.store.rows import ending_entry, lease
from hitherto.store.sql import queries
from hitherto.store.sqlite import receipts, rows
from hitherto.store.sqlite.connections import TURNS, Connection, Value
from hitherto.store.sqlite.tracepages import traces, untraced
from hitherto.types import StoredTurn

_TURNS = queries("sqlite", "turns")
_RECORDS = queries("sqlite", "records")
_BESIDE = queries("sqlite", "beside")
_SEARCH = queries("sqlite", "search")

_OF_RECORDS = (RecordsById, RecordsByKey, RecordList, RecordsByEntity)

_FEW = 256
"""Rows that are hardly more work to read than to hand over to a thread."""

LATEST = 2**62
"""Later than any log entry and any moment: "whatever is there now"."""
_LAST_CHARACTER = "\U0010ffff"
_SCALE: Final = 10.0**PLACES


def answer(connection: Connection, asked: Iterable[Query[Any]]) -> Answers:
    """All answers, from the one state that the connection's transaction sees."""
    return Answers({query: _ANSWERS[type(query)](connection, query) for query in asked})


def answered(connection: Connection, asked: Sequence[Query[Any]]) -> dict[Query[Any], Any]:
    """The same, in a transaction that will write; also uses and returns what this connection's last write left."""
    known = connection.kept.left(head(connection) if asked else -1)
    return {**known, **{query: _ANSWERS[type(query)](connection, query) for query in asked if query not in known}}


def answer_cached(connection: Connection, asked: Iterable[Query[Any]]) -> Answers:
    """The same, in a transaction that only reads; uses what the connection kept from earlier ones."""
    [marks] = connection.execute(_BESIDE["marks"]).fetchall()
    connection.kept.as_of(*marks)
    return Answers({query: _answer_cached(connection, query) for query in asked})


def _answer_cached(connection: Connection, query: Query[Any]) -> Any:
    if isinstance(query, Head):
        return connection.kept.head
    if isinstance(query, _OF_RECORDS):
        return connection.kept.answer(query, lambda: _ANSWERS[type(query)](connection, query))
    if isinstance(query, Window | TurnList) and query.known is None and query.limit <= TURNS:
        sql, values = _listing(query, "seqs")
        seqs = [seq for (seq,) in connection.execute(sql, values)]
        with rows.sense():  # an index that names a missing turn
            found = connection.kept.turns(seqs, lambda seqs: _turns_by_seq(connection, TurnsBySeq(seqs=seqs)))
        return found[::-1] if isinstance(query, Window) else found
    return _ANSWERS[type(query)](connection, query)


def few(query: Query[Any]) -> bool:
    """Whether a query asks for little however much a user has said: what a context asks for."""
    match query:
        case TurnsBySeq() | RecordsBySeq():
            return len(query.seqs) <= _FEW
        case Window() | TurnList() | RecordList() | RecordsByEntity():
            return query.limit <= _FEW
        case Traces():
            return query.after > 0
        case Head() | RecordsById() | RecordsByKey() | Matches() | TenantDocuments():
            return True
        case _:
            return False


def head(connection: Connection, _: Head | None = None) -> int:
    return connection.execute(_BESIDE["head"]).get


# --- turns ---------------------------------------------------------------------------------------------------------


def _turns(connection: Connection, sql: str, values: dict[str, Value]) -> tuple[StoredTurn, ...]:
    return rows.built(rows.turn, connection.execute(sql, values))


def _scoped(values: dict[str, Value], **scopes: Scope) -> tuple[str, ...]:
    """Conditions on named columns, and their values; the unnamed persona and the root lane are NULL."""
    conditions: list[str] = []
    for column, scope in scopes.items():
        if scope is None:
            conditions.append(f"{column} IS NULL")
        elif not isinstance(scope, Everything):
            conditions.append(f"{column} = :{column}")
            values[column] = scope
    return tuple(conditions)


def _window(connection: Connection, query: Window) -> tuple[StoredTurn, ...]:
    return _turns(connection, *_listing(query, "some"))[::-1]


def _turn_list(connection: Connection, query: TurnList) -> tuple[StoredTurn, ...]:
    return _turns(connection, *_listing(query, "some"))


def _listing(query: Window | TurnList, select: str) -> tuple[str, dict[str, Value]]:
    """The SQL for turns by their place; those of a window come newest first."""
    values: dict[str, Value] = {"limit": query.limit, "known": query.known}
    conditions = _scoped(values, persona=query.persona, lane=query.lane)
    if isinstance(query, Window):
        if query.before is not None:
            conditions += ("place < :before",)
            values["before"] = query.before
        return under(_TURNS[select], query.known is not None, conditions, "place DESC"), values
    conditions = ("place > :after", *conditions)
    values["after"] = query.after
    if query.session is not None:
        conditions += ("session = :session",)
        values["session"] = query.session
    if query.since is not None:
        conditions += ("at >= :since",)
        values["since"] = micros(query.since)
    if query.until is not None:
        conditions += ("at < :until",)
        values["until"] = micros(query.until)
    return under(_TURNS[select], query.known is not None, conditions, _order(query)), values


@cache
def under(select: str, known: bool, conditions: tuple[str, ...], order: str) -> str:  # noqa: FBT001 - a cache key
    """`select` over what is visible and meets the conditions.

    The indexes of live versions find what is visible now. What was visible at :known is the part of it that was written by
    then, plus what has ended since, which the index of ended versions finds.
    """
    visible = (
        ("retired IS NULL AND seq <= :known", "retired > :known AND seq <= :known") if known else ("retired IS NULL",)
    )
    parts = (select.replace("{conditions}", " AND ".join((*conditions, one))) for one in visible)
    return f"{' UNION ALL '.join(parts)} ORDER BY {order} LIMIT :limit"


def _order(query: TurnList) -> str:
    """Orders by place. The plus keeps SQLite from following the order of places through years to find a day in one lane,
    which the index of times finds at once."""
    within = query.since is not None or query.until is not None
    named = not isinstance(query.persona, Everything) and not isinstance(query.lane, Everything)
    return "+place" if within and named and query.known is None else "place"


def _by_id(query: TurnsById | RecordsById) -> tuple[str, dict[str, Value]]:
    name = "by_id_ever" if query.history else "by_id"
    return name, {"ids": json.dumps(query.ids), "known": _known(query.known)}


def _by_seq(query: TurnsBySeq | RecordsBySeq) -> dict[str, Value]:
    return {"seqs": json.dumps(query.seqs), "known": _known(query.known)}


def _known(known: int | None) -> int:
    return LATEST if known is None else known


def _turns_by_id(connection: Connection, query: TurnsById) -> tuple[StoredTurn, ...]:
    name, values = _by_id(query)
    return _turns(connection, _TURNS[name], values)


def _turns_by_seq(connection: Connection, query: TurnsBySeq) -> tuple[StoredTurn, ...]:
    return _turns(connection, _TURNS["by_seq"], _by_seq(query)) if query.seqs else ()


# --- records -------------------------------------------------------------------------------------------------------


def _records(connection: Connection, sql: str, values: dict[str, Value]) -> tuple[Row, ...]:
    return rows.built(rows.record, connection.execute(sql, values))


def _records_by_id(connection: Connection, query: RecordsById) -> tuple[Row, ...]:
    name, values = _by_id(query)
    return _records(connection, _RECORDS[name], values)


def _records_by_seq(connection: Connection, query: RecordsBySeq) -> tuple[Row, ...]:
    return _records(connection, _RECORDS["by_seq"], _by_seq(query)) if query.seqs else ()


def _records_by_key(connection: Connection, query: RecordsByKey) -> tuple[Row, ...]:
    conditions = ("noun = :noun", "key IN (SELECT value FROM json_each(:keys))", "key IS NOT NULL")
    sql = under(_RECORDS["some"], query.known is not None, conditions, "seq")
    keys = json.dumps(query.keys)
    return _records(connection, sql, {"noun": query.noun, "keys": keys, "known": query.known, "limit": -1})


def _record_list(connection: Connection, query: RecordList) -> tuple[Row, ...]:
    values: dict[str, Value] = {"noun": query.noun, "limit": query.limit, "known": query.known}
    conditions = ("noun = :noun",)
    persona = _scoped(values, persona=query.persona)
    if query.shared and persona:
        persona = (f"({persona[0]} OR persona IS NULL)",)
    conditions += persona + _scoped(values, lane=query.lane)
    if query.statuses:
        conditions += ("status IN (SELECT value FROM json_each(:statuses))",)
        values["statuses"] = json.dumps(query.statuses)
    if query.key_prefix is not None:
        conditions += ("key >= :prefix AND key < :beyond",)
        values |= {"prefix": query.key_prefix, "beyond": query.key_prefix + _LAST_CHARACTER}
    if query.after is not None:
        conditions += ("(at, seq) < (:at, :seq)",)
        values |= {"at": micros(query.after[0]), "seq": query.after[1]}
    sql = under(_RECORDS["some"], query.known is not None, conditions, "at DESC, seq DESC")
    return _records(connection, sql, values)


def _records_by_entity(connection: Connection, query: RecordsByEntity) -> tuple[Row, ...]:
    found = connection.execute(_RECORDS["naming"], {"refs": json.dumps(query.refs)}).get
    if found is None:
        return ()
    values: dict[str, Value] = {
        "seqs": found,
        "noun": query.noun,
        "known": _known(query.known),
        "any_persona": isinstance(query.persona, Everything),
        "persona": None if isinstance(query.persona, Everything) else query.persona,
        "shared": query.shared,
        "any_status": not query.statuses,
        "statuses": json.dumps(query.statuses),
        "limit": query.limit,
    }
    return _records(connection, _RECORDS["by_entity"], values)


def _records_by_source(connection: Connection, query: RecordsBySource) -> tuple[Row, ...]:
    return _records(connection, _RECORDS["by_source"], {"turns": json.dumps(query.turns), "ever": query.history})


# --- the log and what stands beside it -----------------------------------------------------------------------------


def _log(connection: Connection, query: Log) -> tuple[LogEntry, ...]:
    values = {"after": query.after, "limit": query.limit}
    turns = rows.built(rows.turn_entry, connection.execute(_TURNS["entries"], values))
    records = rows.built(rows.record_entry, connection.execute(_RECORDS["entries"], values))
    endings = rows.built(ending_entry, connection.execute(_BESIDE["endings"], values))
    return tuple(islice(merge(turns, records, endings, key=lambda entry: entry.seq), query.limit))


def _counts(connection: Connection, _: Counts) -> Count:
    snapshots, size = connection.execute(_BESIDE["sizes"]).fetchall()[0]
    return Count(
        turns=connection.execute(_BESIDE["live_turns"]).get,
        records=dict(connection.execute(_BESIDE["live_records"]).fetchall()),
        snapshots=snapshots,
        bytes=size,
    )


def _cursors(connection: Connection, _: Cursors) -> tuple[Cursor, ...]:
    return rows.built(rows.cursor, connection.execute(_BESIDE["cursors"]))


def _lease(connection: Connection, _: CurrentLease) -> Lease | None:
    return next(iter(rows.built(lease, connection.execute(_BESIDE["lease"]))), None)


def _notes(connection: Connection, query: Notes) -> tuple[Note, ...]:
    values: dict[str, Value] = {"names": json.dumps(query.names), "prefix": query.prefix, "beyond": None}
    if query.prefix is not None:
        values["beyond"] = query.prefix + _LAST_CHARACTER
    return rows.built(rows.note, connection.execute(_BESIDE["notes"], values))


def _erased(connection: Connection, query: Erased) -> frozenset[str]:
    names = {erased_name(name): name for name in query.ids}
    found = connection.execute(_BESIDE["erased"], {"names": json.dumps(list(names))})
    return frozenset(names[name] for (name,) in found)


# --- full text, by FTS5's own BM25 -----------------------------------------------------------------------------------


def _matches(connection: Connection, query: Matches) -> Matched:
    if not query.stems:
        return NO_MATCHES
    values: dict[str, Value] = {"stems": " OR ".join(map(_quoted, distinct(query.stems))), "scale": _SCALE}
    found: str | None = connection.execute(_SEARCH[f"{query.target}s"], values).get
    if not found:
        return NO_MATCHES
    numbers = np.fromstring(found, dtype=np.int64, sep=" ")
    return Matched(numbers[::2], numbers[1::2] / _SCALE)


def _quoted(stem: str) -> str:
    """A stem as an FTS5 string, in which only the quotation mark is special."""
    return '"' + stem.replace('"', '""') + '"'


_ANSWERS: dict[type[Query[Any]], Callable[[Connection, Any], Any]] = {
    Head: head,
    Window: _window,
    TurnList: _turn_list,
    TurnsById: _turns_by_id,
    TurnsBySeq: _turns_by_seq,
    RecordsById: _records_by_id,
    RecordsBySeq: _records_by_seq,
    RecordsByKey: _records_by_key,
    RecordList: _record_list,
    RecordsByEntity: _records_by_entity,
    RecordsBySource: _records_by_source,
    Matches: _matches,
    Traces: traces,
    Untraced: untraced,
    Log: _log,
    Erased: _erased,
    Counts: _counts,
    Cursors: _cursors,
    CurrentLease: _lease,
    SnapshotsById: receipts.by_id,
    SnapshotList: receipts.newest,
    Blobs: receipts.texts,
    Notes: _notes,
}
