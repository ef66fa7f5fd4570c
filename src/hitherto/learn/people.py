"""Who is who: noted names become known entities, or new ones. Pure.

A variant of a known name ("Makesh", "Mukesh") becomes an alias of it, unless both were named side by side, a reader says
that they are two, or a person has said so. A reference that was merged into another follows it. A later description of
somebody replaces the earlier one.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime

from hitherto.ids import derived_id
from hitherto.learn.notes import PersonNote, Scene
from hitherto.text.names import entity_ref, slug
from hitherto.types import Entity, EntityType, StoredTurn

Alike = Callable[[str, EntityType, Sequence[Entity]], Entity | None]
"""Which known entity a name means, if any."""

USER, PERSONA = "person:user", "person:persona"
_ALIASES = 12
_USER_WORDS = frozenset(("user", "the_user", "i", "me"))


def follow(ref: str, by_ref: Mapping[str, Entity]) -> str:
    """Where a reference leads after merges."""
    seen: set[str] = set()
    while ref in by_ref and (target := by_ref[ref].merged_into) and ref not in seen:
        seen.add(ref)
        ref = target
    return ref


class Book:
    """The entities of a user while one reading is settled."""

    def __init__(
        self,
        known: Iterable[Entity],
        *,
        scene: Scene,
        turns: Sequence[StoredTurn],
        alike: Alike,
        now: datetime,
        persona: str | None = None,
        confided: frozenset[str] = frozenset(),
    ) -> None:
        """`confided` are the slugs of names that were told to this persona in confidence, and nowhere else in these lines."""
        self._persona, self._confided = persona, confided
        self._by_ref = {entity.key: entity for entity in known if entity.key}
        self._scene = scene
        self._turns = turns
        self._alike = alike
        self._now = now
        self.changed: dict[str, Entity] = {}

    def note(self, note: PersonNote, *, cautious: bool = False) -> None:
        """Records a person with their names, unless it is one of the speakers. `cautious`: names that one turn mentions
        side by side are two people's."""
        if cautious:
            note = replace(note, aliases=tuple(name for name in note.aliases if not self._both(note.name, name)))
        if not slug(note.name) or self._self(note.name) is not None:
            return
        own = {slug(name) for name in (note.name, *note.aliases)}
        others = [name for name in note.not_same_as if slug(name) not in own]
        apart = tuple(ref for name in others if (ref := self.ref(name)) is not None)
        entity = self._meant(note.name, note.kind, apart=apart, names=note.aliases)
        said = self._saying(note.name, *note.aliases)
        if entity is not None and entity.persona is None and slug(note.name) in self._confided:
            return  # everybody may know them, and nobody else what was said of them here
        if entity is None:
            entity = self._new(note.name, note.kind, said, apart=apart)
        kept = [alias for alias in note.aliases if slug(alias) and self._self(alias) is None]
        kept = [alias for alias in kept if not self._of_another(alias, entity)]
        aliases = [name for name in (*entity.aliases, note.name, *kept) if slug(name) != slug(entity.label)]
        changed = replace(
            entity,
            text=note.what.strip()[:200] or entity.text,
            aliases=tuple({slug(name): name for name in reversed(aliases)}.values())[::-1][:_ALIASES],
            apart_from=tuple(dict.fromkeys((*entity.apart_from, *apart))),
            sources=tuple(dict.fromkeys((*entity.sources, *(turn.id for turn in said)))),
        )
        if changed != self._by_ref.get(entity.key or ""):
            self._put(changed)

    def ref(self, name: str) -> str | None:
        """The reference that a name means, if it is known."""
        own = self._self(name)
        if own is not None:
            return own
        entity = self._exact(name)
        if entity is None:
            live = [e for e in self._by_ref.values() if e.merged_into is None]
            possible = [e for e in live if not self._side_by_side(e, name)]
            entity = next(
                (
                    e
                    for kind in ("person", "animal", "org", "place", "project")
                    if (e := self._alike(name, kind, possible))
                ),
                None,
            )
        return entity.key if entity is not None else None

    def share(self, ref: str) -> None:
        """A person mentioned in confidence before has now been named openly."""
        entity = self._by_ref.get(ref)
        if entity is not None and entity.persona is not None:
            self._put(replace(entity, persona=None))

    def named(self, name: str) -> str | None:
        """The reference of whom a fact is about; a person who was only named there is new."""
        ref = self.ref(name)
        if ref is not None:
            return ref
        said = self._saying(name)
        if not slug(name) or not said or not name[:1].isupper():
            return None
        entity = self._new(name, "person", said, apart=())
        self._put(entity)
        return entity.key

    def of(self, ref: str) -> Entity | None:
        return self._by_ref.get(ref)

    def _self(self, name: str) -> str | None:
        word = slug(name)
        if word in _USER_WORDS or word == slug(self._scene.user):
            return USER
        return PERSONA if word == slug(self._scene.persona) else None

    def _exact(self, name: str) -> Entity | None:
        word = slug(name)
        found = [e for e in self._by_ref.values() if slug(e.label) == word] or [
            e for e in self._by_ref.values() if any(slug(alias) == word for alias in e.aliases)
        ]
        targets = {follow(e.key or "", self._by_ref) for e in found}
        return self._by_ref.get(targets.pop()) if len(targets) == 1 else None

    def _both(self, name: str, other: str) -> bool:
        return any(_says(turn.text, name) and _says(turn.text, other) for turn in self._turns)

    def _of_another(self, name: str, entity: Entity) -> bool:
        """Whether a name is what somebody else is called."""
        other = self._exact(name)
        return other is not None and other.key != entity.key

    def _meant(self, name: str, kind: EntityType, *, apart: Sequence[str], names: Sequence[str]) -> Entity | None:
        for one in (name, *names):
            entity = self._exact(one)
            if entity is not None and entity.key not in apart and entity.type == kind:
                return entity
        possible = [
            e
            for e in self._by_ref.values()
            if e.merged_into is None and e.key not in apart and not self._side_by_side(e, name)
        ]
        return self._alike(name, kind, possible)

    def _new(self, name: str, kind: EntityType, said: Sequence[StoredTurn], *, apart: Sequence[str]) -> Entity:
        ref = free = entity_ref(kind, name)
        others = 1
        while ref in self._by_ref:  # somebody else of that name
            others += 1
            ref = f"{free}_{others}"
        return Entity(
            id=derived_id("entity", ref),
            key=ref,
            label=" ".join(name.split()),
            type=kind,
            persona=self._persona if slug(name) in self._confided else None,
            origin=said[-1].origin if said else "user",
            sources=tuple(turn.id for turn in said[:1]),
            apart_from=tuple(apart),
            at=said[-1].at if said else self._now,
        )

    def _side_by_side(self, entity: Entity, name: str) -> bool:
        """Whether an entity cannot be meant: a person said so, or one turn names both."""
        if any(slug(name) in ref for ref in entity.apart_from):
            return True
        word = slug(name)
        for turn in self._turns:
            said = {slug(part) for part in re.findall(r"[\w'’-]+", turn.text)}
            others = (other for other in (entity.label, *entity.aliases) if slug(other) != word)
            if _spoken(word, said) and any(_spoken(slug(other), said) for other in others):
                return True
        return False

    def _saying(self, *names: str) -> list[StoredTurn]:
        found = [turn for turn in self._turns if any(_says(turn.text, name) for name in names if name.strip())]
        return found[-1:]

    def _put(self, entity: Entity) -> None:
        assert entity.key is not None, "entities are kept by their reference"
        self._by_ref[entity.key] = entity
        self.changed[entity.key] = entity


def _spoken(name: str, said: set[str]) -> bool:
    words = set(name.split("_"))
    return bool(words) and words <= said


def _says(text: str, name: str) -> bool:
    return re.search(rf"(?<!\w){re.escape(name)}(?!\w)", text, re.IGNORECASE) is not None
