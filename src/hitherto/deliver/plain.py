"""Hitherto's values as JSON, written by Pydantic: the same from the command line, the inspector, MCP, HTTP and the client."""

import json
from collections.abc import Mapping
from typing import cast

from pydantic_core import to_jsonable_python

from hitherto.types import Json


def plain(value: object) -> Json:
    """Values of Hitherto as objects with their field names as keys, times in ISO 8601, tuples as lists."""
    return cast(Json, to_jsonable_python(value, fallback=_mapping))


def _mapping(value: object) -> object:
    if isinstance(value, Mapping):
        return dict(cast("Mapping[object, object]", value))
    raise TypeError(f"{type(value).__name__} has no JSON form")


def text(value: object, *, indent: int | None = None) -> str:
    """The JSON text of a value; keys keep the order of the fields."""
    return json.dumps(plain(value), ensure_ascii=False, indent=indent)


# Sizes for people.


def counted(number: int, noun: str) -> str:
    """A number of something: `1 user`, `2 users`."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def size(count: int) -> str:
    """Bytes as a person says them."""
    amount = float(count)
    for unit in ("bytes", "kB", "MB", "GB"):
        if amount < 1000:
            return f"{amount:.0f} {unit}" if unit == "bytes" else f"{amount:.1f} {unit}"
        amount /= 1000
    return f"{amount:.1f} TB"
