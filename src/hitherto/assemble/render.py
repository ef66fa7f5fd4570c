"""From items to text: markers, and what keeps stored text inside them.

Stored text is data. Three steps ensure it: invisible characters are removed, links lose their address, and a line that
looks like a marker gets a backslash in front. The markers contain no secret, so the same items give the same bytes.
`blocks` is the strict inverse: it finds exactly the blocks that were put in.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from hitherto.safety.markup import escaped, safe
from hitherto.safety.visible import visible
from hitherto.tokens import Tokenizer

__all__ = ["RENDERER", "Block", "blocks", "escaped", "indented", "name_in_title", "safe"]

RENDERER: Final = 1
"""Changes whenever the same items would give other bytes; only the renderer that wrote a snapshot can rebuild it."""

_MARKER: Final = re.compile(r"\[(/?)([^\[\]]+)\]")


def bounded(text: str, most: int) -> str:
    """At most this many characters of a text, from its beginning and its end, to bound the work on it."""
    return text if len(text) <= most else f"{text[: most // 2]} … {text[-most // 2 :]}"


def indented(text: str) -> str:
    """A text of several lines as one entry of a list: the lines after the first are indented."""
    text = text.strip()
    return text.replace("\n", "\n  ") if "\n" in text else text


def name_in_title(name: str) -> str:
    """A persona's name in a form that is safe in a marker."""
    return re.sub(r"[\[\]\s]+", " ", visible(name)).strip()[:60].upper() or "PERSONA"


@dataclass(frozen=True, slots=True)
class Block:
    """A block found in a prompt: its title and the lines between its markers."""

    title: str
    lines: tuple[str, ...]


def blocks(text: str) -> list[Block]:
    """Every block of a prompt, in order. Strict: a misplaced marker is a ValueError.

    What follows a dash in a title is left out of its closing marker.
    """
    found: list[Block] = []
    title: str | None = None
    lines: list[str] = []
    for number, line in enumerate(text.split("\n"), start=1):
        marker = _MARKER.fullmatch(line)
        if marker is None or not (marker[1] or marker[2][0].isupper() or not marker[2][0].isascii()):
            lines.append(line)
        elif not marker[1]:
            if title is not None:
                raise ValueError(f"line {number} opens {marker[2]!r} inside {title!r}")
            title, lines = marker[2], []
        elif title is None or marker[2] != title.partition(" — ")[0]:
            raise ValueError(f"line {number} closes {marker[2]!r}, but {title!r} is open")
        else:
            found.append(Block(title, tuple(lines)))
            title = None
    if title is not None:
        raise ValueError(f"{title!r} is never closed")
    return found


MARK: Final = " […shortened…] "
LEAST: Final = "…"
"""All that is left of a text if not even the ellipsis fits."""

_HEAD: Final = 0.6
_LONGEST_TOKEN: Final = 16
"""The most characters a token usually stands for; longer ones cost a second pass, not correctness."""


def shorten(text: str, limit: int, tokenizer: Tokenizer) -> str:
    """The text within `limit` tokens: whole if it fits; `LEAST`, one token, if nothing else does."""
    room = max(0, limit) * _LONGEST_TOKEN
    if len(text) <= room and tokenizer.count(text) <= limit:
        return text
    keep = min(len(text) - 1, room)
    while keep >= 2:
        short = _ends(text, keep)
        tokens = tokenizer.count(short)
        if tokens <= limit:
            return short
        keep = min(keep - 1, int(keep * limit / tokens * 0.97))
    return LEAST


def _ends(text: str, keep: int) -> str:
    """`keep` characters of the text, cut between words if one ends nearby."""
    head, tail = text[: int(keep * _HEAD)], text[len(text) - (keep - int(keep * _HEAD)) :]
    space = head.rfind(" ")
    if space > len(head) * 0.8:
        head = head[:space]
    space = tail.find(" ")
    if 0 <= space < len(tail) * 0.2:
        tail = tail[space + 1 :]
    return visible(head).rstrip() + MARK + visible(tail).lstrip()


def level(amounts: Sequence[int], room: int) -> int:
    """The highest limit under which the amounts, each cut to it, fit in the room; 0 if none does."""
    if sum(amounts) <= room:
        return max(amounts, default=0)
    left = room
    for done, amount in enumerate(ordered := sorted(amounts)):
        share = left // (len(ordered) - done)
        if amount > share:
            return max(0, share)
        left -= amount
    return 0
