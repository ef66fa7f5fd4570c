"""What only a cluster shows. These run where `HITHERTO_TEST_POSTGRES` names a database that Citus spreads over workers."""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncIterator, Mapping
from typing import Any

import psycopg
import pytest

from hitherto.errors import StoreUnavailable
from hitherto.store.catalog import UserKey
from hitherto.store.postgres import PostgresStore
from hitherto.store.postgres.connections import query
from hitherto.store.postgres.layout import APPLICATION, SCHEMA
from hitherto.store.postgres.machines import ask_each
from hitherto.store.postgres.reading import Person
from hitherto.store.postgres.sending import Connection
from hitherto.store.postgres.statements import every_statement, numbered
from hitherto.store.protocol import Answers, Change, Erasure, Head, Log, Note, TurnsById, Vector
from hitherto.testing import moment, put, row_draft, turn_draft
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
            plan = _plan(connection, sql)
            if "documents" not in sql and not any(
                each in plan for each in ("Task Count: 1\n", "Router", "Function Scan")
            ):
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
