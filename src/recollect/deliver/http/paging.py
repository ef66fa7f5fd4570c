"""Lists in pieces. A cursor names the last thing that was given, so that what is added meanwhile moves nothing."""

import base64
import binascii
import json
from collections.abc import Sequence
from datetime import datetime
from typing import Annotated, Any, cast

from fastapi import Query

from recollect.clock import from_micros, micros
from recollect.deliver.http.models import LARGEST, MOST_LISTED
from recollect.errors import InvalidInput
from recollect.types import Record

Limit = Annotated[int, Query(ge=1, le=MOST_LISTED, description="How many to give at most.")]
Cursor = Annotated[str | None, Query(max_length=1_024, description="`next` of the piece before.")]
DEFAULT = 100

_LAST_MICROSECOND = micros(datetime.fromisoformat("9999-01-01T00:00:00+00:00"))


def pack(*values: int | str) -> str:
    return base64.urlsafe_b64encode(json.dumps(values, separators=(",", ":")).encode()).decode().rstrip("=")


def unpack(cursor: str, *kinds: type[int] | type[str]) -> tuple[Any, ...]:
    """The values of a cursor, or InvalidInput for one that we did not make."""
    try:
        raw = base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4))
        values: object = json.loads(raw)
    except (ValueError, binascii.Error, RecursionError) as error:
        raise _unknown() from error
    if not isinstance(values, list) or [type(value) for value in cast(list[Any], values)] != list(kinds):
        raise _unknown()
    return tuple(cast(list[Any], values))


def place(cursor: str | None) -> tuple[datetime, int] | None:
    """Where a listing of records goes on."""
    if cursor is None:
        return None
    at, seq = unpack(cursor, int, int)
    if not (0 <= at <= _LAST_MICROSECOND and 0 <= seq <= LARGEST):
        raise _unknown()
    return from_micros(at), seq


def after(records: Sequence[Record], *, limit: int) -> str | None:
    """The cursor behind these records; None when there are no more."""
    return pack(micros(records[-1].at), records[-1].seq) if len(records) >= limit else None


def _unknown() -> InvalidInput:
    return InvalidInput("cursor: it is none that this service gave; start again without it")
