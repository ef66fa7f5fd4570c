"""Does a message answer what the assistant is waiting for?

A pending slot may take only what looks like its value, because everything it takes wrongly is a task of
the user that is lost. So each type is narrow: the value has to be (nearly) the whole message, and a
question never fits.
"""

import re
from collections.abc import Callable
from typing import Final

from hitherto.ingest.short import words_of
from hitherto.text.languages import CODES, language, listed
from hitherto.types import Slot

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
    """Whether the text asks something, in any script's own sign."""
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
