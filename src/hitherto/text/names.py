"""Comparable names: slugs of entities, and the key that says two memories are about the same thing."""

import re
import unicodedata
from collections.abc import Sequence
from typing import Final

import jellyfish
from rapidfuzz.distance import DamerauLevenshtein

from hitherto.text.patterns import PatternTable
from hitherto.types import Entity, EntityType, FactType, MemoryType

__all__ = ["alike", "entity_ref", "given", "may_be", "memory_key", "slug", "sound"]

_GAP: Final = re.compile(r"[\s_\-‐‑‒–—]+")
_OTHER: Final = re.compile(r"[^\w\s\-‐‑‒–—]+")


def slug(label: str) -> str:
    """Lower case; spaces and hyphens become underscores; other punctuation is removed."""
    if label.isascii() and label.isalnum():
        return label.lower()
    plain = unicodedata.normalize("NFKC", label).lower()
    return _GAP.sub("_", _OTHER.sub("", plain)).strip("_")


def sound(name: str) -> str:
    """How a name sounds at its beginning. Spellings of one name share it, and so do some other names."""
    return jellyfish.metaphone(slug(name).partition("_")[0])


def entity_ref(kind: EntityType, label: str) -> str:
    """The reference of an entity, such as `person:john_doe`."""
    return f"{kind}:{slug(label)}"


def memory_key(
    memory_type: MemoryType,
    *,
    entity_type: EntityType,
    entity: str,
    fact_type: FactType,
    attribute: str = "",
) -> str:
    """What a memory is about: `people|person|john_doe|relationship`, with the attribute if one is known.

    `entity` is a reference or a label. Only memories whose whole keys are equal can replace each other.
    """
    name = slug(entity.partition(":")[2] or entity)
    parts = [memory_type.lower(), entity_type, name, fact_type]
    if attribute:
        parts.append(slug(attribute))
    return "|".join(parts)


# Which known entity a name means: the same name, an alias, a pet name, or a spelling that sounds the same.
#
# Speech recognition writes "Makesh" today and "Mukesh" tomorrow. But taking two people for one is the worse mistake: their
# facts mix and nobody notices. So a variant counts only if it is the only one, sounds the same, and differs in ways in
# which hearing and typing go wrong. Two names that are both common are two names, and so are endings that tell Maria from
# Mario. A title or a first name alone ("John", "Dr. Doe") means the full name if nobody else has it.


_TABLE: Final[Sequence[str]] = PatternTable.read("hitherto.text", "names.toml").content["given"]
_LINES: Final = tuple(frozenset(line.split()) for line in _TABLE)
_KNOWN: Final = frozenset[str]().union(*_LINES)
_FULL: Final = frozenset(line.split()[0] for line in _TABLE)
"""Names in their own right, not only pet forms of another."""
_TITLES: Final = frozenset(("mr", "mrs", "ms", "dr", "prof", "miss", "sir", "madam", "aunt", "uncle"))
_VOWELS: Final = frozenset("aeiouy")
_FOND: Final = ("ie", "ey", "ee", "y", "i")
_FEMININE: Final = frozenset(("ina", "ine", "ette", "etta", "ella", "elle", "iana"))
_ROOT: Final = 3
_LONG_ROOT: Final = 5
_TAIL: Final = 4
_SHORTEST: Final = 5
"""Shorter names differ from too many others by a single letter."""


def given() -> frozenset[str]:
    """Given names with their pet forms, in lower case."""
    return _KNOWN


def alike(name: str, kind: EntityType, known: Sequence[Entity]) -> Entity | None:
    """The one entity of that kind that this name means; None if there is no match or more than one."""
    of_kind = [entity for entity in known if entity.type == kind]
    for same in (_same, _part_of, _variant):
        if same is not _same and kind not in ("person", "org", "project"):
            return None
        found = [entity for entity in of_kind if any(same(name, other, kind) for other in _names(entity))]
        if found:
            return found[0] if len(found) == 1 else None
    return None


def may_be(one: str, other: str, kind: EntityType = "person") -> bool:
    """Whether two names can mean the same person or thing."""
    return any(same(one, other, kind) for same in (_same, _part_of, _variant))


def _names(entity: Entity) -> tuple[str, ...]:
    return (entity.label, *entity.aliases)


def _same(one: str, other: str, kind: EntityType) -> bool:
    del kind
    return slug(one) == slug(other)


