"""Ids are made by the client, so that no database has to be asked: 128 bits in hex that sort by time."""

import secrets
from datetime import date, datetime
from hashlib import blake2b
from typing import Final

from hitherto.clock import micros


def new_id(now: datetime) -> str:
    """48 bits of milliseconds, then 80 random bits: unique, and sorted by creation."""
    return f"{micros(now) // 1000:012x}{secrets.token_hex(10)}"


def derived_id(*parts: str) -> str:
    """The same id for the same parts, so that a repeated operation creates one thing."""
    text = "\x1f".join(parts).encode("utf-8", "surrogatepass")
    return blake2b(text, digest_size=16).hexdigest()


# The product's first name is part of what is hashed or sealed into stored data, and has to stay: with other bytes, erased
# ids would not be recognised and nothing sealed earlier could be opened.

ERASED: Final = b"recollect-erased"
SEAL: Final = b"recollect-seal"
USER_KEY: Final = b"recollect user key 1\0"
FIRST_NAME: Final = "recollect"
"""In the header of an export written by version 0.1.0."""


def erased_name(identifier: str) -> str:
    """What the log keeps of an erased id: enough to recognise it, not enough to recover it."""
    return blake2b(identifier.encode(), digest_size=16, person=ERASED).hexdigest()


# Ids of records that exist once, so that writers and readers agree on them without asking a store.

PROFILE = "profile"
SPINE = "spine"


def state(persona: str | None) -> str:
    return f"state:{persona or ''}"


def rolling(persona: str | None) -> str:
    return f"rolling:{persona or ''}"


def session(session_id: str) -> str:
    return f"session:{session_id}"


def daily(persona: str | None, day: date) -> str:
    return f"daily:{persona or ''}:{day.isoformat()}"


def lane(persona: str | None, lane_name: str | None) -> str:
    return f"lane:{persona or ''}:{lane_name or ''}"


def chat(conversation: str) -> str:
    return f"chat:{conversation}"


def slot(persona: str | None, lane_name: str | None) -> str:
    return f"slot:{persona or ''}:{lane_name or ''}"


def progress(persona: str | None) -> str:
    return f"progress:{persona or ''}"


def gap(identity: str) -> str:
    """What stands in for something forgotten, so that a context still shows what came before and after it."""
    return f"gap:{identity}"
