"""Names made comparable: slugs of entities and the key that says two memories are about the same thing."""

import re
import unicodedata
from typing import Final

import jellyfish

from hitherto.types import EntityType, FactType, MemoryType

__all__ = ["entity_ref", "memory_key", "slug", "sound"]

_GAP: Final = re.compile(r"[\s_\-‐‑‒–—]+")
_OTHER: Final = re.compile(r"[^\w\s\-‐‑‒–—]+")


def slug(label: str) -> str:
    """Lower case, spaces and hyphens become underscores, other punctuation is removed."""
    if label.isascii() and label.isalnum():
        return label.lower()
    plain = unicodedata.normalize("NFKC", label).lower()
    return _GAP.sub("_", _OTHER.sub("", plain)).strip("_")


def sound(name: str) -> str:
    """How a name begins when it is said: spellings of one name share it, and so do some other names."""
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
    """What a memory is about: `people|person|john_doe|relationship`, and the attribute where one is known.

    `entity` is a reference or a label; only memories whose whole keys are equal can replace each other.
    """
    name = slug(entity.partition(":")[2] or entity)
    parts = [memory_type.lower(), entity_type, name, fact_type]
    if attribute:
        parts.append(slug(attribute))
    return "|".join(parts)
