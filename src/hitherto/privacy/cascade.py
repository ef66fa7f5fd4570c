"""What rests on what: the records that go when turns or records are forgotten, and what must be learnt again. Pure.

A record goes when a turn it rests on goes, even if other turns say the same: its words may be those of the forgotten turn.
The other turns are then read again, so what they state themselves is still remembered. A summary goes when it covers a
forgotten turn, whether or not one of its sentences rests on it; so does the episode of its session, whose topics are drawn
from all turns. What depends on a record goes with it: the episode of an event, the thought about a loop, the fold that
repeats a fact, the name that nobody else has said.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import cast

from hitherto import ids as keys
from hitherto.ids import derived_id
from hitherto.learn.folds import fold_of
from hitherto.learn.thoughts import thought_id
from hitherto.types import Entity, Episode, Json, Loop, Memory, Progress, Record, StoredTurn, Summary, ToolReturn

STAYS = frozenset({"session", "profile", "state"})
"""Nouns that hold times and numbers, or what the application set; they go only when they are named."""
_MADE = frozenset({"summary", "progress"})
"""Nouns that are not learnt turn by turn, so no turn is read again for them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Fall:
    """What goes and what follows. `again` are turns to read again; only the ids in `back` may return from them."""

    gone: Mapping[str, Record]
    again: tuple[str, ...]
    back: tuple[str, ...]
    rewritten: tuple[Memory | Progress, ...]


def fall(
    turns: Sequence[StoredTurn],
    named: Sequence[Record],
    resting: Sequence[Record],
    live: Sequence[Record],
    *,
    once: Sequence[Record] = (),
) -> Fall:
    """Everything that goes with these turns and records. `resting` are the versions, including old ones, that name one of
    the turns as a source or tell its session; `live` is everything remembered now; `once` are versions, including old ones,
    of memories and entities, because what was merged and split still names the others."""
    said = {text for turn in turns for text in (turn.text, *_returned(turn)) if text}
    gone = {record.id: record for record in (*resting, *named) if record in named or record.noun not in STAYS}
    gone |= {record.id: record for record in live if isinstance(record, Summary) and _covers(record, turns)}
    gone |= {record.id: record for record in live if isinstance(record, Progress) and _holds(record, said)}
    lost = [record for record in gone.values() if isinstance(record, Entity)]
    newest = {record.id: record for record in once}
    gone |= {record.id: newest[record.id] for record in once if record.id not in gone and _named_one(record, lost)}
    chosen = {record.id for record in named}
    _spread(gone, live, chosen=chosen)
    forgotten = {turn.id for turn in turns}
    learnt = [record for record in gone.values() if record.id not in chosen and record.noun not in _MADE]
    named_refs = {record.key for record in learnt if isinstance(record, Entity)}
    staying = [record for record in live if record.id not in gone]
    about = [record for record in staying if isinstance(record, Memory) and named_refs.intersection(record.entities)]
    again = {source for record in (*learnt, *about) for source in record.sources} - forgotten
    return Fall(
        gone=gone,
        again=tuple(sorted(again)),
        back=tuple(sorted(record.id for record in learnt)),
        rewritten=(*_reinstated(staying, gone.values(), turns), *_gaps(gone.values())),
    )


def _returned(turn: StoredTurn) -> Iterable[str]:
    return (part.content for part in turn.parts if isinstance(part, ToolReturn))


def _holds(kept: Progress, said: set[str]) -> bool:
    """Whether a message stored as it was sent contains such a text, whatever turn it was recorded as."""
    return bool(kept.sources) and not said.isdisjoint(_texts(kept.fields.get("message")))


def _texts(value: Json | tuple[str, ...]) -> Iterable[str]:
    match value:
        case str():
            yield value
        case dict():
            yield from (text for each in value.values() for text in _texts(each))
        case list() | tuple():
            yield from (text for each in value for text in _texts(each))
        case _:
            return


def told(record: Record) -> Iterable[str]:
    """The words of a record, and not what it is, when it was or what it came from."""
    yield record.text
    for name in ("label", "aliases", "value", "entity_label", "topics", "tone", "detail"):
        yield from _texts(cast("Json | tuple[str, ...]", getattr(record, name, None)))


def _gaps(gone: Iterable[Record]) -> Iterable[Progress]:
    """What replaces a stored message, without its words, so that the conversation can be read past it."""
    for kept in gone:
        if isinstance(kept, Progress) and kept.sources:
            key, fields = kept.key and keys.gap(kept.key), {**kept.fields, "message": None}
            yield replace(kept, id=keys.gap(kept.id), key=key, fields=fields, sources=(), version=0)


def _covers(summary: Summary, turns: Iterable[StoredTurn]) -> bool:
    """Whether a summary was made while one of these turns was in view."""
    if summary.kind == "session":
        return any(turn.session == summary.session for turn in turns)
    return any(
        summary.first <= turn.place <= summary.last and summary.persona in (None, turn.persona) for turn in turns
    )


def _spread(gone: dict[str, Record], live: Sequence[Record], *, chosen: set[str]) -> None:
    """Adds what depends on the records that go, until nothing more does."""
    while True:
        more = [record for record in live if record.id not in gone and _hangs(record, gone, chosen=chosen)]
        if not more:
            return
        gone |= {record.id: record for record in more}


def _hangs(record: Record, gone: Mapping[str, Record], *, chosen: set[str]) -> bool:
    match record:
        case Memory():
            fold = fold_of(record)
            if fold in chosen or _repeats(record, gone.values()):
                return True
            return any(isinstance(e, Entity) and _only_named(record, e) for e in gone.values())
        case Episode():
            return any(record.id == derived_id("episode", name) for name in gone)
        case Summary():
            return record.kind == "spine" and any(name in gone for name in chosen)
        case _:
            return any(isinstance(loop, Loop) and record.id == thought_id(loop.id) for loop in gone.values())


def _repeats(memory: Memory, gone: Iterable[Record]) -> bool:
    """Whether this is a fold that repeats something that goes."""
    return any(isinstance(other, Memory) and fold_of(other) == memory.id for other in gone)


def _named_one(version: Record, lost: Sequence[Entity]) -> bool:
    """Whether a version of a memory or an entity refers to one of these entities, and not in its own words."""
    if isinstance(version, Entity):
        return any(entity.key in (version.merged_into, *version.apart_from) for entity in lost if entity.key)
    return isinstance(version, Memory) and any(_only_named(version, entity) for entity in lost)


def _only_named(memory: Memory, entity: Entity) -> bool:
    """Whether a memory refers to an entity by a name that its own words do not contain."""
    if entity.key is None or entity.key not in memory.entities or not memory.sources:
        return False
    return entity.key.partition(":")[2].replace("_", " ").casefold() not in memory.text.casefold()


def _reinstated(staying: Iterable[Record], gone: Iterable[Record], turns: Sequence[StoredTurn]) -> Iterable[Memory]:
    """Memories as they were before what goes changed them: taken out of a fold that is gone, or not ended after all."""
    lost = {record.id: record for record in gone}
    ends = {turn.at for turn in turns}
    subjects = {record.key for record in lost.values() if isinstance(record, Memory) and record.key}
    for memory in staying:
        if not isinstance(memory, Memory):
            continue
        if fold_of(memory) in lost:
            yield replace(memory, status="ACTIVE", reason=None)
        elif memory.key in subjects and memory.valid_to in ends:
            yield replace(memory, valid_to=None)
