"""Corrections of who is who: two entities become one, or one becomes two. Everything that names them follows.

A merge keeps the first entity and turns references to the others, in memories, episodes and the keys by which memories are
compared, into its own; duplicates that result are merged. A split takes a name out of an entity: what rests on turns that
use that name goes with it, and the two are marked as different, so that no likeness joins them again.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime

from hitherto.errors import InvalidInput, NotFound
from hitherto.ids import derived_id
from hitherto.ingest import edit
from hitherto.learn.decide import REJECTED, joined, say_the_same
from hitherto.learn.thoughts import let_go
from hitherto.store import records as nouns
from hitherto.store.protocol import (
    Answers,
    Change,
    RecordList,
    RecordsByEntity,
    RecordsById,
    RecordsByKey,
    TurnsById,
    UserStore,
)
from hitherto.store.records import Index
from hitherto.text.names import entity_ref, memory_key, slug
from hitherto.types import Entity, Episode, Loop, Memory, Record, StoredTurn

MOST = 10_000
"""How many memories of an entity follow a correction."""


async def merge(store: UserStore, names: Sequence[str], *, index: Index, now: datetime) -> Entity:
    """Merges these entities (references or ids) into the first of them; returns it as it is now."""
    if len(set(names)) < 2:
        raise InvalidInput("name at least two entities to merge; the first of them is kept")
    keeper, *others = await _found(store, names)
    if any(entity.type != keeper.type for entity in others):
        raise InvalidInput(f"{keeper.key!r} is a {keeper.type}; only entities of the same type are merged")
    refs = tuple(ref for ref in dict.fromkeys(_ref(entity) for entity in others) if ref != _ref(keeper))
    whole = RecordsById(ids=tuple(entity.id for entity in (keeper, *others)))
    about, episodes = _naming((*refs, _ref(keeper)))

    def decide(answers: Answers) -> Change:
        current = {entity.id: entity for entity in nouns.records(answers[whole], Entity)}
        kept, gone = current[keeper.id], [current[entity.id] for entity in others if entity.id in current]
        renamed = dict.fromkeys(refs, _ref(kept))
        held = [_renamed(memory, renamed) for memory in nouns.records(answers[about], Memory)]
        changed: list[Record] = [
            replace(
                kept,
                aliases=_aliases(kept, gone),
                merged_into=None,
                apart_from=tuple(ref for ref in kept.apart_from if ref not in refs),
                sources=_joined(kept.sources, *(entity.sources for entity in gone)),
            ),
            *(replace(entity, merged_into=_ref(kept)) for entity in gone),
            *_said_once(held, before=nouns.records(answers[about], Memory), names=_names(kept, gone)),
            *(_followed(e, renamed) for e in nouns.records(answers[episodes], Episode) if set(e.entities) & set(refs)),
        ]
        return Change(records=tuple(nouns.indexed(record, index=index, now=now) for record in changed))

    await store.write(decide, whole, about, episodes)
    return (await _found(store, (keeper.id,)))[0]


async def split(
    store: UserStore,
    entity: str,
    *,
    name: str,
    memories: Sequence[str] | None,
    index: Index,
    now: datetime,
) -> Entity:
    """Turns a name of an entity into an entity of its own, with the memories given, or those whose turns use the name."""
    [one] = await _found(store, (entity,))
    if slug(name) == slug(one.label):
        raise InvalidInput(f"{name!r} is what {one.key!r} itself is called; name the alias that is someone else")
    ref = entity_ref(one.type, name)
    about, episodes = _naming((_ref(one),))
    answers = await store.read(about, episodes)
    rows = (*nouns.records(answers[about], Memory), *nouns.records(answers[episodes], Episode))
    said = TurnsById(ids=tuple(dict.fromkeys(source for record in (*rows, one) for source in record.sources)))
    turns = {turn.id: turn for turn in (await store.read(said))[said]}
    # The name rests on the turns that use it, and is forgotten with them.
    using = tuple(source for source in one.sources if source in turns and _says(turns[source].text, name))
    moving = {r.id for r in rows if (r.id in memories if memories is not None else _about(r, turns, name, one.label))}
    both = RecordsById(ids=(one.id,))
    there = RecordsByKey(noun="entity", keys=(ref,))

    def decide(answers: Answers) -> Change:
        [kept] = nouns.records(answers[both], Entity)
        found = nouns.records(answers[there], Entity)
        base = found[0] if found else Entity(id=derived_id("entity", ref), key=ref, label=name, type=one.type, at=now)
        apart = replace(
            base,
            merged_into=None,
            apart_from=_joined(base.apart_from, (_ref(kept),)),
            sources=_joined(base.sources, using),
        )
        renamed = {_ref(kept): ref}
        changed: list[Record] = [
            replace(
                kept,
                aliases=tuple(alias for alias in kept.aliases if slug(alias) != slug(name)),
                apart_from=_joined(kept.apart_from, (ref,)),
            ),
            apart,
            *(_renamed(m, renamed, label=name) for m in nouns.records(answers[about], Memory) if m.id in moving),
            *(_followed(e, renamed) for e in nouns.records(answers[episodes], Episode) if e.id in moving),
        ]
        return Change(records=tuple(nouns.indexed(record, index=index, now=now) for record in changed))

    await store.write(decide, both, there, about, episodes)
    return (await _found(store, (ref,)))[0]


async def _found(store: UserStore, names: Sequence[str]) -> list[Entity]:
    """The entities with these references or ids, in this order."""
    by_key, by_id = RecordsByKey(noun="entity", keys=tuple(names)), RecordsById(ids=tuple(names))
    everyone = RecordList(noun="entity", limit=MOST)
    answers = await store.read(by_key, by_id, everyone)
    rows = (*answers[by_key], *(row for row in answers[by_id] if row.noun == "entity"))
    known = {name: entity for entity in nouns.records(rows, Entity) for name in (entity.key, entity.id)}
    for name in names:
        if name not in known:
            labels = ", ".join(sorted(entity.key or "" for entity in nouns.records(answers[everyone], Entity))[:20])
            raise NotFound(f"there is no entity {name!r} of this user; known are {labels or 'none'}")
    return [known[name] for name in names]


def _naming(refs: tuple[str, ...]) -> tuple[RecordsByEntity, RecordsByEntity]:
    return RecordsByEntity(noun="memory", refs=refs, limit=MOST), RecordsByEntity(noun="episode", refs=refs, limit=MOST)


def _ref(entity: Entity) -> str:
    return entity.key or entity_ref(entity.type, entity.label)


def _joined(first: Sequence[str], *more: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys((*first, *(one for others in more for one in others))))


def _aliases(kept: Entity, gone: Sequence[Entity]) -> tuple[str, ...]:
    names = _joined(kept.aliases, *((entity.label, *entity.aliases) for entity in gone))
    return tuple(name for name in names if slug(name) != slug(kept.label))


def _followed(episode: Episode, renamed: Mapping[str, str]) -> Episode:
    return replace(episode, entities=_joined((), (renamed.get(ref, ref) for ref in episode.entities)))


def _renamed(memory: Memory, renamed: Mapping[str, str], *, label: str | None = None) -> Memory:
    """A memory that names the other reference instead, and is compared under it."""
    if not set(memory.entities) & renamed.keys():
        return memory
    first = memory.entities[0]
    about = _joined((), (renamed.get(ref, ref) for ref in memory.entities))
    key = memory.key
    if key is not None and first in renamed and memory.entity_type is not None:
        key = memory_key(
            memory.type,
            entity_type=memory.entity_type,
            entity=renamed[first],
            fact_type=memory.fact_type,
            attribute=memory.attribute,
        )
    shown = label if label and first in renamed else memory.entity_label
    return replace(memory, entities=about, key=key, entity_label=shown)


def _names(kept: Entity, gone: Sequence[Entity]) -> dict[str, str]:
    return dict.fromkeys((*kept.aliases, *_aliases(kept, gone)), kept.label)


def _said_once(held: Sequence[Memory], *, before: Sequence[Memory], names: Mapping[str, str]) -> list[Memory]:
    """Which memories to write after a merge: the renamed ones and, of those that now say the same, the older one with all
    sources."""
    unchanged = {memory.id: memory for memory in before}
    written: dict[str, Memory] = {memory.id: memory for memory in held if memory != unchanged[memory.id]}
    live = sorted((m for m in held if m.status == "ACTIVE" and m.valid_to is None), key=lambda m: (m.at, m.seq))
    kept: list[Memory] = []
    for memory in live:
        same = next((other for other in kept if _repeats(memory, other, names)), None)
        if same is None or memory.pinned:
            kept.append(memory)
            continue
        fuller = replace(
            same,
            sources=_joined(same.sources, memory.sources),
            quotes=joined(same.quotes, memory.quotes),
            mentions=same.mentions + memory.mentions,
            importance=max(same.importance, memory.importance),
        )
        kept[kept.index(same)] = fuller
        written[fuller.id] = fuller
        written[memory.id] = replace(memory, status="ARCHIVED", reason=f"says the same as {same.id}")
    return list(written.values())


def _repeats(memory: Memory, other: Memory, names: Mapping[str, str]) -> bool:
    """Whether one repeats the other: under one key, or in the same words apart from the names."""
    if memory.key is None or memory.persona != other.persona or memory.entities != other.entities:
        return False
    return say_the_same(memory, other, names)


def _about(record: Record, turns: Mapping[str, StoredTurn], name: str, label: str) -> bool:
    """Whether a record rests on turns that use this name and not the other."""
    texts = [turns[source].text for source in record.sources if source in turns]
    return any(_says(text, name) for text in texts) and not any(_says(text, label) for text in texts)


def _says(text: str, name: str) -> bool:
    return re.search(rf"(?<!\w){re.escape(name)}(?!\w)", text, re.IGNORECASE) is not None


# Rejecting what was learnt: one step, after which the same turns do not bring it back.
#
# A rejected memory is archived for that reason with its quotes and turns; notes that rest on them are left out from then
# on. A rejected loop is dropped, together with what was thought about it.


async def reject(desk: edit.Desk, id: str) -> Record:
    query = RecordsById(ids=(id,))
    found = nouns.all_records((await desk.store.read(query))[query])
    if not found:
        raise NotFound(f"there is no record {id!r} of this user")
    [record] = found
    if record.noun == "memory":
        return await edit.update(desk, id, {"status": "ARCHIVED", "reason": REJECTED, "pinned": False})
    if record.noun != "loop":
        raise InvalidInput(f"{id!r} is a {record.noun}; memories and loops can be rejected")
    loop = await edit.update(desk, id, {"status": "dropped"})
    assert isinstance(loop, Loop), "it was one"
    await let_go(desk.store, loop, now=desk.now)
    return loop
