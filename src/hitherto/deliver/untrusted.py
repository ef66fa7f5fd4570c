"""Reads JSON that others wrote, without trusting its shape.

Webhooks and exports change and lie. A field of another type than documented counts as missing here, so that one odd message
is at worst a message without that field, never an exception in the conversation.
"""

import re
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Final, cast

from hitherto.clock import EPOCH

Raw = Mapping[str, object]

NOTHING: Final[Raw] = {}
_UNSTORABLE: Final = re.compile("[\0\ud800-\udfff]")
_LATEST: Final = datetime(9999, 1, 1, tzinfo=UTC).timestamp()


def mapping(value: object) -> Raw:
    """The value if it is an object, else an empty one."""
    return cast("Raw", value) if isinstance(value, dict) else NOTHING


def child(raw: Raw, key: str) -> Raw:
    return mapping(raw.get(key))


def values(raw: Raw, key: str) -> list[object]:
    """The items of a list; none for anything else."""
    value = raw.get(key)
    return cast("list[object]", value) if isinstance(value, list) else []


def objects(raw: Raw, key: str) -> list[Raw]:
    """The objects of a list; everything else is left out."""
    return [found for item in values(raw, key) if (found := mapping(item))]


def text(raw: Raw, key: str) -> str | None:
    """A non-empty string in a form that a store can keep."""
    value = raw.get(key)
    return storable(value) or None if isinstance(value, str) else None


def storable(value: str) -> str:
    """The text without NUL, with lone surrogates shown as replacement characters; blank text counts as empty."""
    if _UNSTORABLE.search(value):
        value = value.replace("\0", "").encode("utf-8", "replace").decode()
    return value if value.strip() else ""


def integer(raw: Raw, key: str) -> int | None:
    value = raw.get(key)
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def integers(raw: Raw, key: str) -> list[int]:
    return [one for one in values(raw, key) if isinstance(one, int) and not isinstance(one, bool)]


def number(raw: Raw, key: str) -> float | None:
    """A finite number, also if written as a string, as some exports do."""
    value = raw.get(key)
    if isinstance(value, bool):
        return None
    if not isinstance(value, int | float | str):
        return None
    try:
        found = float(value)
    except (ValueError, OverflowError):
        return None
    return found if abs(found) < float("inf") else None


def flag(raw: Raw, key: str) -> bool:
    return raw.get(key) is True


def instant(seconds: float | None) -> datetime | None:
    """The time of a Unix timestamp in seconds; None for a time we cannot store."""
    if seconds is None or not 0 <= seconds < _LATEST:
        return None
    whole = int(seconds)
    return (
        datetime.fromtimestamp(whole, UTC).replace(microsecond=int((seconds - whole) * 1_000_000)) if whole else EPOCH
    )
