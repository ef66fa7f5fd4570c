"""Nouns to rows and back. A store sees the fields that every record has and one JSON body with those of its noun alone."""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields, replace
from datetime import date, datetime, timedelta
from functools import cache
from operator import attrgetter
from typing import Any, Final, Protocol, TypeVar, cast
from zoneinfo import ZoneInfo

from hitherto.store.codec import Reader, dump, readers
from hitherto.store.protocol import Row, RowDraft, Vector
from hitherto.text.names import slug, sound
from hitherto.types import (
    Entity,
    Episode,
    Loop,
    Memory,
    Part,
    Profile,
    Progress,
    Record,
    RecordKind,
    Session,
    Slot,
    State,
    Summary,
    Thought,
)

NOUNS: Mapping[RecordKind, type[Record]] = {
    cls.noun: cls for cls in (Memory, Episode, Loop, Thought, Summary, State, Session, Entity, Profile, Slot, Progress)
}

SEARCHABLE: frozenset[RecordKind] = frozenset({"memory", "episode", "summary"})
"""Nouns that are found by their words."""

N = TypeVar("N", bound=Record)

PINNED, CORE, STANDING = "@pinned", "@core", "@standing"
"""Marks: kept among a row's entity references, so that a store finds these few memories without reading all of them.
Entities carry `@name:…` and `@sound:…` for what they are called, memories and episodes `@day:…` for the days they tell of."""

LONGEST_STAY: Final = 31
"""Days: what takes longer tells of none of those between its first and its last."""
_DATES: Final = re.compile(r"\b(\d{4}-\d\d-\d\d)\b(?:\D{1,8}\b(\d{4}-\d\d-\d\d)\b)?")
"""A date, or the first and the last of a few days."""
_MOST_DAYS: Final = 64

_QUOTES = "quotes"
"""The one field of every record that stands in its body, where there are any: few nouns have them."""
_COMMON = tuple(f.name for f in fields(Record) if f.name != _QUOTES)
_COMMONS = attrgetter(*_COMMON)


def draft(record: Record, *, now: datetime, stems: tuple[str, ...] = (), vector: Vector | None = None) -> RowDraft:
    """The version to write for `record`; its `version` is one more than that of the value it was made from."""
    extra = {name: getattr(record, name) for name in _extra(type(record)) if name != _QUOTES or record.quotes}
    return RowDraft(
        noun=record.noun,
        id=record.id,
        version=record.version + 1,
        text=record.text,
        persona=record.persona,
        lane=record.lane,
        key=record.key,
        status=record.status,
        origin=record.origin,
        sources=record.sources,
        entities=record.entities + marks(record),
        at=record.at,
        due=record.due,
        valid_from=record.valid_from,
        valid_to=record.valid_to,
        tokens=record.tokens,
        family=record.family,
        body=dump(extra),
        recorded_at=now,
        stems=stems,
        vector=vector,
    )


def record(row: Row) -> Record:
    """The noun of a row."""
    cls = NOUNS[row.noun]
    common: dict[str, Any] = dict(zip(_COMMON, _COMMONS(row), strict=True))
    common["entities"] = tuple([ref for ref in row.entities if ref[:1] != "@"])
    body = cast(dict[str, Any], json.loads(row.body))
    own = {name: read(body[name]) if read else body[name] for name, read in _extra(cls).items() if name in body}
    return cls(**common, **own)  # what was written before there was such a field has its default


class Index(Protocol):
    """How a text becomes countable and searchable."""

    @property
    def family(self) -> str: ...

    @property
    def count(self) -> Callable[[str, tuple[Part, ...]], int]: ...

    @property
    def stems(self) -> Callable[[str], Sequence[str]]: ...

    @property
    def embed(self) -> Callable[[Sequence[str]], Sequence[Vector | None]] | None: ...


def indexed(record: Record, *, index: Index, now: datetime) -> RowDraft:
    """The version to write with its tokens counted and, where it is searchable, its words indexed."""
    counted = replace(record, tokens=index.count(record.text, ()), family=index.family)
    if record.noun not in SEARCHABLE or not record.text:
        return draft(counted, now=now)
    vector = index.embed([record.text])[0] if index.embed else None
    return draft(counted, now=now, stems=tuple(index.stems(record.text)), vector=vector)


def marks(record: Record) -> tuple[str, ...]:
    if isinstance(record, Entity) and record.merged_into is None:
        called = (record.label, *record.aliases)
        return tuple(dict.fromkeys(mark for name in called for mark in (*named(name), heard(name))))
    told = tuple(map(on, sorted(days(record))[:_MOST_DAYS])) if isinstance(record, Memory | Episode) else ()
    if not isinstance(record, Memory):
        return told
    flags = ((PINNED, record.pinned), (CORE, record.importance >= 3), (STANDING, record.standing))
    return (*(mark for mark, is_set in flags if is_set), *told)


def days(record: Record, *, zone: str = "UTC") -> frozenset[date]:
    """The days of which a record tells: the dates of its text, and when it is due, begins and ends."""
    there = ZoneInfo(zone)
    moments = [
        one.astimezone(there).date() for one in (record.due, record.valid_from, record.valid_to) if one is not None
    ]
    spans = [(day, day) for day in moments]
    if record.valid_from is not None and record.valid_to is not None:
        spans.append((moments[-2], moments[-1]))
    for first, last in _DATES.findall(record.text):
        spans += [(day, day) for day in (_date(first), _date(last)) if day is not None]
        if (begin := _date(first)) is not None and (end := _date(last)) is not None:
            spans.append((begin, end))
    return frozenset(day for first, last in spans for day in between(first, last))


def _date(text: str) -> date | None:
    try:
        return date.fromisoformat(text)
    except ValueError:
        return None


def between(first: date, last: date, *, most: int = LONGEST_STAY) -> tuple[date, ...]:
    """The days from one to another; none if there are too many to mean any of them."""
    count = (last - first).days + 1
    return tuple(first + timedelta(days=n) for n in range(count)) if count <= most else ()


def on(day: date) -> str:
    """The mark of what tells of a day."""
    return f"@day:{day.isoformat()}"


def named(name: str) -> tuple[str, ...]:
    """The marks of entities that are called so: by the whole name, or by its first word."""
    whole = slug(name)
    return tuple(dict.fromkeys(f"@name:{part}" for part in (whole, whole.partition("_")[0])))


def heard(name: str) -> str:
    """The mark of entities whose name begins with the same sound."""
    return f"@sound:{sound(name)}"


def all_records(rows: Sequence[Row]) -> list[Record]:
    return [record(row) for row in rows]


def records(rows: tuple[Row, ...], cls: type[N]) -> tuple[N, ...]:
    """The rows as values of one noun."""
    return tuple(cast(N, record(row)) for row in rows)


@cache
def _extra(cls: type[Record]) -> Mapping[str, Reader | None]:
    """The fields that only this noun has, each with what turns its JSON back into its type (None: nothing to do)."""
    return {name: read for name, read in readers(cls, checked=False).items() if name not in _COMMON}
