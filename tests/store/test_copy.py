"""Copying between stores: everything arrives, an interrupted copy goes on, a second one catches up."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from hitherto import Hitherto, Turn
from hitherto.errors import Conflict, StoreUnavailable
from hitherto.store import connect
from hitherto.store.catalog import UserKey
from hitherto.store.copy import copy
from hitherto.store.protocol import (
    Blobs,
    Change,
    Cursor,
    Cursors,
    Erasure,
    Log,
    LogEntry,
    Matches,
    Note,
    Notes,
    SnapshotList,
    Store,
    StoredSnapshot,
    Traces,
    UserStore,
    Vector,
    Window,
)
from hitherto.testing import FakeClock, moment, put, row_draft, turn_draft
from tests.stores import Backend

AMY, ANA, BOB = UserKey("default", "amy"), UserKey("default", "ana"), UserKey("other", "bob")
HASH = "0123456789abcdef0123456789abcdef"
QUERIES = (
    Log(limit=1_000),
    Window(limit=99),
    Window(limit=99, known=3),
    Matches(stems=("fox", "hound"), target="turn"),
    Matches(stems=("tea",), target="record"),
    Cursors(),
    Notes(prefix=""),
    SnapshotList(limit=9),
    Blobs(hashes=(HASH,)),
    Traces(embedder="static", after=0, limit=9),
)


@pytest.fixture(params=["sqlite", "postgres"])
def other_backend(request: pytest.FixtureRequest) -> Backend:
    return request.param


@pytest.fixture
async def target(other_backend: Backend, request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Store]:
    """A second, empty store, on each backend in turn."""
    url = str(tmp_path / "copy") if other_backend == "sqlite" else request.getfixturevalue("second_postgres_url")
    opened = connect(url)
    await opened.open()
    yield opened
    await opened.close()


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


async def fill(user: UserStore) -> None:
    vector = Vector(embedder="static", data=b"\x01\x02")
    turns = (turn_draft("t1", "one fox", vector=vector), turn_draft("t2", "two foxes"), turn_draft("t3", "secret"))
    await put(user, Change(turns=turns))
    await put(user, Change(turns=(turn_draft("t1", "one hound", version=2, place=1),)))
    await put(user, Change(records=(row_draft("m1", "likes tea", sources=("t1",), entities=("person:ana",)),)))
    await put(user, Change(retire=("t2",), retired_at=moment(5)))
    await put(user, Change(erase=Erasure(turns=("t3",)), retired_at=moment(6)))
    await put(
        user,
        Change(
            cursors=(Cursor(step="extract", position=3, body={"a": 1}),),
            notes=(Note(name="voice:nikita", body="hello"),),
            snapshots=(StoredSnapshot(id="s1", at=moment(1), known=2, body=f'{{"blobs": [["{HASH}", 0]]}}'),),
            blobs={HASH: "a text \x00 of a snapshot"},
        ),
    )


async def same(left: UserStore, right: UserStore) -> None:
    ours, theirs = await left.read(*QUERIES), await right.read(*QUERIES)
    assert [theirs[query] for query in QUERIES] == [ours[query] for query in QUERIES]


async def test_everything_arrives(store: Store, target: Store) -> None:
    for key in (ANA, BOB):
        await fill(store.user(key))
    for body in ("1", "2"):
        await store.catalog.put("default", "persona", "nikita", body, at=moment())
    await store.catalog.put("nobody", "recipe", "r", "toml", at=moment(1))
    seen: list[tuple[int, int]] = []

    def note(done: int, total: int) -> None:
        seen.append((done, total))

    copied = await copy(store, target, embedders=["static"], batch=2, progress=note)
    assert (copied.users, copied.documents, copied.problems) == (2, 3, ())
    assert seen == [(1, 2), (2, 2)]
    for key in (ANA, BOB):
        await same(store.user(key), target.user(key))
    for kind, name, tenant in (("persona", "nikita", "default"), ("recipe", "r", "nobody")):
        assert await target.catalog.versions(tenant, kind, name) == await store.catalog.versions(tenant, kind, name)


async def test_copying_again_changes_nothing_and_catches_up(store: Store, target: Store) -> None:
    await fill(store.user(ANA))
    first = await copy(store, target)
    again = await copy(store, target)
    assert (first.entries, again.entries, again.documents, again.problems) == (6, 0, 0, ())
    await put(store.user(ANA), Change(turns=(turn_draft("t4", "later"),), retire=("m1",), retired_at=moment(9)))
    await put(store.user(ANA), Change(erase=Erasure(turns=("t1",)), retired_at=moment(9)))
    await store.catalog.put("default", "persona", "nikita", "new", at=moment())
    later = await copy(store, target, embedders=["static"])
    assert (later.entries, later.documents, later.problems) == (3, 1, ())
    await same(store.user(ANA), target.user(ANA))


class Failing:
    """A user store that fails in the middle of a copy."""

    def __init__(self, inner: UserStore, *, after: int) -> None:
        self._inner = inner
        self._left = after

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)

    async def restore(self, entries: Sequence[LogEntry]) -> None:
        self._left -= 1
        if self._left < 0:
            raise StoreUnavailable
        await self._inner.restore(entries)


class FailingStore:
    def __init__(self, inner: Store) -> None:
        self._inner = inner

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)

    def user(self, key: UserKey) -> Any:
        return Failing(self._inner.user(key), after=2)


async def test_an_interrupted_copy_goes_on(store: Store, target: Store) -> None:
    await fill(store.user(ANA))
    broken: Any = FailingStore(target)
    with pytest.raises(StoreUnavailable):
        await copy(store, broken, batch=1)
    copied = await copy(store, target, embedders=["static"])
    assert (copied.entries, copied.problems) == (4, ())
    await same(store.user(ANA), target.user(ANA))


async def test_a_source_in_use_is_copied_whole(store: Store, target: Store) -> None:
    user = store.user(ANA)
    await put(user, Change(turns=tuple(turn_draft(f"t{n}", f"fox {n}") for n in range(50))))
    stop = asyncio.Event()

    async def write() -> int:
        number = 50
        while not stop.is_set():
            await put(user, Change(turns=(turn_draft(f"t{number}", f"fox {number}"),)))
            number += 1
            await asyncio.sleep(0.002)
        return number

    writer = asyncio.create_task(write())
    await copy(store, target, batch=10)
    stop.set()
    written = await writer
    copied = await copy(store, target)
    assert copied.problems == ()
    answers = await target.user(ANA).read(log := Log(limit=100_000))
    assert [entry.id for entry in answers[log]] == [f"t{n}" for n in range(written)]


async def everything(store: Store, key: UserKey) -> str:
    """All that a user's memory holds, as text."""
    found = [*QUERIES, Log(limit=100_000), SnapshotList(limit=1_000)]
    answers = await store.user(key).read(*found)
    hashes = tuple(re.findall(r'"([0-9a-f]{16,128})"', str(answers[SnapshotList(limit=1_000)])))
    blobs = Blobs(hashes=hashes)
    return f"{[answers[query] for query in found]} {(await store.user(key).read(blobs))[blobs]}"


