"""Turns as JSON lines: each line is a `Turn`, field by field.

A line without an id gets one from its content, counting equal lines, so that importing the file again changes nothing.
"""

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import fields, replace
from difflib import get_close_matches
from typing import Final, cast

from pydantic import ValidationError

from hitherto.clock import instant
from hitherto.deliver.importing.source import Source
from hitherto.errors import InvalidInput
from hitherto.ids import derived_id
from hitherto.store.codec import adapter
from hitherto.types import Turn

_FIELDS: Final = tuple(field.name for field in fields(Turn))
_DEFAULTED: Final = ("user", "persona")


def turns(source: Source) -> Iterator[Turn]:
    seen: Counter[str] = Counter()
    with source.path.open("rb") as file:
        for number, line in enumerate(file, 1):
            source.passed += len(line)
            if line.strip():
                yield _identified(_turn(line, source=source, number=number), seen)


def _turn(line: bytes, *, source: Source, number: int) -> Turn:
    where = f"{source.path.name}, line {number}"
    try:
        found: object = json.loads(line.decode("utf-8-sig" if number == 1 else "utf-8"))
    except UnicodeDecodeError as error:
        raise InvalidInput(f"{where}: this is not UTF-8") from error
    except json.JSONDecodeError as error:
        raise InvalidInput(f"{where}: this is not JSON ({error.msg})") from error
    except (ValueError, RecursionError) as error:
        raise InvalidInput(f"{where}: this is not JSON ({error})") from error
    if not isinstance(found, dict):
        raise InvalidInput(f"{where}: a line must be an object with the fields of a turn")
    given = cast("dict[str, object]", found)
    _check_names(given, where=where)
    defaults = {name: value for name in _DEFAULTED if (value := getattr(source, name)) is not None}
    try:
        turn = adapter(Turn).validate_python({**defaults, **given})
        return turn if turn.at is None else replace(turn, at=instant(turn.at))
    except InvalidInput as error:
        raise InvalidInput(f"{where}: {error}") from error
    except ValidationError as error:
        first = error.errors()[0]
        field = ".".join(str(part) for part in first["loc"]) or "turn"
        if first["type"] == "missing" or first["type"] == "missing_argument":
            raise InvalidInput(f"{where}: {field!r} is missing") from error
        raise InvalidInput(f"{where}: {field}={first['input']!r} cannot be used: {first['msg']}") from error


def _check_names(given: Mapping[str, object], *, where: str) -> None:
    for name in given:
        if name not in _FIELDS:
            nearest = get_close_matches(name, _FIELDS, n=1)
            hint = f"; did you mean {nearest[0]!r}?" if nearest else f"; a turn has {', '.join(_FIELDS)}"
            raise InvalidInput(f"{where}: a turn has no field {name!r}{hint}")


def _identified(turn: Turn, seen: Counter[str]) -> Turn:
    if turn.id is not None:
        return turn
    content = derived_id(*(str(getattr(turn, name)) for name in _FIELDS))
    seen[content] += 1
    return replace(turn, id=f"import:{content}:{seen[content]}")
