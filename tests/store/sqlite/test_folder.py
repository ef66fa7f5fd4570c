"""A folder that cannot be used says so, and loses nothing."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from hitherto.errors import StoreCorrupt, StoreReadOnly, StoreUnavailable
from hitherto.store.protocol import Change, Head, UserKey
from hitherto.store.sqlite.layout import Layout
from hitherto.store.sqlite.store import SqliteStore
from hitherto.testing import put, turn_draft

ANA = UserKey("default", "ana")
PROJECT = Path(__file__).parents[3]


def _try_without_rights(folder: Path) -> dict[str, Any]:
    program = [sys.executable, "-m", "tests.store.sqlite.without_rights", str(folder)]
    path = f"{PROJECT / 'src'}:{PROJECT}"
    done = subprocess.run(program, capture_output=True, text=True, cwd=PROJECT, env={"PYTHONPATH": path}, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def _set_rights(folder: Path, rights: int) -> None:
    """Of a folder and of those in it."""
    for place in (*(path for path in folder.rglob("*") if path.is_dir()), folder):
        place.chmod(rights)


async def _one_turn(folder: Path) -> None:
    store = SqliteStore(folder)
    await store.open()
    await put(store.user(ANA), Change(turns=(turn_draft("t1"),)))
    await store.close()


async def test_a_read_only_folder_is_a_clear_error(fast_folder: Path) -> None:
    folder = fast_folder / "memories"
    await _one_turn(folder)
    _set_rights(fast_folder, 0o755)
    _set_rights(folder, 0o555)
    answers = _try_without_rights(folder)
    _set_rights(folder, 0o755)
    assert answers["open"][0] == answers["write"][0] == StoreReadOnly.__name__
    assert "cannot be written to; check the permissions" in answers["open"][1]
    assert answers["read"][0] == StoreReadOnly.__name__
    store = SqliteStore(folder)
    await store.open()
    assert (await store.user(ANA).read(Head()))[Head()] == 1
    await store.close()


def test_a_folder_that_cannot_be_made_is_a_clear_error(fast_folder: Path) -> None:
    fast_folder.chmod(0o555)
    assert _try_without_rights(fast_folder / "memories")["open"][0] == StoreReadOnly.__name__


async def test_a_file_in_the_folders_place_is_a_clear_error(tmp_path: Path) -> None:
    (tmp_path / "memories").write_text("not a folder")
    store = SqliteStore(tmp_path / "memories")
    with pytest.raises(StoreUnavailable, match="memories"):
        await store.open()
    await store.close()


@pytest.mark.parametrize("is_open", [True, False])
async def test_a_file_that_somebody_deleted_is_missed(tmp_path: Path, is_open: bool) -> None:
    await _one_turn(tmp_path)
    store, file = SqliteStore(tmp_path), Layout(tmp_path).user(ANA.digest)
    await store.open()
    if is_open:
        await put(store.user(ANA), Change(turns=(turn_draft("t2"),)))
    file.unlink()
    with pytest.raises(StoreCorrupt, match=r"is gone, but . entries were acknowledged"):
        await store.user(ANA).read(Head())
    with pytest.raises(StoreCorrupt, match=r"is gone, but . entries were acknowledged"):
        await put(store.user(ANA), Change(turns=(turn_draft("t3"),)))
    await store.user(ANA).wipe()
    assert (await put(store.user(ANA), Change(turns=(turn_draft("t1"),)))).head == 1
    await store.close()


async def test_a_wipe_that_was_cut_short_is_no_loss(tmp_path: Path) -> None:
    await _one_turn(tmp_path)
    store = SqliteStore(tmp_path)
    await store.open()
    store._file.bury(ANA.digest)  # pyright: ignore[reportPrivateUsage] -- what a wipe does first
    Layout(tmp_path).user(ANA.digest).unlink()
    await store.close()
    store = SqliteStore(tmp_path)
    await store.open()
    assert (await store.user(ANA).read(Head()))[Head()] == 0
    assert (await put(store.user(ANA), Change(turns=(turn_draft("t1"),)))).head == 1
    await store.close()


async def test_a_user_who_is_back_before_the_burial_is_finished_stays(tmp_path: Path) -> None:
    """Another process opens the folder between the end of a wipe and the note that it is done."""
    await _one_turn(tmp_path)
    store = SqliteStore(tmp_path)
    await store.open()
    store._file.bury(ANA.digest)  # pyright: ignore[reportPrivateUsage] -- what a wipe does first
    await put(store.user(ANA), Change(turns=(turn_draft("new"),)))
    other = SqliteStore(tmp_path)
    await other.open()
    assert (await other.user(ANA).read(Head()))[Head()] == 1
    assert (await put(store.user(ANA), Change(turns=(turn_draft("newer"),)))).head == 2
    await other.close()
    await store.close()


async def test_strangers_in_the_folder_are_left_alone(tmp_path: Path) -> None:
    await _one_turn(tmp_path)
    (tmp_path / "users" / "notes.txt").write_text("mine")
    (Layout(tmp_path).user(ANA.digest).parent / "readme.md").write_text("mine")
    store = SqliteStore(tmp_path)
    await store.open()
    assert await store.catalog.users() == (ANA,)
    assert (await store.health()).problems == ()
    await store.close()
