"""People and animals in someone's life: who they are, and what is said of them."""

import re
from collections.abc import Iterator
from typing import Final

from hitherto.learn.candidates import Candidate, Said
from hitherto.learn.rules.sentences import TABLE, claims, object_of, third_person
from hitherto.text.names import entity_ref, slug

__all__ = ["people"]

_NAMED: Final = tuple(map(TABLE.compiled, TABLE.texts("lists", "named")))
_UNNAMED: Final = TABLE.pattern("unnamed")
_DOING: Final = TABLE.pattern("doing")
_NOT_NAMES: Final = frozenset(
    ("I", "It", "He", "She", "They", "The", "This", "That", "And", "But", "So", "Yes", "No", "You", "We")
)
_EMPTY: Final = frozenset(("so", "very", "really", "always", "going", "a", "the", "not", "my", "here", "there", "ok"))


def people(said: Said) -> Iterator[Candidate]:
    """The people and animals the speaker names, and facts about those they name by their relation."""
    for sentence in claims(said.text):
        named: set[str] = set()
        for pattern in _NAMED:
            for found in pattern.finditer(sentence):
                relation = (found.groupdict().get("r") or "partner").lower()
                if found["n"].split()[0] not in _NOT_NAMES and relation not in named:
                    named.add(relation)
                    yield _relation(found["n"], relation)
        found = _UNNAMED.search(sentence)
        if found is not None and found["r"].lower() not in named:
            yield from _fact(found, who=f"The user's {found['r'].lower()}", label=found["r"].lower())
        found = _DOING.search(sentence)
        if found is not None and found["n"].split()[0] not in _NOT_NAMES:
            name = _bare(found["n"])
            yield from _fact(found, who=name, label=name)


def _bare(name: str) -> str:
    return name.strip(" '-").removesuffix("'s")


def _relation(name: str, relation: str) -> Candidate:
    name = _bare(name)
    return Candidate(
        text=f"{name} is the user's {relation}",
        type="PEOPLE",
        category="PERSON",
        entities=(entity_ref("person", name), "person:user"),
        label=name,
        fact_type="relationship",
        attribute=slug(f"relation {relation}"),
        value=relation,
        importance=2,
        confidence=0.85,
    )


def _fact(found: re.Match[str], *, who: str, label: str) -> Iterator[Candidate]:
    """What is said of someone, if it says something."""
    verb = found["v"].lower()
    rest = object_of(found["x"].strip(), most=12)
    words = rest.lower().split()
    if not words and verb not in {"passed away", "died"}:
        return
    if len(words) == 1 and words[0] in _EMPTY:
        return
    yield Candidate(
        text=third_person(f"{who} {verb} {rest}".strip()),
        type="PEOPLE",
        category="PERSON",
        entities=(entity_ref("person", label), "person:user"),
        label=label,
        attribute=slug(f"{verb} {' '.join(words[:3])}"),
        value=rest,
        importance=2 if verb in {"passed away", "died"} else 1,
        confidence=0.65,
    )
