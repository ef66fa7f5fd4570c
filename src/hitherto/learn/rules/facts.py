"""Facts people state about themselves: name, home, work, family, tastes, diet, plans, corrections."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, Final

from hitherto.learn.candidates import Candidate, Polarity, Said
from hitherto.learn.rules.sentences import TABLE, claims, object_of, plain_end, third_person
from hitherto.text.names import entity_ref, slug
from hitherto.text.time.spans import ranges
from hitherto.types import Category, EntityType, FactType, MemoryType

__all__ = ["facts"]


@dataclass(frozen=True, slots=True)
class _Rule:
    """A pattern whose group `x` (or the words behind it) is the value of an attribute of the user."""

    pattern: re.Pattern[str]
    attribute: str
    wording: str
    category: Category = "BIOGRAPHY"
    importance: int = 1
    fact_type: FactType = "fact"
    entity: EntityType | None = None
    polarity: Polarity = "positive"
    confidence: float = 0.8
    memory_type: MemoryType = "PROFILE"
    many: bool = False


def _read(rule: dict[str, Any]) -> _Rule:
    filled: dict[str, Any] = {**rule, "pattern": TABLE.compiled(rule["pattern"])}
    return _Rule(**filled)


_RULES: Final = tuple(map(_read, TABLE.content["fact"]))
_CORRECTING: Final = TABLE.pattern("correcting")


def facts(said: Said) -> Iterator[Candidate]:
    """What the speaker states about themselves."""
    for sentence in claims(said.text):
        correcting = _CORRECTING.search(sentence) is not None
        for rule in _RULES:
            for found in rule.pattern.finditer(sentence):
                candidate = _stated(rule, found, sentence, said)
                if candidate is not None:
                    yield replace(candidate, correction=correcting)


def _stated(rule: _Rule, found: re.Match[str], sentence: str, said: Said) -> Candidate | None:
    whole = rule.entity in {"place", "org"} or rule.attribute in {"name", "language"}
    value = plain_end(found["x"]) if whole else object_of(found["x"])
    value = value.strip(" .,'\"")
    if len(value) < 2 or (rule.many and len(value.split()) > 9):
        return None
    of = found.groupdict().get("of") or ""
    if rule.attribute == "favorite" and not of:
        of = "thing"
    attribute = f"{rule.attribute} {of}".strip() if of else rule.attribute
    if rule.many:
        attribute = f"{rule.attribute} {_head(value)}"
    entities = [] if rule.entity is None else [entity_ref(rule.entity, value)]
    when = ranges(sentence, now=said.now, zone=said.zone) if rule.attribute == "project" else []
    text = rule.wording.format(x=third_person(value), of=of)
    return Candidate(
        text=text[:1].upper() + text[1:],
        type=rule.memory_type,
        category=rule.category,
        entities=("person:user", *entities) if rule.memory_type == "PROFILE" else (*entities, "person:user"),
        label=value if rule.entity else "",
        entity_type=rule.entity if rule.memory_type == "PROJECT" and rule.entity else "person",
        fact_type=rule.fact_type,
        attribute=slug(attribute),
        value=value,
        importance=rule.importance,
        confidence=rule.confidence,
        polarity=rule.polarity,
        time=when[0] if when else None,
    )


def _head(value: str) -> str:
    """The words that tell one of many values of an attribute from another."""
    words = [word for word in re.findall(r"[\w']+", value.lower()) if word not in _LIGHT]
    return " ".join(words[:4])


_LIGHT: Final = frozenset(
    (
        "a",
        "an",
        "the",
        "my",
        "our",
        "to",
        "of",
        "in",
        "on",
        "at",
        "with",
        "and",
        "some",
        "any",
        "really",
        "so",
        "all",
        "for",
    )
)
