"""Concurrent writes of one user share a transaction; one that fails fails alone."""

import asyncio
from pathlib import Path

import pytest

from hitherto.errors import Conflict, StoreClosed
from hitherto.store.protocol import Answers, Change, Head, Log, TurnsById, UserKey
from hitherto.store.sqlite.store import SqliteStore
from hitherto.testing import put, turn_draft
from tests.faults.shim import Operation, Watcher, watching

ANA = UserKey("default", "ana")


class Syncs(Watcher):
    def __init__(self) -> None:
        self.count = 0

    def before(self, operation: Operation) -> None:
        self.count += operation == "sync"


async def test_concurrent_writes_share_a_sync(tmp_path: Path) -> None:
    syncs = Syncs()
    with watching(syncs):
        store = SqliteStore(tmp_path)
        await store.open()
        user = store.user(ANA)
        await put(user, Change(turns=(turn_draft("first"),)))
        before = syncs.count
        await asyncio.gather(*(put(user, Change(turns=(turn_draft(f"t{n}"),))) for n in range(100)))
        shared = syncs.count - before
        assert (await user.read(Head()))[Head()] == 101
        await store.close()
    assert 1 <= shared <= 20


async def test_each_culprit_fails_alone(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path)
    await store.open()
    user = store.user(ANA)
    await put(user, Change(turns=(turn_draft("t0"),)))

    def refuse(_: Answers) -> Change:
        raise LookupError("a decision of the caller's")

    good = [put(user, Change(turns=(turn_draft(f"t{n}"),))) for n in range(1, 6)]
    doubled = put(user, Change(turns=(turn_draft("t9"), turn_draft("t0", "the same version again"))))
    timeless = put(user, Change(turns=(turn_draft("t8"),), retire=("t0",)))
    unspeakable = put(user, Change(turns=(turn_draft("t7", "half a \ud83e fox", stems=()),)))
    results = await asyncio.gather(
        good[0], doubled, good[1], timeless, user.write(refuse), good[2], unspeakable, *good[3:], return_exceptions=True
    )
    kinds = [type(result).__name__ for result in results]
    assert kinds == [
        "Written", "Conflict", "Written", "InvalidInput", "LookupError", "Written", "InvalidInput", "Written", "Written",
    ]  # fmt: skip
    log = (await user.read(query := Log(limit=99)))[query]
    assert [(entry.seq, entry.id) for entry in log] == [(n + 1, f"t{n}") for n in range(6)]
    await store.close()


async def test_a_decision_sees_the_writes_before_it_in_its_group(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path)
    await store.open()
    user, there = store.user(ANA), TurnsById(ids=("t1",))

    def once(answers: Answers) -> Change:
        if answers[there]:
            raise Conflict("it is there")
        return Change(turns=(turn_draft("t1"),))

    results = await asyncio.gather(*(user.write(once, there) for _ in range(30)), return_exceptions=True)
    assert sum(isinstance(result, Conflict) for result in results) == 29
    await store.close()


async def test_a_closed_store_takes_nothing(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path)
    await store.open()
    await put(store.user(ANA), Change(turns=(turn_draft("t1"),)))
    await store.close()
    with pytest.raises(StoreClosed):
        await put(store.user(ANA), Change(turns=(turn_draft("t2"),)))
    with pytest.raises(StoreClosed):
        await store.user(ANA).read(Head())


async def test_what_has_begun_is_finished_before_closing(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path)
    await store.open()
    writes = [asyncio.create_task(put(store.user(ANA), Change(turns=(turn_draft(f"t{n}"),)))) for n in range(20)]
    await asyncio.sleep(0)
    await store.close()
    assert sorted(written.turns[0] for written in await asyncio.gather(*writes)) == list(range(1, 21))
