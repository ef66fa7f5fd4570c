"""Numbers as people write them: digits, words, ordinals."""

from typing import Final

__all__ = ["ORDINALS", "counted", "number_at", "ordinal_at", "year_at"]

_SMALL_WORDS: Final = """zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen
sixteen seventeen eighteen nineteen"""
_TENS_WORDS: Final = "twenty thirty forty fifty sixty seventy eighty ninety"
_ORDINAL_WORDS: Final = """first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth
fourteenth fifteenth sixteenth seventeenth eighteenth nineteenth twentieth"""
_SMALL: Final = {word: value for value, word in enumerate(_SMALL_WORDS.split())}
_TENS: Final = {word: 10 * place for place, word in enumerate(_TENS_WORDS.split(), start=2)}
_LOOSE: Final = {"a": 1, "an": 1, "couple": 2, "few": 3, "several": 3}
ORDINALS: Final = {word: value for value, word in enumerate(_ORDINAL_WORDS.split(), start=1)} | {"thirtieth": 30}


def number_at(words: list[str], place: int, *, loose: bool = False) -> tuple[float, int] | None:
    """The number that begins at `place` and the place behind it; `loose` also reads "a", "a couple of"."""
    word = words[place] if place < len(words) else ""
    if word.isascii() and word.replace(".", "", 1).isdigit():
        return float(word), place + 1
    if word in _SMALL:
        return float(_SMALL[word]), place + 1
    if word in _TENS:
        unit = _SMALL.get(words[place + 1], 0) if place + 1 < len(words) else 0
        return (float(_TENS[word] + unit), place + 2) if 0 < unit < 10 else (float(_TENS[word]), place + 1)
    if not loose:
        return None
    behind = place + 1
    if word in {"a", "an"} and behind < len(words) and words[behind] in {"couple", "few"}:
        word, behind = words[behind], behind + 1
    if word not in _LOOSE:
        return None
    if behind < len(words) and words[behind] == "of" and word not in {"a", "an"}:
        behind += 1
    return float(_LOOSE[word]), behind


def ordinal_at(words: list[str], place: int) -> tuple[int, int] | None:
    """The ordinal (`3rd`, `third`, `twenty third`) that begins at `place` and the place behind it."""
    word = words[place] if place < len(words) else ""
    if len(word) > 2 and word[:-2].isdigit() and word[-2:] in {"st", "nd", "rd", "th"}:
        return int(word[:-2]), place + 1
    if word in ORDINALS:
        return ORDINALS[word], place + 1
    if word in {"twenty", "thirty"} and place + 1 < len(words) and ORDINALS.get(words[place + 1], 99) < 10:
        return _TENS[word] + ORDINALS[words[place + 1]], place + 2
    return None


def year_at(words: list[str], place: int) -> tuple[int, int] | None:
    """A year of four digits or in words ("nineteen eighty six", "two thousand and fifteen")."""
    word = words[place] if place < len(words) else ""
    if len(word) == 4 and word.isascii() and word.isdigit() and 1000 <= int(word) <= 2999:
        return int(word), place + 1
    if words[place : place + 2] == ["two", "thousand"]:
        behind = place + 2 + (words[place + 2 : place + 3] == ["and"])
        rest = number_at(words, behind)
        return (2000 + int(rest[0]), rest[1]) if rest and rest[0] < 100 else (2000, place + 2)
    if word in {"seventeen", "eighteen", "nineteen", "twenty"}:
        century = 2000 if word == "twenty" else 100 * _SMALL[word]
        behind = place + 1 + (words[place + 1 : place + 2] == ["hundred"])
        rest = number_at(words, behind)
        if rest and 10 <= rest[0] < 100:
            return century + int(rest[0]), rest[1]
    return None


def counted(number: int, noun: str) -> str:
    """A number with its noun, as English output shows it: `1 user`, `2,000 users`."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"
