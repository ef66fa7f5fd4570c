"""What ranking wants to know of a turn's text without reading it again.

A trait is found once, when the turn is written, and kept beside its vector: a user's rows are ranked from narrow
arrays, and texts are read for the winners only.

One trait is that a turn makes a standing request: "always answer in Spanish" or "never mention my ex" share no word with the
messages they apply to, so no similarity finds them. They are recognised by the form of the sentence and not by its topic, and
kept on a shelf that every retrieval looks at, bounded where ranking uses it. The forms are narrow on purpose: "I always walk
to work" tells a habit, "do you always shout?" asks; neither asks for anything to be done from now on.
"""

import re
import struct
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal

import numpy as np
from numpy.typing import NDArray

from hitherto.recall.vectors import Codes, Vectors, quantise
from hitherto.safety.secrets import find_secrets
from hitherto.text.languages import ENGLISH, detect, language, of_number, plausible

_MAX_TEXT: Final = 4_000
_ASKS: Final = ("?", "？")
_MAX_LENGTH: Final = 0x1FFF
_MARKS: Final = 13
"""The number of bits by which the marks are shifted, next to the length."""
_ASKING: Final = re.compile("[?？؟\u037e]")
_LAST: Final = re.compile(r"[\w'’\"”»)][^\w]*$")
"""From the last word on."""
_LATELY: Final = 80
_TRAITS: Final = 3
"""Bytes that the traits take."""
_SENTENCE: Final = re.compile(r"(?<=[.!?…])\s+|(?<=[。！？])|\n+")

TELLS: Final = 1
"""Tells something about the speaker rather than only asking or answering."""
TIMED: Final = 2
"""Contains a time expression."""
INSTRUCTION: Final = 4
PREFERENCE: Final = 8
LANGUAGE: Final = 4
"""The number of bits by which the number of the text's language is shifted; 0 is English, or unknown."""
_FIFTY: Final = 50
_LANGUAGES: Final = 1 << 8 - LANGUAGE
"""A language beyond these has its own script, so that a question in it reveals its language."""

# Marks, beside the flags.
LOOKED: Final = 1
"""Written by a version that looked for questions and secrets; other rows are unknown."""
ASKS: Final = 2
"""Ends with a question, so that it needs its answer."""
SECRET: Final = 4
"""Contains something that must not be delivered."""


@dataclass(frozen=True, slots=True)
class Traits:
    flags: int
    length: int
    """How many stems the text has, without stop words."""
    marks: int = 0


def traits(text: str, *, length: int) -> Traits:
    """The traits of a text with `length` stems. Only its form is examined: ranking knows whose words they are."""
    start = text[:_MAX_TEXT].replace("’", "'")
    spoken = language(detect(text) or ENGLISH)
    flags = spoken.number << LANGUAGE if spoken.number < _LANGUAGES else 0
    parts = _SENTENCE.split(start)
    if any(spoken.has("telling.self", part) and not part.rstrip().endswith(_ASKS) for part in parts):
        flags |= TELLS
    if spoken.has("telling.time", start):
        flags |= TIMED
    kind = standing(text)
    if kind is not None:
        flags |= INSTRUCTION if kind == "instruction" else PREFERENCE
    marks = LOOKED | (ASKS if asks(text) else 0) | (SECRET if find_secrets(text) else 0)
    return Traits(flags=flags, length=min(length, _MAX_LENGTH), marks=marks)


def asks(text: str) -> bool:
    """Whether a text ends with a question, whatever emoji follow it."""
    lately = text[-_LATELY:]
    if not asking(lately):
        return False
    end = _LAST.search(lately)
    return end is not None and asking(end[0])


def asking(text: str) -> bool:
    """Whether a text contains a question mark of any script."""
    return _ASKING.search(text) is not None


def spoken(flags: NDArray[np.uint8]) -> NDArray[np.int64]:
    """How many rows with these flags are written in each language, by number."""
    return np.bincount(flags >> LANGUAGE, minlength=_LANGUAGES)


def languages(rows: NDArray[np.int64]) -> frozenset[str]:
    """The languages other than English of at least one row in fifty: one that occurs now and then is as likely a name, a
    quote or a mistake, and each costs a question its words in it."""
    often = np.flatnonzero((rows > 0) & (_FIFTY * rows >= rows.sum()))
    return frozenset(map(of_number, often.tolist())) - {ENGLISH}


def pack(vectors: Vectors, found: Sequence[Traits], passages: Sequence[Vectors] = ()) -> list[bytes]:
    """What a store keeps for each row: the vector as int8 codes, its traits, then the vectors of its passages, if any."""
    return [
        code.tobytes()
        + struct.pack("<BH", trait.flags, trait.length | trait.marks << _MARKS)
        + (quantise(more).tobytes() if len(more) else b"")
        for code, trait, more in zip(quantise(vectors), found, passages or [vectors[:0]] * len(found), strict=True)
    ]


@dataclass(frozen=True, slots=True, kw_only=True)
class Unpacked:
    codes: Codes
    flags: NDArray[np.uint8]
    lengths: NDArray[np.float32]
    marks: NDArray[np.uint8]
    owners: NDArray[np.int64]
    """The row of each passage of a long text, ascending, beside the passage's own codes."""
    passages: Codes


def unpack(packed: bytes, sizes: NDArray[np.int64], *, dimension: int) -> Unpacked:
    """Rows as `pack` made them, concatenated, each of a given number of bytes."""
    width = dimension + _TRAITS
    more = sizes - width
    if np.any(more < 0) or np.any(more % dimension):
        raise ValueError(
            f"rows of {dimension} dimensions are {width} bytes long, and {dimension} more for each passage"
        )
    own, rest = packed, b""
    if more.any():
        ends = np.cumsum(sizes).tolist()
        cuts = [(end - size, end - size + width, end) for end, size in zip(ends, sizes.tolist(), strict=True)]
        own = b"".join([packed[start:cut] for start, cut, _ in cuts])
        rest = b"".join([packed[cut:end] for _, cut, end in cuts])
    table = np.frombuffer(own, dtype=np.uint8).reshape(len(sizes), width)
    lengths = np.ascontiguousarray(table[:, -2:]).view("<u2")[:, 0]
    return Unpacked(
        codes=table[:, :dimension].view(np.int8),
        flags=table[:, dimension],
        lengths=(lengths & _MAX_LENGTH).astype(np.float32),
        marks=(lengths >> _MARKS).astype(np.uint8),
        owners=np.repeat(np.arange(len(sizes)), more // dimension),
        passages=np.frombuffer(rest, dtype=np.int8).reshape(-1, dimension),
    )


Kind = Literal["instruction", "preference"]

_CLAUSE: Final = re.compile(r"(?<=[.!?;])\s+|\n+")
_MAX_SENTENCES: Final = 12
_MAX_SENTENCE: Final = 600
_CODE_FENCE: Final = "```"


def standing(text: str) -> Kind | None:
    """The kind of standing request in a user's turn, if any; an instruction outranks a preference."""
    found: Kind | None = None
    prose = text.split(_CODE_FENCE, 1)[0][: _MAX_SENTENCES * _MAX_SENTENCE].replace("’", "'")
    spoken = plausible(text)
    for sentence in _CLAUSE.split(prose)[:_MAX_SENTENCES]:
        part = sentence[:_MAX_SENTENCE]
        if any(one.has("standing.instruction", part) for one in spoken) and not part.rstrip().endswith(_ASKS):
            return "instruction"
        if found is None and any(one.has("standing.preference", part) for one in spoken):
            found = "preference"
    return found
