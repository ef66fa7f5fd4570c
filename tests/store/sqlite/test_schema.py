"""The schema is what the migrations make it, and a file without one is damaged."""

from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

import apsw
import pytest

from hitherto.errors import SchemaMismatch, StoreCorrupt
from hitherto.store.protocol import Change, Head, Log, UserKey
from hitherto.store.sqlite.connections import CACHE_KIB, PAGE_SIZE, WAL_PAGES, close, connect, in_memory
from hitherto.store.sqlite.datafile import open_writer
from hitherto.store.sqlite.layout import Layout, companions_of
from hitherto.store.sqlite.migrations import GROWN, Migration, migrate, migrations, newest, schema_of
from hitherto.store.sqlite.store import SqliteStore
from hitherto.testing import put, turn_draft
from scripts.sqlite_schema import FOLDER, KINDS, schema

ANA = UserKey("default", "ana")
LATER = {"turns_by_persona", "turns_by_lane", "turns_by_session", "turns_by_time"}
NEXT = Migration(newest("user") + 1, "second", "CREATE TABLE second (a TEXT) STRICT; INSERT INTO second VALUES ('x');")
BROKEN = Migration(NEXT.number + 1, "broken", "CREATE TABLE third (a TEXT) STRICT; INSERT INTO nowhere VALUES ('x');")


@pytest.mark.parametrize("kind", KINDS)
def test_the_written_schema_is_that_of_all_migrations(kind: str) -> None:
    found = {one: schema(one) for one in KINDS}
    assert (FOLDER / f"{kind}.sql").read_text(encoding="utf-8") == {str(key): text for key, text in found.items()}[kind]


@pytest.mark.parametrize("kind", KINDS)
def test_migrations_are_numbered_from_one(kind: str) -> None:
    steps = {str(one): migrations(one) for one in KINDS}[kind]
    assert [step.number for step in steps] == list(range(1, len(steps) + 1))


def test_a_migration_and_its_record_are_committed_together() -> None:
    with closing(in_memory()) as connection:
        steps = (*migrations("user"), NEXT, BROKEN)
        with pytest.raises(Exception, match="nowhere"):
            migrate(connection, steps)
        assert schema_of(connection) == NEXT.number
        assert connection.execute("SELECT max(number) FROM migrations").get == NEXT.number
        assert connection.execute("SELECT count(*) FROM sqlite_schema WHERE name = 'third'").get == 0
        assert not connection.in_transaction


def test_migrating_again_changes_nothing() -> None:
    with closing(in_memory()) as connection:
        migrate(connection, (*migrations("user"), NEXT))
        migrate(connection, (*migrations("user"), NEXT))
        assert connection.execute("SELECT count(*) FROM second").get == 1


def _later_indexes(path: Path) -> set[str]:
    with closing(connect(path, writes=False)) as connection:
        found = connection.execute(
            "SELECT name FROM sqlite_schema WHERE type = 'index' AND tbl_name = 'turns'"
        ).fetchall()
    return {name for (name,) in found} & LATER


async def test_a_conversation_that_grows_gets_its_indexes(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path)
    await store.open()
    path = Layout(tmp_path).user(ANA.digest)
    await put(store.user(ANA), Change(turns=tuple(turn_draft(f"t{n}") for n in range(GROWN - 1))))
    assert _later_indexes(path) == set()
    await put(store.user(ANA), Change(turns=(turn_draft("one more"),)))
    assert _later_indexes(path) == LATER
    await store.close()


async def test_a_long_conversation_that_is_copied_or_restored_has_its_indexes(tmp_path: Path) -> None:
    log = Log(after=0, limit=2 * GROWN)
    first, second = SqliteStore(tmp_path / "first"), SqliteStore(tmp_path / "second")
    for store in (first, second):
        await store.open()
    await put(first.user(ANA), Change(turns=tuple(turn_draft(f"t{n}") for n in range(GROWN))))
    await second.user(ANA).restore((await first.user(ANA).read(log))[log])
    for store in (first, second):
        await store.close()
    path = Layout(tmp_path / "second").user(ANA.digest)
    assert _later_indexes(path) == LATER
    with closing(connect(path)) as connection:
        for name in LATER:
            connection.execute(f"DROP INDEX {name}")
    close(open_writer(path, "user"))
    assert _later_indexes(path) == LATER, "a file that comes from elsewhere gets them when it is opened"


def test_a_newer_schema_is_refused() -> None:
    with closing(in_memory()) as connection:
        migrate(connection, (*migrations("user"), NEXT))
        with pytest.raises(SchemaMismatch, match=f"schema {NEXT.number}, .* up to {newest('user')}"):
            migrate(connection, migrations("user"))


