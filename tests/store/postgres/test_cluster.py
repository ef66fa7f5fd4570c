"""What only a cluster shows. These run where `HITHERTO_TEST_POSTGRES` names a database that Citus spreads over workers."""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncIterator, Mapping
from typing import Any

import psycopg
import pytest

from hitherto import Hitherto, Turn
from hitherto.errors import StoreError, StoreUnavailable
from hitherto.store.catalog import UserKey
from hitherto.store.postgres import PostgresStore
from hitherto.store.postgres.connections import query
from hitherto.store.postgres.layout import APPLICATION, SCHEMA
from hitherto.store.postgres.machines import ask_each
from hitherto.store.postgres.pipeline import Connection
from hitherto.store.postgres.queries import Person
from hitherto.store.postgres.statements import every_statement, numbered
from hitherto.store.protocol import Answers, Change, Erasure, Head, Log, Matches, Note, TurnsById, Vector
from hitherto.testing import FakeClock, moment, put, row_draft, turn_draft
from tests.cluster import made_sharded_database, workers
from tests.effort import count

ANA = UserKey("default", "ana")
MEANT_FOR_ALL = {"due", "users", "count_users"}
"""Statements that ask every machine; no call about one user waits for them."""
EXAMPLES = {
    "uuid": f"'{Person.of(ANA).id}'",
    "bigint": "1",
    "integer": "1",
    "boolean": "true",
    "bytea": "'x'",
    "bigint[]": "'{1}'",
    "text[]": "'{a}'",
    "text": "'a'",
}
WRITES = count(test=60, soak=2_000)


@pytest.fixture
def cluster_url(sharded: bool, request: pytest.FixtureRequest) -> str:
    if not sharded:
        pytest.skip("about a cluster, and this is one server")
    return str(request.getfixturevalue("postgres_url"))


@pytest.fixture
async def store(cluster_url: str) -> AsyncIterator[PostgresStore]:
    opened = PostgresStore(cluster_url, patience=3.0)
    await opened.open()
    yield opened
    await opened.close()


def test_every_statement_of_a_user_is_one_task_of_one_worker(cluster_url: str) -> None:
    spread: set[str] = set()
    with psycopg.connect(cluster_url, autocommit=True) as connection:
        connection.execute(query(f"set search_path = {SCHEMA}"))
        connection.execute("set plan_cache_mode = force_custom_plan")
        for name, sql in every_statement().items():
            if "Task Count: 1\n" not in _plan(connection, sql):
                spread.add(name.split("/")[0])
    assert spread == MEANT_FOR_ALL


def _plan(connection: psycopg.Connection[Any], sql: str) -> str:
    text, names = numbered(sql)
    with connection.transaction(force_rollback=True):
        connection.execute(query(f"set local role {APPLICATION}"))
        connection.execute(query(f"set local hitherto.user_id = '{Person.of(ANA).id}'"))
        connection.execute(query(f"prepare asked as {text}"))
        try:
            [(types,)] = connection.execute("select parameter_types::text[] from pg_prepared_statements").fetchall()
            values = ", ".join(EXAMPLES[kind] for _, kind in zip(names, types, strict=True))
            asked = f"explain (costs off) execute asked{f'({values})' if values else ''}"
            return "\n".join(row[0] for row in connection.execute(query(asked)).fetchall())
        finally:
            connection.execute("deallocate asked")


async def test_a_record_needs_no_commit_in_two_phases(store: PostgresStore, cluster_url: str) -> None:
    """Such a commit leaves the user locked when a worker dies in it, until the coordinator recovers it a minute later."""
    before = _in_two_phases(cluster_url)
    vector = Vector(embedder="static", data=b"\x01")
    for number in range(4):
        user = store.user(UserKey("default", f"user {number}"))
        await put(
            user,
            Change(
                turns=(turn_draft("t1", "fox", vector=vector),),
                records=(row_draft("m1", sources=("t1",), entities=("person:x",), vector=vector),),
                blobs={"h": "text"},
                notes=(Note(name="n", body="note"),),
            ),
        )
        await put(user, Change(erase=Erasure(turns=("t1",), blobs=("h",)), retired_at=moment(1)))
    assert _in_two_phases(cluster_url) == before


def _in_two_phases(url: str) -> int:
    """Commits in two phases leave a record until they are recovered."""
    with psycopg.connect(url) as connection:
        found = connection.execute("select count(*) from pg_dist_transaction").fetchone()
        return found[0] if found else 0