def _part_of(one: str, other: str, kind: EntityType) -> bool:
    """A first name alone, or a family name with a title, means the full name."""
    if kind != "person":
        return False
    short, full = sorted((_words(one), _words(other)), key=len)
    if not short or len(short) >= len(full):
        return False
    titled = min((one, other), key=len).lower().split()[0].rstrip(".") in _TITLES
    return short[-1:] == full[-1:] if titled else len(short) == 1 and short[0] == full[0]


def _variant(one: str, other: str, kind: EntityType) -> bool:
    """The same name, spelt or spoken differently."""
    first, second = _words(one), _words(other)
    if not first or not second:
        return False
    if kind != "person":
        return len(first) == len(second) and slug(one) != slug(other) and _misheard("".join(first), "".join(second))
    if len(first) != len(second):
        short, full = sorted((first, second), key=len)
        return len(short) == 1 and _called(short[0], full[0])
    pairs = list(zip(first, second, strict=True))
    return all(a == b or (_called(a, b) if place == 0 else _misheard(a, b)) for place, (a, b) in enumerate(pairs))


def _words(name: str) -> list[str]:
    words = [word for word in slug(name).split("_") if word]
    return [word for word in words if word not in _TITLES] if len(words) > 1 else words


def _called(one: str, other: str) -> bool:
    first, second = _spelt(one), _spelt(other)
    if any(first in line and second in line for line in _LINES):
        return True
    if first in _KNOWN and second in _KNOWN:
        return False
    return _misheard(one, other) or any(_shortened(a, b) or _tail(a, b) for a, b in ((one, other), (other, one)))


def _spelt(name: str) -> str:
    """A pet form as the table spells it: "Aggy" for "Aggie". A name that the table has is taken as written."""
    if name in _KNOWN:
        return name
    roots = [name.removesuffix(end) for end in _FOND if name.endswith(end)][:1]
    return next((root + end for root in roots for end in _FOND if root + end in _KNOWN), name)


def _shortened(short: str, long: str) -> bool:
    """Whether one name is the beginning of the other, with or without a pet ending: "Thed" or "Theddy" for "Thedoric". Not
    counted: a beginning of three letters that lacks as many, a long one that lacks only two, a name in its own right, and
    what only turns a man's name into a woman's.
    """
    if short in _FULL or long.removeprefix(short) in _FEMININE or len(short) > len(long):
        return False
    fond = [short.removesuffix(end) for end in _FOND if short.endswith(end)]
    roots = [short, *fond, *(root[:-1] for root in fond if len(root) > 1 and root[-1] == root[-2])]
    return any(_begins(long, root) for root in roots)


def _begins(long: str, root: str) -> bool:
    lacking = len(long) - len(root)
    return len(root) >= _ROOT and long.startswith(root) and lacking >= (2 if len(root) >= _LONG_ROOT else _ROOT)


def _tail(short: str, long: str) -> bool:
    """Whether a known short form that is nobody's whole name ends the other: "Fred" of "Manfred"."""
    return len(short) >= _TAIL and short in _KNOWN - _FULL and long != short and long.endswith(short)


def _misheard(one: str, other: str) -> bool:
    """Whether two spellings are one word as speech recognition or a hasty typist would write it."""
    if one.replace("h", "") == other.replace("h", "") and min(len(one), len(other)) >= _TAIL and one[0] == other[0]:
        return True
    if min(len(one), len(other)) < _SHORTEST or one[0] != other[0] or abs(len(one) - len(other)) > 2:
        return False
    if not one.isascii() or not other.isascii() or _other_ending(one, other):
        return False
    far = DamerauLevenshtein.distance(one, other)
    if far == 1:
        return _skeleton(one) == _skeleton(other) or min(len(one), len(other)) > _SHORTEST + 1
    return far == 2 and jellyfish.metaphone(one) == jellyfish.metaphone(other)


def _skeleton(word: str) -> str:
    """Its consonants, with doubled ones once: what hearing preserves best."""
    kept = [letter for letter in word if letter not in _VOWELS and letter != "h"]
    return "".join(letter for place, letter in enumerate(kept) if not place or letter != kept[place - 1])


def _other_ending(one: str, other: str) -> bool:
    """Mario and Maria, Daniel and Daniela: the last vowel tells two people apart."""
    if one[:-1] == other[:-1]:
        return one[-1] in _VOWELS or other[-1] in _VOWELS
    short, long = sorted((one, other), key=len)
    return long.startswith(short) and long[len(short) :].strip("aeio") == ""