async def test_an_older_catalog_learns_whom_its_documents_are_about(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path)
    await store.open()
    await store.close()
    with closing(connect(tmp_path / "catalog.db", writes=True)) as connection:
        connection.execute("DROP INDEX documents_by_user; ALTER TABLE documents DROP COLUMN about")
        connection.execute("DELETE FROM migrations WHERE number = 2; PRAGMA user_version = 1")
        connection.executemany(
            "INSERT INTO documents VALUES ('default', ?, ?, 1, 0, ?)",
            [("link", "1", '{"user": "ana"}'), ("link", "2", '{"user": "ben"}'), ("audit", "3", '{"user": null}')],
        )
    store = SqliteStore(tmp_path)
    await store.open()
    assert [one.name for one in await store.catalog.last("default", "link", limit=9, about="ana")] == ["1"]
    assert [one.about for one in await store.catalog.last("default", "audit", limit=9)] == [None]
    await store.close()


async def _made(folder: Path) -> Path:
    store = SqliteStore(folder)
    await store.open()
    await put(store.user(ANA), Change(turns=(turn_draft("t1"),)))
    await store.close()
    return Layout(folder).user(ANA.digest)


@pytest.mark.parametrize("content", [b"", b"not a database, but long enough to look like one" * 100])
async def test_what_is_no_data_file_is_damage(tmp_path: Path, content: bytes) -> None:
    (await _made(tmp_path)).write_bytes(content)
    store = SqliteStore(tmp_path)
    await store.open()
    with pytest.raises(StoreCorrupt, match="restore it from a backup"):
        await store.user(ANA).read(Head())
    with pytest.raises(StoreCorrupt, match="restore it from a backup"):
        await put(store.user(ANA), Change(turns=(turn_draft("t2"),)))
    await store.close()


async def test_another_users_file_is_damage(tmp_path: Path) -> None:
    path = await _made(tmp_path)
    bob = UserKey("default", "bob")
    target = Layout(tmp_path).user(bob.digest)
    target.parent.mkdir(exist_ok=True)
    path.rename(target)
    store = SqliteStore(tmp_path)
    await store.open()
    with pytest.raises(StoreCorrupt, match="belongs to another user"):
        await store.user(bob).read(Head())
    await store.close()


async def test_a_file_that_was_being_made_is_no_obstacle(tmp_path: Path) -> None:
    path = Layout(tmp_path).user(ANA.digest)
    path.parent.mkdir(parents=True)
    for half in (path.with_suffix(".new"), *companions_of(path)):
        half.write_bytes(b"half a file")
    store = SqliteStore(tmp_path)
    await store.open()
    assert (await store.user(ANA).read(Head()))[Head()] == 0
    assert (await put(store.user(ANA), Change(turns=(turn_draft("t1"),)))).head == 1
    assert await store.catalog.users() == (ANA,)
    await store.close()


async def test_a_file_that_lost_its_last_entries_is_damage(tmp_path: Path) -> None:
    folder = tmp_path / "memories"
    store = SqliteStore(folder)
    await store.open()
    for name in ("t1", "t2"):
        await put(store.user(ANA), Change(turns=(turn_draft(name),)))
    await store.backup(str(tmp_path / "backup"))
    await put(store.user(ANA), Change(turns=(turn_draft("t3"),)))
    await store.close()
    Layout(folder).user(ANA.digest).write_bytes(Layout(tmp_path / "backup").user(ANA.digest).read_bytes())
    store = SqliteStore(folder)
    await store.open()
    with pytest.raises(StoreCorrupt, match="ends at entry 2, but 3 was acknowledged"):
        await store.user(ANA).read(Head())
    await store.close()


async def test_the_catalog_takes_as_little_memory_when_it_has_grown(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path)
    await store.open()
    for number in range(200):
        await store.catalog.put("default", "event", f"e{number}", "x" * 10_000, at=datetime.now(UTC))
    [catalog] = [one for one in apsw.connections() if one.filename == str(Layout(tmp_path).catalog)]
    held, _ = catalog.status(apsw.SQLITE_DBSTATUS_CACHE_USED)
    await store.close()
    assert held < 400_000 < Layout(tmp_path).catalog.stat().st_size


def test_files_are_kept_as_promised(tmp_path: Path) -> None:
    expected = {
        "journal_mode": "wal",
        "synchronous": 2,
        "page_size": PAGE_SIZE,
        "secure_delete": 1,
        "cell_size_check": 1,
        "trusted_schema": 0,
        "cache_size": -CACHE_KIB,
        "wal_autocheckpoint": WAL_PAGES,
        "journal_size_limit": WAL_PAGES * PAGE_SIZE,
    }
    with closing(connect(tmp_path / "a.db", create=True)) as connection:
        migrate(connection, migrations("user"))
        assert {name: connection.pragma(name) for name in expected} == expected
        assert connection.execute("SELECT v FROM turn_words_config WHERE k = 'secure-delete'").get == 1
        assert connection.execute("PRAGMA checksum_verification").get == "1"
