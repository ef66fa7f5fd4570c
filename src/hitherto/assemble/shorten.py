"""A text that is too long, as its beginning and its end with a visible mark between them."""

from collections.abc import Sequence
from typing import Final

from hitherto.safety.visible import visible
from hitherto.tokens import Tokenizer

MARK: Final = " […shortened…] "
LEAST: Final = "…"
"""All that is left of a text where not even the mark has room."""

_HEAD: Final = 0.6
_LONGEST_TOKEN: Final = 16
"""Characters a token stands for at most in ordinary text; longer ones cost a second look, not correctness."""


def shorten(text: str, limit: int, tokenizer: Tokenizer) -> str:
    """The text within `limit` tokens. Whole if it fits; `LEAST`, one token, if nothing else does."""
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
    """`keep` characters of the text, cut between words where one ends nearby."""
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
