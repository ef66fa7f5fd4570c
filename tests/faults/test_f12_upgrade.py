"""F12: every released schema is upgraded, also when the upgrade is killed on the way; a newer one is refused."""

import random
from contextlib import closing
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from hitherto.errors import SchemaMismatch
from hitherto.store.catalog import UserKey
from hitherto.store.protocol import Change, Head
from hitherto.store.sqlite.connections import PAGE_SIZE, close, connect
from hitherto.store.sqlite.datafile import open_writer
from hitherto.store.sqlite.layout import Layout
from hitherto.store.sqlite.migrations import Migration, migrate, migrations, newest, schema_of
from hitherto.store.sqlite.store import SqliteStore
from hitherto.testing import turn_draft
from hitherto.testing.drafts import put
from tests.effort import count
from tests.faults.disk import Disk, Op, recording
from tests.faults.releases import KEY, expected_hashes, frozen_users, row_hashes, thaw

POINTS = count(test=50, soak=500)
FROZEN = frozen_users()
# Migrations of the kinds that are to come: a column, a table made of another, rows written anew.
TO_COME = (
    Migration(9001, "a_column", "ALTER TABLE turns ADD COLUMN mood TEXT; UPDATE turns SET mood = role || '!';"),
    Migration(
        9002,
        "a_table",
        "CREATE TABLE moods (mood TEXT PRIMARY KEY, turns INTEGER NOT NULL) STRICT;"
        "INSERT INTO moods SELECT mood, count(*) FROM turns GROUP BY mood;"
        "CREATE INDEX turns_by_mood ON turns (mood);",
    ),
    Migration(
        9003,
        "other_rows",
        "INSERT INTO blobs (hash, text) SELECT 'h-' || seq, text FROM turns; DROP INDEX turns_by_mood;",
    ),
)
EXTENDED = ("blobs",)


def test_every_released_schema_is_kept() -> None:
    assert [int(path.name[5:9]) for path in FROZEN] == list(range(1, newest("user") + 1))


@pytest.mark.parametrize("frozen", FROZEN, ids=lambda path: path.name)
def test_a_released_migration_does_not_change(frozen: Path, tmp_path: Path) -> None:
    thaw(frozen, path := tmp_path / "user.db")
    with closing(connect(path, writes=False)) as connection:
        applied = connection.execute("SELECT number, name, digest FROM migrations ORDER BY number").fetchall()
    ours = [(step.number, step.name, sha256(step.sql.encode()).hexdigest()) for step in migrations("user")]
    assert applied == ours[: len(applied)]


@pytest.mark.parametrize("frozen", FROZEN, ids=lambda path: path.name)
async def test_a_released_file_is_read_and_written_on(frozen: Path, tmp_path: Path) -> None:
    path = Layout(tmp_path).user(KEY.digest)
    thaw(frozen, path)
    store = SqliteStore(tmp_path)
    await store.open()
    before = (await store.user(KEY).read(Head()))[Head()]
    with closing(connect(path, writes=False)) as connection:
        assert schema_of(connection) == newest("user")
        assert row_hashes(connection, expected_hashes(frozen)) == expected_hashes(frozen)
    assert (await put(store.user(KEY), Change(turns=(turn_draft("new"),)))).head == before + 1
    await store.close()


@pytest.mark.promise("F12", tries=POINTS)
@pytest.mark.parametrize("frozen", FROZEN, ids=lambda path: path.name)
def test_an_upgrade_survives_being_killed_anywhere(frozen: Path, fast_folder: Path, rng: random.Random) -> None:
    root = fast_folder / "upgraded"
    thaw(frozen, path := root / "user.db")
    steps = (*migrations("user"), *TO_COME)
    ops = [
        Op("create", str(path)),
        Op("write", str(path), data=path.read_bytes()),
        Op("sync", str(path)),
        Op("sync_folder", str(root)),
    ]
    with recording(root) as recorder, closing(connect(path)) as connection:
        migrate(connection, steps)
        finished = row_hashes(connection)
    expected = {name: found for name, found in expected_hashes(frozen).items() if not name.startswith(EXTENDED)}
    start, ops = len(ops), ops + recorder.ops
    for point in rng.choices(range(start, len(ops) + 1), k=POINTS):
        with TemporaryDirectory(dir=fast_folder) as folder:
            disk, target = Disk(ops[:point]), Path(folder)
            if rng.random() < 0.5:
                disk.kill(root, target)
            else:
                disk.cut_power(root, target, rng)
            with closing(connect(target / path.name)) as connection:
                found = schema_of(connection)
                recorded = connection.execute("SELECT max(number) FROM migrations").get
                assert found == recorded, "a migration and its record are one"
                migrate(connection, steps)
                assert row_hashes(connection) == finished
                assert row_hashes(connection, expected) == expected
                assert connection.execute("PRAGMA integrity_check").get == "ok"


