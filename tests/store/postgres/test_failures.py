"""What goes wrong around a server: a clear error, nothing lost, and recovery without help."""

from __future__ import annotations

import asyncio
import contextlib
import random
import re
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import psycopg
import pytest
from psycopg import errors

from hitherto.errors import InvalidInput, SchemaMismatch, StoreError, StoreUnavailable
from hitherto.store.catalog import UserKey
from hitherto.store.postgres import PostgresStore
from hitherto.store.postgres.connections import query
from hitherto.store.postgres.failures import lost_worker, translated
from hitherto.store.postgres.layout import SCHEMA
from hitherto.store.postgres.migrations import require_server
from hitherto.store.postgres.pipeline import Connection, send
from hitherto.store.postgres.queries import Statement
from hitherto.store.postgres.rows import Fetched
from hitherto.store.protocol import Answers, Change, Head, Log, TurnsById, Window
from hitherto.testing import put, turn_draft
from tests.docs.blocks import find_blocks
from tests.effort import count
from tests.postgres_server import PostgresServer, free_port
from tests.store.postgres.conftest import Wire
from tests.stores import made_database

ANA = UserKey("default", "ana")
SECRET = "hunter2-and-more"
RESTARTS = count(test=2, soak=20)


@asynccontextmanager
async def opened(url: str, *, pool_size: int = 5, patience: float = 20.0) -> AsyncGenerator[PostgresStore]:
    store = PostgresStore(url, pool_size=pool_size, patience=patience)
    await store.open()
    try:
        yield store
    finally:
        await store.close()


async def failure(url: str) -> StoreError:
    with pytest.raises(StoreError) as caught:
        await PostgresStore(url, patience=1.0).open()
    return caught.value


async def test_a_wrong_password_is_named_but_not_told(server: PostgresServer) -> None:
    rules = server.data / "pg_hba.conf"
    rules.write_text("host all locked 127.0.0.1/32 scram-sha-256\n" + rules.read_text())
    with psycopg.connect(server.url(), autocommit=True) as admin:
        admin.execute("create role locked login password 'right'")
        admin.execute("select pg_reload_conf()")
    error = await failure(f"postgresql://locked:{SECRET}@127.0.0.1:{server.port}/postgres")
    assert isinstance(error, StoreUnavailable)
    assert "password authentication failed" in str(error)
    assert SECRET not in str(error)


@pytest.mark.parametrize(
    "url",
    [
        f"postgresql://ana:{SECRET}@127.0.0.1:no-port/db",
        f"postgresql://ana:{SECRET}@[::1/db",
        f"postgresql://ana:{SECRET}%zz@127.0.0.1/db",
        f"postgresql://ana:p@{SECRET}@127.0.0.1/db",
    ],
)
def test_an_unreadable_url_is_not_repeated(url: str) -> None:
    with pytest.raises(StoreUnavailable) as caught:
        PostgresStore(url)
    assert SECRET not in str(caught.value)
    assert caught.value.__cause__ is None
    assert "postgresql://USER" in str(caught.value)


async def test_a_server_that_is_away_at_the_start() -> None:
    error = await failure(f"postgresql://ana:{SECRET}@127.0.0.1:{free_port()}/memories")
    assert isinstance(error, StoreUnavailable)
    assert "127.0.0.1" in str(error)
    assert SECRET not in str(error)


async def test_the_how_to_prepares_a_server_for_a_role_without_rights(server: PostgresServer) -> None:
    """What docs/howto/postgresql.md has an administrator run, under names of this test's own."""
    page = (Path(__file__).parents[3] / "docs/howto/postgresql.md").read_text("utf-8")
    [block] = [block.text for block in find_blocks(page) if block.language == "sql"]
    lacking, *statements = re.sub(r"\bhitherto\b", "reader_of_docs", block).split(";\n")
    with psycopg.connect(server.url(), autocommit=True) as admin:
        admin.execute(query(lacking))
        admin.execute("create database half_prepared owner reader_of_docs")
        error = await failure(server.url("half_prepared", user="reader_of_docs"))
        assert "GRANT hitherto_app, hitherto_search TO" in str(error)
        for statement in statements:
            with contextlib.suppress(
                errors.DuplicateObject
            ):  # roles belong to the whole server, and may be there already
                admin.execute(query(statement))
    async with opened(server.url("reader_of_docs", user="reader_of_docs")) as store:
        await put(store.user(ANA), Change(turns=(turn_draft("t1"),)))


