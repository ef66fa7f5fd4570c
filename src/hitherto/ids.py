"""Ids are made by the client, so that no database has to be asked: 128 bits that sort by time, in hex."""

import secrets
from datetime import datetime
from hashlib import blake2b

from hitherto.clock import micros


def new_id(now: datetime) -> str:
    """48 bits of milliseconds, then 80 random bits: unique, and in the order of their making."""
    return f"{micros(now) // 1000:012x}{secrets.token_hex(10)}"


def derived_id(*parts: str) -> str:
    """The same id for the same parts, so that doing a thing twice makes one thing."""
    text = "\x1f".join(parts).encode("utf-8", "surrogatepass")
    return blake2b(text, digest_size=16).hexdigest()


def content_hash(text: str) -> str:
    """The name under which a text is kept in snapshots."""
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()
