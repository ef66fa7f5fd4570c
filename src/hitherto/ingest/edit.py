"""Changes made by hand: the application adds, changes and ends what is remembered. Every change is a version.

Field names are checked against the noun's own, so that a typo is an error that names the nearest valid field.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, replace
from datetime import datetime
from typing import Any, cast

from pydantic import ValidationError

from hitherto.clock import bound, instant
from hitherto.errors import Conflict, InvalidInput, NotFound, near
from hitherto.ingest import validation as validate
from hitherto.ingest.record import Indexer
from hitherto.safety.quarantine import quarantine
from hitherto.safety.secrets import redact, redact_json
from hitherto.store import records as nouns
from hitherto.store.codec import adapter
from hitherto.store.protocol import Answers, Change, RecordsById, RecordsByKey, RowDraft, UserStore
from hitherto.types import Episode, Loop, Memory, Record, RecordKind, Thought

_KEPT = frozenset({"id", "seq", "version", "recorded_at", "retired", "retired_at", "tokens", "family"})
_WORDS = frozenset({"text", "value"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Desk:
    """What writing records by hand needs: the user's store, an indexer, and the time."""

    store: UserStore
    indexer: Indexer
    now: datetime
    new_id: Callable[[], str]


def build(noun: RecordKind, values: Mapping[str, Any], *, record_id: str, now: datetime) -> Record:
    """A valid record of that noun from the given fields, or InvalidInput."""
    cls = nouns.NOUNS.get(noun)
    if cls is None:
        raise InvalidInput(f"there is nothing called {noun!r} to add; use one of {', '.join(nouns.NOUNS)}")
    _check_names(cls, values)
    return _valid(cls, {"at": now, **values, "id": record_id})


def changed(record: Record, changes: Mapping[str, Any]) -> Record:
    """The record with these fields changed, or InvalidInput."""
    cls = type(record)
    _check_names(cls, changes)
    current = {f.name: getattr(record, f.name) for f in fields(record)}
    return _valid(cls, {**current, **changes})


def sanitised(record: Record) -> Record:
    """The record in the form that may be remembered: a secret is replaced by its kind, and an order that does not come from
    the application is held back. Models and tools may write by hand too."""
    if isinstance(record, Memory):
        record = replace(record, text=redact(record.text), value=redact_json(record.value))
    else:
        record = replace(record, text=redact(record.text))
    if record.origin == "application" or record.status not in ("ACTIVE", "open"):
        return record
    reason = quarantine(record.text, record.origin) if isinstance(record, Memory | Episode | Loop | Thought) else None
    if reason is None:
        return record
    if isinstance(record, Memory):
        return replace(record, status="QUARANTINED", standing=False, pinned=False, reason=reason.kind)
    return replace(record, status="QUARANTINED")


def row(record: Record, *, desk: Desk) -> RowDraft:
    """The version to write, counted and indexed."""
    return nouns.indexed(record, index=desk.indexer, now=desk.now)


async def add(desk: Desk, noun: RecordKind, values: Mapping[str, Any], *, id: str | None = None) -> Record:
    """Adds a record; if a live record of this persona has the same key, adds a new version of that one.

    With an `id` of the caller's and no key, adding the same thing again changes nothing and returns the record as it is
    now.
    """
    record = sanitised(build(noun, values, record_id=id or desk.new_id(), now=desk.now))
    if id is not None and record.key is None:
        return await _add_idempotently(desk, record, given=values)
    if record.key is None:
        await desk.store.write(lambda _: Change(records=(row(record, desk=desk),)))
        return await get(desk, record.id)
    same = RecordsByKey(noun=noun, keys=(record.key,))
    written = record.id

    def decide(answers: Answers) -> Change:
        nonlocal written
        live = [r for r in map(nouns.record, answers[same]) if r.persona == record.persona]
        successor = replace(record, id=live[0].id, version=live[0].version) if live else record
        written = successor.id
        return Change(records=(row(successor, desk=desk),))

    await desk.store.write(decide, same)
    return await get(desk, written)


async def _add_idempotently(desk: Desk, record: Record, *, given: Mapping[str, Any]) -> Record:
    validate.name(record.id, what="id")
    versions = RecordsById(ids=(record.id,), history=True)

    def decide(answers: Answers) -> Change:
        if not answers[versions]:
            return Change(records=(row(record, desk=desk),))
        first = nouns.record(answers[versions][0])
        other = [name for name in given if getattr(record, name) != getattr(first, name, None)]
        if other or first.noun != record.noun:
            raise Conflict(
                f"{record.id!r} was added before as a {first.noun} with another {other[0] if other else 'kind'}; "
                "use update to change it, or another id"
            )
        return Change()

    await desk.store.write(decide, versions)
    return await get(desk, record.id)


async def update(desk: Desk, record_id: str, changes: Mapping[str, Any]) -> Record:
    """Writes a new version of a record with these fields changed."""
    query = RecordsById(ids=(record_id,))

    def decide(answers: Answers) -> Change:
        found = answers[query]
        if not found:
            raise NotFound(f"there is nothing with the id {record_id!r} to update")
        before = nouns.record(found[0])
        after = changed(before, changes)
        if not changes.keys().isdisjoint(_WORDS):
            after = sanitised(after)
        return Change() if after == before else Change(records=(row(after, desk=desk),))

    await desk.store.write(decide, query)
    return await get(desk, record_id)


async def get(desk: Desk, record_id: str) -> Record:
    query = RecordsById(ids=(record_id,))
    found = (await desk.store.read(query))[query]
    if not found:
        raise NotFound(f"there is nothing with the id {record_id!r}")
    return nouns.record(found[0])


async def put(desk: Desk, record: Record) -> Record:
    """Writes the record as the newest version under its id, whatever was there; does nothing if it says the same."""
    query = RecordsById(ids=(record.id,))

    def decide(answers: Answers) -> Change:
        found = answers[query]
        version = found[0].version if found else 0
        return Change(records=(row(replace(record, version=version), desk=desk),))

    await desk.store.write(decide, query)
    return await get(desk, record.id)


def _check_names(cls: type[Record], values: Mapping[str, Any]) -> None:
    allowed = sorted({f.name for f in fields(cls)} - _KEPT)
    for given in values:
        if given not in allowed:
            hint = near(given, allowed) or f": those are {', '.join(allowed)}"
            raise InvalidInput(f"the {cls.noun} has no field {given!r} that can be set{hint}")


def _valid(cls: type[Record], values: Mapping[str, Any]) -> Record:
    try:
        record = cast(Record, adapter(cls).validate_python(dict(values)))
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"]) or cls.noun
        raise InvalidInput(f"{where}={first['input']!r} cannot be used in a {cls.noun}: {first['msg']}") from error
    validate.text(
        record.text,
        what="text",
        empty=cls.noun in {"state", "session", "entity", "profile", "slot", "progress"},
    )
    for name in ("at", "due", "valid_from", "valid_to"):
        value = cast(datetime | None, getattr(record, name))
        if value is not None:
            checked = instant(value) if name == "at" else bound(value, name=name)
            record = replace(record, **{name: checked})
    if isinstance(record, Memory):
        record = _consistent(record)
    return record


def _consistent(memory: Memory) -> Memory:
    """Pinning forces the highest importance; importance stays on its scale."""
    if memory.pinned:
        return replace(memory, importance=3)
    if not 0 <= memory.importance <= 3:
        raise InvalidInput(f"importance={memory.importance} is not on the scale 0 (trivial) to 3 (core identity)")
    return memory
