"""The table from query types to SQL: what to ask the database, and what its rows mean. Pure.

A query becomes one or more statements; its answer is built from their rows, in the same order.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from heapq import merge
from itertools import groupby
from operator import attrgetter, itemgetter
from typing import Any, Literal, TypeVar, cast
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from hitherto.clock import micros
from hitherto.ids import erased_name
from hitherto.store import protocol as base
from hitherto.store.columns import K1, NO_MATCHES, PLACES, B, Matched, Traced, distinct, idf
from hitherto.store.postgres import rows
from hitherto.store.postgres.rows import Fetched, Values, asking, embedder_id, mark, unescape, word
from hitherto.store.postgres.statements import (
    RECORD_COLUMNS,
    TURN_COLUMNS,
    name_of,
    scope,
    statement,
    together,
    together_values,
    visible,
)
from hitherto.store.protocol import Answers, Everything, Query, Scope
from hitherto.store.rows import ending_entry, lease, stamp

T = TypeVar("T")

Shape = Literal["turn", "record"]


@dataclass(frozen=True, slots=True)
class Person:
    """Whose rows: the user's id in the database, the mark of their words, and their tenant."""

    id: UUID
    mark: str
    tenant: str

    @classmethod
    def of(cls, key: base.UserKey) -> "Person":
        return cls(UUID(hex=key.digest), mark(key.digest), key.tenant)


@dataclass(frozen=True, slots=True)
class Statement:
    """`shape` names the columns of its rows if other statements have the same: such statements can be sent as one. `once`
    marks a text that is not worth preparing; it has no values."""

    sql: str
    values: Values
    shape: Shape | None = None
    once: bool = False


@dataclass(frozen=True, slots=True)
class Question:
    """A query as statements, and how to read the answer from their rows."""

    statements: tuple[Statement, ...]
    read: Callable[[Sequence[Fetched]], Any]


_NOTHING_ASKED = Question((), lambda _: ())


def _ask(sql: str, values: Values, each: Callable[[tuple[Any, ...]], Any]) -> Question:
    return Question((Statement(sql, values),), lambda fetched: tuple(map(each, fetched[0])))


def _ask_turns(sql: str, values: Values) -> Question:
    return Question((Statement(sql, values, "turn"),), lambda fetched: tuple(map(rows.turn, fetched[0])))


def _ask_records(sql: str, values: Values) -> Question:
    return Question((Statement(sql, values, "record"),), lambda fetched: tuple(map(rows.record, fetched[0])))


def _head(_: base.Head, person: Person) -> Question:
    ask = Statement(statement("head"), {"user": person.id})
    return Question((ask,), lambda fetched: fetched[0][0][0] if fetched[0] else 0)


def _window(query: base.Window, person: Person) -> Question:
    named = _named(query)
    sql = statement(
        "window",
        columns=TURN_COLUMNS,
        visible=visible(query.known),
        persona=scope("persona", query.persona),
        lane=scope("lane", query.lane),
        newest="t.persona desc, t.lane desc, t.place desc" if named else "t.place desc",
        alone="" if named else " is true",
    )
    values: Values = {"user": person.id, "limit": query.limit, "before": query.before, "known": query.known}
    values |= _names(query.persona, query.lane)
    return Question((Statement(sql, values, "turn"),), lambda fetched: tuple(map(rows.turn, reversed(fetched[0]))))


def _names(persona: Scope, lane: Scope) -> Values:
    return {"persona": name_of(persona), "lane": name_of(lane)}


def _each(names: Iterable[T]) -> list[T]:
    """Once, because each is looked up."""
    return list(dict.fromkeys(names))


def _turns_by_id(query: base.TurnsById, person: Person) -> Question:
    sql = statement("turns_by_id", columns=TURN_COLUMNS, visible=visible(query.known, history=query.history))
    return _ask_turns(sql, {"user": person.id, "ids": _each(query.ids), "known": query.known})


