"""A database that version 0.1.0 made, under its former name, becomes one of today with the same rows.

`released/0.1.0.sql.gz` is what `pg_dump` wrote of such a database: two users, each with three turns, a memory, a context and
the work's results.
"""

import gzip
from collections.abc import Mapping
from pathlib import Path

import psycopg
import pytest

from hitherto import Hitherto, Turn
from hitherto.errors import SchemaMismatch
from hitherto.store.postgres import PostgresStore
from hitherto.store.postgres.connections import query
from hitherto.store.postgres.layout import CATALOG_TABLES, FORMER, SCHEMA, USER_TABLES
from hitherto.store.postgres.shards import renaming
from tests.store.postgres.schema_description import description
from tests.stores import made_database

RELEASED = Path(__file__).parent / "released" / "0.1.0.sql.gz"
ADDED = {"near"}
"""Columns of 0.1.0 that are no more."""


@pytest.fixture
def former(empty_database: str) -> str:
    with psycopg.connect(empty_database, autocommit=True) as connection:
        available = connection.execute("select from pg_available_extensions where name = 'vector'").fetchone()
        if available is None:
            pytest.skip("version 0.1.0 needs pgvector, and this server has none")
        connection.execute(query(gzip.decompress(RELEASED.read_bytes()).decode()))
    return empty_database


def rows(url: str, schema: str) -> Mapping[str, list[tuple[object, ...]]]:
    """Every row of every table, as text."""
    found: dict[str, list[tuple[object, ...]]] = {}
    with psycopg.connect(url) as connection:
        for table in (*USER_TABLES, *CATALOG_TABLES):
            names = connection.execute(
                "select column_name from information_schema.columns where table_schema = %s and table_name = %s",
                (schema, table),
            ).fetchall()
            columns = ", ".join(f"{name}::text" for name in sorted({row[0] for row in names} - ADDED))
            found[table] = connection.execute(query(f"select {columns} from {schema}.{table} order by 1, 2")).fetchall()
    return found


def walls(url: str) -> list[tuple[object, ...]]:
    """Policies, grants and our functions. Rights that only the owner has are as good as none that were ever given."""
    with psycopg.connect(url) as connection:
        owner = connection.info.user
    return [
        tuple(None if value == f"{{{owner}=arwdDxtm/{owner}}}" else value for value in each)
        for each in description(url)
        if each[0] in ("policy", "table") or (each[0] == "function" and str(each[1]).startswith("match_"))
    ]


@pytest.mark.promise("F12")
async def test_a_database_of_0_1_0_is_renamed_and_used_on(former: str, postgres_admin_url: str) -> None:
    """F12: equal rows, and walls, grants and functions as in a new database."""
    before = rows(former, FORMER)
    assert len(before["turns"]) == 6, "the test must find what is there"
    with psycopg.connect(former, autocommit=True) as connection:
        connection.execute(query(renaming()))
    async with Hitherto(former) as memory:
        assert rows(former, SCHEMA) == before
        turns = await memory.turns(user="ana")
        assert [turn.text for turn in turns] == [
            "I start to learn the violin on Monday!",
            "How exciting! Who teaches you?",
            "My sister Mira does.",
        ]
        found = await memory.search(user="ana", query="violin")
        assert found
        assert not any("cello" in hit.text for hit in found)
        await memory.record(Turn(user="ana", persona="nikita", role="user", text="The violin is broken."))
        assert len(await memory.turns(user="ana")) == 4
    with made_database(postgres_admin_url) as new:
        store = PostgresStore(new)
        await store.open()
        await store.close()
        wanted = walls(new)
    assert walls(former) == wanted
    assert not any(FORMER in str(each) for each in description(former) if "vector" not in str(each))
    with psycopg.connect(former) as connection:
        near = "select from information_schema.columns where table_schema = %s and column_name = 'near'"
        assert connection.execute(near, (SCHEMA,)).fetchone() is None


async def test_a_database_under_its_former_name_is_refused_and_left_alone(former: str) -> None:
    before = rows(former, FORMER)
    with pytest.raises(SchemaMismatch, match="schema --rename-from recollect"):
        await PostgresStore(former).open()
    with psycopg.connect(former) as connection:
        assert connection.execute("select to_regnamespace(%s)", (SCHEMA,)).fetchone() == (None,)
    assert rows(former, FORMER) == before