async def test_a_database_that_is_not_there(server: PostgresServer) -> None:
    error = await failure(server.url("nowhere"))
    assert isinstance(error, StoreUnavailable)
    assert "nowhere" in str(error)


async def test_a_server_that_goes_away_and_comes_back(server: PostgresServer) -> None:
    with made_database(server.url()) as url:
        async with opened(url, patience=1.0) as store:
            user = store.user(ANA)
            await put(user, Change(turns=(turn_draft("t1"),)))
            server.stop()
            for call in (user.read(Head()), put(user, Change(turns=(turn_draft("t2"),))), store.catalog.users()):
                with pytest.raises(StoreUnavailable):
                    await call
            health = await store.health()
            assert len(health.problems) == 1
            server.start()
            for _ in range(200):
                if not (await store.health()).problems:
                    break
                await asyncio.sleep(0.05)
            await put(user, Change(turns=(turn_draft("t3"),)))
            answers = await user.read(window := Window(limit=9))
            assert [turn.id for turn in answers[window]] == ["t1", "t3"]


@pytest.mark.promise("F1", tries=RESTARTS)
@pytest.mark.parametrize("way", ["fast", "immediate", "kill"])
async def test_a_restart_under_load_loses_and_doubles_nothing(
    server: PostgresServer, way: str, rng: random.Random
) -> None:
    with made_database(server.url()) as url:
        async with opened(url, patience=60.0) as store:
            acknowledged: dict[UserKey, list[str]] = {}
            stop = asyncio.Event()

            async def write(key: UserKey) -> None:
                done = acknowledged.setdefault(key, [])
                while not stop.is_set():
                    name = f"t{len(done)}"

                    def once(answers: Answers, name: str = name) -> Change:
                        if answers[TurnsById(ids=(name,))]:
                            return Change()
                        return Change(turns=(turn_draft(name),))

                    await store.user(key).write(once, TurnsById(ids=(name,)))
                    done.append(name)

            writers = [asyncio.create_task(write(UserKey("default", f"user {n}"))) for n in range(6)]
            for _ in range(RESTARTS):
                await asyncio.sleep(rng.uniform(0.05, 0.3))
                await asyncio.to_thread(restart, server, way)
            await asyncio.sleep(0.1)
            stop.set()
            await asyncio.gather(*writers)
            for key, names in acknowledged.items():
                answers = await store.user(key).read(log := Log(limit=100_000))
                assert [entry.id for entry in answers[log]] == names
                assert [entry.seq for entry in answers[log]] == list(range(1, len(names) + 1))


def restart(server: PostgresServer, way: str) -> None:
    if way == "kill":
        server.kill()
    elif way == "fast":
        server.stop("fast")
    else:
        server.stop("immediate")
    server.start()


@pytest.mark.parametrize("moment", ["before", "after"])
async def test_a_commit_whose_answer_is_lost_happens_once(server: PostgresServer, wire: Wire, moment: str) -> None:
    with made_database(server.url()) as url:
        async with opened(url.replace(str(server.port), str(wire.port))) as store:
            user = store.user(ANA)
            await put(user, Change(turns=(turn_draft("t1"),)))
            left = [moment]
            # What is written and its commit go in one piece.
            wire.cut = lambda data: left.pop() if b"second" in data and left else None
            written = await put(user, Change(turns=(turn_draft("second"),)))
            assert left == []
            assert (written.turns, written.head) == ((2,), 2)
            answers = await user.read(log := Log(limit=9))
            assert [entry.id for entry in answers[log]] == ["t1", "second"]