@pytest.mark.promise("F12", tries=POINTS)
def test_new_pages_survive_being_killed_anywhere(fast_folder: Path, rng: random.Random) -> None:
    """A file of before has larger pages; the one that takes its place has all its rows, whenever the power fails."""
    root = fast_folder / "rewritten"
    thaw(FROZEN[2], path := root / "user.db")
    expected = expected_hashes(FROZEN[2])
    ops = [
        Op("create", str(path)),
        Op("write", str(path), data=path.read_bytes()),
        Op("sync", str(path)),
        Op("sync_folder", str(root)),
    ]
    with recording(root) as recorder:
        close(open_writer(path, "user"))
    assert path.stat().st_size < len(ops[1].data) / 2
    start, ops = len(ops), ops + recorder.ops
    for point in rng.choices(range(start, len(ops) + 1), k=POINTS):
        with TemporaryDirectory(dir=fast_folder) as folder:
            disk, target = Disk(ops[:point]), Path(folder)
            if rng.random() < 0.5:
                disk.kill(root, target)
            else:
                disk.cut_power(root, target, rng)
            with closing(open_writer(target / path.name, "user")) as connection:
                settings = [connection.pragma(name) for name in ("page_size", "journal_mode")]
                assert settings == [PAGE_SIZE, "wal"]
                assert row_hashes(connection, expected) == expected
                assert connection.execute("PRAGMA integrity_check").get == "ok"
                assert connection.execute("SELECT count(*) FROM turn_words WHERE turn_words MATCH 'number'").get == 599


@pytest.mark.parametrize("key", [None, bytes(range(32))], ids=["plain", "encrypted"])
def test_new_pages_wait_until_nobody_looks(tmp_path: Path, key: bytes | None) -> None:
    path = tmp_path / "user.db"
    with closing(connect(path, create=True, key=key, page_size=16_384)) as connection:
        migrate(connection, migrations("user"))
        connection.execute("INSERT INTO notes VALUES ('a', 1, 'b')")
    with closing(connect(path, writes=False, key=key)) as reader:
        reader.execute("BEGIN; SELECT * FROM notes").fetchall()
        with closing(open_writer(path, "user", key=key)) as connection:
            assert [connection.pragma(name) for name in ("page_size", "journal_mode")] == [16_384, "wal"]
    with closing(open_writer(path, "user", key=key)) as connection:
        assert [connection.pragma(name) for name in ("page_size", "journal_mode")] == [PAGE_SIZE, "wal"]
        assert connection.execute("SELECT * FROM notes").fetchall() == [("a", 1, "b")]


async def test_a_newer_schema_is_refused_and_left_alone(tmp_path: Path) -> None:
    path = Layout(tmp_path).user(KEY.digest)
    thaw(FROZEN[-1], path)
    with closing(connect(path)) as connection:
        migrate(connection, (*migrations("user"), TO_COME[0]))
    before = path.read_bytes()
    store = SqliteStore(tmp_path)
    await store.open()
    user = store.user(KEY)
    with pytest.raises(SchemaMismatch, match=r"schema 9001.*upgrade"):
        await user.read(Head())
    with pytest.raises(SchemaMismatch, match=r"schema 9001.*upgrade"):
        await put(user, Change(turns=(turn_draft("new"),)))
    assert (await store.user(UserKey("default", "bob")).read(Head()))[Head()] == 0
    await store.close()
    assert path.read_bytes() == before