async def test_neither_does_a_conversation_of_a_user_who_is_known(cluster_url: str) -> None:
    """With contexts, their receipts, searches and corrections. Forgetting is: every machine has the audit log whole."""
    async with Hitherto(cluster_url, clock=FakeClock()) as memory:
        await memory.record(Turn("ana", "user", "I love tea.", id="m1"))
        await memory.context(user="ana", message="Tea?")
        await memory.flush()
        before = _in_two_phases(cluster_url)
        for number in range(3):
            made = await memory.context(user="ana", message="What do I love?")
            answer = Turn("ana", "assistant", f"Tea, {number} times.", snapshot=made.snapshot)
            await memory.record([Turn("ana", "user", f"And jazz {number}.", id=f"q{number}"), answer])
            assert await memory.search(user="ana", query="jazz")
        await memory.revise(user="ana", turn="q1", text="And no jazz.")
        await memory.flush()
        assert _in_two_phases(cluster_url) == before


async def test_a_users_lock_is_waited_for_as_long_as_calls_wait(store: PostgresStore, cluster_url: str) -> None:
    """The session's own setting stays on the coordinator; a worker would wait for a minute."""
    await put(store.user(ANA), Change(turns=(turn_draft("t1"),)))
    with psycopg.connect(cluster_url) as other:
        other.execute(query(f"select from {SCHEMA}.heads where user_id = %s for update"), (Person.of(ANA).id,))
        with pytest.raises(StoreUnavailable, match="holds this user's lock"):
            await asyncio.wait_for(put(store.user(ANA), Change(turns=(turn_draft("t2"),))), 30)
    assert (await put(store.user(ANA), Change(turns=(turn_draft("t3"),)))).turns == (2,)


