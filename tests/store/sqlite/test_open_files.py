"""Many users, few descriptors."""

from pathlib import Path

from recollect.store.base import Change, Head, TurnList, UserKey
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
