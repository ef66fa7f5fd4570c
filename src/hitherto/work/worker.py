"""The worker: finds users with due work, leases one at a time, runs what is due. It knows no kinds of work.

A step decides itself when it is due, from an overview of the user's log, so there is no queue to keep in step with the
data: recording a turn writes nothing here. A failing step is retried later and finally parked; it never stops the others.
"""

import asyncio
import logging
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Generic, TypeVar

from hitherto.clock import Clock
from hitherto.coordination.local import Coordination, LocalCoordination
from hitherto.errors import Fenced, HithertoError, StoreError
from hitherto.store.catalog import UserKey
from hitherto.store.protocol import Cursor, Head, Lease, Store, UserStore
from hitherto.work import cursors
from hitherto.work import lease as leases
from hitherto.work.cursors import Effect
from hitherto.work.overview import Overview, overview

LOG = logging.getLogger("hitherto.work")

TRY_AGAIN = timedelta(seconds=10)
"""When to return to a user whose store could not be used."""

SWEEP_AGAIN = 60.0
"""Seconds before a failed sweep is retried."""

S = TypeVar("S")
"""What steps are given besides the user's store: models, indexers, recipes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Job(Generic[S]):
    """One run of a step for one user."""

    store: UserStore
    key: UserKey
    now: datetime
    cursor: Cursor
    view: Overview
    services: S


@dataclass(frozen=True, slots=True, kw_only=True)
class Step(Generic[S]):
    """`due` names the cursors that this step has work for, and since when; `run` does one piece of it."""

    name: str
    due: Callable[[Overview, S], Mapping[str, datetime]]
    run: Callable[[Job[S]], Awaitable[Effect]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Settled:
    """What a visit to a user did: pieces of work done, failed attempts, and when something is due next."""

    done: int = 0
    failed: int = 0
    next_due: datetime | None = None
    busy: bool = False


class Worker(Generic[S]):
    """Runs steps for the users of one store."""

    def __init__(
        self,
        store: Store,
        steps: Sequence[Step[S]],
        services: Callable[[UserKey], Awaitable[S]],
        *,
        clock: Clock,
        name: str,
        coordination: Coordination | None = None,
        heartbeat: float = leases.DURATION.total_seconds() / 3,
    ) -> None:
        """`services` is asked at every visit, so that it can include the tenant's newest personas. Through `beside`,
        workers wake each other and keep out of each other's way; without it they learn from the store alone. `heartbeat` is
        how many seconds a step may run before its lease is renewed."""
        self._store = store
        self._steps = steps
        self._services = services
        self._clock = clock
        self._name = name
        self._coordination = coordination or LocalCoordination()
        self._heartbeat = heartbeat

    async def settle(self, key: UserKey) -> Settled:
        """Runs everything that is due for one user now, and notes when the next work is."""
        if not await self._coordination.claim(key, holder=self._name):
            return Settled(busy=True)
        try:
            return await self._settle(key)
        finally:
            await self._coordination.release(key, holder=self._name)

    async def _settle(self, key: UserKey) -> Settled:
        store = self._store.user(key)
        services = await self._services(key)
        view = await overview(store, now=self._clock())
        if self._next(view, services) is None:
            return Settled(next_due=await self._hint(key, view, services))
        lease = await leases.take(store, holder=self._name, now=self._clock(), seen=view.head)
        if lease is None:
            return Settled(busy=True)
        done = failed = 0
        try:
            while True:
                view = await overview(store, now=self._clock())
                found = self._next(view, services)
                if found is None:
                    break
                step, cursor = found
                lease = await leases.prolong(store, lease, now=self._clock())
                job = Job(store=store, key=key, now=view.now, cursor=cursor, view=view, services=services)
                if await self._run(step, job, lease=lease):
                    done += 1
                else:
                    failed += 1
        except Fenced as error:
            LOG.info("%s", error)
            return Settled(done=done, failed=failed, busy=True)
        await leases.release(store, lease, now=self._clock())
        next_due = await self._hint(key, view, services)
        return Settled(done=done, failed=failed, next_due=next_due)

    async def _hint(self, key: UserKey, view: Overview, services: S) -> datetime | None:
        """Notes when this user's next work is due. This may replace the hint of a turn that arrived in the meantime, so the
        log is checked once more."""
        next_due = min((due for _, due, _ in self._pending(view, services)), default=None)
        await self._store.catalog.hint({key: next_due})
        head = Head()
        if (await self._store.user(key).read(head))[head] != view.head:
            await self._store.catalog.hint({key: self._clock()})
        return next_due

    async def visit_due(self, *, limit: int = 100) -> int:
        """Settles users whose hint is due; returns how many there were."""
        keys = await self._store.catalog.due(now=self._clock(), limit=limit)
        settled = [await self._visit(key) for key in keys]
        return sum(each is not None and not each.busy for each in settled)

    async def sweep(self) -> int:
        """Settles every user: the slow way that finds work whose hint was lost. Returns how many pieces were done."""
        settled = [await self._visit(key) for key in await self._store.catalog.users(readable=True)]
        return sum(each.done for each in settled if each is not None)

    async def _visit(self, key: UserKey) -> Settled | None:
        """Settles one of many. A user whose store cannot be used holds up nobody else: None, and again later."""
        try:
            return await self.settle(key)
        except StoreError as error:
            LOG.warning("a user's work could not be done: %s", error)
            await self._store.catalog.hint({key: self._clock() + TRY_AGAIN})
            return None

    async def run(self, *, stop: asyncio.Event, idle: float = 1.0, sweep_every: float = 3600.0) -> None:
        """Works until `stop` is set: due users at once, all users once in a while. If the store is away, waits for it."""
        loop = asyncio.get_running_loop()
        next_sweep = loop.time()
        while not stop.is_set():
            if loop.time() >= next_sweep:
                swept = await self._unless_away(self.sweep())
                next_sweep = loop.time() + (min(sweep_every, SWEEP_AGAIN) if swept is None else sweep_every)
            if not await self._unless_away(self.visit_due()):
                await self._pause(stop, idle=idle)

    async def _unless_away(self, work: Awaitable[int]) -> int | None:
        try:
            return await work
        except StoreError as error:
            LOG.warning("the store does not answer: %s", error)
            return None

    async def _pause(self, stop: asyncio.Event, *, idle: float) -> None:
        """Waits until a wake-up or `stop`, for at most `idle` seconds."""
        waits: list[asyncio.Task[bool]] = [
            asyncio.create_task(wait) for wait in (stop.wait(), self._coordination.rung(within=idle))
        ]
        try:
            await asyncio.wait(waits, timeout=idle, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for wait in waits:
                wait.cancel()
            await asyncio.gather(*waits, return_exceptions=True)

    def _next(self, view: Overview, services: S) -> tuple[Step[S], Cursor] | None:
        ready = [(due, step, cursor) for step, due, cursor in self._pending(view, services) if due <= view.now]
        if not ready:
            return None
        _, step, cursor = min(ready, key=lambda entry: (self._steps.index(entry[1]), entry[0], entry[2].step))
        return step, cursor

    def _pending(self, view: Overview, services: S) -> list[tuple[Step[S], datetime, Cursor]]:
        """Every cursor with work, and when it may run: a failed one not before its pause ends, a parked one not at all."""
        pending: list[tuple[Step[S], datetime, Cursor]] = []
        for step in self._steps:
            for name, due in step.due(view, services).items():
                cursor = view.cursors.get(name, Cursor(step=name))
                if cursor.parked:
                    continue
                waits = cursor.due if cursor.attempts and cursor.due else due
                pending.append((step, max(due, waits), cursor))
        return pending

    async def _run(self, step: Step[S], job: Job[S], *, lease: Lease) -> bool:
        try:
            async with self._alive(job.store, lease):
                effect = await step.run(job)
            await cursors.commit(job.store, cursor=job.cursor, effect=effect, lease=lease)
        except Fenced:
            raise
        except HithertoError as error:
            failed = await cursors.fail(job.store, cursor=job.cursor, error=error, now=self._clock(), lease=lease)
            LOG.warning("step %s failed %d times, parked: %s", job.cursor.step, failed.attempts, failed.parked)
            return False
        return True

    @asynccontextmanager
    async def _alive(self, store: UserStore, lease: Lease) -> AsyncGenerator[None]:
        """Renews the lease while a step waits for its model; otherwise two workers with a slow model would keep taking the
        user from each other, and neither would finish."""

        async def beat() -> None:
            while True:
                await asyncio.sleep(self._heartbeat)
                try:
                    await leases.renew(store, lease, now=self._clock())
                except Fenced:
                    return  # the commit will find the same
                except HithertoError as error:
                    LOG.info("a lease was not renewed: %s", error)

        beating = asyncio.create_task(beat())
        try:
            yield
        finally:
            beating.cancel()
            await asyncio.gather(beating, return_exceptions=True)
