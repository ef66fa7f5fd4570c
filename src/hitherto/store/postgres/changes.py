"""Turns a change into statements on the tables. Pure: the user store runs them under the user's lock.

A writer whose process made the last write knows how the log stands and need not ask first: `foreseen` gives the answers
that its decision will get if nobody wrote since, and statements that verify it.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal
from uuid import UUID

from hitherto.clock import micros
from hitherto.errors import InvalidInput
from hitherto.ids import erased_name
from hitherto.store.postgres import rows
from hitherto.store.postgres.queries import Person, Statement
from hitherto.store.postgres.rows import Values, embedder_id, escape
from hitherto.store.postgres.statements import statement
from hitherto.store.protocol import (
    Answers,
    Change,
    Erased,
    LogEntry,
    Query,
    RowDraft,
    TurnDraft,
    TurnsById,
    Vector,
    Written,
)
from hitherto.store.rows import still_true


@dataclass(frozen=True, slots=True)
class Locked:
    """A user's lock row as it was found: the newest entry, and the mark of the last write."""

    seq: int
    mark: UUID


@dataclass(frozen=True, slots=True)
class Present:
    """Which of a change's ids exist: ids with a live version, and ids of turns and records in any version."""

    live: frozenset[str] = frozenset()
    turns: frozenset[str] = frozenset()
    records: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Plan:
    """The statements of one change in order; the last one moves the head."""

    statements: tuple[Statement, ...]
    written: Written
    mark: UUID


class _Writer:
    """Collects statements while the counter advances and the full-text statistics grow."""

    def __init__(self, person: Person, seq: int) -> None:
        self.person = person
        self.seq = seq
        self.statements: list[Statement] = []
        self._documents = {"turn": 0, "record": 0}
        self._stems = {"turn": 0, "record": 0}

    def add(self, name: str, /, **values: Any) -> None:
        self.statements.append(Statement(statement(name), {"user": self.person.id, **values}))

    def next(self) -> int:
        self.seq += 1
        return self.seq

    def insert(self, target: Literal["turn", "record"], values: Values) -> None:
        """Writes a version and, if it has words, counts it in the statistics."""
        self.statements.append(Statement(statement(f"insert_{target}"), values))
        self._documents[target] += bool(values["words"])
        self._stems[target] += len(values["words"])

    def finish(self, mark: UUID) -> tuple[Statement, ...]:
        self.add(
            "move_head",
            seq=self.seq,
            mark=mark,
            turn_documents=self._documents["turn"],
            turn_stems=self._stems["turn"],
            record_documents=self._documents["record"],
            record_stems=self._stems["record"],
        )
        return tuple(self.statements)

    def turn(self, draft: TurnDraft) -> int:
        seq = self.next()
        if draft.version > 1:
            self.add("retire_turn", id=draft.id, seq=seq)
        self.insert("turn", rows.turn_values(self.person.id, seq, draft, draft.stems, self.person.mark))
        return seq

    def record(self, draft: RowDraft) -> int:
        seq = self.next()
        if draft.version > 1:
            self.add("retire_record", id=draft.id, seq=seq, at=micros(draft.recorded_at))
        values = rows.record_values(self.person.id, seq, draft, draft.stems, self.person.mark)
        self.record_version(seq, values)
        return seq

    def record_version(self, seq: int, values: Values) -> None:
        self.insert("record", values)
        if values["entities"]:
            self.add("insert_record_entities", seq=seq, refs=values["entities"])
        if values["sources"]:
            self.add("insert_record_sources", seq=seq, refs=values["sources"])

    def trace(self, name: Literal["trace_turn", "trace_record"], seq: int, vector: Vector | None) -> None:
        if vector is not None:
            self.add(name, seq=seq, embedder=embedder_id(vector.embedder), vector=vector.data)

    def restem(self, seq: int, stems: Sequence[str]) -> None:
        """Replaces the stems of an entry and adjusts the statistics."""
        found = rows.found_by(stems, mark=self.person.mark)
        for target in ("turn", "record"):
            self.add(f"recount_{target}", seq=seq, words=found["words"], length=found["length"])
            self.add(f"restem_{target}", seq=seq, **found)

    def retire(self, identifier: str, seq: int, at: int) -> None:
        self.add("retire_turn", id=identifier, seq=seq)
        self.add("retire_record", id=identifier, seq=seq, at=at)
        self.add("insert_ending", seq=seq, op="retire", id=identifier, at=at)

    def erase(self, *, turns: Iterable[str], records: Iterable[str]) -> None:
        turn_ids, record_ids = list(turns), list(records)
        if turn_ids or record_ids:
            self.add("erase_endings", ids=[*turn_ids, *record_ids])
        if turn_ids:
            self.add("erase_turn_traces", ids=turn_ids)
            self.add("shrink_turns", ids=turn_ids)
            self.add("erase_turns", ids=turn_ids)
        if record_ids:
            self.add("erase_record_entities", ids=record_ids)
            self.add("erase_record_sources", ids=record_ids)
            self.add("erase_record_traces", ids=record_ids)
            self.add("shrink_records", ids=record_ids)
            self.add("erase_records", ids=record_ids)


