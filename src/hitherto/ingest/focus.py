"""The focus anchor: what a message most likely refers to.

"yes" is an answer to something. What it answers is, in this order: the message it replies to, the newest assistant turn of
its lane, or a value that the assistant still waits for. A pending slot comes last and takes only a value of its own type,
so that an old question of the assistant never captures a new task of the user. Each type is narrow: the value has to be
(nearly) the whole message, and a question never fits.
"""

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from typing import Final, Literal

from hitherto.ingest.short import empty_words, is_question, words_of
from hitherto.text.languages import CODES, ENGLISH, detect, language, listed
from hitherto.text.time.spans import ranges
from hitherto.types import Slot, StoredTurn

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
        words -= empty_words(ENGLISH) - _listed(ENGLISH, name)
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
