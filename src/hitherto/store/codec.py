"""Values as JSON and back: for what is stored, exported, answered over HTTP and printed.

`dump` writes what is stored and hashed, byte for byte the same on every machine. `plain` and `text` write what people and other
programs read. `adapter` reads and checks what a caller gives; `made` reads an export, `readers` what a store wrote itself.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, fields, is_dataclass
from datetime import date, datetime
from functools import cache, partial
from types import NoneType, UnionType
from typing import Any, Final, Literal, TypeVar, Union, cast, get_args, get_origin, get_type_hints

from pydantic import TypeAdapter
from pydantic_core import to_jsonable_python

from hitherto.types import Json, Media, Part, Thinking, ToolCall, ToolReturn

T = TypeVar("T")
Reader = Callable[[Any], Any]

_LARGEST: Final = 2**63 - 1
_PARTS: Final[Mapping[str, type[Part]]] = {
    "tool_call": ToolCall,
    "tool_return": ToolReturn,
    "thinking": Thinking,
    "media": Media,
}


def dump(value: object) -> str:
    """Canonical JSON: the same value always gives the same bytes."""
    return json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":"), default=_stored)


def _stored(value: object) -> object:
    if isinstance(value, datetime | date):
        return value.isoformat()
    if is_dataclass(value) and not isinstance(value, type):
        return asdict(value)
    raise TypeError(f"{type(value).__name__} cannot be stored")


@cache
def adapter(kind: Any) -> TypeAdapter[Any]:
    """Pydantic's reader and writer of a type; making one costs more than using it."""
    return TypeAdapter(kind)


def plain(value: object) -> Json:
    """A value as JSON data: objects keyed by field name, times in ISO 8601, tuples as lists."""
    return cast(Json, to_jsonable_python(value, fallback=_mapping))


def _mapping(value: object) -> object:
    if isinstance(value, Mapping):
        return dict(cast("Mapping[object, object]", value))
    raise TypeError(f"{type(value).__name__} has no JSON form")


def text(value: object, *, indent: int | None = None) -> str:
    """A value as JSON text, with its fields in their declared order."""
    return json.dumps(plain(value), ensure_ascii=False, indent=indent)


def made(cls: type[T], values: Any) -> T:
    """A dataclass from untrusted JSON: every field must be present and of its type."""
    if not isinstance(values, dict):
        raise TypeError(f"{values!r:.40} is not an object")
    found = cast(dict[str, Any], values)
    return cls(**{name: _read(name, read, found[name]) for name, read in readers(cls, checked=True).items()})


def _rebuilt(cls: type[T], values: Mapping[str, Any]) -> T:
    """A dataclass from JSON that a store wrote; a field that did not exist then takes its default."""
    found = readers(cls, checked=False)
    return cls(**{name: read(values[name]) if read else values[name] for name, read in found.items() if name in values})


@cache
def readers(cls: type[Any], *, checked: bool) -> Mapping[str, Reader | None]:
    """A reader for each field that turns its JSON into its type; None if the JSON is the value already."""
    hints = get_type_hints(cls)
    return {field.name: reader(hints[field.name], checked=checked) for field in fields(cls)}


def reader(hint: Any, *, checked: bool) -> Reader | None:
    """The reader that turns JSON into a value of a type, with checks for untrusted JSON; None if nothing has to be done."""
    if get_origin(hint) in (Union, UnionType) and NoneType in get_args(hint):
        [inner] = [reader(each, checked=checked) for each in get_args(hint) if each is not NoneType]
        return partial(_optional, inner) if inner else None
    if get_origin(hint) is tuple:
        return partial(_listed, reader(get_args(hint)[0], checked=checked), checked=checked)
    if hint is Part:
        return partial(_part, made=made if checked else _rebuilt)
    if is_dataclass(hint):
        return partial(made if checked else _rebuilt, hint)
    if not checked:
        return {datetime: datetime.fromisoformat, date: date.fromisoformat}.get(hint)
    if get_origin(hint) is Literal:
        return partial(one_of, get_args(hint))
    return {int: whole, str: string, datetime: time}[hint]


def _optional(read: Reader, value: Any) -> Any:
    return None if value is None else read(value)


def _listed(read: Reader | None, value: Any, *, checked: bool) -> tuple[Any, ...]:
    if checked and not isinstance(value, list):
        raise TypeError(f"{value!r:.40} is not a list")
    values = cast("list[Any]", value)
    return tuple(values) if read is None else tuple([read(one) for one in values])


def _read(name: str, read: Reader | None, value: Any) -> Any:
    try:
        return read(value) if read else value
    except (TypeError, ValueError) as error:
        raise ValueError(f"{name}: {error}") from error


def _part(value: Any, *, made: Callable[[type[Part], Any], Part]) -> Part:
    kind = value["kind"]
    if kind not in _PARTS:
        raise ValueError(f"there is no part {kind!r}")
    return made(_PARTS[kind], value)


def whole(value: Any) -> int:
    if type(value) is not int or abs(value) > _LARGEST:
        raise TypeError(f"{value!r:.40} is not a whole number of 64 bits")
    return value


def string(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{value!r:.40} is not a text")
    if "\0" in value:
        raise ValueError("a text holds a NUL character")
    value.encode()
    return value


def time(value: Any) -> datetime:
    found = datetime.fromisoformat(string(value))
    if found.tzinfo is None:
        raise ValueError(f"the time {value!r} has no offset")
    return found


def one_of(options: Sequence[Any], value: Any) -> Any:
    if value not in options:
        raise ValueError(f"{value!r:.40} is none of {', '.join(map(str, options))}")
    return value


def encode_parts(parts: tuple[Part, ...]) -> str | None:
    """Parts as JSON; None if there are none, which is nearly always the case."""
    if not parts:
        return None
    return json.dumps([asdict(part) for part in parts])


def decode_parts(text: str | None) -> tuple[Part, ...]:
    return () if text is None else tuple(_part(fields, made=_rebuilt) for fields in json.loads(text))


def encode_json(value: Mapping[str, Json]) -> str:
    return json.dumps(value, sort_keys=True)


def decode_json(text: str) -> Mapping[str, Json]:
    return cast("dict[str, Json]", json.loads(text))