def asks_presence(change: Change) -> bool:
    """Whether planning needs to know which ids exist; only ending and erasing do."""
    return bool(change.retire or (change.erase and (change.erase.turns or change.erase.records)))


def plan(change: Change, person: Person, present: Present, *, after: int, mark: UUID) -> Plan:
    """The statements for a change whose entries come `after` the head, given which of its ids exist."""
    writer = _Writer(person, after)
    turns = tuple(map(writer.turn, change.turns))
    records = tuple(map(writer.record, change.records))
    for seq, draft in zip(turns, change.turns, strict=True):
        writer.trace("trace_turn", seq, draft.vector)
    for seq, draft in zip(records, change.records, strict=True):
        writer.trace("trace_record", seq, draft.vector)
    live = present.live | {draft.id for draft in (*change.turns, *change.records)}
    for identifier in dict.fromkeys(change.retire):
        if identifier in live:
            writer.retire(identifier, writer.next(), _ended(change))
    if change.erase is not None:
        _erase(writer, change, present)
    _write_side_tables(writer, change)
    return Plan(writer.finish(mark), Written(turns=turns, records=records, head=writer.seq), mark)


def _ended(change: Change) -> int:
    if change.retired_at is None:
        raise InvalidInput("a change that retires or erases needs retired_at")
    return micros(change.retired_at)


def _erase(writer: _Writer, change: Change, present: Present) -> None:
    assert change.erase is not None
    written_turns = {draft.id for draft in change.turns}
    written_records = {draft.id for draft in change.records}
    turns = [each for each in dict.fromkeys(change.erase.turns) if each in present.turns | written_turns]
    records = [each for each in dict.fromkeys(change.erase.records) if each in present.records | written_records]
    writer.erase(turns=turns, records=records)
    for identifier in (*turns, *records):
        seq = writer.next()
        writer.add("insert_ending", seq=seq, op="erase", id=erased_name(identifier), at=_ended(change))
    if change.erase.snapshots:
        writer.add("erase_snapshots", ids=list(change.erase.snapshots))
    if change.erase.blobs:
        writer.add("erase_blobs", hashes=list(change.erase.blobs))
    if change.erase.notes:
        writer.add("erase_notes", names=list(change.erase.notes))


def _write_side_tables(writer: _Writer, change: Change) -> None:
    """What stands beside the log."""
    user = writer.person.id
    for cursor in change.cursors:
        writer.statements.append(Statement(statement("put_cursor"), rows.cursor_values(user, cursor)))
    if change.lease is not None:
        writer.add(
            "set_lease",
            holder=change.lease.holder,
            fence=change.lease.fence,
            expires=micros(change.lease.expires),
        )
    for seq, vector in change.vectors:
        writer.trace("trace_turn", seq, vector)
        writer.trace("trace_record", seq, vector)
    for seq, stems in change.stems:
        writer.restem(seq, stems)
    for snapshot in change.snapshots:
        writer.statements.append(Statement(statement("put_snapshot"), rows.snapshot_values(user, snapshot)))
    if change.blobs:
        writer.add("put_blobs", hashes=list(change.blobs), texts=[escape(text) for text in change.blobs.values()])
    for note in change.notes:
        writer.statements.append(Statement(statement("put_note"), rows.note_values(user, note)))


