"""How values that have no column of their own are written, the same for every backend."""

import json
from collections.abc import Mapping
from hashlib import blake2b
from typing import Any, cast

from hitherto.types import Json, Media, Part, Thinking, ToolCall, ToolReturn

OFTEN = 2_000
"""Contexts read the same few turns and records again and again, so some are kept as values: those of at most so many
characters."""

_PART_OF_KIND: dict[str, type[Part]] = {
    "tool_call": ToolCall,
    "tool_return": ToolReturn,
    "thinking": Thinking,
    "media": Media,
}


def encode_parts(parts: tuple[Part, ...]) -> str | None:
    """Parts as JSON; None for none, which is nearly always."""
    if not parts:
        return None
    return json.dumps([{name: getattr(part, name) for name in part.__slots__} for part in parts])


def decode_parts(text: str | None) -> tuple[Part, ...]:
    if text is None:
        return ()
    return tuple(_PART_OF_KIND[fields["kind"]](**fields) for fields in cast("list[dict[str, Any]]", json.loads(text)))


def encode_json(value: Mapping[str, Json]) -> str:
    return json.dumps(value, sort_keys=True)


def decode_json(text: str) -> Mapping[str, Json]:
    return cast("dict[str, Json]", json.loads(text))


def erased_name(identifier: str) -> str:
    """What the log keeps of an erased id: enough to recognise it, nothing to read it back."""
    return blake2b(identifier.encode(), digest_size=16, person=b"recollect-erased").hexdigest()
