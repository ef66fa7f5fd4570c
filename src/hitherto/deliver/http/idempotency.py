"""`Idempotency-Key`: the id of what a request makes follows from the key, so that sending it again makes nothing new.

That holds over processes and restarts without a table of past answers, which would keep content that was forgotten.
"""

from typing import Annotated

from fastapi import Header
from pydantic import StringConstraints

from hitherto.ids import derived_id

IdempotencyKey = Annotated[
    Annotated[str, StringConstraints(min_length=1, max_length=255)] | None,
    Header(description="Any text of your own; the same request with the same key is done once."),
]


def derived(key: str | None, *parts: str) -> str | None:
    """The id that belongs to a key; None without one, so that a new id is made."""
    return None if key is None else derived_id("idempotency", key, *parts)
