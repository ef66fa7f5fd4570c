"""A Redis beside the database: it wakes workers, keeps them apart and shares marks; gone or slow, everything still works."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator

import pytest

from hitherto import Hitherto, Turn
from hitherto import coordination as beside
from hitherto.coordination import connect, place
from hitherto.coordination.local import Coordination, LocalCoordination
from hitherto.coordination.redis import RedisCoordination
from hitherto.errors import InvalidInput, MissingExtra
from hitherto.store.protocol import UserKey
from hitherto.testing import FakeClock
from hitherto.work import lease as leases
from tests.redis_server import RedisServer

pytestmark = pytest.mark.req("R4.8")

ANA = UserKey("default", "ana")
FOR_EVER = 600.0
"""Longer than a test may last: what returns earlier was woken."""
CANARY = "xylophone-canary"


@pytest.fixture
async def pair(redis_server: RedisServer) -> AsyncIterator[tuple[Coordination, Coordination]]:
    """Two processes' ends on one memory, patient with a busy machine."""
    ends = [RedisCoordination(redis_server.url, memory="m", deadline=20.0, silence=0.0) for _ in range(2)]
    yield ends[0], ends[1]
    for end in ends:
        await end.close()


@pytest.fixture
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Engines that wait for Redis as long as a busy machine takes: these tests are about what it says, not how fast."""

    def connected(url: str | None, *, memory: str) -> Coordination:
        return (
            LocalCoordination()
            if url is None
            else RedisCoordination(url, memory=place(memory), deadline=20.0, silence=0.0)
        )

    monkeypatch.setattr(beside, "connect", connected)


async def woken(memory: Hitherto, user: str, *, facts: int) -> None:
    """Waits until a worker has learnt so many facts."""
    async with asyncio.timeout(60):
        while len(await memory.memories(user=user)) < facts:  # noqa: ASYNC110 -- another process does the work
            await asyncio.sleep(0.05)


async def test_one_ring_wakes_one_worker(pair: tuple[Coordination, Coordination]) -> None:
    here, there = pair
    waiting = [asyncio.create_task(end.rung(within=FOR_EVER)) for end in pair]
    await here.ring()
    done, still = await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED, timeout=60)
    assert [task.result() for task in done] == [True]
    assert len(still) == 1
    await there.ring()
    assert await still.pop()
    assert not await here.rung(within=0.05), "nothing is left over"


async def test_rings_that_nobody_takes_do_not_pile_up(
    pair: tuple[Coordination, Coordination], redis_server: RedisServer
) -> None:
    here, _ = pair
    for _ in range(5):
        await here.ring(1_000)
    [name] = redis_server.held()
    with redis_server.client() as client:
        assert client.llen(name) == 64
        assert 0 < client.pttl(name) <= 10_000


async def test_a_claim_keeps_others_away(pair: tuple[Coordination, Coordination]) -> None:
    here, there = pair
    assert await here.claim(ANA, holder="one")
    assert await here.claim(ANA, holder="one"), "the holder itself may come again"
    assert not await there.claim(ANA, holder="two")
    assert await there.claim(UserKey("default", "bo"), holder="two")
    await there.release(ANA, holder="two")
    assert not await there.claim(ANA, holder="two"), "only its holder ends a claim"
    await here.release(ANA, holder="one")
    assert await there.claim(ANA, holder="two")


async def test_memories_in_one_redis_stay_apart(redis_server: RedisServer) -> None:
    ours, theirs = (RedisCoordination(redis_server.url, memory=name, deadline=20.0) for name in ("a", "b"))
    assert await ours.claim(ANA, holder="one")
    assert await theirs.claim(ANA, holder="two")
    assert await ours.exchange("x", b"1") is None
    assert await theirs.exchange("x", b"2") is None
    assert await ours.exchange("x", b"3") == b"1"
    await ours.close()
    await theirs.close()


@pytest.mark.usefixtures("patient")
async def test_a_worker_wakes_for_a_turn_of_another_process(store_url: str, redis_server: RedisServer) -> None:
    async with (
        Hitherto(store_url, redis=redis_server.url) as service,
        Hitherto(store_url, redis=redis_server.url) as elsewhere,
        elsewhere.working(idle=FOR_EVER, sweep_every=FOR_EVER),
    ):
        # The turn comes when the worker has looked round once and sleeps.
        async with asyncio.timeout(60):
            while "blpop" not in redis_server.clients():  # noqa: ASYNC110 -- the worker goes at its own pace
                await asyncio.sleep(0.05)
        await service.record(Turn("ana", "user", "I live in Austin."))
        await woken(service, "ana", facts=1)


@pytest.mark.parametrize("trouble", ["killed", "paused"])
async def test_without_redis_everything_works(store_url: str, redis_server: RedisServer, trouble: str) -> None:
    async with (
        Hitherto(store_url, redis=redis_server.url) as service,
        Hitherto(store_url, redis=redis_server.url) as elsewhere,
        elsewhere.working(idle=0.1),
    ):
        await service.record(Turn("ana", "user", "I live in Austin."))
        await woken(service, "ana", facts=1)
        await service.context(user="ana", message="Where do I live?")
        if trouble == "killed":
            redis_server.kill()
        else:
            redis_server.pause()
        await service.record(Turn("ana", "user", "I love jazz."))
        found = await service.context(user="ana", message="What do I love?")
        assert any("I love jazz." in item.text for item in found.items if item.included)
        await woken(service, "ana", facts=2)
        assert any("Redis does not answer" in problem for problem in (await service.health()).problems)
        if trouble == "killed":
            redis_server.start()
        else:
            redis_server.resume()
        async with asyncio.timeout(60):
            while (await service.health()).problems:  # noqa: ASYNC110 -- it is left alone for some seconds
                await asyncio.sleep(0.1)
        await service.record(Turn("ana", "user", "My sister Maria is a painter."))
        await woken(service, "ana", facts=3)


async def test_the_lease_in_the_database_decides(store_url: str, redis_server: RedisServer) -> None:
    clock = FakeClock()
    async with Hitherto(store_url, clock=clock, redis=redis_server.url) as memory:
        await memory.record(Turn("ana", "user", "I live in Austin."))
        store = memory._store.user(ANA)  # pyright: ignore[reportPrivateUsage] -- the lease is no call of the engine
        held = await leases.take(store, holder="somebody", now=clock())
        assert held is not None
        assert (await memory.settle(user="ana"))["ana"].busy, "Redis knows of no claim, the database of a lease"
        redis_server.kill()
        assert (await memory.settle(user="ana"))["ana"].busy
        await leases.release(store, held, now=clock())
        assert (await memory.settle(user="ana"))["ana"].done > 0


@pytest.mark.usefixtures("patient")
async def test_a_claimed_user_is_left_to_the_other_worker(store_url: str, redis_server: RedisServer) -> None:
    async with Hitherto(store_url, redis=redis_server.url) as memory:
        await memory.record(Turn("ana", "user", "I live in Austin."))
        other = RedisCoordination(redis_server.url, memory=place(store_url), deadline=20.0)
        assert await other.claim(ANA, holder="another worker")
        assert (await memory.settle(user="ana"))["ana"].busy
        await other.release(ANA, holder="another worker")
        await other.close()
        settled = (await memory.settle(user="ana"))["ana"]
        assert (settled.busy, settled.done > 0) == (False, True)


@pytest.mark.usefixtures("patient")
async def test_what_stayed_the_same_is_known_between_processes(store_url: str, redis_server: RedisServer) -> None:
    clock = FakeClock()
    async with (
        Hitherto(store_url, clock=clock, redis=redis_server.url) as here,
        Hitherto(store_url, clock=clock, redis=redis_server.url) as there,
        Hitherto(store_url, clock=clock) as alone,
    ):
        await here.record([Turn("ana", "user", "I live in Austin."), Turn("ana", "assistant", "Nice!")])
        first = await here.context(user="ana", message="Where do I live?")
        assert first.kept is None
        assert (await alone.context(user="ana", message="Where do I live?")).kept is None
        same = await there.context(user="ana", message="Where do I live?")
        expected = await alone.context(user="ana", message="Where do I live?")
        assert same.kept == expected.kept, "all of it, though another process sent it"
        other = await there.context(user="ana", message="And where do I work?")
        expected = await alone.context(user="ana", message="And where do I work?")
        assert other.kept == expected.kept, "its own last prompt is compared as it is"
        clock.tick(minutes=45)
        later = await here.context(user="ana", message="And where do I work?")
        assert same.kept is not None
        assert later.kept is not None
        assert 0 < later.kept < same.kept


@pytest.mark.usefixtures("patient")
async def test_no_text_and_no_name_is_in_redis(store_url: str, redis_server: RedisServer) -> None:
    async with Hitherto(store_url, redis=redis_server.url, work=True) as memory:
        await memory.record(Turn(CANARY, "user", f"My {CANARY} is in Austin.", persona=CANARY, lane=CANARY))
        await memory.context(user=CANARY, message=f"Where is my {CANARY}?", persona=CANARY, lane=CANARY)
        await memory.settle(user=CANARY)
        held = redis_server.held()
    assert any(b"value" in name for name in held)
    assert CANARY not in str(held)


@pytest.mark.usefixtures("patient")
async def test_what_one_process_forgets_no_other_shows_and_redis_never_held(
    store_url: str, redis_server: RedisServer
) -> None:
    async with (
        Hitherto(store_url, redis=redis_server.url) as here,
        Hitherto(store_url, redis=redis_server.url) as there,
    ):
        for user in ("ana", "ben"):
            await here.record(
                [Turn(user, "user", f"My sister is {CANARY}.", id="t1"), Turn(user, "user", "I like tea.")]
            )
            await here.settle(user=user)
            for memory in (here, there):
                context = await memory.context(user=user, message="who is my sister?")
                assert CANARY in repr(context)
        await here.forget(user="ana", turn="t1")
        await here.forget(user="ben", everything=True)
        for user in ("ana", "ben"):
            for memory in (there, here):
                context = await memory.context(user=user, message="who is my sister?")
                hits = await memory.search(user=user, query="sister")
                assert CANARY not in str(
                    (context, hits, await memory.turns(user=user), await memory.memories(user=user))
                )
        held = redis_server.held()
    assert held
    assert CANARY not in str(held)


async def test_bad_addresses_are_said_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(InvalidInput, match="redis://"):
        connect("http://127.0.0.1", memory="m")
    with pytest.raises(InvalidInput, match="cannot be used"):
        connect("redis://127.0.0.1:port", memory="m")
    monkeypatch.setitem(sys.modules, "redis.asyncio", None)
    with pytest.raises(MissingExtra, match=r"hitherto\[redis\]"):
        connect("redis://127.0.0.1", memory="m")
    assert isinstance(connect(None, memory="m"), LocalCoordination)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("postgresql://ana:secret@db/memories", "postgresql://bo@db/memories?connect_timeout=3"),
        ("./memories", "memories"),
    ],
)
def test_a_memory_has_one_place_however_it_is_opened(one: str, other: str) -> None:
    assert place(one) == place(other)
    assert place(one) != place(one + "2")