@pytest.mark.promise("F1", tries=WRITES)
async def test_workers_that_drop_their_connections_lose_and_double_nothing(
    cluster_url: str, rng: random.Random
) -> None:
    """F1: at any moment, also between a commit and its answer."""
    store = PostgresStore(cluster_url, patience=60.0)
    await store.open()
    acknowledged: dict[UserKey, list[str]] = {UserKey("default", f"user {number}"): [] for number in range(4)}

    async def write(key: UserKey) -> None:
        for number in range(WRITES // len(acknowledged)):
            name = f"t{number}"

            def once(answers: Answers, name: str = name) -> Change:
                return Change() if answers[TurnsById(ids=(name,))] else Change(turns=(turn_draft(name),))

            await store.user(key).write(once, TurnsById(ids=(name,)))
            acknowledged[key].append(name)

    writing = asyncio.gather(*map(write, acknowledged))
    while not writing.done():
        await asyncio.sleep(rng.uniform(0.0, 0.2))
        await asyncio.to_thread(_drop_connections, cluster_url)
    await writing
    for key, names in acknowledged.items():
        answers = await store.user(key).read(log := Log(limit=100_000))
        assert [entry.id for entry in answers[log]] == names
    await store.close()


@pytest.mark.promise("F1", tries=WRITES)
async def test_a_user_who_is_moved_while_they_write_loses_and_doubles_nothing(
    cluster_url: str, postgres_admin_url: str
) -> None:
    """F1: a writer waits for the end of the move. One connection that stays open was planned for the worker of before."""
    store = PostgresStore(cluster_url, pool_size=2, patience=60.0)
    await store.open()
    user, names = store.user(ANA), [f"t{number}" for number in range(WRITES)]
    moved = asyncio.Event()
    with psycopg.connect(cluster_url, autocommit=True) as connection:
        place = query(
            "select shardid, nodename, nodeport from citus_shards"
            f" where shardid = get_shard_id_for_distribution_column('{SCHEMA}.heads', %s)"
        )
        before = connection.execute(place, (Person.of(ANA).id,)).fetchone()
        assert before is not None
        shard, *source = before
        target = next(each for each in workers(postgres_admin_url) if [each.host, each.port] != source)

        async def move() -> None:
            how = "select citus_move_shard_placement(%s, %s, %s, %s, %s, 'force_logical')"
            await asyncio.to_thread(connection.execute, how, (shard, *source, target.host, target.port))
            moved.set()

        moving = asyncio.create_task(move())
        for name in names:
            await put(user, Change(turns=(turn_draft(name),)))
        while not moved.is_set() and not moving.done():
            names.append(f"t{len(names)}")
            await put(user, Change(turns=(turn_draft(names[-1]),)))
        await moving
        assert connection.execute(place, (Person.of(ANA).id,)).fetchone() == (shard, target.host, target.port)
    names.append("after")
    await put(user, Change(turns=(turn_draft("after"),)))
    answers = await user.read(log := Log(limit=100_000))
    assert [entry.id for entry in answers[log]] == names
    await store.close()


def _drop_connections(url: str) -> None:
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(
            "select run_command_on_workers($$select count(pg_terminate_backend(pid)) from pg_stat_activity"
            f" where datname = current_database() and usename = '{APPLICATION}'$$)"
        )


async def test_sizes_and_settings_are_those_of_all_machines(store: PostgresStore, cluster_url: str) -> None:
    await put(store.user(ANA), Change(turns=tuple(turn_draft(f"t{n}", f"text {n} " * 50) for n in range(200))))
    with psycopg.connect(cluster_url) as connection:
        here = connection.execute(query(f"select pg_total_relation_size('{SCHEMA}.turns')")).fetchone()
    health = await store.health()
    assert health.problems == ()
    assert here is not None
    assert health.bytes > here[0] + 100_000


async def test_scrubbing_moves_every_machines_log_on(store: PostgresStore, cluster_url: str) -> None:
    await put(store.user(ANA), Change(turns=(turn_draft("t1"),)))
    before = await _log_files(cluster_url)
    assert len(before) > 1
    assert (await store.scrub()).left == ()
    after = await _log_files(cluster_url)
    assert {machine: before[machine] & files for machine, files in after.items()} == {
        machine: set() for machine in after
    }


async def _log_files(url: str) -> Mapping[str, set[str]]:
    async with await Connection.connect(url, autocommit=True) as connection:
        replies = await ask_each(connection, "select string_agg(name, ' ') from pg_ls_waldir()")
    return {reply.machine: set(reply.text.split()) for reply in replies}


async def test_a_table_that_came_later_is_distributed_when_the_store_is_opened(cluster_url: str) -> None:
    with psycopg.connect(cluster_url, autocommit=True) as connection:
        connection.execute(query(f"select undistribute_table('{SCHEMA}.notes')"))
        store = PostgresStore(cluster_url)
        await store.open()
        assert (await store.health()).problems == ("not distributed: notes",)
        await store.close()
        connection.execute(query(f"delete from {SCHEMA}.migrations where kind = 'completion' or number = 5"))
    await store.open()
    with psycopg.connect(cluster_url) as connection:
        found = connection.execute("select colocation_id from citus_tables where table_name::text ~ '(heads|notes)$'")
        assert len(colocations := found.fetchall()) == 2
        assert len(set(colocations)) == 1
    await put(store.user(ANA), Change(notes=(Note(name="n", body="note"),)))
    assert (await store.health()).problems == ()
    await store.close()


async def test_a_schema_that_was_made_for_one_server_is_noticed(sharded: bool, postgres_admin_url: str) -> None:
    """It works, and all users are on the coordinator: nothing else would say so."""
    if not sharded:
        pytest.skip("about a cluster, and this is one server")
    with made_sharded_database(postgres_admin_url) as url:
        with psycopg.connect(url, autocommit=True) as connection:
            connection.execute(query(f"drop schema {SCHEMA} cascade"))
        store = PostgresStore(url)
        await store.open()
        assert (await put(store.user(ANA), Change(turns=(turn_draft("t1"),)))).head == 1
        [problem] = (await store.health()).problems
        assert "all users are on the coordinator" in problem
        await store.close()


async def test_an_owner_who_is_no_superuser_sets_a_cluster_up_and_upgrades_it(
    sharded: bool, postgres_admin_url: str
) -> None:
    """For an upgrade that makes the search functions anew, its administrator lets it inherit the role that has them."""
    if not sharded:
        pytest.skip("about a cluster, and this is one server")
    made = made_sharded_database(postgres_admin_url, owned=True)
    with made as url:
        store = PostgresStore(url)
        await store.open()
        await put(store.user(ANA), Change(turns=(turn_draft("t1", "fox"),)))
        await store.close()
        with psycopg.connect(url, autocommit=True) as connection:
            connection.execute(query(f"delete from {SCHEMA}.migrations where kind = 'completion'"))
        with pytest.raises(StoreError, match="must be owner of function"):
            await store.open()
        made.let_the_owner_inherit(inherit=True)
        await store.open()
        made.let_the_owner_inherit(inherit=False)
        found = Matches(stems=("fox",), target="turn")
        assert len((await store.user(ANA).read(found))[found]) == 1
        assert (await store.health()).problems == ()
        await store.close()


async def test_a_cluster_that_was_completed_by_an_older_version_is_completed_again(cluster_url: str) -> None:
    with psycopg.connect(cluster_url, autocommit=True) as connection:
        connection.execute(query(f"delete from {SCHEMA}.migrations where kind = 'completion'"))
        connection.execute(query(f"drop policy mine on {SCHEMA}.turns"))
    store = PostgresStore(cluster_url)
    await store.open()
    assert (await put(store.user(ANA), Change(turns=(turn_draft("t1"),)))).head == 1
    assert (await store.user(ANA).read(Head()))[Head()] == 1
    assert (await store.health()).problems == ()
    await store.close()
