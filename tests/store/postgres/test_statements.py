"""Every statement is routed by user, so that the same schema and queries run on a cluster sharded by user."""

import re
from collections.abc import Callable, Sequence

import psycopg
import pytest
from pglast import parse_sql

from hitherto.store.catalog import UserKey
from hitherto.store.postgres import PostgresStore, layout
from hitherto.store.postgres.connections import query
from hitherto.store.postgres.layout import APPLICATION, CATALOG_TABLES, USER_TABLES
from hitherto.store.postgres.pipeline import Connection, send
from hitherto.store.postgres.queries import Person, Statement
from hitherto.store.postgres.rows import Fetched
from hitherto.store.postgres.shards import TABLES, completion, schema, statements
from hitherto.store.postgres.statements import RECORD_COLUMNS, TURN_COLUMNS, every_statement, together
from hitherto.store.protocol import Change, Head, Matches, TurnsById, Window
from hitherto.testing import put, turn_draft
from tests.store.postgres.schema_description import description
from tests.store.postgres.sql_lint import function_problems, problems, schema_problems
from tests.stores import made_database

STATEMENTS = every_statement()


@pytest.mark.parametrize("name", sorted(STATEMENTS))
def test_a_statement_is_routed_by_user(name: str) -> None:
    assert problems(STATEMENTS[name]) == []


@pytest.mark.parametrize("columns", [TURN_COLUMNS, RECORD_COLUMNS], ids=["turns", "records"])
def test_statements_that_go_together_are_routed_by_user(columns: str) -> None:
    alike = [text for text in STATEMENTS.values() if text.startswith(f"select {columns}\n")]
    assert len(alike) > 10
    assert problems(together(tuple(alike))) == []
    stray = f"select {columns}\nfrom turns t"
    assert problems(together((*alike, stray))) == ["turns is not pinned to the user"]


async def test_answers_that_came_together_are_told_apart(postgres_url: str) -> None:
    store = PostgresStore(postgres_url)
    await store.open()
    user = store.user(UserKey("default", "ana"))
    await put(user, Change(turns=tuple(turn_draft(f"t{n}") for n in range(9))))
    newest, none, named = Window(limit=3), TurnsById(ids=("nobody",)), TurnsById(ids=("t8", "t1", "t7"))
    answers = await user.read(newest, none, named, Head())
    assert [turn.id for turn in answers[newest]] == ["t6", "t7", "t8"]
    assert answers[none] == ()
    assert [turn.id for turn in answers[named]] == ["t1", "t7", "t8"]
    assert answers[Head()] == 9
    await store.close()


def test_the_search_functions_are_routed_by_user() -> None:
    for partitions in (layout.PARTITIONS, 0):
        assert function_problems("\n".join(layout.function_scripts(partitions))) == []


@pytest.mark.parametrize("step", layout.migrations(), ids=lambda step: f"{step.kind}-{step.number}")
def test_a_migration_holds_on_a_sharded_cluster(step: layout.Migration) -> None:
    assert schema_problems(step.sql) == []


@pytest.mark.parametrize(
    ("bad", "why"),
    [
        ("select t.id from turns t", "not pinned"),
        ("select t.id from turns t where t.user_id = %(user)s or true", "not pinned"),
        ("select t.id from turns t where t.user_id <> %(user)s", "not pinned"),
        ("select t.id from turns t where t.user_id = %(other)s and t.id = %(user)s", "not pinned"),
        ("select 1 from turns t join records r on r.seq = t.seq where t.user_id = %(user)s", "records is not pinned"),
        (
            "select 1 from turns t join records r on r.user_id = t.user_id where t.user_id = %(user)s",
            "records is not pinned",
        ),
        ("select 1 from turns t where t.user_id = %(user)s and t.seq in (select seq from endings)", "endings"),
        ("with x as (select * from notes) select 1 from x", "notes is not pinned"),
        ("delete from notes n where n.name = %(name)s", "not pinned"),
        ("update heads h set seq = 1 where h.user_id = any (%(user)s)", "not pinned"),
        ("insert into notes (name, user_id) values (%(name)s, %(user)s)", "does not begin with the user"),
        ("insert into notes (user_id, name) values (%(other)s, %(user)s)", "does not begin with the user"),
        ("insert into notes (user_id) values (%(user)s) on conflict (name) do nothing", "not the user's"),
        (
            "insert into blobs (user_id, hash) select %(user)s, x from unnest(%(texts)s) x",
            "does not begin with the user",
        ),
        (
            "insert into blobs (user_id) select %(user)s from heads h where h.user_id = %(user)s",
            "does not begin with the user",
        ),
        ("insert into blobs (user_id) select h.user_id from heads h", "heads is not pinned"),
        ("update cursors c set due = now() where c.user_id = %(user)s", "now()"),
        ("select current_timestamp from heads h where h.user_id = %(user)s", "own time"),
        ("select 1 from heads h where h.user_id = %(user)s for update skip locked", "skips rows"),
        ("merge into notes n using blobs b on true when matched then delete", "MergeStmt"),
        ("select 1; select 2", "2 statements"),
    ],
)
def test_the_lint_bites(bad: str, why: str) -> None:
    assert any(why in problem for problem in problems(bad)), problems(bad)