async def test_what_is_forgotten_between_two_copies_is_gone_from_the_second(
    store: Store, store_url: str, target: Store, clock: FakeClock
) -> None:
    canary = "xylophone-canary"
    async with Hitherto(store_url, clock=clock) as memory:
        ids = await memory.record([Turn("ana", "user", f"My word is {canary}."), Turn("ana", "user", "I love jazz.")])
        await memory.settle(user="ana")
        for message in ("What is my word?", "What do I love?"):
            await memory.context(user="ana", message=message)
        await memory.flush()
        assert (await copy(store, target)).problems == ()
        assert canary in await everything(target, ANA)
        await memory.forget(user="ana", turn=ids[0])
        await memory.context(user="ana", message="What do I love?")
        await memory.flush()
    assert canary not in await everything(store, ANA)
    assert (await copy(store, target)).problems == ()
    assert canary not in await everything(target, ANA)


async def test_a_user_who_is_only_in_the_target_is_noted(store: Store, target: Store) -> None:
    for key in (ANA, BOB):
        await put(store.user(key), Change(turns=(turn_draft("t1"),)))
    assert (await copy(store, target)).notes == ()
    await store.user(BOB).wipe()
    copied = await copy(store, target)
    assert copied.problems == ()
    [note] = copied.notes
    assert "'bob' of 'other': only in the target" in note
    await target.user(BOB).wipe()
    assert (await copy(store, target)).notes == ()


@pytest.mark.parametrize("more", [0, 1, 3])
async def test_another_memory_in_the_target_is_refused_before_anything_is_written(
    store: Store, target: Store, more: int
) -> None:
    await put(store.user(ANA), Change(turns=(turn_draft("t1", "mine"), turn_draft("t2", "mine too"))))
    await put(store.user(AMY), Change(turns=(turn_draft("t1", "hers"),)))
    await store.catalog.put("default", "persona", "nikita", "mine", at=moment())
    await put(target.user(ANA), Change(turns=(turn_draft("t1", "not mine"),)))
    for number in range(more):
        await put(target.user(ANA), Change(turns=(turn_draft(f"u{number}", "nor this"),)))
    before = await everything(target, ANA)
    with pytest.raises(Conflict, match="'ana' of 'default' has another memory in the target, with an entry 1"):
        await copy(store, target)
    assert await everything(target, ANA) == before
    assert await target.catalog.users() == (ANA,)
    assert await target.catalog.versions("default", "persona", "nikita") == ()


async def test_a_copy_that_was_written_to_is_refused(store: Store, target: Store) -> None:
    await fill(store.user(ANA))
    await copy(store, target)
    await put(target.user(ANA), Change(turns=(turn_draft("t9", "written here"),)))
    await put(store.user(ANA), Change(turns=(turn_draft("t8", "written there"),)))
    with pytest.raises(Conflict, match="another memory"):
        await copy(store, target)


async def test_what_had_ended_may_be_erased_between_two_copies(store: Store, target: Store) -> None:
    await fill(store.user(ANA))
    await put(store.user(ANA), Change(retire=("m1",), retired_at=moment(7)))
    assert (await copy(store, target, embedders=["static"])).problems == ()
    await put(store.user(ANA), Change(erase=Erasure(turns=("t1", "t2"), records=("m1",)), retired_at=moment(9)))
    assert (await copy(store, target, embedders=["static"])).problems == ()
    await same(store.user(ANA), target.user(ANA))


async def test_another_document_in_the_target_is_a_conflict(store: Store, target: Store) -> None:
    await store.catalog.put("default", "persona", "alma", "mine", at=moment())
    await store.catalog.put("default", "persona", "nikita", "mine", at=moment())
    await target.catalog.put("default", "persona", "nikita", "not mine", at=moment())
    with pytest.raises(Conflict):
        await copy(store, target)
    assert await target.catalog.versions("default", "persona", "alma") == ()
