"""Short messages, which mean nothing without what they answer.

"yes", "why?", "lol" or a thumbs-up contain no word worth searching for, so recall reads them in the light of their focus
anchor. The lists are closed on purpose: a message is short only if every word of it is known to be empty in one language,
so that "yes, Acme" or "no sugar" are still searched for what they say.
"""

import re
import unicodedata
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from typing import Final, Literal

from hitherto.text.analyser import stems
from hitherto.text.languages import CODES, ENGLISH, detect, language, listed
from hitherto.text.time.spans import ranges
from hitherto.types import Slot, StoredTurn

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
    empty, _ = _emptiness()[spoken.number]
    telling = set(words_of(text)) - empty - spoken.stop
    return sum(not _LAUGHTER.fullmatch(word) for word in telling)


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


# Does a message answer what the assistant is waiting for?
#
# A pending slot may take only what looks like its value, because everything it takes wrongly is a task of
# the user that is lost. So each type is narrow: the value has to be (nearly) the whole message, and a
# question never fits.

_EMAIL: Final = re.compile(r"(?<![\w.+-])[\w.+-]+@[\w-]+(?:\.[\w-]+)+(?![\w@])")
_PHONE: Final = re.compile(r"(?<![\w.])\+?\(?\d[\d\s().\-/]{5,20}\d(?!\w)")
_DATE_LIKE: Final = re.compile(r"\d{1,4}([./-])\d{1,2}\1\d{1,4}")
_NUMBER: Final = re.compile(r"[-+−]?(?:\d{1,3}(?:[, ’']\d{3})+|\d+)(?:[.,]\d+)?\s?(?:%|k|m)?", re.IGNORECASE)
_THUMBS: Final = ("👍", "👌", "✅", "👎", "❌")
_HAN_NUMBER: Final = re.compile("[〇零一二两三四五六七八九十百千万]+")
_UNSPACED: Final = frozenset({"ja", "zh", "th"})
_NEAR: Final = {"": CODES, "zh": ("zh", "ja")}
"""Where a message is too short to tell its language, the lists of all that it may be in are read."""
_ANY_DAY: Final = datetime(2026, 3, 2, tzinfo=UTC)
"""Whether a text is a date does not depend on today."""


def fits(message: str, slot: Slot) -> bool:
    """Whether `message` is a value for the slot."""
    text = " ".join(message.split())
    if not text or len(text) > 2_000 or is_question(text):
        return False
    return _CHECKS[slot.expects](text, slot)


def is_question(text: str) -> bool:
    """Whether the text asks something, in any script's question marks."""
    return any(sign in text for sign in "?？؟\u037e")


def _yes_no(text: str, _: Slot) -> bool:
    words = words_of(text)
    if not words:
        return any(sign in text for sign in _THUMBS)
    lowered = " ".join(words)
    if any(
        lowered == phrase or lowered.startswith(phrase + " ") for code in CODES for phrase in language(code).phrases
    ):
        return len(words) <= 8
    return len(words) <= 8 and (words[0] in listed("short.yes") or words[0] in listed("short.no"))


def _number(text: str, _: Slot) -> bool:
    if _DATE_LIKE.search(text):
        return False
    told = detect(text)
    known = _listed(told, "numbers")
    words = _bare(text, told, but=known)
    if words and all(word in known or _HAN_NUMBER.fullmatch(word) for word in (words[0], *words[:-1])):
        return len(words) <= 4
    numbers = list(_NUMBER.finditer(text))
    if len(numbers) != 1:
        return False
    before, after = (_bare(side, told, but=known) for side in (text[: numbers[0].start()], text[numbers[0].end() :]))
    return not before and len(after) <= 2


def _date(text: str, _: Slot) -> bool:
    found = ranges(text, now=_ANY_DAY, zone="UTC") or ranges(f"on {text}", now=_ANY_DAY, zone="UTC")
    if len(found) != 1:
        return False
    said = found[0].text.removeprefix("on ")
    return said in text and not _bare(text.replace(said, " ", 1), detect(text))


def _bare(text: str, told: str, *, but: Collection[str] = ()) -> list[str]:
    """The words of a text without those that may stand around a value ("about", "please")."""
    around = _listed(told, "around").difference(but)
    if told in _UNSPACED:
        for word in sorted(around, key=len, reverse=True):
            text = text.replace(word, " ")
    return [word for word in words_of(text) if word not in around]


@cache
def _listed(told: str, name: str) -> frozenset[str]:
    """A list of the section `slots` in the language that a message is in; if that is unknown, in all of them, without
    numbers that say nothing in English ("um" is one in Portuguese).
    """
    words = set[str]()
    for code in _NEAR.get(told, (told,)):
        tables = language(code).tables
        words.update(tables.get("slots", {}).get(name, "").split())
        if name == "numbers":
            words.update(tables.get("dates", {}).get("numbers", "").split()[::2])
    if name == "numbers" and not told:
        words -= _emptiness()[0][0] - _listed(ENGLISH, name)
    return frozenset(words)


