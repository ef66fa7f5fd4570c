"""The schema: made once however many start at once, whole or not at all, and the same however it came about."""

from __future__ import annotations

import asyncio
import random
from contextlib import suppress
from hashlib import sha256

import psycopg
import pytest

from hitherto.errors import SchemaMismatch, StoreError
from hitherto.store.postgres import PostgresStore, layout, shards
from hitherto.store.postgres.layout import SCHEMA, SEARCH
from hitherto.store.protocol import Change, Matches, UserKey, Window
from hitherto.testing import put, turn_draft
from tests.effort import count
from tests.store.postgres.schema_description import description
from tests.stores import made_database

ANA = UserKey("default", "ana")
KILLS = count(test=5, soak=50)


async def opened_and_closed(url: str) -> None:
    store = PostgresStore(url)
    await store.open()
    await store.close()


async def test_many_who_start_at_once_make_one_schema(empty_database: str, postgres_admin_url: str) -> None:
    await asyncio.gather(*(opened_and_closed(empty_database) for _ in range(6)))
    with made_database(postgres_admin_url) as other:
        await opened_and_closed(other)
        assert description(empty_database) == description(other)


async def test_databases_of_one_server_may_start_at_once(postgres_admin_url: str) -> None:
    """Roles belong to the server, so that starters in different databases meet there."""
    with made_database(postgres_admin_url) as one, made_database(postgres_admin_url) as two:
        await asyncio.gather(opened_and_closed(one), opened_and_closed(two))
        assert description(one) == description(two)


async def test_opening_again_changes_nothing(empty_database: str) -> None:
    await opened_and_closed(empty_database)
    before = description(empty_database)
    await opened_and_closed(empty_database)
    assert description(empty_database) == before


COMPLETIONS = {1: "45d22eb832acf9f3", 2: "470c5f842f727864", 3: "378f6ebf7d589044"}
"""What each completion said. One that says something else gets the next number, or databases that exist would not get it."""

OLDER = f"""
set search_path = {SCHEMA}, public;
delete from migrations where kind = 'completion';
drop function match_turns, match_records;
drop policy words on turns;
grant select (text) on turns, turns_3 to {SEARCH};
grant create on schema {SCHEMA} to {SEARCH};
set role {SEARCH};
create function match_turns(p_words text[]) returns bigint language sql as 'select 1::bigint';
reset role;
revoke create on schema {SCHEMA} from {SEARCH};
"""


async def test_an_older_catalog_learns_whom_its_documents_are_about(empty_database: str) -> None:
    await opened_and_closed(empty_database)
    with psycopg.connect(empty_database, autocommit=True) as owner:
        owner.execute(f"set search_path = {SCHEMA}")
        owner.execute("alter table documents drop column about")
        owner.execute("delete from migrations where kind = 'catalog' and number = 2")
        owner.cursor().executemany(
            "insert into documents values ('default', %s, %s, 1, %s, 0)",
            [("link", "1", '{"user": "ana"}'), ("link", "2", '{"user": "ben"}'), ("audit", "3", '{"user": null}')],
        )
    store = PostgresStore(empty_database)
    await store.open()
    assert [one.name for one in await store.catalog.last("default", "link", limit=9, about="ana")] == ["1"]
    assert [one.about for one in await store.catalog.last("default", "audit", limit=9)] == [None]
    await store.close()


@pytest.mark.promise("F12")
async def test_a_database_with_older_walls_and_functions_gets_those_of_today(empty_database: str) -> None:
    """F12: other arguments, other grants, a wall less; what was written stays."""
    await works(empty_database)
    wanted = description(empty_database)
    with psycopg.connect(empty_database, autocommit=True) as connection:
        connection.execute(OLDER)
    assert description(empty_database) != wanted
    store = PostgresStore(empty_database)
    await store.open()
    found = Matches(stems=("fox",), target="turn")
    await put(store.user(ANA), Change(turns=(turn_draft("t2", "fox"),)))
    answers = await store.user(ANA).read(found, window := Window(limit=9))
    assert ([turn.id for turn in answers[window]], len(answers[found])) == (["t1", "t2"], 1)
    await store.close()
    assert description(empty_database) == wanted


async def test_walls_and_functions_of_a_newer_version_are_left_alone(empty_database: str) -> None:
    await opened_and_closed(empty_database)
    with psycopg.connect(empty_database, autocommit=True) as connection:
        connection.execute(f"insert into {SCHEMA}.migrations values ('completion', 99, '', '')")
    before = description(empty_database)
    with pytest.raises(SchemaMismatch, match="upgrade"):
        await opened_and_closed(empty_database)
    assert description(empty_database) == before


def test_another_completion_has_another_number() -> None:
    text = "\n".join((*layout.completion(), *shards.completion(())))
    assert sha256(text.encode()).hexdigest()[:16] == COMPLETIONS[max(COMPLETIONS)], "raise COMPLETION, and add it here"
    assert max(COMPLETIONS) == layout.COMPLETION


@pytest.mark.promise("F12", tries=KILLS)
async def test_a_migration_that_is_killed_leaves_all_or_nothing(
    postgres_admin_url: str, empty_database: str, rng: random.Random
) -> None:
    """F12: at any moment; the next start finishes it, and the schema is the one of an undisturbed start."""
    await opened_and_closed(empty_database)
    wanted = description(empty_database)
    for _ in range(KILLS):
        with made_database(postgres_admin_url) as url:
            opening = asyncio.create_task(opened_and_closed(url))
            await asyncio.sleep(rng.uniform(0.01, 0.6))
            with psycopg.connect(postgres_admin_url, autocommit=True) as admin:
                admin.execute(
                    "select pg_terminate_backend(pid) from pg_stat_activity where datname = %s",
                    (url.rsplit("/", maxsplit=1)[1],),
                )
            with suppress(StoreError):
                await opening
            with psycopg.connect(url) as connection:
                exists = connection.execute("select to_regclass(%s)", (f"{SCHEMA}.heads",)).fetchone() != (None,)
            if exists:
                assert description(url) == wanted
            await opened_and_closed(url)
            assert description(url) == wanted
            await works(url)


async def works(url: str) -> None:
    store = PostgresStore(url)
    await store.open()
    await put(store.user(ANA), Change(turns=(turn_draft("t1"),)))
    answers = await store.user(ANA).read(window := Window(limit=9))
    assert [turn.id for turn in answers[window]] == ["t1"]
    await store.close()
