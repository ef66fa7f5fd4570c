"""Short messages: those that mean nothing without what they answer.

"yes", "why?", "lol" or a thumb hold no word worth searching for, so recall reads them in the light of
their focus anchor. The lists are closed on purpose: a message is short only if every word of it is known
to be empty in one language, so that "yes, Acme" or "no sugar" keep being searched for what they say.
"""

import re
import unicodedata
from functools import cache
from typing import Final

from hitherto.text.analyser import stems
from hitherto.text.languages import CODES, ENGLISH, detect, language

MAX_WORDS: Final = 6
"""A longer chain of empty words ("why would you do that to me") is a sentence, even if no word of it is
rare.
"""

_SPEAKING: Final = ("short.yes", "short.no", "short.questions", "short.reactions")
_WORD: Final = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")
_STRETCHED: Final = re.compile(r"(.)\1{2,}")
_LAUGHTER: Final = re.compile(
    r"(?:a?(?:ha){2,}h?|(?:he){2,}h?|(?:hi){2,}|(?:ja){2,}j?|(?:ха){2,}х?|l(?:ol)+|k{3,}|w{3,}|5{3,})"
)
_LONGEST: Final = 80
_TELLING, _ENOUGH = 2, 4
"""A message of so many content words may stand for itself; of so many it does, whatever it points at."""
_PAIRS: Final = 2
"""Stems that a word gives in a script without spaces, about."""


def is_short(message: str) -> bool:
    """Whether the message says nothing by itself: only assent, doubt, laughter, question words, emoji or
    signs.
    """
    text = message.strip()
    if len(text) > _LONGEST:
        return False
    words = words_of(text)
    if len(words) > MAX_WORDS:
        return False
    if not words:
        return True
    if any(character.isdigit() for character in text) and not any(map(_LAUGHTER.fullmatch, words)):
        return False
    said = [word for word in words if not _LAUGHTER.fullmatch(word)]
    return any(
        empty.issuperset(said) and (len(words) <= 3 or len(said) < len(words) or not speaking.isdisjoint(said))
        for empty, speaking in _emptiness()
    )


def stands_alone(message: str) -> bool:
    """Whether a message can be understood without what it answers: it asks or tells something of its own, and does not only
    point at something ("the second one", "lo mismo")."""
    count = content_words(message)
    if count >= _ENOUGH:
        return True
    if not _pointing().isdisjoint(words_of(message)):
        return False
    spoken = language(detect(message) or ENGLISH)
    return count >= _TELLING or (count == 1 and spoken.has("telling.self", message))


def content_words(text: str) -> int:
    """How many different words of a text say something: neither assent, laughter and filler nor a language's stop words."""
    spoken = language(detect(text) or ENGLISH)
    if spoken.script not in {"latin", "cyrillic"}:
        return len(set(stems(text))) // _PAIRS
    empty, _ = _emptiness()[spoken.number]
    said = {word for word in words_of(text) if not _LAUGHTER.fullmatch(word)}
    return len(said - empty - spoken.stop)


def words_of(text: str) -> list[str]:
    """Words in lower case, with stretched letters drawn back together ("yesss", "noooo") where that makes
    one.
    """
    folded = unicodedata.normalize("NFC", text).casefold().replace("’", "'")
    return [_unstretched(word) for word in _WORD.findall(folded)]


def _unstretched(word: str) -> str:
    if not _STRETCHED.search(word) or word in _known():
        return word
    for shorter in (_STRETCHED.sub(r"\1", word), _STRETCHED.sub(r"\1\1", word)):
        if shorter in _known():
            return shorter
    return word


@cache
def _emptiness() -> tuple[tuple[frozenset[str], frozenset[str]], ...]:
    """For each language by its number, the words that say nothing by themselves, and those of them that answer or ask. What
    people everywhere say ("ok", "lol") counts in all.
    """
    everywhere = frozenset[str]().union(*(language(ENGLISH).words[name] for name in _SPEAKING))
    found = list[tuple[frozenset[str], frozenset[str]]]()
    for code in CODES:
        known = language(code)
        said = (word for phrase in known.phrases for word in phrase.split())
        speaking = everywhere.union(said, *(known.words[name] for name in _SPEAKING))
        found.append((speaking | known.words["short.fillers"], speaking))
    return tuple(found)


@cache
def _pointing() -> frozenset[str]:
    return frozenset[str]().union(*(language(code).words["short.pointing"] for code in CODES))


@cache
def _known() -> frozenset[str]:
    return frozenset[str]().union(*(empty for empty, _ in _emptiness()))
