"""An erasure whose bytes cannot be removed, or that cannot be noted as done: it is said, and the user's next write does it."""

import asyncio
from pathlib import Path

import apsw
import pytest

from hitherto.errors import StoreFull, StoreUnavailable
from hitherto.store.protocol import Change, Erasure, Head, UserKey
from hitherto.store.sqlite import sharedfile, store
from hitherto.store.sqlite.catalog import CatalogFile
from hitherto.store.sqlite.store import SqliteStore
from hitherto.testing import moment, put, turn_draft

ANA = UserKey("default", "ana")
ERASE = Change(erase=Erasure(turns=("t1",)), retired_at=moment(1))


def _left(folder: Path) -> list[str]:
    return [path.name for path in folder.rglob("*") if path.is_file() and b"canary" in path.read_bytes()]


async def _told(folder: Path) -> SqliteStore:
    opened = SqliteStore(folder)
    await opened.open()
    await put(opened.user(ANA), Change(turns=(turn_draft("t1", "canary"),)))
    return opened


async def test_bytes_that_are_left_go_with_the_next_write(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store, "SCRUB_AGAIN_SECONDS", 0.0)
    opened = await _told(tmp_path)

    def full(_: object) -> bool:
        raise apsw.FullError("no space left")

    with monkeypatch.context() as patch:
        patch.setattr(sharedfile, "scrub", full)
        with pytest.raises(StoreUnavailable, match="erased, but bytes of it are left"):
            await put(opened.user(ANA), ERASE)
        async with asyncio.timeout(10):  # noted behind the answer
            while not (problems := (await opened.health()).problems):  # noqa: ASYNC110 -- a thread does it
                await asyncio.sleep(0.01)
        assert [problem.partition(": ")[2] for problem in problems] == ["bytes of what was erased are left"]
    await put(opened.user(ANA), Change(turns=(turn_draft("t2"),)))
    await put(opened.user(ANA), Change(turns=(turn_draft("t3"),)))  # after what came behind the answer before
    assert (await opened.health()).problems == ()
    await opened.close()
    assert _left(tmp_path) == []


async def test_a_catalog_that_fails_keeps_nobody_from_writing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    opened = await _told(tmp_path)

    def full(_: CatalogFile, digest: str) -> None:
        raise StoreFull(digest)

    with monkeypatch.context() as patch:
        patch.setattr(CatalogFile, "end_scrub", full)
        await put(opened.user(ANA), ERASE)
    assert (await put(opened.user(ANA), Change(turns=(turn_draft("t2"),)))).head == 3
    await opened.close()
    assert _left(tmp_path) == []


async def test_a_group_that_cannot_begin_is_an_error_and_no_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened = await _told(tmp_path)

    def broken(*_: object) -> None:
        raise StoreUnavailable("no more files can be opened")

    with monkeypatch.context() as patch:
        patch.setattr(store.OpenFiles, "borrow", broken)
        with pytest.raises(StoreUnavailable, match="no more files"):
            await put(opened.user(ANA), Change(turns=(turn_draft("t2"),)))
    await put(opened.user(ANA), Change(turns=(turn_draft("t3"),)))
    assert (await opened.user(ANA).read(Head()))[Head()] == 2
    await opened.close()
