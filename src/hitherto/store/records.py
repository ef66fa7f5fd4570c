"""Nouns to rows and back. A store sees the fields that every record has and one JSON body with those of its noun alone."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import MISSING, Field, asdict, fields, is_dataclass, replace
from datetime import date, datetime
from functools import cache, lru_cache
from operator import attrgetter
from types import UnionType
from typing import Any, NamedTuple, Protocol, TypeVar, Union, cast, get_args, get_origin, get_type_hints

from hitherto.store.codec import OFTEN
from hitherto.store.protocol import Row, RowDraft, Vector
from hitherto.store.slots import slots
from hitherto.text.names import slug, sound
from hitherto.types import (
    Entity,
    Episode,
    Loop,
    Memory,
    Part,
    Profile,
    Progress,
    Quote,
    Record,
    RecordKind,
    Session,
    Slot,
    State,
    Summary,
    Support,
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
Entities carry `@name:…` and `@sound:…` for what they are called."""

_KEPT = 256
"""Nouns that are kept made: few, for records are written seldom, and a large cache would grow for hours before it is full."""
_QUOTES = "quotes"
"""The one field of every record that stands in its body, where there are any: few nouns have them."""
_COMMON = tuple(f.name for f in fields(Record) if f.name != _QUOTES)
_COMMONS = attrgetter(*_COMMON)


_CHANGEABLE: frozenset[RecordKind] = frozenset(
    noun for noun, cls in NOUNS.items() if any("Mapping" in str(hint) for hint in get_type_hints(cls).values())
)


def dump(value: object) -> str:
    """Canonical JSON: the same value always gives the same bytes."""
    return json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":"), default=_plain)


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
    """The noun of a row. Of nouns that hold something which a caller could change, each is a value of its own."""
    often = row.noun not in _CHANGEABLE and len(row.text) + len(row.body) <= OFTEN
    return _known(row) if often else _made(row)


class _Mould(NamedTuple):
    """How a noun is made of a row: what puts its fields, those that all nouns have and those of its own."""

    common: tuple[Callable[[Any, Any], None], ...]
    entities: Callable[[Any, Any], None]
    own: tuple[tuple[str, Callable[[Any, Any], None], Callable[[Any], Any] | None], ...]
    defaults: Mapping[str, Callable[[], Any]]


@cache
def _mould(cls: type[Record]) -> _Mould:
    puts = slots(cls)
    return _Mould(
        common=tuple(puts[name] for name in _COMMON),
        entities=puts["entities"],
        own=tuple((name, puts[name], convert) for name, convert in _extra(cls).items()),
        defaults={f.name: _default(f) for f in fields(cls)},
    )


def _default(field: Field[Any]) -> Callable[[], Any]:
    return (lambda: field.default) if field.default_factory is MISSING else field.default_factory


def _made(row: Row) -> Record:
    cls = NOUNS[row.noun]
    mould = _mould(cls)
    made = object.__new__(cls)
    for put, value in zip(mould.common, _COMMONS(row), strict=True):
        put(made, value)
    mould.entities(made, tuple([ref for ref in row.entities if ref[:1] != "@"]))
    body = cast(dict[str, Any], json.loads(row.body))
    for name, put, convert in mould.own:
        if name in body:
            put(made, convert(body[name]) if convert else body[name])
        else:  # written before there was such a field
            put(made, mould.defaults[name]())
    return made


_known = lru_cache(maxsize=_KEPT)(_made)


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
    if not isinstance(record, Memory):
        return ()
    flags = ((PINNED, record.pinned), (CORE, record.importance >= 3), (STANDING, record.standing))
    return tuple(mark for mark, is_set in flags if is_set)


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


def _plain(value: object) -> object:
    if isinstance(value, datetime | date):
        return value.isoformat()
    if is_dataclass(value) and not isinstance(value, type):
        return asdict(value)
    raise TypeError(f"{type(value).__name__} cannot be stored")


@cache
def _extra(cls: type[Record]) -> Mapping[str, Callable[[Any], Any] | None]:
    """The fields that only this noun has, each with what turns its JSON back into its type (None: nothing to do)."""
    hints = get_type_hints(cls)
    return {f.name: _converter(hints[f.name]) for f in fields(cls) if f.name not in _COMMON}


def _converter(hint: Any) -> Callable[[Any], Any] | None:
    options = [arg for arg in get_args(hint) if arg is not type(None)]
    if get_origin(hint) in (Union, UnionType) and len(options) == 1:
        inner = _converter(options[0])
        return None if inner is None else lambda value: None if value is None else inner(value)
    if hint is datetime:
        return datetime.fromisoformat
    if hint is date:
        return date.fromisoformat
    if get_origin(hint) is tuple:
        if get_args(hint)[0] is Support:
            return lambda value: tuple(map(_support, value))
        if get_args(hint)[0] is Quote:
            return _quotes
        return tuple
    return None


def _support(value: Mapping[str, Any]) -> Support:
    return Support(text=value["text"], sources=tuple(value["sources"]), quotes=_quotes(value.get(_QUOTES, ())))


def _quotes(value: Sequence[Mapping[str, str]]) -> tuple[Quote, ...]:
    return tuple(Quote(turn=quote["turn"], words=quote["words"]) for quote in value)
