"""How text and stems become values of PostgreSQL.

Text of PostgreSQL cannot hold the character NUL, Python's can: it is written as two characters that nobody
uses, and read back. A stem becomes a *word*: the user's mark and the stem. The mark, 24 bits of the user's
digest, makes the inverted index of a partition with many users behave like one index for each of them; a
collision costs a comparison, because every statement filters by user as well.
"""

from base64 import urlsafe_b64encode
from collections.abc import Sequence
from hashlib import blake2b
from uuid import UUID

_ESCAPE = "\U0010fffd"
_LONGEST_STEM = 400
_HASHED = "\x01"
_MOST_BYTES = 500_000
"""A text vector ends at 1 MB; stems past this much of a single document are not indexed."""

MARK_LENGTH = 4


def embedder_id(name: str) -> UUID:
    """An embedder's name is long and stands in every trace; its hash is enough to tell it apart."""
    return UUID(bytes=blake2b(name.encode(), digest_size=16).digest())


def escape(text: str) -> str:
    """`text` without NUL."""
    if "\x00" in text or _ESCAPE in text:
        return text.replace(_ESCAPE, _ESCAPE + "1").replace("\x00", _ESCAPE + "0")
    return text


def unescape(text: str) -> str:
    if _ESCAPE in text:
        return text.replace(_ESCAPE + "0", "\x00").replace(_ESCAPE + "1", _ESCAPE)
    return text


def mark(digest: str) -> str:
    """Four characters for a user, from the hex digest of their key."""
    return urlsafe_b64encode(bytes.fromhex(digest[:6])).decode()


def word(stem: str, *, mark: str) -> str:
    """A stem as it is indexed. One too long for an index entry is represented by its hash: equality is all
    that counts."""
    stem = escape(stem)
    encoded = stem.encode()
    if len(encoded) > _LONGEST_STEM:
        stem = _HASHED + blake2b(encoded, digest_size=16).hexdigest()
    return mark + stem


def words(stems: Sequence[str], *, mark: str) -> list[str]:
    """A document's stems in their order, as far as an index entry of PostgreSQL reaches."""
    found = [word(stem, mark=mark) for stem in stems]
    if sum(map(len, found)) * 4 <= _MOST_BYTES:
        return found
    seen: set[str] = set()
    size = 0
    for position, each in enumerate(found):
        if each not in seen:
            seen.add(each)
            size += len(each.encode())
            if size > _MOST_BYTES:
                return found[:position]
    return found


def stems(found: Sequence[str]) -> tuple[str, ...]:
    """The stems of a document's words."""
    return tuple(unescape(each[MARK_LENGTH:]) for each in found)


def asking(word: str) -> str:
    """A word as the text of a full-text query."""
    quoted = word.replace("\\", "\\\\").replace("'", "''")
    return f"'{quoted}'"
