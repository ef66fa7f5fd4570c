"""The step that lets receipts grow old: a snapshot keeps its texts for a month, or while it is among the newest thousand.

After that its ids, scores and reasons stay and its texts go, unless a younger snapshot still shows them. Which those are is
read before the lock; under it only snapshots that were taken meanwhile are looked at.
"""

from collections.abc import AsyncIterator, Mapping
from datetime import datetime, timedelta

from hitherto.errors import StoreUnavailable
from hitherto.learn.services import Receipts, Services
from hitherto.store.protocol import Answers, Change, Erasure, SnapshotList, StoredSnapshot, UserStore
from hitherto.work.cursors import Effect
from hitherto.work.overview import LAST_RUN, Overview
from hitherto.work.worker import Job, Step

NAME = "receipts"
KEPT = timedelta(days=30)
NEWEST = 1_000
PAGE = 100
BATCH = 500
"""How many snapshots are thinned in one transaction; the rest waits for the next day."""
DONE = 200
"""After so many thin ones in a row, what is older has been through this."""
MEANWHILE = 100
"""How many snapshots may be taken while the step reads; with more it tries again later."""


class Outrun(StoreUnavailable):
    """More snapshots were taken than could be looked at; the step starts over."""


def due(view: Overview, services: Services) -> Mapping[str, datetime]:
    """Once a day, if anything was said since."""
    if services.receipts is None or view.newest is None or view.newest.place <= view.position(NAME):
        return {}
    return {NAME: view.next_daily_run(NAME)}


async def run(job: Job[Services]) -> Effect:
    receipts = job.services.receipts
    newest = job.view.newest
    assert receipts is not None, "it is not due without"
    assert newest is not None, "it is not due without"
    shown: set[str] = set()
    old: list[StoredSnapshot] = []
    place = thin = 0
    first: str | None = None
    async for snapshot in _all(job.store):
        first = first or snapshot.id
        place += 1
        thin = 0 if snapshot.full else thin + 1
        if place <= NEWEST or job.now - snapshot.at <= KEPT:
            shown |= set(receipts.blobs(snapshot))
        elif snapshot.full:
            old.append(snapshot)
        if thin > DONE or len(old) == BATCH:
            break
    body = {LAST_RUN: job.now.isoformat()}
    if not old:
        return Effect(position=newest.place, body=body)
    latest = SnapshotList(limit=MEANWHILE)

    def decide(answers: Answers) -> Change:
        return _change(answers[latest], old, shown, first=first, receipts=receipts, now=job.now)

    return Effect(position=newest.place, body=body, queries=(latest,), decide=decide)


def _change(
    latest: tuple[StoredSnapshot, ...],
    old: list[StoredSnapshot],
    shown: set[str],
    *,
    first: str | None,
    receipts: Receipts,
    now: datetime,
) -> Change:
    if first not in {snapshot.id for snapshot in latest}:
        raise Outrun
    kept = shown.union(*(receipts.blobs(snapshot) for snapshot in latest))
    gone = {name for snapshot in old for name in receipts.blobs(snapshot)} - kept
    return Change(
        snapshots=tuple(receipts.thinned(snapshot) for snapshot in old),
        erase=Erasure(blobs=tuple(sorted(gone))),
        retired_at=now,
    )


async def _all(store: UserStore) -> AsyncIterator[StoredSnapshot]:
    """Every snapshot, newest first; a page grows when it holds nothing but one moment."""
    before: datetime | None = None
    limit = PAGE
    seen: set[str] = set()
    while True:
        query = SnapshotList(limit=limit, before=before)
        page = (await store.read(query))[query]
        fresh = [snapshot for snapshot in page if snapshot.id not in seen]
        for snapshot in fresh:
            seen.add(snapshot.id)
            yield snapshot
        if len(page) < limit:
            return
        limit = PAGE if fresh else limit * 2
        before = page[-1].at + timedelta(microseconds=1)


STEP: Step[Services] = Step(name=NAME, due=due, run=run)
