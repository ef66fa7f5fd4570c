"""One fact, once: the same memory, or nearly the same words, is shown only in the most precious place that
holds it.

Nearly the same means the same content words in the same order, whatever articles, capitals or plurals they
carry. It is deliberately narrow: "likes tea" and "does not like tea", or "at 3" and "at 5", are different
facts.
"""

import re
import unicodedata
from collections.abc import Iterable
from typing import Final

_WORD: Final = re.compile(r"[^\W_]+(?:['’][^\W_]+)?")
_EMPTY_WORDS: Final = frozenset(
    {"i", "my", "me", "user", "users", "the", "a", "an", "is", "am", "are", "has", "have", "that"}
)
_LONGEST: Final = 400
"""Characters beyond which a text is only itself; facts are shorter."""


def fingerprint(text: str) -> tuple[str, ...]:
    """What two near duplicates share; empty when there is nothing to go by."""
    if len(text) > _LONGEST:
        return ()
    folded = text.casefold() if text.isascii() else unicodedata.normalize("NFKC", text).casefold()
    words = [word for word in _WORD.findall(folded) if word not in _EMPTY_WORDS]
    if len(words) < 2 and not any(len(word) > 3 for word in words):
        return ()
    return tuple([word[:-1] if len(word) > 3 and word[-1] == "s" else word for word in words])


def duplicates(entries: Iterable[tuple[int, str, str]]) -> dict[int, int]:
    """Of (number, key, words) in order of worth: which number repeats which earlier one."""
    keys: dict[str, int] = {}
    prints: dict[tuple[str, ...], int] = {}
    found: dict[int, int] = {}
    for number, key, said in entries:
        words = fingerprint(said) if said else ()
        holder = keys.get(key) if key else None
        if holder is None and words:
            holder = prints.get(words)
        if holder is not None:
            found[number] = holder
            continue
        if key:
            keys[key] = number
        if words:
            prints[words] = number
    return found