@pytest.mark.parametrize("stored", [True, False], ids=["stored", "not stored"])
@pytest.mark.parametrize("forgets", [True, False], ids=["asked", "in one trip"])
async def test_a_worker_that_is_lost_while_it_commits_is_asked_what_became_of_it(
    postgres_url: str, monkeypatch: pytest.MonkeyPatch, stored: bool, forgets: bool
) -> None:
    """A coordinator says so in an error without a code, on a connection that is well."""
    lost: list[str] = []

    async def losing(connection: Connection, statements: Sequence[Statement]) -> list[Fetched]:
        last = statements[-1].sql
        if last != "commit" or lost or not any(each.sql.startswith("insert into turns") for each in statements):
            return await send(connection, statements)
        lost.append(last)
        await send(connection, statements if stored else statements[:-1])
        raise errors.InternalError_("could not commit transaction for shard 102009 on at least one active node")

    async with opened(postgres_url) as store:
        user = store.user(ANA)
        await put(user, Change(turns=(turn_draft("t1"),)))
        writer = store
        if forgets:
            writer = PostgresStore(postgres_url)
            await writer.open()
        monkeypatch.setattr("hitherto.store.postgres.store.send", losing)
        written = await put(writer.user(ANA), Change(turns=(turn_draft("t2"),)))
        assert (lost, written.turns, written.head) == (["commit"], (2,), 2)
        answers = await user.read(log := Log(limit=9))
        assert [entry.id for entry in answers[log]] == ["t1", "t2"]
        if forgets:
            await writer.close()


async def test_busy_connections_are_waited_for_and_then_named(server: PostgresServer) -> None:
    with made_database(server.url()) as url:
        async with opened(url, pool_size=1, patience=1.0) as store:
            user = store.user(ANA)
            await put(user, Change(turns=(turn_draft("t1"),)))
            with psycopg.connect(url) as other:
                other.execute(query(f"select from {SCHEMA}.heads for update"))
                calls = [put(user, Change(turns=(turn_draft("t2"),))) for _ in range(4)]
                failures = await asyncio.gather(*calls, return_exceptions=True)
            assert {type(each) for each in failures} == {StoreUnavailable}
            messages = " ".join(map(str, failures))
            assert "holds this user's lock" in messages
            assert "pool_size" in messages
            assert (await put(user, Change(turns=(turn_draft("t3"),)))).turns == (2,)


@pytest.mark.parametrize(
    ("error", "worker"),
    [
        (errors.ConnectionFailure("connection to the remote node app@10.0.0.7:5432 failed"), "10.0.0.7:5432"),
        (errors.AdminShutdown("terminating connection\nCONTEXT:  while executing command on w1:5432"), "w1:5432"),
        (errors.CannotConnectNow("the database system is starting up\nwhile executing command on w1:5432"), "w1:5432"),
        (errors.InternalError_("server closed the connection\nwhile executing command on w1:5432"), "w1:5432"),
        (
            errors.InternalError_("could not commit transaction for shard 102009 on at least one active node"),
            "a worker",
        ),
        (errors.InternalError_("could not find a relation"), None),
        (errors.AdminShutdown("terminating connection due to administrator command"), None),
        (errors.LockNotAvailable("canceling statement due to lock timeout\nwhile executing command on w1:5432"), None),
    ],
)
def test_a_coordinator_that_lost_a_worker_is_understood(error: psycopg.Error, worker: str | None) -> None:
    assert lost_worker(error) == worker
    if worker is not None:
        told = translated(error, {"host": "coordinator"})
        assert isinstance(told, StoreUnavailable)
        assert worker in str(told)


def test_an_old_server_is_refused() -> None:
    require_server(160_000)
    with pytest.raises(StoreUnavailable, match="PostgreSQL 15 is too old"):
        require_server(150_018)


async def test_a_newer_schema_is_refused_untouched(empty_database: str) -> None:
    async with opened(empty_database) as store:
        await put(store.user(ANA), Change(turns=(turn_draft("t1"),)))
    with psycopg.connect(empty_database) as connection:
        connection.execute(query(f"insert into {SCHEMA}.migrations values ('user', 9000, 'later', '')"))
    error = await failure(empty_database)
    assert isinstance(error, SchemaMismatch)
    assert "9000" in str(error)


async def test_text_that_is_no_text_is_refused(postgres_url: str) -> None:
    async with opened(postgres_url) as store:
        user = store.user(ANA)
        await put(user, Change(turns=(turn_draft("t1", "nul \x00 is fine"),)))
        for bad in (turn_draft("t2", "half \ud800"), turn_draft("nul \x00 in an id")):
            with pytest.raises(InvalidInput):
                await put(user, Change(turns=(bad,)))
        answers = await user.read(window := Window(limit=9))
        assert [turn.text for turn in answers[window]] == ["nul \x00 is fine"]


async def test_a_backup_folder_must_be_new(postgres_url: str, tmp_path: Path) -> None:
    (tmp_path / "something").write_text("")
    async with opened(postgres_url) as store:
        with pytest.raises(StoreUnavailable, match="not empty"):
            await store.backup(str(tmp_path))