@cache
def _ordinals(told: str) -> Mapping[str, int]:
    """Places in a list of choices, counted from 0 (-1 is the last)."""
    lists = (language(code).tables.get("slots", {}).get("ordinals", "").split() for code in _NEAR.get(told, (told,)))
    return {word: int(place) - 1 for said in lists for word, place in zip(said[::2], said[1::2], strict=True)}


def _email(text: str, _: Slot) -> bool:
    return len(_EMAIL.findall(text)) == 1 and len(text.split()) <= 12


def _phone(text: str, _: Slot) -> bool:
    found = [match.group() for match in _PHONE.finditer(text) if not _DATE_LIKE.fullmatch(match.group())]
    digits = [sum(character.isdigit() for character in number) for number in found]
    return len(digits) == 1 and 7 <= digits[0] <= 15 and len(text.split()) <= 16


def _choice(text: str, slot: Slot) -> bool:
    words, told = words_of(text), detect(text)
    choices = [words_of(choice) for choice in slot.choices]
    if words in choices:
        return True
    if told in _UNSPACED:
        words = _apart(text, (*slot.choices, *_listed(told, "except"), *_ordinals(told)))
    if len(words) > 8 or not _listed(told, "except").isdisjoint(words):
        return False
    if sum(_holds(words, choice) for choice in choices) == 1:
        return True
    bare = words if len(words) == 1 else [word for word in words if word not in _listed(told, "around")]
    place = _place(bare, told)
    return place is not None and place < len(choices)


def _apart(text: str, known: Iterable[str]) -> list[str]:
    """The words of a text that is written without spaces, set apart where one that is known stands in it."""
    longest_first = sorted(filter(None, known), key=len, reverse=True)
    return words_of(re.sub("|".join(map(re.escape, longest_first)), r" \g<0> ", text))


def _place(words: list[str], told: str) -> int | None:
    """Where in the list of choices "2", "b" or "the second one" points, counted from 0 (-1 is the last)."""
    if len(words) != 1:
        return None
    if words[0] in _ordinals(told):
        return _ordinals(told)[words[0]]
    if words[0].isdecimal() and len(words[0]) <= 2:
        return int(words[0]) - 1 if int(words[0]) else None
    return ord(words[0]) - ord("a") if words[0] in {"a", "b", "c", "d", "e", "f"} else None


def _holds(words: list[str], choice: list[str]) -> bool:
    return bool(choice) and any(words[at : at + len(choice)] == choice for at in range(len(words)))


def _text(text: str, _: Slot) -> bool:
    return not text.startswith("/")


_CHECKS: Final[dict[str, Callable[[str, Slot], bool]]] = {
    "yes_no": _yes_no,
    "number": _number,
    "date": _date,
    "email": _email,
    "phone": _phone,
    "choice": _choice,
    "text": _text,
}


# The focus anchor: what a message most likely refers to.
#
# "yes" is an answer to something. What it answers is, in this order: the message it replies to, the newest
# assistant turn of its lane, or a value that the assistant still waits for. A pending slot comes last and
# takes only a value of its own type, so that an old question of the assistant never captures a new task of
# the user.

Why = Literal["reply", "assistant", "slot", "none"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Anchor:
    """What a message refers to. `slot` is set when the message is that slot's value, whatever `turn` it
    answers.
    """

    turn: StoredTurn | None
    slot: Slot | None
    why: Why


def anchor(message: str, *, reply_to: StoredTurn | None, window: Sequence[StoredTurn], slot: Slot | None) -> Anchor:
    """The anchor of `message`; `window` holds its lane's turns, oldest first, without the message."""
    newest = next((turn for turn in reversed(window) if turn.role == "assistant" and turn.text.strip()), None)
    turn = reply_to or newest
    filled = slot if slot is not None and fits(message, slot) and _may_fill(slot, turn=turn) else None
    if reply_to is not None:
        return Anchor(turn=reply_to, slot=filled, why="reply")
    if newest is not None:
        return Anchor(turn=newest, slot=filled, why="assistant")
    return Anchor(turn=None, slot=filled, why="none" if filled is None else "slot")


def _may_fill(slot: Slot, *, turn: StoredTurn | None) -> bool:
    """An answer to the turn that asked for it fills a slot.

    After another turn it still takes an unmistakable value, unless that turn asks a question of its own, which is then what
    the message answers.
    """
    if turn is None or slot.anchor is None or turn.id == slot.anchor:
        return True
    return slot.expects in {"email", "phone"} and turn.role == "assistant" and not is_question(turn.text)
