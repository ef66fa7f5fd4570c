"""Paging through lists. A cursor is opaque to the caller; to us it is a place in the list."""

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
    """One page of a list. To continue, pass `next` as `cursor`."""

    items: list[T]
    next: str | None = None


def pack(*values: int | str) -> str:
    return base64.urlsafe_b64encode(json.dumps(values, separators=(",", ":")).encode()).decode().rstrip("=")


def unpack(cursor: str, *kinds: type[int] | type[str]) -> tuple[Any, ...]:
    """The values in a cursor; InvalidInput if it is not one of ours."""
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
    """The cursor that continues a listing after this record."""
    return pack(micros(at), seq)


def place(cursor: str | None) -> tuple[datetime, int] | None:
    """The place at which a listing of records continues."""
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
