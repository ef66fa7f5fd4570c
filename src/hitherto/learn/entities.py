"""Who is meant: names in what was found become references to entities that are known, or new ones. Pure.

A reference that was merged into another follows it; a name that is a variant of a known one ("Makesh", "Mukesh") becomes an
alias of it, unless both were named side by side or a person has said that they are two.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from hitherto.ids import derived_id
from hitherto.learn.candidates import Candidate
from hitherto.learn.services import Alike, Finding
from hitherto.text.names import slug
from hitherto.types import Entity, EntityType, StoredTurn


@dataclass(frozen=True, slots=True, kw_only=True)
class Resolved:
    """Findings with their references settled, and the entities that are new or have a new alias."""

    findings: tuple[Finding, ...]
    entities: tuple[Entity, ...]


def resolve(findings: Sequence[Finding], known: Sequence[Entity], *, alike: Alike, now: datetime) -> Resolved:
    book = _Book(known, alike=alike, now=now)
    settled = tuple(
        replace(finding, memories=tuple(book.settle(candidate, finding.turn) for candidate in finding.memories))
        for finding in findings
    )
    return Resolved(findings=settled, entities=tuple(book.changed.values()))


def follow(ref: str, by_ref: Mapping[str, Entity]) -> str:
    """Where a reference leads after merges."""
    seen: set[str] = set()
    while ref in by_ref and (target := by_ref[ref].merged_into) and ref not in seen:
        seen.add(ref)
        ref = target
    return ref


class _Book:
    """The entities while one batch is settled."""

    def __init__(self, known: Sequence[Entity], *, alike: Alike, now: datetime) -> None:
        self._by_ref = {entity.key: entity for entity in known if entity.key}
        self._alike = alike
        self._now = now
        self.changed: dict[str, Entity] = {}

    def settle(self, candidate: Candidate, turn: StoredTurn) -> Candidate:
        if not candidate.entities:
            return candidate
        refs = tuple(
            self._settled(ref, candidate.label if place == 0 else "", turn)
            for place, ref in enumerate(candidate.entities)
        )
        return replace(candidate, entities=tuple(dict.fromkeys(refs)))

    def _settled(self, ref: str, label: str, turn: StoredTurn) -> str:
        kind, _, slug = ref.partition(":")
        shown = label or slug.replace("_", " ").title()
        if ref in self._by_ref:
            return follow(ref, self._by_ref)
        entity_type = _entity_type(kind)
        possible = [e for e in self._by_ref.values() if e.merged_into is None and not _apart(e, ref, shown, turn)]
        variant = self._alike(shown, entity_type, possible)
        if variant is not None and variant.key is not None:
            aliases = tuple(dict.fromkeys((*variant.aliases, shown)))
            self._put(replace(variant, aliases=aliases, sources=tuple(dict.fromkeys((*variant.sources, turn.id)))))
            return variant.key
        self._put(
            Entity(
                id=derived_id("entity", ref),
                key=ref,
                label=shown,
                type=entity_type,
                origin=turn.origin,
                sources=(turn.id,),
                at=turn.at,
            )
        )
        return ref

    def _put(self, entity: Entity) -> None:
        assert entity.key is not None, "entities are kept by their reference"
        self._by_ref[entity.key] = entity
        self.changed[entity.key] = entity


def _apart(entity: Entity, ref: str, name: str, turn: StoredTurn) -> bool:
    """Whether an entity cannot be meant: a person said so, or the turn names both side by side."""
    if ref in entity.apart_from:
        return True
    said = {slug(word) for word in re.findall(r"[\w'’-]+", turn.text)}
    return any(slug(other) != slug(name) and _spoken(other, said) for other in (entity.label, *entity.aliases)) and (
        _spoken(name, said)
    )


def _spoken(name: str, said: set[str]) -> bool:
    words = set(slug(name).split("_"))
    return bool(words) and words <= said


def _entity_type(kind: str) -> EntityType:
    return "org" if kind == "org" else "place" if kind == "place" else "project" if kind == "project" else "person"
