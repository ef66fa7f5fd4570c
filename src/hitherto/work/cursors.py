"""Moves a step forward: its effects and its cursor are one transaction, under the worker's fence.

A step reads the log from its cursor, works (perhaps for seconds, with a model, holding no transaction), and returns an
`Effect`. `commit` writes it only if the cursor is still where the step began and the lease is still this worker's: whatever
happens, an effect is written once or not at all.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any

from hitherto.errors import Fenced
from hitherto.store.protocol import Answers, Change, CurrentLease, Cursor, Cursors, Lease, Query, UserStore
from hitherto.types import Json
from hitherto.work import lease as leases

MAX_ATTEMPTS = 8
FIRST_RETRY = timedelta(seconds=2)
LAST_RETRY = timedelta(minutes=30)
SUCCEEDED, FAILED, REASON = "succeeded_at", "failed_at", "reason"
"""What cursors record about attempts, besides what a step records itself."""


def _nothing(_: Answers) -> Change:
    return Change()


@dataclass(frozen=True, slots=True, kw_only=True)
class Effect:
    """What a step wants written, and where its cursor goes. `decide` sees the answers to `queries` under the lock."""

    position: int
    due: datetime | None = None
    body: Mapping[str, Json] = field(default_factory=dict[str, Json])
    queries: tuple[Query[Any], ...] = ()
    decide: Callable[[Answers], Change] = _nothing


async def commit(store: UserStore, *, cursor: Cursor, effect: Effect, lease: Lease) -> None:
    """Writes the effect and the moved cursor, or raises Fenced and writes nothing."""
    current, held = Cursors(), CurrentLease()
    moved = Cursor(step=cursor.step, position=effect.position, due=effect.due, body=effect.body)

    def decide(answers: Answers) -> Change:
        _check(answers[current], cursor)
        leases.check(answers[held], lease)
        change = effect.decide(answers)
        return replace(change, cursors=(*change.cursors, moved))

    await store.write(decide, current, held, *effect.queries)


async def fail(store: UserStore, *, cursor: Cursor, error: Exception, now: datetime, lease: Lease) -> Cursor:
    """Records a failed attempt: due again after a growing pause, parked after the last one."""
    attempts = cursor.attempts + 1
    pause = min(FIRST_RETRY * 2 ** (attempts - 1), LAST_RETRY)
    failed = replace(
        cursor,
        attempts=attempts,
        error=str(error)[:500],
        due=now + pause,
        parked=attempts >= MAX_ATTEMPTS,
        body={**cursor.body, FAILED: now.isoformat(), REASON: type(error).__name__},
    )
    current, held = Cursors(), CurrentLease()

    def decide(answers: Answers) -> Change:
        _check(answers[current], cursor)
        leases.check(answers[held], lease)
        return Change(cursors=(failed,))

    await store.write(decide, current, held)
    return failed


async def retry(store: UserStore, *, step: str | None, now: datetime) -> int:
    """Makes parked steps due again, all of them or one; returns how many there were."""
    query = Cursors()
    count = 0

    def decide(answers: Answers) -> Change:
        nonlocal count
        parked = [c for c in answers[query] if c.parked and step in (None, c.step)]
        count = len(parked)
        return Change(cursors=tuple(replace(c, parked=False, attempts=0, due=now) for c in parked))

    await store.write(decide, query)
    return count


def _check(current: tuple[Cursor, ...], mine: Cursor) -> None:
    standing = next((c for c in current if c.step == mine.step), Cursor(step=mine.step))
    if standing.position != mine.position:
        raise Fenced(f"step {mine.step!r} was moved from {mine.position} to {standing.position} by another worker")
