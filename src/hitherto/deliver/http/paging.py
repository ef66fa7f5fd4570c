"""Lists in pieces. A cursor names the last thing that was given, so that what is added meanwhile moves nothing."""

from collections.abc import Sequence
from typing import Annotated

from fastapi import Query

from hitherto import pages
from hitherto.deliver.http.models import MOST_LISTED
from hitherto.types import Record

Limit = Annotated[int, Query(ge=1, le=MOST_LISTED, description="How many to give at most.")]
Cursor = Annotated[str | None, Query(max_length=1_024, description="`next` of the piece before.")]
DEFAULT = 100


def after(records: Sequence[Record], *, limit: int) -> str | None:
    """The cursor behind these records; None when there are no more."""
    return pages.of_place(records[-1].at, records[-1].seq) if len(records) >= limit else None
