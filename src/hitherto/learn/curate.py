"""The curator: keeps memory small without losing anything. It folds and archives; it never deletes, and never touches a
pin.

Several plain facts about one entity become one memory that states them all and rests on all their turns; the folded ones
are archived. A memory whose validity ended long ago is archived too. Importance that nothing reinforces fades by one step
after a while, never below trivial, and never for a pinned or core memory.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta

from hitherto.learn import rederivation
from hitherto.learn.folds import folded
from hitherto.learn.services import Services
from hitherto.store import records as nouns
from hitherto.store.protocol import Answers, Change, RecordList
from hitherto.types import Memory
from hitherto.work.cursors import Effect
from hitherto.work.overview import LAST_RUN, Overview
from hitherto.work.worker import Job, Step

NAME = "curate"
LOOKED_AT = 2_000
ENDED = timedelta(days=30)
FADES = timedelta(days=90)


def due(view: Overview, services: Services) -> Mapping[str, datetime]:
    """Once a day, if anything was written since."""
    del services
    return {NAME: view.next_daily_run(NAME)} if view.oldest is not None and view.head > view.position(NAME) else {}


async def run(job: Job[Services]) -> Effect:
    listed = RecordList(noun="memory", statuses=("ACTIVE",), limit=LOOKED_AT)
    active = nouns.records((await job.store.read(listed))[listed], Memory)
    # A fold that came apart is made again under its id when its facts are the same once more.
    folds = rederivation.before(memory.id for memory in curated(active, now=job.now) if memory.version == 0)

    def decide(answers: Answers) -> Change:
        earlier = rederivation.newest(answers[folds])
        memories = nouns.records(answers[listed], Memory)
        changed = [rederivation.following(memory, earlier) for memory in curated(memories, now=job.now)]
        return Change(records=tuple(nouns.indexed(m, index=job.services.indexer, now=job.now) for m in changed))

    body = {LAST_RUN: job.now.isoformat(), "memory_count": len(active)}
    return Effect(position=job.view.head, queries=(listed, folds), decide=decide, body=body)


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
    changed |= {memory.id: memory for memory in folded([m for m in memories if m.id not in changed], now=now)}
    return tuple(changed.values())


def _faded(memory: Memory, *, now: datetime) -> Memory | None:
    """One step less important after each period without being repeated."""
    touched = max(memory.recorded_at or memory.at, memory.at)
    if memory.importance in (0, 3) or now - touched <= FADES:
        return None
    return replace(memory, importance=memory.importance - 1)


STEP: Step[Services] = Step(name=NAME, due=due, run=run)
