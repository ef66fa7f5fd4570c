"""Lists in pieces, and the cursors between them: opaque to whoever asks, a place in the list to us."""

import base64
import binascii
import json
from datetime import datetime
from typing import Any, Generic, TypeVar, cast

from pydantic import BaseModel

from hitherto.clock import from_micros, micros
from hitherto.errors import InvalidInput

T = TypeVar("T")

LARGEST = 2**63 - 1
_LAST = micros(datetime.fromisoformat("9999-01-01T00:00:00+00:00"))


class Page(BaseModel, Generic[T]):
    """A piece of a list. With `next`, ask again with it as `cursor`."""

    items: list[T]
    next: str | None = None


def pack(*values: int | str) -> str:
    return base64.urlsafe_b64encode(json.dumps(values, separators=(",", ":")).encode()).decode().rstrip("=")


def unpack(cursor: str, *kinds: type[int] | type[str]) -> tuple[Any, ...]:
    """The values of a cursor, or InvalidInput for one that we did not make."""
    try:
        values: object = json.loads(base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)))
    except (ValueError, binascii.Error, RecursionError) as error:
        raise _unknown() from error
    if not isinstance(values, list):
        raise _unknown()
    given = cast(list[Any], values)
    if [type(value) for value in given] != list(kinds) or not all(map(_in_range, given)):
        raise _unknown()
    return tuple(given)


def of_place(at: datetime, seq: int) -> str:
    """The cursor behind the record that stands there in a listing."""
    return pack(micros(at), seq)


def place(cursor: str | None) -> tuple[datetime, int] | None:
    """Where a listing of records goes on."""
    if cursor is None:
        return None
    at, seq = unpack(cursor, int, int)
    return moment(at), seq


def moment(at: int) -> datetime:
    if at > _LAST:
        raise _unknown()
    return from_micros(at)


def _in_range(value: object) -> bool:
    if isinstance(value, int):
        return 0 <= value <= LARGEST
    return isinstance(value, str) and "\x00" not in value


def _unknown() -> InvalidInput:
    return InvalidInput("cursor: it is none that this service gave; start again without it")
