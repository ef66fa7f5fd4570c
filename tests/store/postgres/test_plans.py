"""What a read touches does not grow with the user: plans are made once for all users, and most have few turns."""

from collections.abc import AsyncGenerator, Iterable
from contextlib import asynccontextmanager
from datetime import timedelta
from typing import Any, cast

import psycopg
import pytest
from psycopg import AsyncClientCursor

from hitherto.store.catalog import UserKey
from hitherto.store.postgres import PostgresStore
from hitherto.store.postgres.connections import Connections, query
from hitherto.store.postgres.layout import APPLICATION, SCHEMA
from hitherto.store.postgres.queries import Batch, Person, Statement
from hitherto.store.postgres.statements import numbered, statement
from hitherto.store.protocol import (
    ANY,
    Change,
    Query,
    RecordsById,
    RecordsByKey,
    RecordsBySeq,
    TurnList,
    TurnsById,
    TurnsBySeq,
    Window,
)
from hitherto.testing import moment, put, row_draft, turn_draft

pytestmark = pytest.mark.usefixtures("one_server")
ANA = UserKey("default", "ana")
TURNS, OTHERS = 3_000, 200
MOST_PAGES = 60
"""A few pages for each row that is asked for; all of ana's turns are several hundred."""
LATE = moment() + timedelta(minutes=TURNS - 8)
READS: dict[str, Query[Any]] = {
    "the newest of a lane": Window(persona="nikita", lane="daily", limit=5),
    "the newest without a lane": Window(persona="nikita", lane=None, limit=5),
    "the newest of a persona": Window(persona="nikita", lane=ANY, limit=1),
    "the newest of all": Window(persona=ANY, lane=ANY, limit=1),
    "turns by id": TurnsById(ids=("t7", "t2990")),
    "turns by entry": TurnsBySeq(seqs=(7, 2_990)),
    "today": TurnList(persona="nikita", lane=None, since=LATE, until=LATE + timedelta(hours=1), limit=40),
    "records by id": RecordsById(ids=("m7", "m590")),
    "records by entry": RecordsBySeq(seqs=(TURNS + 7, TURNS + 590)),
    "records by key": RecordsByKey(noun="memory", keys=("k7", "k590")),
}


@pytest.fixture
async def crowded(postgres_url: str) -> str:
    """One who talked a lot, and many who hardly did."""
    store = PostgresStore(postgres_url)
    await store.open()
    drafts = [
        turn_draft(f"t{n}", at=moment() + timedelta(minutes=n), persona="nikita", lane=("daily", None)[n % 2])
        for n in range(TURNS)
    ]
    await put(store.user(ANA), Change(turns=tuple(drafts)))
    await put(store.user(ANA), Change(records=tuple(row_draft(f"m{n}", key=f"k{n}") for n in range(600))))
    for number in range(OTHERS):
        await put(store.user(UserKey("default", f"other {number}")), Change(turns=(turn_draft("t1"),)))
    await store.close()
    return postgres_url


@pytest.mark.parametrize("counted", [False, True], ids=["before statistics", "with statistics"])
async def test_a_read_touches_as_many_pages_as_it_needs(crowded: str, counted: bool) -> None:
    reads = dict(READS)
    if counted:
        with psycopg.connect(crowded, autocommit=True) as owner:
            owner.execute("analyze")
    else:
        del reads["records by key"]  # a noun and a key look as rare as a noun, until they are counted
    async with _as_the_user(crowded) as cursor:
        touched = {
            name: await _pages(cursor, Batch.of([read], Person.of(ANA)).statements) for name, read in reads.items()
        }
    assert {name: pages for name, pages in touched.items() if pages > MOST_PAGES} == {}


async def test_documents_are_found_by_their_names_and_by_whom_they_are_about(postgres_url: str) -> None:
    """A webhook asks which user a number means, of as many links as there are users; an audit log is everybody's."""
    store = PostgresStore(postgres_url)
    await store.open()
    await store.close()
    with psycopg.connect(postgres_url, autocommit=True) as owner:
        owner.execute(
            f"insert into {SCHEMA}.documents select 'default', 'link', n::text, 1, repeat('x', 500), 0, 'user ' || n % 300"
            " from generate_series(1, 3000) n"
        )
        owner.execute("analyze")
    asked = {"tenant": "default", "kind": "link"}
    async with _as_the_user(postgres_url) as cursor:
        named = await _pages(cursor, [Statement(statement("named_documents"), {**asked, "names": ["7", "2990"]})])
        whose = {**asked, "about": "user 7", "before": None, "limit": 5}
        about = await _pages(cursor, [Statement(statement("last_documents", about="d.about = %(about)s"), whose)])
        every = await _pages(cursor, [Statement(statement("documents"), asked)])
    assert max(named, about) < MOST_PAGES < every


async def test_what_is_about_one_user_is_found_while_the_server_has_not_counted(postgres_url: str) -> None:
    store = PostgresStore(postgres_url)
    await store.open()
    for number in range(2_000):
        await store.catalog.put("default", "audit", f"{number:020}", "{}", at=moment(), about=f"user {number % 300}")
    await store.close()
    whose = {"tenant": "default", "kind": "audit", "about": "user 7", "before": None, "limit": 50}
    async with _as_the_user(postgres_url) as cursor:
        about = await _pages(cursor, [Statement(statement("last_documents", about="d.about = %(about)s"), whose)])
    assert about < MOST_PAGES


@asynccontextmanager
async def _as_the_user(url: str) -> AsyncGenerator[AsyncClientCursor[Any]]:
    async with await Connections(url, pool_size=1, patience=5).connect() as connection, connection.transaction():
        await connection.execute(query(f"set local role {APPLICATION}"))
        await connection.execute("select set_config('hitherto.user_id', %s, true)", (str(Person.of(ANA).id),))
        yield AsyncClientCursor(connection)


async def _pages(cursor: AsyncClientCursor[Any], statements: Iterable[Statement]) -> int:
    """Pages that the statements' plans read, each made as the store makes it: once, for any parameters."""
    total = 0
    for each in statements:
        sql, names = numbered(each.sql)
        await cursor.execute(query(f"prepare read as {sql}"))
        places = ", ".join(["%s"] * len(names))
        explained = query(f"explain (analyze, buffers, format json) execute read({places})")
        await cursor.execute(explained, [each.values[name] for name in names])
        plan = cast(dict[str, int], (await cursor.fetchall())[0][0][0]["Plan"])
        total += plan["Shared Hit Blocks"] + plan["Shared Read Blocks"]
        await cursor.execute("deallocate read")
    return total
