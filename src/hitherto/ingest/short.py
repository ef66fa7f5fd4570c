"""Short messages, which mean nothing without what they answer.

"yes", "why?", "lol" or a thumbs-up contain no word worth searching for, so recall reads them in the light of their focus
anchor. The lists are closed on purpose: a message is short only if every word of it is known to be empty in one language,
so that "yes, Acme" or "no sugar" are still searched for what they say.
"""

import re
import unicodedata
from functools import cache
from typing import Final

from hitherto.text.analyser import stems
from hitherto.text.languages import CODES, ENGLISH, detect, language

MAX_WORDS: Final = 6
"""A longer chain of empty words ("why would you do that to me") is a sentence, even if none of its words is rare."""

_SPEAKING: Final = ("short.yes", "short.no", "short.questions", "short.reactions")
_MARKS: Final = r"\u0300-\u036f\u064b-\u065f\u0900-\u0903\u093a-\u094f\u0e31\u0e34-\u0e3a\u0e47-\u0e4e"
"""Vowels and tones written above and below the letters of a word."""
_WORD: Final = re.compile(rf"[^\W_](?:[^\W_]|[{_MARKS}])*(?:['’][^\W_]+)*")
_STRETCHED: Final = re.compile(r"(.)\1{2,}")
_LAUGHTER: Final = re.compile(
    r"(?:a?(?:ha){2,}h?|(?:he){2,}h?|(?:hi){2,}|(?:ja){2,}j?|(?:js){2,}|(?:rs){2,}|[ах]{4,}|[哈呵嘻]{2,}|l(?:ol)+|k{2,}|w{3,}|xd+|23{2,}|5{3,}|6{3,})"
)
_LONGEST: Final = 80
_TELLING, _ENOUGH = 2, 4
"""A message with this many content words may stand alone; with the larger number it does, whatever it points at."""
_PAIRS: Final = 2
"""Roughly how many stems a word yields in a script without spaces."""


def is_short(message: str) -> bool:
    """Whether the message says nothing by itself: only assent, doubt, laughter, question words, emoji or punctuation."""
    text = message.strip()
    if len(text) > _LONGEST:
        return False
    words = words_of(text)
    if len(words) > MAX_WORDS:
        return False
    if not words:
        return True
    said = [word for word in words if not _LAUGHTER.fullmatch(word)]
    if any(character.isdigit() for word in said if word not in _known() for character in word):
        return False
    return any(
        empty.issuperset(said) and (len(words) <= 3 or len(said) < len(words) or not speaking.isdisjoint(said))
        for empty, speaking in _emptiness()
    )


def stands_alone(message: str) -> bool:
    """Whether a message can be understood without what it answers: it asks or tells something of its own and does not
    merely point at something ("the second one", "lo mismo")."""
    count = content_words(message)
    if count >= _ENOUGH:
        return True
    code = detect(message)
    if not _pointing(code).isdisjoint(words_of(message)):
        return False
    spoken = language(code or ENGLISH)
    return count >= _TELLING or (count == 1 and spoken.has("telling.self", message))


def content_words(text: str) -> int:
    """How many different words of a text carry content: neither assent, laughter and filler nor a language's stop words."""
    spoken = language(detect(text) or ENGLISH)
    if spoken.script not in {"latin", "cyrillic"}:
        return len(set(stems(text))) // _PAIRS
    telling = set(words_of(text)) - empty_words(spoken.code) - spoken.stop
    return sum(not _LAUGHTER.fullmatch(word) for word in telling)


def is_question(text: str) -> bool:
    """Whether the text asks something, in any script's question marks."""
    return any(sign in text for sign in "?？؟\u037e")


def words_of(text: str) -> list[str]:
    """Words in lower case, with stretched letters shortened ("yesss", "noooo") if that gives a word."""
    folded = unicodedata.normalize("NFC", text).casefold().replace("’", "'")
    found: list[str] = _WORD.findall(folded)
    return [_without_repeats(word) for word in found] if _STRETCHED.search(folded) else found


def _without_repeats(word: str) -> str:
    if not _STRETCHED.search(word) or word in _known():
        return word
    for shorter in (_STRETCHED.sub(r"\1", word), _STRETCHED.sub(r"\1\1", word)):
        if shorter in _known():
            return shorter
    return word


@cache
def _emptiness() -> tuple[tuple[frozenset[str], frozenset[str]], ...]:
    """For each language by number, the words that say nothing by themselves, and those of them that answer or ask. What
    people say everywhere ("ok", "lol") counts in all of them.
    """
    everywhere = frozenset[str]().union(*(language(ENGLISH).words[name] for name in _SPEAKING))
    found = list[tuple[frozenset[str], frozenset[str]]]()
    for code in CODES:
        known = language(code)
        said = (word for phrase in known.phrases for word in phrase.split())
        speaking = everywhere.union(said, *(known.words[name] for name in _SPEAKING))
        found.append((speaking | known.words["short.fillers"], speaking))
    return tuple(found)


def empty_words(code: str) -> frozenset[str]:
    """The words of a language that say nothing by themselves."""
    return _emptiness()[language(code).number][0]


@cache
def _pointing(code: str) -> frozenset[str]:
    """The words of this language that point at what was said before; of all languages, if the text's is unknown: "to"
    points in Polish, but hardly ever where Polish is not recognised."""
    if code:
        return language(code).words["short.pointing"]
    english = language(ENGLISH)
    every = frozenset[str]().union(*(language(one).words["short.pointing"] for one in CODES))
    return every - (english.stop - english.words["short.pointing"])


@cache
def _known() -> frozenset[str]:
    return frozenset[str]().union(*(empty for empty, _ in _emptiness()))
