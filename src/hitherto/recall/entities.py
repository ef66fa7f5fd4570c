"""Whom and what a message names: by name or alias, by a first name alone, or by a spelling that sounds alike.

The store keeps the names of entities as marks, so a message asks for the few that it may mean, and the results are checked
against the message itself.
"""

import re
from collections.abc import Iterator, Sequence
from typing import Final

from hitherto.store import records as nouns
from hitherto.text.analyser import STOPWORDS
from hitherto.text.names import may_be, slug
from hitherto.types import Entity, Memory

LOOKED_UP: Final = 96
"""The most marks that one message asks for; names beyond them are found through what mentions them."""
LONGEST_NAME: Final = 3
NEAR: Final = frozenset({"project", "place", "org"})
"""What is looked up one hop away from a person."""

_WORD: Final = re.compile(r"[^\W_][\w'’-]*")
_MOST_TEXT: Final = 2_000
_HEARD: Final = 5
"""Shorter words sound like too many others."""


def marks(text: str) -> tuple[str, ...]:
    """The marks of entities that a text may name."""
    found: dict[str, None] = {}
    for name in _names(text):
        found[nouns.named(name)[0]] = None
        if " " not in name and len(name) >= _HEARD:
            found[nouns.heard(name)] = None
    return tuple(found)[:LOOKED_UP]


def meant(text: str, entities: Sequence[Entity]) -> tuple[str, ...]:
    """References of the entities that the text names, in order."""
    found: dict[str, None] = {}
    for name in _names(text) if entities else ():
        said = slug(name)
        for entity in entities:
            called = (entity.label, *entity.aliases)
            by_name = any(said in (slug(other), slug(other).partition("_")[0]) for other in called)
            by_sound = len(name) >= _HEARD and any(may_be(name, other, entity.type) for other in called)
            if entity.key is not None and (by_name or by_sound):
                found[entity.key] = None
    return tuple(found)


def one_hop(refs: Sequence[str], facts: Sequence[Memory]) -> tuple[str, ...]:
    """From the people among these to the projects, places and companies that their facts name."""
    people = {ref for ref in refs if ref.startswith("person:")}
    near = (
        ref
        for fact in facts
        if people & set(fact.entities)
        for ref in fact.entities
        if ref.partition(":")[0] in NEAR and ref not in refs
    )
    return tuple(dict.fromkeys(near))


def _names(text: str) -> Iterator[str]:
    """Runs of up to three words that begin and end with a word that can be part of a name."""
    said = [word.removesuffix("'s").removesuffix("’s") for word in _WORD.findall(text[:_MOST_TEXT])]
    telling = [word.lower() not in STOPWORDS for word in said]
    for place, begins in enumerate(telling):
        for size in range(1, LONGEST_NAME + 1):
            end = place + size
            if begins and end <= len(said) and telling[end - 1]:
                yield " ".join(said[place:end])