def _turns_by_seq(query: base.TurnsBySeq, person: Person) -> Question:
    if not query.seqs:
        return _NOTHING_ASKED
    sql = statement("turns_by_seq", columns=TURN_COLUMNS, visible=visible(query.known))
    return _ask_turns(sql, {"user": person.id, "seqs": _each(query.seqs), "known": query.known})


def _turn_list(query: base.TurnList, person: Person) -> Question:
    sql = statement(
        "turn_list",
        columns=TURN_COLUMNS,
        visible=visible(query.known),
        persona=scope("persona", query.persona),
        lane=scope("lane", query.lane),
        session="true" if query.session is None else "t.session = %(session)s",
        since="true" if query.since is None else "t.at >= %(since)s::bigint",
        until="true" if query.until is None else "t.at < %(until)s::bigint",
        order=_order(query),
    )
    values: Values = {
        "user": person.id,
        "after": query.after,
        "limit": query.limit,
        "session": query.session,
        "since": stamp(query.since),
        "until": stamp(query.until),
        "known": query.known,
    }
    return _ask_turns(sql, values | _names(query.persona, query.lane))


def _order(query: base.TurnList) -> str:
    """Orders by place. The sum keeps the planner from following the order of places through years to find a day in one
    lane, which the index of times finds at once."""
    within = query.since is not None or query.until is not None
    return "t.place + 0" if within and _named(query) else "t.place"


def _named(query: base.Window | base.TurnList) -> bool:
    return not isinstance(query.persona, Everything) and not isinstance(query.lane, Everything)


def _records_by_id(query: base.RecordsById, person: Person) -> Question:
    sql = statement("records_by_id", columns=RECORD_COLUMNS, visible=visible(query.known, history=query.history))
    return _ask_records(sql, {"user": person.id, "ids": _each(query.ids), "known": query.known})


def _records_by_seq(query: base.RecordsBySeq, person: Person) -> Question:
    if not query.seqs:
        return _NOTHING_ASKED
    sql = statement("records_by_seq", columns=RECORD_COLUMNS, visible=visible(query.known))
    return _ask_records(sql, {"user": person.id, "seqs": _each(query.seqs), "known": query.known})


def _records_by_key(query: base.RecordsByKey, person: Person) -> Question:
    sql = statement("records_by_key", columns=RECORD_COLUMNS, visible=visible(query.known))
    values = {"user": person.id, "noun": query.noun, "keys": _each(query.keys), "known": query.known}
    return _ask_records(sql, values)


def _record_list(query: base.RecordList, person: Person) -> Question:
    sql = statement(
        "record_list",
        columns=RECORD_COLUMNS,
        visible=visible(query.known),
        persona=scope("persona", query.persona, shared=query.shared),
        lane=scope("lane", query.lane),
    )
    after_at, after_seq = query.after or (None, None)
    values: Values = {
        "user": person.id,
        "noun": query.noun,
        "statuses": list(query.statuses),
        "prefix": query.key_prefix,
        "after_at": stamp(after_at),
        "after_seq": after_seq,
        "limit": query.limit,
        "known": query.known,
    }
    return _ask_records(sql, values | _names(query.persona, query.lane))


def _records_by_entity(query: base.RecordsByEntity, person: Person) -> Question:
    sql = statement(
        "records_by_entity",
        columns=RECORD_COLUMNS,
        visible=visible(query.known),
        persona=scope("persona", query.persona, shared=query.shared),
    )
    values: Values = {
        "user": person.id,
        "noun": query.noun,
        "refs": list(query.refs),
        "persona": name_of(query.persona),
        "statuses": list(query.statuses),
        "limit": query.limit,
        "known": query.known,
    }
    return _ask_records(sql, values)


def _records_by_source(query: base.RecordsBySource, person: Person) -> Question:
    sql = statement("records_by_source", columns=RECORD_COLUMNS, visible=visible(None, history=query.history))
    return _ask_records(sql, {"user": person.id, "turns": list(query.turns)})