FILTER = re.compile(r"(?:\b\w+\.)?user_id = %\(user\)s")


def without_each_filter(sql: str) -> list[str]:
    """The statement with one of its filters by user taken out, for each of them."""
    return [f"{sql[: found.start()]}true{sql[found.end() :]}" for found in FILTER.finditer(sql)]


@pytest.mark.promise("isolation: a filter less", control=True)
def test_no_filter_by_user_can_be_left_out(tried: Callable[[int], None]) -> None:
    """Each one of every statement, taken out by itself, is missed."""
    weaker = [(name, one) for name, sql in STATEMENTS.items() for one in without_each_filter(sql)]
    tried(len(weaker))
    assert len(weaker) > len(STATEMENTS) / 2, "the filters are written otherwise now"
    unnoticed = [name for name, sql in weaker if not any("not pinned" in problem for problem in problems(sql))]
    assert unnoticed == []


@pytest.mark.parametrize(
    ("bad", "why"),
    [
        ("create table notes (name text primary key, user_id uuid)", "first column"),
        ("create table notes (user_id uuid, name text, primary key (name, user_id))", "not led by the user"),
        ("create table notes (user_id uuid, primary key (user_id))", "not partitioned"),
        ("create table notes (user_id uuid, at bigint default 0, primary key (user_id))", "CONSTR_DEFAULT"),
        ("create table strangers (user_id uuid primary key)", "neither"),
        ("create unique index on turns (id)", "not led by the user"),
        ("create sequence numbers", "CreateSeqStmt"),
        ("create trigger t before insert on turns execute function f()", "CreateTrigStmt"),
    ],
)
def test_the_schema_lint_bites(bad: str, why: str) -> None:
    assert any(why in problem for problem in schema_problems(bad)), schema_problems(bad)


def test_the_function_lint_bites() -> None:
    script = "\n".join([*layout.function_scripts(), *layout.function_scripts(0)])
    for mine in ("t.user_id = p_user", "(t.user_id = p_user) is true"):
        assert function_problems(script.replace(f"where {mine} and ", "where ")) == [
            "turns is not pinned to the user",
            "records is not pinned to the user",
        ]
    assert set(function_problems(script.replace("h.user_id = p_user and ", ""))) == {"heads is not pinned to the user"}


def test_the_sharded_schema_distributes_every_table() -> None:
    text = schema(shards=128)
    for table in USER_TABLES:
        assert text.count(f"create_distributed_table('hitherto.{table}', 'user_id'") == 1
    assert "partition by" not in text
    for table in CATALOG_TABLES:
        assert text.count(f"_table('hitherto.{table}'") == 1
    assert len(parse_sql(text)) > 3 * len(USER_TABLES)


