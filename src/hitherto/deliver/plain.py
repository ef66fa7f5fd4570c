"""Hitherto's values as plain JSON values, the same wherever they leave the library: the command line and HTTP."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass
from datetime import date, datetime
from pathlib import Path

from hitherto.types import Json


def plain(value: object) -> Json:
    """Values of Hitherto as objects with their field names as keys, times in ISO 8601, tuples as lists."""
    if value is None or isinstance(value, str | bool | int | float):
        return value
    if isinstance(value, date | datetime):
        return value.isoformat()
    if isinstance(value, Path):
        return str(value)
    if is_dataclass(value) and not isinstance(value, type):
        return {field.name: plain(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, Mapping):
        return {str(key): plain(entry) for key, entry in value.items()}  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType] -- a mapping of anything
    if isinstance(value, Sequence):
        return [plain(entry) for entry in value]  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType] -- a sequence of anything
    raise TypeError(f"{type(value).__name__} has no JSON form")


def text(value: object, *, indent: int | None = None) -> str:
    """The JSON text of a value; keys keep the order of the fields."""
    return json.dumps(plain(value), ensure_ascii=False, indent=indent)


# Sizes for people.


def size(count: int) -> str:
    """Bytes as a person says them."""
    amount = float(count)
    for unit in ("bytes", "kB", "MB", "GB"):
        if amount < 1000:
            return f"{amount:.0f} {unit}" if unit == "bytes" else f"{amount:.1f} {unit}"
        amount /= 1000
    return f"{amount:.1f} TB"
