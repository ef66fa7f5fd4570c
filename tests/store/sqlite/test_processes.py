"""Several processes on one folder: nobody is left with a file that no longer counts."""

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest

from hitherto.errors import StoreUnavailable
from hitherto.store.catalog import UserKey
from hitherto.store.protocol import Change, UserStore
from hitherto.store.sqlite.backup import put_back
from hitherto.store.sqlite.store import SqliteStore
from hitherto.testing import put, turn_draft
from tests.faults.checks import damage_in
from tests.store.sqlite.other_process import TURNS, Other, other_process

ANA = UserKey("default", "ana")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "memories"


@pytest.fixture
def other(folder: Path) -> Iterator[Other]:
    with other_process(folder) as process:
        yield process


async def _write(user: UserStore, name: str) -> int:
    return (await put(user, Change(turns=(turn_draft(name),)))).head


async def _read(user: UserStore) -> list[str]:
    found = await user.read(TURNS)
    return [turn.id for turn in found[TURNS]]


async def test_two_processes_share_a_log(folder: Path, other: Other) -> None:
    store = SqliteStore(folder)
    await store.open()
    user = store.user(ANA)
    assert [await _write(user, "a"), other("write", turn="b"), await _write(user, "c")] == [1, 2, 3]
    assert await _read(user) == other("read") == ["a", "b", "c"]
    await store.close()


async def test_a_wipe_elsewhere_reaches_every_handle(folder: Path, other: Other) -> None:
    store = SqliteStore(folder)
    await store.open()
    user = store.user(ANA)
    for name in ("a", "b", "c"):
        await _write(user, name)
    assert other("read") == ["a", "b", "c"]
    other("wipe")
    assert await _read(user) == []
    assert await store.catalog.users() == ()
    assert await _write(user, "d") == 1
    assert other("read") == ["d"]
    await store.close()


async def test_an_old_handle_does_no_harm_to_the_new_file(folder: Path, other: Other) -> None:
    store = SqliteStore(folder)
    await store.open()
    user = store.user(ANA)
    for name in ("a", "b"):
        other("write", turn=name)
    await user.wipe()
    assert [await _write(user, "c"), await _write(user, "d")] == [1, 2]
    other.finish()
    assert await _read(user) == ["c", "d"]
    await store.close()
    reopened = SqliteStore(folder)
    await reopened.open()
    assert await _read(reopened.user(ANA)) == ["c", "d"]
    await reopened.close()
    assert damage_in(folder) == []


async def test_a_restored_backup_reaches_every_handle(folder: Path, other: Other, tmp_path: Path) -> None:
    store = SqliteStore(folder)
    await store.open()
    user = store.user(ANA)
    await _write(user, "a")
    await store.backup(str(tmp_path / "backup"))
    assert other("write", turn="b") == 2
    assert await put_back(tmp_path / "backup", folder) == 1
    assert await _read(user) == other("read") == ["a"]
    assert [other("write", turn="c"), await _write(user, "d")] == [2, 3]
    assert await _read(user) == ["a", "c", "d"]
    await store.close()
    other.finish()
    assert damage_in(folder) == []


async def test_a_write_that_waits_too_long_is_withdrawn(folder: Path, other: Other) -> None:
    store = SqliteStore(folder, patience=0.5)
    await store.open()
    user = store.user(ANA)
    await _write(user, "a")
    other("hold")
    with pytest.raises(StoreUnavailable, match="another process"):
        await _write(user, "b")
    assert await _read(user) == ["a"]
    other("let go")
    assert await _write(user, "c") == 2
    assert await _read(user) == ["a", "c"]
    await store.close()


async def test_a_cancelled_write_that_waits_is_withdrawn(folder: Path, other: Other) -> None:
    store = SqliteStore(folder)
    await store.open()
    user = store.user(ANA)
    await _write(user, "a")
    other("hold")
    waiting = asyncio.create_task(_write(user, "b"))
    await asyncio.sleep(0.05)
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    other("let go")
    assert await _write(user, "c") == 2
    await store.close()
