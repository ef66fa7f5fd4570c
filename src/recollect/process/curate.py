"""The curator: keeps memory small without losing anything. It folds and archives; it never deletes, nor touches a pin.

Several plain facts about one entity become one memory that says them all and rests on all their turns; the folded ones are
archived. A memory whose validity ended long ago is archived too. Importance that nobody reinforces fades by one step after
a while, never below trivial, never for a pinned or core memory.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta

from recollect.ids import derived_id
from recollect.process.services import Services
from recollect.store import nouns
from recollect.store.base import Answers, Change, RecordList
from recollect.types import Memory
from recollect.work.cursors import Effect
from recollect.work.overview import Overview
from recollect.work.worker import Job, Step

NAME = "curate"
EVERY = timedelta(days=1)
LOOKED_AT = 2_000
FOLD = 4
"""So many facts of one entity are folded into one."""
FOLDED_CHARACTERS = 400
ENDED = timedelta(days=30)
FADES = timedelta(days=90)


def due(view: Overview, services: Services) -> Mapping[str, datetime]:
    """Once a day, if anything was written since."""
    del services
    cursor = view.cursors.get(NAME)
    if view.head <= (cursor.position if cursor else 0) or view.newest is None:
        return {}
    last = cursor.body.get("last_run_at") if cursor else None
    return {NAME: datetime.fromisoformat(str(last)) + EVERY if last else view.newest.recorded_at + EVERY}


async def run(job: Job[Services]) -> Effect:
    listed = RecordList(noun="memory", statuses=("ACTIVE",), limit=LOOKED_AT)
    count = len((await job.store.read(listed))[listed])

    def decide(answers: Answers) -> Change:
        memories = nouns.records(answers[listed], Memory)
        changed = curated(memories, now=job.now)
        return Change(records=tuple(nouns.indexed(m, index=job.services.indexer, now=job.now) for m in changed))

    body = {"last_run_at": job.now.isoformat(), "memory_count": count}
    return Effect(position=job.view.head, queries=(listed,), decide=decide, body=body)


def curated(memories: Sequence[Memory], *, now: datetime) -> tuple[Memory, ...]:
    """The memories to write: folds, what they archive, what has ended, what has faded. Pure."""
    changed: dict[str, Memory] = {}
    for memory in memories:
        if memory.pinned or memory.standing:
            continue
        if memory.valid_to is not None and now - memory.valid_to > ENDED:
            changed[memory.id] = replace(memory, status="ARCHIVED", reason="superseded")
        elif faded := _faded(memory, now=now):
            changed[memory.id] = faded
    for group in _foldable([m for m in memories if m.id not in changed]):
        fold = _folded(group, now=now)
        changed[fold.id] = fold
        changed |= {m.id: replace(m, status="ARCHIVED", reason=f"folded into {fold.id}") for m in group}
    return tuple(changed.values())


def _faded(memory: Memory, *, now: datetime) -> Memory | None:
    """One step less important after each stretch without being said again."""
    touched = max(memory.recorded_at or memory.at, memory.at)
    if memory.importance in (0, 3) or now - touched <= FADES:
        return None
    return replace(memory, importance=memory.importance - 1)


def _foldable(memories: Sequence[Memory]) -> list[list[Memory]]:
    groups: dict[tuple[str, str | None, str, str], list[Memory]] = {}
    for memory in memories:
        plain = not memory.pinned and not memory.standing and memory.importance < 3 and memory.valid_to is None
        if plain and memory.entities and memory.source == "shadow_extraction" and memory.category != "EVENT":
            place = (memory.entities[0], memory.persona, memory.subject, memory.fact_type)
            groups.setdefault(place, []).append(memory)
    return [
        sorted(group, key=lambda m: (m.at, m.seq))
        for group in groups.values()
        if len(group) >= FOLD and sum(len(m.text) for m in group) <= FOLDED_CHARACTERS
    ]


def _folded(group: Sequence[Memory], *, now: datetime) -> Memory:
    newest = group[-1]
    return replace(
        newest,
        id=derived_id("fold", *(memory.id for memory in group)),
        version=0,
        seq=0,
        text=" ".join(memory.text.rstrip(".") + "." for memory in group),
        key=None,
        attribute="",
        value="",
        sources=tuple(dict.fromkeys(source for memory in group for source in memory.sources)),
        entities=tuple(dict.fromkeys(ref for memory in group for ref in memory.entities)),
        importance=max(memory.importance for memory in group),
        mentions=sum(memory.mentions for memory in group),
        confidence=min(memory.confidence for memory in group),
        source="curated_fold",
        at=now,
        reason=None,
    )


STEP: Step[Services] = Step(name=NAME, due=due, run=run)
