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


@dataclass(frozen=True, slots=True, kw_only=True)
class Unpacked:
    codes: Codes
    flags: NDArray[np.uint8]
    lengths: NDArray[np.float32]
    owners: NDArray[np.int64]
    """The row of each passage of a long text, rising, beside the passage's own codes."""
    passages: Codes


def unpack(packed: bytes, sizes: NDArray[np.int64], *, dimension: int) -> Unpacked:
    """Rows as `pack` made them, in one piece, each of so many bytes."""
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
    return Unpacked(
        codes=table[:, :dimension].view(np.int8),
        flags=table[:, dimension],
        lengths=np.ascontiguousarray(table[:, -2:]).view("<u2")[:, 0].astype(np.float32),
        owners=np.repeat(np.arange(len(sizes)), more // dimension),
        passages=np.frombuffer(rest, dtype=np.int8).reshape(-1, dimension),
    )


Kind = Literal["instruction", "preference"]

_CLAUSE: Final = re.compile(r"(?<=[.!?;])\s+|\n+")
_MAX_SENTENCES: Final = 12
_MAX_SENTENCE: Final = 600
_CODE_FENCE: Final = "```"

_LEAD: Final = (
    r"^\W*(?:(?:and|also|but|so|ok|okay|oh|hey|well|btw|by the way|one more thing|please|pls|kindly|just|"
    r"remember|note|important|reminder|in general|as a rule)\b[\s,:.!-]*)*"
)
_ACTIONS: Final = (
    r"(?:use|answer|reply|respond|speak|talk|write|call|address|refer|include|add|give|show|provide|keep|format|"
    r"avoid|remember|assume|explain|mention|say|ask|tell|start|end|sign|stick|limit|cite|confirm|translate|send|"
    r"make|remind|treat|round|list|bring|do|be|put|skip|leave|stop|check|suggest|recommend|offer|interrupt)"
)
_INSTRUCTION: Final = re.compile(
    _LEAD
    + r"(?:"
    + rf"(?:always|never|don'?t ever|do not ever)\s+(?:ever\s+)?(?!give up\b){_ACTIONS}\b"
    + r"|(?:always|never)\s+(?!(?:mind|give up|had|been|was|were|thought|knew|heard|gets?|seen|a|the)\b)\w+\s"
    + r"(?=.*\b(?:when(?:ever)? i|if i|for me|with me|to me|in your|your (?:answers?|repl|respon))\b)"
    + r"|(?:from now on|from here on|going forward|henceforth|in (?:the )?future|from today)\b(?!.*\bi(?:'ll| will| am|'m)\b)"
    + r"|(?:whenever|every time|each time|any ?time|when|if) (?:i|we) (?:ask|say|mention|talk|tell|write|send|type|want|need)"
    + rf"\b[^.?!]*,\s*(?:please\s+|always\s+|never\s+|you should\s+)*(?:{_ACTIONS})\b"
    + r"|(?:i(?:'d| would) (?:like|want|need) you|i (?:want|need) you|you (?:should|must|have)|make sure(?: you)?|be sure|"
    + r"can you(?: please)?|could you(?: please)?)\s+(?:to\s+)?(?:always|never)\b"
    + r"|call me \w+\s*(?:[.!,]|$|from now|instead|please)"
    + rf"|(?:don'?t|do not|stop)\s+(?:{_ACTIONS}|\w+ing)\b"
    + r".*\b(?:any ?more|again|ever|in your|with me|to me)\b"
    + r")",
    re.IGNORECASE,
)
_PREFERENCE: Final = re.compile(
    r"\bi(?:'d| would| really| generally| usually| much| strongly| always| also| still| personally| definitely)*"
    r" prefer(?:red)?\b(?! not to (?:say|answer))"
    r"|\bmy (?:strong |general |personal )?preferences?\b"
    r"|\bi(?:'d| would) (?:much )?rather (?!not (?:say|answer)|than)\w+"
    r"|\bmy (?:all[- ]time )?favou?rite (?:\w+ ){1,3}(?:is|are|has always been)\b"
    r"|\bi(?:'m| am) (?:(?:severely|very|really|also|a|an|strictly) )*"
    r"(?:allergic|intolerant|vegan|vegetarian|pescatarian|lactose|coeliac|celiac)\b"
    r"|\bi (?:really |absolutely |just )*(?:can'?t stand|hate|despise|detest|dislike|don'?t (?:like|eat|drink|want))\b"
    r"|\bi (?:only|never) (?:eat|drink|use|wear|buy|read|listen|watch)\b"
    r"|\bi(?:'m| am) more of an? \w+|\bworks best for me\b|\bi like (?:my|it when|to keep|things)\b",
    re.IGNORECASE,
)


def standing(text: str) -> Kind | None:
    """What kind of standing request a user's turn holds, if any; an instruction outranks a preference."""
    found: Kind | None = None
    prose = text.split(_CODE_FENCE, 1)[0][: _MAX_SENTENCES * _MAX_SENTENCE].replace("’", "'")
    for sentence in _CLAUSE.split(prose)[:_MAX_SENTENCES]:
        part = sentence[:_MAX_SENTENCE]
        if _INSTRUCTION.search(part) and not part.rstrip().endswith("?"):
            return "instruction"
        if found is None and _PREFERENCE.search(part):
            found = "preference"
    return found