def _matches(query: base.Matches, person: Person) -> Question:
    words = [word(stem, mark=person.mark) for stem in distinct(query.stems)]
    if not words:
        return Question((), lambda _: NO_MATCHES)
    values: Values = {"user": person.id, "words": words, "queries": [asking(each) for each in words]}
    sql = statement("match_turns" if query.target == "turn" else "match_records")
    return Question((Statement(sql, values),), lambda fetched: matched(fetched[0]))


def _traces(query: base.Traces, person: Person) -> Question:
    ask = Statement(statement("traces"), _of_embedder(query, person))
    return Question((ask,), lambda fetched: Traced.of(fetched[0]))


def _untraced(query: base.Untraced, person: Person) -> Question:
    return _ask(statement("untraced"), _of_embedder(query, person), lambda row: row[0])


def _of_embedder(query: base.Traces | base.Untraced, person: Person) -> Values:
    embedder = embedder_id(query.embedder)
    return {"user": person.id, "embedder": embedder, "after": query.after, "limit": query.limit}


def _log(query: base.Log, person: Person) -> Question:
    values = {"user": person.id, "after": query.after, "limit": query.limit}
    statements = (
        Statement(statement("log_turns", columns=TURN_COLUMNS), values),
        Statement(statement("log_records", columns=RECORD_COLUMNS), values),
        Statement(statement("log_endings"), values),
    )

    def read(fetched: Sequence[Fetched]) -> tuple[base.LogEntry, ...]:
        turns, records, endings = fetched
        entries = merge(
            map(rows.turn_entry, turns),
            map(rows.record_entry, records),
            map(ending_entry, endings),
            key=attrgetter("seq"),
        )
        return tuple(entries)[: query.limit]

    return Question(statements, read)


def _erased(query: base.Erased, person: Person) -> Question:
    names = {erased_name(name): name for name in query.ids}
    ask = Statement(statement("erased"), {"user": person.id, "names": list(names)})
    return Question((ask,), lambda fetched: frozenset(names[row[0]] for row in fetched[0]))


def _counts(_: base.Counts, person: Person) -> Question:
    names = ("count_turns", "count_records", "count_snapshots", "size")

    def read(fetched: Sequence[Fetched]) -> base.Count:
        turns, records, snapshots, size = fetched
        return base.Count(
            turns=turns[0][0],
            records=dict(cast("Sequence[tuple[str, int]]", records)),
            snapshots=snapshots[0][0],
            bytes=int(size[0][0]),
        )

    return Question(tuple(Statement(statement(name), {"user": person.id}) for name in names), read)


def _cursors(_: base.Cursors, person: Person) -> Question:
    return _ask(statement("cursors"), {"user": person.id}, rows.cursor)


def _lease(_: base.CurrentLease, person: Person) -> Question:
    def read(fetched: Sequence[Fetched]) -> base.Lease | None:
        return next(map(lease, fetched[0]), None)

    return Question((Statement(statement("lease"), {"user": person.id}),), read)


def _snapshots_by_id(query: base.SnapshotsById, person: Person) -> Question:
    return _ask(statement("snapshots_by_id"), {"user": person.id, "ids": list(query.ids)}, rows.snapshot)


def _snapshot_list(query: base.SnapshotList, person: Person) -> Question:
    before = None if query.before is None else micros(query.before)
    values = {"user": person.id, "limit": query.limit, "before": before}
    return _ask(statement("snapshot_list"), values, rows.snapshot)


def _blobs(query: base.Blobs, person: Person) -> Question:
    ask = Statement(statement("blobs"), {"user": person.id, "hashes": list(query.hashes)})
    return Question((ask,), lambda fetched: {hash_: unescape(text) for hash_, text in fetched[0]})


def _notes(query: base.Notes, person: Person) -> Question:
    values = {"user": person.id, "names": list(query.names), "prefix": query.prefix}
    return _ask(statement("notes"), values, rows.note)


def _documents(query: base.TenantDocuments, person: Person) -> Question:
    values: Values = {"tenant": person.tenant, "kind": query.kind, "names": list(query.names)}
    return _ask(statement("named_documents"), values, rows.document)


