"""`field=value` on the command line."""

import json
from collections.abc import Iterator, Sequence
from typing import cast

from hitherto.errors import InvalidInput
from hitherto.types import Json


def read(given: Sequence[str] | None) -> dict[str, Json]:
    """The fields by name. A value that reads as JSON is JSON; any other is the text itself."""
    return {name: _value(value) for name, value in texts(given).items()}


def texts(given: Sequence[str] | None) -> dict[str, str]:
    """The fields by name, each value as it was written."""
    fields: dict[str, str] = {}
    for name, value in _pairs(given):
        if name in fields:
            raise InvalidInput(f"{name!r} is given twice")
        fields[name] = value
    return fields


def _pairs(given: Sequence[str] | None) -> Iterator[tuple[str, str]]:
    for pair in given or ():
        name, mark, value = pair.partition("=")
        if not mark or not name.isidentifier():
            raise InvalidInput(f"{pair!r} is not a field and its value; write it as name=value")
        yield name, value


def _value(text: str) -> Json:
    try:
        return cast(Json, json.loads(text))
    except (ValueError, RecursionError):
        return text
