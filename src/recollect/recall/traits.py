"""What ranking wants to know of a turn's text without reading it again.

A trait is found once, when the turn is written, and kept beside its vector: a user's rows are ranked from narrow
arrays, and texts are read for the winners only.
"""

import re
import struct
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from recollect.recall.standing import standing
from recollect.recall.vectors import Codes, Vectors, dequantise, quantise

_MAX_TEXT: Final = 4_000
_MAX_LENGTH: Final = 0xFFFF
_TRAITS: Final = 3
"""Bytes that the traits take."""
_SENTENCE: Final = re.compile(r"(?<=[.!?])\s+|\n+")
_SELF: Final = re.compile(r"\b(?:i|i'm|i've|i'd|i'll|im|my|me|mine|we|we're|we've|our|us)\b", re.IGNORECASE)
_TIME: Final = re.compile(
    r"\b(?:yesterday|today|tonight|tomorrow|ago|since|recently|just"
    r"|(?:last|next|this|past) (?:night|week|weekend|month|year|spring|summer|autumn|fall|winter|morning|afternoon|evening"
    r"|(?:mon|tues|wednes|thurs|fri|satur|sun)day)"
    r"|(?:mon|tues|wednes|thurs|fri|satur|sun)days?"
    r"|january|february|march|april|june|july|august|september|october|november|december|in may|may \d{1,2}"
    r"|\d{1,2}(?:st|nd|rd|th)|(?:19|20)\d\d)\b",
    re.IGNORECASE,
)

TELLS: Final = 1
"""States something about the speaker rather than only asking or answering."""
TIMED: Final = 2
"""Holds a word of time."""
INSTRUCTION: Final = 4
PREFERENCE: Final = 8


@dataclass(frozen=True, slots=True)
class Traits:
    flags: int
    length: int
    """How many stems the text has, stop words not counted."""


def traits(text: str, *, length: int) -> Traits:
    """The traits of a text with `length` stems. Its form alone is looked at: whose words they are, ranking knows."""
    start = text[:_MAX_TEXT].replace("’", "'")
    flags = 0
    if any(_SELF.search(part) and not part.rstrip().endswith("?") for part in _SENTENCE.split(start)):
        flags |= TELLS
    if _TIME.search(start):
        flags |= TIMED
    kind = standing(text)
    if kind is not None:
        flags |= INSTRUCTION if kind == "instruction" else PREFERENCE
    return Traits(flags=flags, length=min(length, _MAX_LENGTH))


def pack(vectors: Vectors, found: Sequence[Traits], passages: Sequence[Vectors] = ()) -> list[bytes]:
    """What a store keeps for each row: the vector as int8 codes, its traits, then the vectors of its passages, if any."""
    return [
        code.tobytes() + struct.pack("<BH", trait.flags, trait.length) + quantise(more).tobytes()
        for code, trait, more in zip(quantise(vectors), found, passages or [vectors[:0]] * len(found), strict=True)
    ]


def unpack(rows: Sequence[bytes], *, dimension: int) -> tuple[Vectors, NDArray[np.uint8], NDArray[np.float32]]:
    """Unit vectors, flags and lengths of packed rows."""
    width = dimension + _TRAITS
    sizes = set(map(len, rows))
    if any(size < width or (size - width) % dimension for size in sizes):
        raise ValueError(
            f"rows of {dimension} dimensions are {width} bytes long, and {dimension} more for each passage"
        )
    own = rows if sizes == {width} else [row[:width] for row in rows]
    table = np.frombuffer(b"".join(own), dtype=np.uint8).reshape(len(rows), width)
    codes: Codes = table[:, :dimension].view(np.int8)
    lengths = table[:, -2].astype(np.float32) + 256.0 * table[:, -1].astype(np.float32)
    return dequantise(codes), table[:, dimension].copy(), lengths.astype(np.float32)


def unpack_passages(rows: Sequence[bytes], *, dimension: int) -> tuple[NDArray[np.int64], Vectors]:
    """The unit vectors of all passages of packed rows, each with the place of its row."""
    width = dimension + _TRAITS
    if not any(len(row) > width for row in rows):
        return np.zeros(0, dtype=np.int64), np.zeros((0, dimension), dtype=np.float32)
    owners = [place for place, row in enumerate(rows) for _ in range((len(row) - width) // dimension)]
    codes = np.frombuffer(b"".join(row[width:] for row in rows), dtype=np.int8).reshape(len(owners), dimension)
    return np.array(owners, dtype=np.int64), dequantise(codes)
