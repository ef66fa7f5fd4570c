"""One fact, once: the same memory, or nearly the same words, is shown only in the most precious place that
holds it.

Nearly the same means the same content words in the same order, whatever articles, capitals or plurals they
carry. It is deliberately narrow: "likes tea" and "does not like tea", or "at 3" and "at 5", are different
facts.
"""

import re
import unicodedata
from collections.abc import Sequence
from functools import lru_cache
from typing import Final, NamedTuple

_SIGN: Final = re.compile(r"[\W_]+")
_ASCII_SIGNS: Final = bytes(code if chr(code).isalnum() else 32 for code in range(256))
_EMPTY_WORDS: Final = frozenset(b"i my me user the a an am are ha have that".split())
"""Words that say nothing about what is the same, each without a final s."""
_LONGEST: Final = 400
"""Characters beyond which a text is only itself; facts are shorter."""
_ENDING: Final = 32

Print = bytes
"""Words with a space between them: thousands are remembered, so each is one piece of memory."""


def fingerprint(text: str) -> Print:
    """What two near duplicates share; empty when there is nothing to go by."""
    return _fingerprint(text) if len(text) <= _LONGEST else b""


@lru_cache(maxsize=4_096)
def _fingerprint(text: str) -> Print:
    if text.isascii():
        folded = text.lower().encode().translate(_ASCII_SIGNS)
    else:
        folded = _SIGN.sub(" ", unicodedata.normalize("NFKC", text).casefold()).encode("utf-8", "replace")
    words = [word for word in (folded + b" ").replace(b"s ", b" ").split() if word not in _EMPTY_WORDS]
    return b" ".join(words) if len(words) > 1 or (words and len(words[0]) > 3) else b""


class Claim(NamedTuple):
    """Something that wants to be shown: its number, the memory or turn it is, and its words."""

    number: int
    key: str
    said: str


def duplicates(claims: Sequence[Claim], *, turns: Sequence[Claim], before: int) -> dict[int, int]:
    """Which claim repeats which other, in order of worth; the window's turns stand before claim `before`.

    A turn is never left out for being said before, so turns only take from the claims that follow them.
    """
    keys: dict[str, int] = {}
    prints: dict[Print, int] = {}
    found: dict[int, int] = {}
    words = [fingerprint(claim.said) if claim.said else b"" for claim in claims]
    for place, claim in enumerate(claims):
        if place == before:
            _hold_turns(turns, words[before:], keys, prints)
        holder = keys.get(claim.key) if claim.key else None
        if holder is None and words[place]:
            holder = prints.get(words[place])
        if holder is not None:
            found[claim.number] = holder
            continue
        if claim.key:
            keys[claim.key] = claim.number
        if words[place]:
            prints[words[place]] = claim.number
    return found


def _hold_turns(
    turns: Sequence[Claim],
    after: Sequence[Print],
    keys: dict[str, int],
    prints: dict[Print, int],
) -> None:
    """Most turns end in a word that no later claim ends in, so few have to be read whole."""
    endings = {words.rpartition(b" ")[2] for words in after if words}
    for turn in turns:
        keys.setdefault(turn.key, turn.number)
        before, _, end = fingerprint(turn.said[-_ENDING:]).rpartition(b" ")
        if end and (end in endings or not before):
            words = fingerprint(turn.said)
            if words:
                prints.setdefault(words, turn.number)
