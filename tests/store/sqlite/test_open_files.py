"""Many users, few descriptors."""

import gc
import threading
from contextlib import closing
from pathlib import Path
from unittest.mock import Mock

import apsw
import pytest

from hitherto.errors import StoreError
from hitherto.store.protocol import (
    Change,
    Head,
    Log,
    Matches,
    TenantDocuments,
    Traces,
    TurnList,
    TurnsBySeq,
    UserKey,
    Window,
)
from hitherto.store.sqlite import connections, sharedfile
from hitherto.store.sqlite.catalog import CatalogFile
from hitherto.store.sqlite.store import SqliteStore
from hitherto.testing import put, turn_draft
from hitherto.testing.drafts import moment

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


async def test_what_a_context_asks_of_a_file_at_hand_needs_no_thread(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sharedfile, "MOMENT", 3600.0)
    store = SqliteStore(tmp_path)
    await store.open()
    user = store.user(USERS[0])
    await put(user, Change(turns=(turn_draft("t0", "tea"),)))
    await store.catalog.put("default", "persona", "max", "{}", at=moment())
    asked = Head(), Window(limit=5), Matches(stems=("tea",), target="turn")
    persona = TenantDocuments(kind="persona", names=("max",))
    first = await user.read(*asked, persona)
    handed = Mock(wraps=store._readers.run)  # pyright: ignore[reportPrivateUsage] - who does it is not to be seen otherwise
    monkeypatch.setattr(store._readers, "run", handed)  # pyright: ignore[reportPrivateUsage] - the same
    again = await user.read(*asked, persona)
    assert [again[query] for query in (asked[0], asked[1], persona)] == [
        first[query] for query in (asked[0], asked[1], persona)
    ]
    assert again[asked[2]].seqs.tolist() == [1]
    await user.read(*asked)
    assert handed.call_count == 0
    much = Log(after=0, limit=5), Traces(embedder="e", after=0, limit=5), TurnsBySeq(seqs=tuple(range(1, 400)))
    for query in (*much, *much):
        await user.read(query)
    assert handed.call_count == len(much) * 2, "what may be much is read by a thread, however quick it was last time"
    monkeypatch.setattr(sharedfile, "MOMENT", 0.0)
    await user.read(*asked)
    handed.reset_mock()
    await user.read(*asked)
    assert handed.call_count == 1, "the last one like it took longer than a moment"
    await store.close()


async def test_a_catalog_that_fails_fails_nobodys_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sharedfile, "MOMENT", 3600.0)
    store = SqliteStore(tmp_path)
    await store.open()
    user = store.user(USERS[0])
    await put(user, Change(turns=(turn_draft("t0", "tea"),)))
    head, persona = Head(), TenantDocuments(kind="persona", names=("max",))
    assert (await user.read(head, persona))[persona] == ()
    with closing(connections.connect(tmp_path / "catalog.db")) as other:
        other.execute("DROP TABLE documents")
    found = await user.read(head, persona)
    assert found[head] == 1
    assert isinstance(found[persona], StoreError)
    await store.close()


async def test_an_open_store_has_all_its_threads(tmp_path: Path) -> None:
    before = set(threading.enumerate())
    store = SqliteStore(tmp_path)
    await store.open()
    begun = set(threading.enumerate()) - before
    for n in range(40):
        await put(store.user(USERS[n % 30]), Change(turns=(turn_draft(f"t{n}", "tea"),)))
    assert set(threading.enumerate()) - before == begun
    assert {thread.name.rpartition("_")[0] for thread in begun} == {"hitherto-read", "hitherto-write"}
    await store.close()
    assert not begun & set(threading.enumerate())