_TABLE: dict[type[Query[Any]], Callable[[Any, Person], Question]] = {
    base.Head: _head,
    base.Window: _window,
    base.TurnsById: _turns_by_id,
    base.TurnsBySeq: _turns_by_seq,
    base.TurnList: _turn_list,
    base.RecordsById: _records_by_id,
    base.RecordsBySeq: _records_by_seq,
    base.RecordsByKey: _records_by_key,
    base.RecordList: _record_list,
    base.RecordsByEntity: _records_by_entity,
    base.RecordsBySource: _records_by_source,
    base.Matches: _matches,
    base.Traces: _traces,
    base.Untraced: _untraced,
    base.Log: _log,
    base.Erased: _erased,
    base.Counts: _counts,
    base.Cursors: _cursors,
    base.CurrentLease: _lease,
    base.SnapshotsById: _snapshots_by_id,
    base.SnapshotList: _snapshot_list,
    base.Blobs: _blobs,
    base.Notes: _notes,
    base.TenantDocuments: _documents,
}


@dataclass(frozen=True, slots=True)
class Batch:
    """Several queries as one list of statements. Those with the same columns are merged, because a separate statement costs
    more, here and on the server, than a branch of another."""

    questions: tuple[tuple[Query[Any], Question], ...]
    statements: tuple[Statement, ...]
    places: tuple[tuple[int, int | None], ...]
    """For each statement of the questions, in order: the merged statement that contains it, and which branch it is."""

    @classmethod
    def of(cls, queries: Sequence[Query[Any]], person: Person) -> "Batch":
        questions = tuple((query, _TABLE[type(query)](query, person)) for query in dict.fromkeys(queries))
        asked = [each for _, question in questions for each in question.statements]
        groups: dict[object, list[int]] = {}
        for number, each in enumerate(asked):
            groups.setdefault(each.shape or number, []).append(number)
        places: list[tuple[int, int | None]] = [(0, None)] * len(asked)
        sent: list[Statement] = []
        for members in groups.values():
            for part, number in enumerate(members):
                places[number] = (len(sent), part if len(members) > 1 else None)
            sent.append(_together([asked[number] for number in members]))
        return cls(questions, tuple(sent), tuple(places))

    def answers(self, fetched: Sequence[Fetched]) -> Answers:
        """The answers, from the rows of `statements` in the same order."""
        split = [_parts(each) if count > 1 else {} for each, count in zip(fetched, self._counts(), strict=True)]
        apart = [fetched[sent] if part is None else split[sent].get(part, ()) for sent, part in self.places]
        found: dict[Query[Any], Any] = {}
        start = 0
        for query, question in self.questions:
            end = start + len(question.statements)
            found[query] = question.read(apart[start:end])
            start = end
        return Answers(found)

    def _counts(self) -> list[int]:
        """How many statements were merged into each."""
        held = Counter(sent for sent, _ in self.places)
        return [held[number] for number in range(len(self.statements))]


def _together(members: Sequence[Statement]) -> Statement:
    if len(members) == 1:
        return members[0]
    return Statement(together(tuple(each.sql for each in members)), together_values([each.values for each in members]))


def _parts(fetched: Fetched) -> dict[int, Fetched]:
    """Splits the rows of merged statements by the number in their last column."""
    return {part: list(found) for part, found in groupby(fetched, key=itemgetter(-1))}


# --- BM25 over what the search functions found: `hitherto.store.columns` for many documents at once ------------------------
#
# The sums are made in the order of the query's words, as there, so that both stores give the same numbers.

_PACKED = np.dtype(">i8")
_BITS = 24
"""The bits of a packed integer that hold the length or the frequency; the rest are the entry's. No text has that many words."""


def matched(found: Fetched) -> Matched:
    """Every entry that contains a word, once, with the sum of its gains."""
    if not found:
        return NO_MATCHES
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
    """Entries, and the number packed with each."""
    both = np.frombuffer(b"".join(packed), _PACKED).astype(np.int64)
    return both >> _BITS, (both & ((1 << _BITS) - 1)).astype(np.float64)