def plan_restore(
    entries: Sequence[LogEntry],
    person: Person,
    present: Present,
    *,
    there: frozenset[int],
    after: int,
    mark: UUID,
) -> Plan:
    """The statements that write log entries as they are, except those already `there`.

    A restored version ends the previous one, as when it was first written. An erasure names an id only by its hash, so it
    is compared with the hashes of all existing ids.
    """
    writer = _Writer(person, after)
    turns = {erased_name(each): each for each in present.turns}
    records = {erased_name(each): each for each in present.records}
    for entry in sorted(entries, key=lambda entry: entry.seq):
        if entry.seq in there:
            continue
        if entry.turn is not None:
            if entry.turn.version > 1:
                writer.add("retire_turn", id=entry.id, seq=entry.seq)
            writer.insert("turn", rows.turn_values(person.id, entry.seq, entry.turn, entry.stems, person.mark))
            turns[erased_name(entry.id)] = entry.id
        elif entry.row is not None:
            if entry.row.version > 1:
                writer.add("retire_record", id=entry.id, seq=entry.seq, at=micros(entry.at))
            values = rows.record_values(person.id, entry.seq, entry.row, entry.stems, person.mark)
            writer.record_version(entry.seq, values)
            records[erased_name(entry.id)] = entry.id
        elif entry.op == "retire":
            writer.retire(entry.id, entry.seq, micros(entry.at))
        else:
            writer.erase(turns=_named(turns, entry.id), records=_named(records, entry.id))
            writer.add("insert_ending", seq=entry.seq, op="erase", id=entry.id, at=micros(entry.at))
        writer.seq = max(writer.seq, entry.seq)
    return Plan(writer.finish(mark), Written(turns=(), records=(), head=writer.seq), mark)


def _named(ids: Mapping[str, str], erased: str) -> list[str]:
    return [ids[erased]] if erased in ids else []


# --- writing without having asked ------------------------------------------------------------------------------------


@dataclass(slots=True)
class Left:
    """How this process left a user's log: the lock row, and earlier answers that still hold."""

    locked: Locked | None = None
    answers: dict[Query[Any], Any] = field(default_factory=dict[Query[Any], Any])

    def note(self, locked: Locked, answers: Mapping[Query[Any], Any], change: Change, written: Written) -> None:
        """Called after a write that began with these answers; earlier ones still count if nobody wrote in between."""
        known = {**self.answers, **answers} if self.locked == locked else dict(answers)
        self.locked, self.answers = None, still_true(known, change, written)

    def moved(self, mark: UUID, written: Written) -> None:
        self.locked = Locked(written.head, mark)

    def forget(self) -> None:
        self.locked = None
        self.answers.clear()


@dataclass(frozen=True, slots=True)
class Foreseen:
    """The answers to a write's questions if the log is as it was left, and the statements that fail otherwise."""

    answers: Answers
    checks: tuple[Statement, ...]


def foreseen(queries: Sequence[Query[Any]], left: Left, person: Person) -> Foreseen | None:
    """None if a question has to be asked. Ids made up by a caller are assumed to be new, which they nearly always are."""
    answers: dict[Query[Any], Any] = {}
    checks: list[Statement] = []
    for query in queries:
        if query in left.answers:
            answers[query] = left.answers[query]
        elif isinstance(query, TurnsById) and not query.history and query.known is None:
            answers[query] = ()
            checks.append(Statement(statement("are_new"), {"user": person.id, "ids": list(query.ids)}))
        elif isinstance(query, Erased):
            answers[query] = frozenset()
            names = [erased_name(each) for each in query.ids]
            checks.append(Statement(statement("are_not_erased"), {"user": person.id, "names": names}))
        else:
            return None
    return Foreseen(Answers(answers), tuple(checks))


def unasked(made: Plan, checks: Sequence[Statement], *, expected: UUID) -> list[Statement]:
    """The statements of a plan that assumes the log was left with this mark; the first of them verify it."""
    *changes, moving = made.statements
    values = {**moving.values, "expected": expected}
    moved = {"user": values["user"], "mark": made.mark}
    return [
        replace(moving, sql=statement("move_known_head"), values=values),
        Statement(statement("is_moved"), moved),
        *checks,
        *changes,
    ]
