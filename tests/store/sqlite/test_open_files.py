"""Many users, few descriptors."""

import gc
import threading
from pathlib import Path
from unittest.mock import Mock

import apsw
import pytest

from recollect.store.base import Change, Head, TurnList, TurnsBySeq, UserKey
from recollect.store.sqlite import sharedfile
from recollect.store.sqlite.catalogfile import CatalogFile
from recollect.store.sqlite.store import SqliteStore
from recollect.testing import put, turn_draft

LIMIT = 4
USERS = [UserKey("default", f"u{n}") for n in range(30)]
PER_FILE = 6


def _descriptors(folder: Path) -> int:
    links = list(Path("/proc/self/fd").iterdir())
    return sum(link.exists() and str(link.readlink()).startswith(str(folder)) for link in links)


async def test_the_longest_unused_files_are_closed(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path, open_files=LIMIT)
    await store.open()
    at_rest = _descriptors(tmp_path)
    for key in USERS * 2:
        name = f"t{(await store.user(key).read(Head()))[Head()]}"
        await put(store.user(key), Change(turns=(turn_draft(name, key.user),)))
        assert _descriptors(tmp_path) - at_rest <= PER_FILE * (LIMIT + 1)
    for key in USERS:
        found = (await store.user(key).read(query := TurnList(limit=9)))[query]
        assert [(turn.id, turn.text) for turn in found] == [("t0", key.user), ("t1", key.user)]
    await store.close()
    assert _descriptors(tmp_path) == 0


async def test_a_store_that_was_never_opened_can_be_closed(tmp_path: Path) -> None:
    await SqliteStore(tmp_path / "nothing").close()
    assert not (tmp_path / "nothing").exists()


def test_no_cursor_is_kept_of_users_who_were_wiped(tmp_path: Path) -> None:
    file = CatalogFile(tmp_path / "catalog.db")
    file.open()
    for digest in map(str, range(20)):
        file.bury(digest)
        file.begin_scrub(digest)
        file.end_scrub(digest)
        file.finish_burial(digest)
    gc.collect()
    assert not [
        held
        for held in gc.get_objects()
        if isinstance(held, apsw.Cursor) and held.connection.filename == str(file.path)
    ]
    file.close()


async def test_a_few_entries_of_a_file_at_hand_need_no_thread(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sharedfile, "MOMENT", 3600.0)
    store = SqliteStore(tmp_path)
    await store.open()
    user = store.user(USERS[0])
    await put(user, Change(turns=(turn_draft("t0", "tea"),)))
    asked = TurnsBySeq(seqs=(1,))
    first = (await user.read(asked))[asked]
    handed = Mock(wraps=store._readers.run)  # pyright: ignore[reportPrivateUsage] - who does it is not to be seen otherwise
    monkeypatch.setattr(store._readers, "run", handed)  # pyright: ignore[reportPrivateUsage] - the same
    assert (await user.read(asked))[asked] == first
    assert handed.call_count == 0
    await user.read(asked, Head())
    await user.read(TurnsBySeq(seqs=tuple(range(1, 100))))
    assert handed.call_count == 2, "the head is not one of a few entries, and a hundred are not few"
    await store.close()


async def test_an_open_store_has_all_its_threads(tmp_path: Path) -> None:
    before = set(threading.enumerate())
    store = SqliteStore(tmp_path)
    await store.open()
    begun = set(threading.enumerate()) - before
    for n in range(40):
        await put(store.user(USERS[n % 30]), Change(turns=(turn_draft(f"t{n}", "tea"),)))
    assert set(threading.enumerate()) - before == begun
    assert {thread.name.rpartition("_")[0] for thread in begun} == {"recollect-read", "recollect-write"}
    await store.close()
    assert not begun & set(threading.enumerate())
