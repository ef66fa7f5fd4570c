"""A worker keeps its user while a step takes long, and does not go over its own traces."""

import asyncio
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime

import pytest

from hitherto.learn.services import Services
from hitherto.learn.steps import STEPS
from hitherto.store import connect
from hitherto.store.protocol import Change, CurrentLease, Lease, Store, UserKey
from hitherto.testing import FakeClock, turn_draft
from hitherto.work import lease as leases
from hitherto.work.cursors import Effect
from hitherto.work.overview import Overview
from hitherto.work.worker import Job, Step, Worker
from tests.faults.learning import TALK, say
from tests.faults.mortal import services

KEY = UserKey("default", "ana")


@dataclass(slots=True)
class Model:
    """What a step waits for: it says when it was asked, and answers when the test says so."""

    asked: asyncio.Event = field(default_factory=asyncio.Event)
    answer: asyncio.Event = field(default_factory=asyncio.Event)
    answers: int = 0


def due(view: Overview, model: Model) -> Mapping[str, datetime]:
    del model
    return {"slow": view.now} if view.position("slow") == 0 else {}


async def run(job: Job[Model]) -> Effect:
    job.services.asked.set()
    await job.services.answer.wait()
    job.services.answers += 1
    return Effect(position=1)


@pytest.fixture
async def opened(store_url: str) -> AsyncIterator[Store]:
    store = connect(store_url)
    await store.open()
    yield store
    await store.close()


async def test_a_lease_lasts_as_long_as_its_step(opened: Store) -> None:
    clock, model = FakeClock(), Model()

    async def provide(key: UserKey) -> Model:
        del key
        return model

    def worker(name: str) -> Worker[Model]:
        step = Step(name="slow", due=due, run=run)
        return Worker(opened, [step], provide, clock=clock, name=name, heartbeat=0.01)

    first = asyncio.create_task(worker("first").settle(KEY))
    await model.asked.wait()
    for _ in range(4):
        clock.tick(seconds=50)
        await renewed(opened, clock)
        assert (await worker("second").settle(KEY)).busy, "the first one is still at it"
    model.answer.set()
    settled = await first
    assert (settled.done, settled.busy, model.answers) == (1, False, 1)


async def renewed(store: Store, clock: FakeClock) -> None:
    """Waits for a heartbeat: the lease is good for the whole time from now on."""
    async with asyncio.timeout(20):
        while True:
            held = await current(store)
            if held is not None and held.expires == clock() + leases.DURATION:
                return
            await asyncio.sleep(0.01)


async def current(store: Store) -> Lease | None:
    query = CurrentLease()
    return (await store.user(KEY).read(query))[query]


async def test_a_lease_is_prolonged_when_half_of_it_is_gone(opened: Store) -> None:
    clock, user = FakeClock(), opened.user(KEY)
    taken = await leases.take(user, holder="first", now=clock())
    assert taken is not None
    clock.tick(seconds=29)
    assert await leases.prolong(user, taken, now=clock()) is taken
    clock.tick(seconds=1)
    longer = await leases.prolong(user, taken, now=clock())
    assert longer.expires == clock() + leases.DURATION
    assert await current(opened) == longer


async def test_what_the_work_writes_is_passed_over_once(opened: Store) -> None:
    """Extraction reads turns; the log's other entries are mostly the work's own, and cost one pass, not one a step."""
    clock, ran = FakeClock(), list[str]()

    async def provide(key: UserKey) -> Services:
        del key
        return services()

    def watched(step: Step[Services]) -> Step[Services]:
        async def noted(job: Job[Services]) -> Effect:
            ran.append(step.name)
            return await step.run(job)

        return Step(name=step.name, due=step.due, run=noted)

    for session in range(5):
        await say(opened, KEY, clock, TALK, first=session * len(TALK))
        clock.tick(hours=13)
    await Worker(opened, [watched(step) for step in STEPS], provide, clock=clock, name="w").settle(KEY)
    assert ran.count("close") == 5
    assert ran.count("extract") <= 2, "forty turns are one batch, or two"
    assert ran.count("revised") <= 2


async def test_a_user_forgotten_under_a_worker_stays_gone(opened: Store) -> None:
    """The worker's last write finds nobody: it must not leave a memory with the name of who was forgotten."""
    clock, model = FakeClock(), Model()

    async def provide(key: UserKey) -> Model:
        del key
        return model

    await opened.user(KEY).write(lambda _: Change(turns=(turn_draft("hello"),)))
    step = Step(name="slow", due=due, run=run)
    working = asyncio.create_task(Worker(opened, [step], provide, clock=clock, name="first").settle(KEY))
    await model.asked.wait()
    await opened.user(KEY).wipe()
    model.answer.set()
    assert (await working).busy
    assert await opened.catalog.users("default") == ()
    assert not (await Worker(opened, [], provide, clock=clock, name="second").settle(KEY)).busy
    assert await opened.catalog.users("default") == (), "a visit that finds nothing to do leaves nothing"
