"""Ids are made by the client, so that no database has to be asked: 128 bits that sort by time, in hex."""

import secrets
from datetime import date, datetime
from hashlib import blake2b
from typing import Final

from hitherto.clock import micros


def new_id(now: datetime) -> str:
    """48 bits of milliseconds, then 80 random bits: unique, and in the order of their making."""
    return f"{micros(now) // 1000:012x}{secrets.token_hex(10)}"


def derived_id(*parts: str) -> str:
    """The same id for the same parts, so that doing a thing twice makes one thing."""
    text = "\x1f".join(parts).encode("utf-8", "surrogatepass")
    return blake2b(text, digest_size=16).hexdigest()


# What is hashed or sealed into stored data holds the product's first name, and stays as it is: with other bytes, what was
# erased would not be recognised, and nothing that was sealed before could be opened.

ERASED: Final = b"recollect-erased"
SEAL: Final = b"recollect-seal"
USER_KEY: Final = b"recollect user key 1\0"
FIRST_NAME: Final = "recollect"
"""In the header of an export of version 0.1.0."""


def erased_name(identifier: str) -> str:
    """What the log keeps of an erased id: enough to recognise it, nothing to read it back."""
    return blake2b(identifier.encode(), digest_size=16, person=ERASED).hexdigest()


# How records that exist once are named, so that writers and readers agree without asking a store.

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
    """What stands where this was forgotten, so that what comes before and after it is found."""
    return f"gap:{identity}"
