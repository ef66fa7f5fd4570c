"""Short messages, which mean nothing without what they answer.

"yes", "why?", "lol" or a thumbs-up contain no word worth searching for, so recall reads them in the light of their focus
anchor. The lists are closed on purpose: a message is short only if every word of it is known to be empty in one language,
so that "yes, Acme" or "no sugar" are still searched for what they say.
"""

import re
import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Final, Literal

from hitherto.text.analyser import stems
from hitherto.text.languages import CODES, ENGLISH, detect, language, listed
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
_CLOCK: Final = r"(?:\d{1,2}(?::\d{2})?\s?(?:am|pm|h|uhr)?|noon|midnight)"
_MONTH: Final = (
    r"(?:jan(?:uary|uar|vier|eiro)?|feb(?:ruary|ruar|rero)?|mar(?:ch|zo|s)?|märz|apr(?:il)?|may|mai|mayo|june?|juni|juin"
    r"|july?|juli|juillet|aug(?:ust)?|août|sep(?:t|tember|tembre)?|oct(?:ober|obre)?|okt(?:ober)?|nov(?:ember|embre)?"
    r"|dec(?:ember|embre)?|dez(?:ember)?)\.?"
)
_WEEKDAY: Final = (
    r"(?:mon(?:day)?|tue(?:s|sday)?|wed(?:s|nesday)?|thu(?:r|rs|rsday)?|fri(?:day)?|sat(?:urday)?|sun(?:day)?|montag|"
    r"dienstag|mittwoch|donnerstag|freitag|samstag|sonntag|lundi|mardi|mercredi|jeudi|vendredi|samedi|dimanche|lunes|"
    r"martes|miércoles|jueves|viernes|sábado|domingo)"
)
_RELATIVE: Final = (
    r"(?:today|tonight|tomorrow|yesterday|the day after tomorrow|heute|morgen|übermorgen|gestern|aujourd'hui|"
    r"demain|hier|hoy|mañana|ayer|amanhã|hoje|domani|oggi|jutro|dziś|завтра|сегодня|明天|今天|明日|今日)"
)
_DAY: Final = r"(?:the\s)?\d{1,2}(?:st|nd|rd|th|\.)?"
_PLAIN_DATE: Final = (
    r"\d{4}-\d{1,2}-\d{1,2}|\d{1,2}[./]\d{1,2}(?:[./]\d{2,4})?"
    rf"|{_DAY}\s(?:of\s)?{_MONTH}(?:,?\s\d{{4}})?|{_MONTH}\s{_DAY}(?:,?\s\d{{4}})?"
    rf"|{_RELATIVE}|(?:(?:next|this|last|nächsten|coming)\s)?(?:{_WEEKDAY}|week|weekend|month|year)"
    r"|in\s(?:\d{1,3}|an?|one|two|three|four|five|six|seven|ten)\s(?:minute|hour|day|week|month|year)s?"
)
_DATE: Final = re.compile(
    rf"(?:(?:on|by|at|from|it's|its|for|am|le|el|maybe|probably|let's say|say)\s)*(?:{_PLAIN_DATE})"
    rf"(?:,?\s(?:morning|afternoon|evening|night))?(?:,?\s(?:(?:at|um|à|a las)\s)?{_CLOCK})?"
    r"(?:\s(?:please|then))?[.!]?",
    re.IGNORECASE,
)
_NUMBERS_TEXT: Final = """
zero none one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen
seventeen eighteen nineteen twenty thirty forty fifty sixty seventy eighty ninety hundred thousand half
dozen couple null eins zwei drei vier fünf sechs sieben acht neun zehn zéro deux trois quatre cinq sept
huit neuf dix cero uno dos tres cuatro cinco seis siete ocho nueve diez
"""
_NUMBER_WORDS: Final = frozenset(_NUMBERS_TEXT.split())
_AROUND_TEXT: Final = """
about around just maybe roughly approximately like it's its i think i'd say make it only exactly at least
most up to a the and or so please of for probably ungefähr etwa circa environ unos
"""
_HEDGES: Final = frozenset(_AROUND_TEXT.split())
_THUMBS: Final = ("👍", "👌", "✅", "👎", "❌")
_ORDINALS: Final = {"first": 0, "second": 1, "third": 2, "fourth": 3, "fifth": 4, "last": -1}
_NEGATIONS: Final = frozenset({"not", "no", "don't", "except", "neither", "nicht", "kein", "pas", "ninguno"})


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
    words = [word for word in words_of(text) if word not in _HEDGES]
    if words and all(word in _NUMBER_WORDS for word in words[:-1]) and words[0] in _NUMBER_WORDS:
        return len(words) <= 4
    numbers = list(_NUMBER.finditer(text))
    if len(numbers) != 1:
        return False
    before, after = (
        [word for word in words_of(side) if word not in _HEDGES]
        for side in (text[: numbers[0].start()], text[numbers[0].end() :])
    )
    return not before and len(after) <= 2


def _date(text: str, _: Slot) -> bool:
    return _DATE.fullmatch(text) is not None


def _email(text: str, _: Slot) -> bool:
    return len(_EMAIL.findall(text)) == 1 and len(text.split()) <= 12


def _phone(text: str, _: Slot) -> bool:
    found = [match.group() for match in _PHONE.finditer(text) if not _DATE_LIKE.fullmatch(match.group())]
    digits = [sum(character.isdigit() for character in number) for number in found]
    return len(digits) == 1 and 7 <= digits[0] <= 15 and len(text.split()) <= 16


def _choice(text: str, slot: Slot) -> bool:
    words = words_of(text)
    choices = [words_of(choice) for choice in slot.choices]
    if words in choices:
        return True
    if len(words) > 8 or _NEGATIONS.intersection(words):
        return False
    if sum(_holds(words, choice) for choice in choices) == 1:
        return True
    place = _place(words)
    return place is not None and place < len(choices)


def _place(words: list[str]) -> int | None:
    """Where in the list of choices "2", "b" or "the second one" points, counted from 0 (-1 is the last)."""
    bare = [word for word in words if word not in {"the", "one", "option", "number", "please"}]
    if len(bare) != 1:
        return None
    if bare[0] in _ORDINALS:
        return _ORDINALS[bare[0]]
    if bare[0].isdecimal() and len(bare[0]) <= 2:
        return int(bare[0]) - 1 if int(bare[0]) else None
    return ord(bare[0]) - ord("a") if bare[0] in {"a", "b", "c", "d", "e", "f"} else None


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