def test_the_sharded_schema_says_each_thing_when_a_coordinator_takes_it() -> None:
    """Each was refused or lost on a cluster: the extension sets the search path back, a distributed table takes no word
    about its statistics, a policy takes no sub-select, workers do not know what another role makes in a transaction, and an
    owner who is no superuser has no say in a function that was given away."""
    found = statements(shards=8)

    def places(part: str) -> list[int]:
        return [number for number, each in enumerate(found) if part in each]

    assert max(places("create extension")) < min(places("search_path ="))
    assert max(places("set statistics")) < min(places("create_distributed_table("))
    assert max(places("create_distributed_table(")) < min(places("create policy"))
    assert max(places("create or replace function")) < min(places("create_distributed_function("))
    assert max(places("create_distributed_function(")) < min(places("owner to"))
    assert not any(re.search(r"\(\s*select", each) for each in found if each.startswith("create policy"))
    assert not any(re.search(r"set (local )?role", each) for each in found)


def test_the_search_functions_of_a_cluster_know_no_table_by_its_name() -> None:
    """On a worker a row's table is a shard, which has another name."""
    for script in layout.function_scripts(0):
        assert "tableoid" not in script
        assert not re.search(r"(heads|turns|records)_", script.replace("p_words", ""))


@pytest.mark.parametrize("coordinates", [True, False])
async def test_a_worker_is_told_by_statements_for_whom_and_how_long_it_waits(
    postgres_url: str, monkeypatch: pytest.MonkeyPatch, coordinates: bool
) -> None:
    """A coordinator passes on what is `set local`, and neither a function that sets it nor what holds for a session."""
    sent: list[str] = []

    async def noted(connection: Connection, batch: Sequence[Statement]) -> list[Fetched]:
        sent.extend(each.sql for each in batch)
        return await send(connection, batch)

    store = PostgresStore(postgres_url, patience=7.0)
    await store.open()
    store._connections.sharded = coordinates  # pyright: ignore[reportPrivateUsage]
    monkeypatch.setattr("hitherto.store.postgres.store.send", noted)
    person, wait = Person.of(key := UserKey("default", "ana")), "set local lock_timeout = '7000ms'"
    who = [f"set local role {APPLICATION}", f"set local hitherto.user_id = '{person.id}'"]
    user = store.user(key)
    for number in range(3):
        sent.clear()
        await put(user, Change(turns=(turn_draft(f"t{number}"),)))
        assert sent[1:3] == who
        assert (sent[3] == wait) is coordinates
    sent.clear()
    await user.read(Head())
    assert sent[1:3] == who
    assert wait not in sent, "a read waits for nobody"
    assert not any("set_config" in each for each in sent)
    await store.close()


def test_a_later_table_is_distributed_too() -> None:
    later = completion([table for table in TABLES if table != "notes"])
    assert [each for each in later if "create_distributed_table(" in each] == [
        "select create_distributed_table('hitherto.notes', 'user_id', colocate_with => 'hitherto.heads')"
    ]
    assert {each.split()[2] for each in later if "set statistics" in each and each.startswith("alter")} == {"notes"}
    assert not any("_table(" in each or "set statistics" in each for each in completion(TABLES))


async def test_the_printed_schema_is_the_one_the_store_makes(empty_database: str, postgres_admin_url: str) -> None:
    with psycopg.connect(empty_database, autocommit=True) as connection:
        connection.execute(query(schema()))
    with made_database(postgres_admin_url) as other:
        store = PostgresStore(other)
        await store.open()
        await store.close()
        assert description(empty_database) == description(other)


async def test_the_sharded_schema_is_the_same_schema(empty_database: str) -> None:
    """Everything but the distribution runs on a plain server, and the store finds it up to date."""
    with psycopg.connect(empty_database) as connection:
        for each in statements(shards=128):
            if not re.search(r"citus|create_(distributed|reference)_", each):
                connection.execute(query(each.replace(" login;", " nologin;")))
    store = PostgresStore(empty_database)
    await store.open()
    written = await put(store.user(UserKey("default", "ana")), Change(turns=(turn_draft("t1", "fox"),)))
    found = Matches(stems=("fox",), target="turn")
    assert [match.seq for match in (await store.user(UserKey("default", "ana")).read(found))[found]] == [1]
    assert (written.head, (await store.health()).problems) == (1, ())
    await store.close()


def test_both_stores_number_and_name_migrations_alike() -> None:
    from hitherto.store.sqlite.migrations import migrations as embedded

    ours = {(step.kind, step.number, step.name) for step in layout.migrations()}
    theirs = {(kind, step.number, step.name) for kind in layout.KINDS for step in embedded(kind)}
    assert ours == theirs
