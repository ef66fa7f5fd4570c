"""Backups of a PostgreSQL store: everything that was acknowledged, from one moment, and back again."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from hitherto.errors import StoreCorrupt, StoreError, StoreUnavailable
from hitherto.store.postgres import PostgresStore
from hitherto.store.postgres.backup import CONTENTS
from hitherto.store.protocol import Change, Log, Matches, Note, Notes, Query, UserKey, Vector, Window
from hitherto.testing import moment, put, row_draft, turn_draft
from tests.effort import count

BACKUPS = 5
ROUNDS = count(test=1, soak=10)
"""Each on an empty database: the writer never rests, so that a backup is larger than the one before."""
USERS = [UserKey("default", f"user {number}") for number in range(5)]
QUERIES: tuple[Query[object], ...] = (
    Log(limit=1_000),
    Window(limit=99),
    Matches(stems=("fox",), target="turn"),
    Notes(prefix=""),
)


async def opened(url: str) -> PostgresStore:
    store = PostgresStore(url)
    await store.open()
    return store


async def fill(store: PostgresStore) -> None:
    for key in USERS:
        text = "a fox\twith a tab, a \\ and a\nline \x00"
        turn = turn_draft("t1", text, vector=Vector(embedder="static", data=bytes(range(256))))
        await put(store.user(key), Change(turns=(turn,), records=(row_draft("m1", entities=("person:x",)),)))
        await put(store.user(key), Change(retire=("m1",), retired_at=moment(1), notes=(Note(name="n", body="b"),)))
    await store.catalog.put("default", "persona", "nikita", "{}", at=moment())


async def test_a_backup_comes_back_whole(postgres_url: str, second_postgres_url: str, tmp_path: Path) -> None:
    store, other = await opened(postgres_url), await opened(second_postgres_url)
    await fill(store)
    seen: list[tuple[int, int]] = []

    def note(done: int, total: int) -> None:
        seen.append((done, total))

    assert await store.backup(str(tmp_path / "backup"), progress=note) == len(USERS)
    assert seen[-1] == (len(USERS), len(USERS))
    assert await other.restore_backup(str(tmp_path / "backup")) == len(USERS)
    for key in USERS:
        ours, theirs = await store.user(key).read(*QUERIES), await other.user(key).read(*QUERIES)
        assert [theirs[query] for query in QUERIES] == [ours[query] for query in QUERIES]
    assert await other.catalog.users() == tuple(USERS)
    assert len(await other.catalog.documents("default", "persona")) == 1
    assert (await other.health()).problems == (), "the wall must be up again"
    assert (await put(other.user(USERS[0]), Change(turns=(turn_draft("t2"),)))).turns == (4,)
    with pytest.raises(StoreError, match="empty database"):
        await other.restore_backup(str(tmp_path / "backup"))
    await store.close()
    await other.close()


@pytest.mark.promise("F13", tries=BACKUPS)
@pytest.mark.parametrize("round_", range(ROUNDS))
async def test_a_backup_holds_what_was_acknowledged_before_it(
    postgres_url: str, second_postgres_url: str, tmp_path: Path, round_: int
) -> None:
    """F13: while others write."""
    store, other = await opened(postgres_url), await opened(second_postgres_url)
    acknowledged: list[str] = []
    stop = asyncio.Event()

    async def write() -> None:
        while not stop.is_set():
            name = f"t{len(acknowledged)}"
            await put(store.user(USERS[0]), Change(turns=(turn_draft(name), turn_draft(f"{name}-answer"))))
            acknowledged.append(name)

    writer = asyncio.create_task(write())
    for number in range(BACKUPS):
        await asyncio.sleep(0.1)
        before = len(acknowledged)
        await store.backup(str(tmp_path / str(number)))
        await other.restore_backup(str(tmp_path / str(number)))
        answers = await other.user(USERS[0]).read(log := Log(limit=100_000))
        ids = [entry.id for entry in answers[log]]
        assert len(ids) >= 2 * before
        assert ids == [each for n in range(len(ids) // 2) for each in (f"t{n}", f"t{n}-answer")]
        await other.user(USERS[0]).wipe()
    stop.set()
    await writer
    await store.close()
    await other.close()


async def test_a_damaged_backup_is_refused(postgres_url: str, second_postgres_url: str, tmp_path: Path) -> None:
    store, other = await opened(postgres_url), await opened(second_postgres_url)
    await fill(store)
    folder = tmp_path / "backup"
    await store.backup(str(folder))
    turns = folder / "turns.copy"
    turns.write_bytes(turns.read_bytes().replace(b"fox", b"cat", 1))
    with pytest.raises(StoreCorrupt, match="turns"):
        await other.restore_backup(str(folder))
    assert await other.catalog.users() == ()
    assert (await other.health()).problems == ()
    (folder / CONTENTS).unlink()
    with pytest.raises(StoreUnavailable, match="no backup"):
        await other.restore_backup(str(folder))
    await store.close()
    await other.close()
