"""The second wall: without any filter of ours, the database shows and takes only the rows of one user."""

from collections.abc import Iterator
from dataclasses import dataclass
from uuid import UUID

import psycopg
import pytest
from psycopg import errors

from hitherto.store.catalog import UserKey
from hitherto.store.postgres import PostgresStore
from hitherto.store.postgres.connections import query
from hitherto.store.postgres.layout import APPLICATION, FUNCTIONS, SCHEMA, SEARCH, USER_TABLES
from hitherto.store.postgres.rows import mark
from hitherto.store.protocol import Change, Cursor, Erasure, Note, StoredSnapshot, Vector, Window
from hitherto.testing import moment, put, row_draft, turn_draft
from tests.stores import with_database

pytestmark = pytest.mark.promise("isolation: row-level security")
ANA, BOB = UserKey("default", "ana"), UserKey("default", "bob")


@dataclass
class Database:
    url: str
    connection: psycopg.Connection[tuple[object, ...]]

    def enter(self, role: str, user: UserKey | None) -> None:
        """By the statements that a coordinator passes on to its workers."""
        self.connection.execute(query(f"set local role {role}"))
        if user is not None:
            self.connection.execute(query(f"set local hitherto.user_id = '{UUID(hex=user.digest)}'"))


@pytest.fixture
async def filled(postgres_url: str) -> None:
    """Two users with a row in every table."""
    store = PostgresStore(postgres_url)
    await store.open()
    for key in (ANA, BOB):
        vector = Vector(embedder="static", data=b"\x01")
        await put(
            store.user(key),
            Change(
                turns=(turn_draft("t1", f"canary of {key.user}", vector=vector), turn_draft("t2")),
                records=(row_draft("m1", sources=("t1",), entities=("person:x",)),),
                cursors=(Cursor(step="extract"),),
                snapshots=(StoredSnapshot(id="s", at=moment(), known=1, body="{}"),),
                blobs={"h": "text"},
                notes=(Note(name="n", body="note"),),
            ),
        )
        await put(store.user(key), Change(erase=Erasure(turns=("t2",)), retired_at=moment(1)))
    await store.close()


@pytest.fixture
def database(postgres_url: str, filled: None) -> Iterator[Database]:
    with psycopg.connect(postgres_url) as connection:
        connection.execute(query(f"set search_path = {SCHEMA}, public"))
        connection.commit()
        yield Database(postgres_url, connection)
        connection.rollback()


@pytest.mark.req("R2.13")
@pytest.mark.parametrize("table", USER_TABLES)
def test_the_application_role_sees_one_user(database: Database, table: str) -> None:
    total = database.connection.execute(query(f"select count(distinct user_id) from {table}")).fetchone()
    assert total == (2,), "the test itself must see both users"
    database.enter(APPLICATION, ANA)
    seen = database.connection.execute(query(f"select distinct user_id from {table}")).fetchall()
    assert seen == [(UUID(hex=ANA.digest),)]


@pytest.mark.req("R2.13")
@pytest.mark.parametrize("table", USER_TABLES)
def test_without_a_user_there_is_nothing(database: Database, table: str) -> None:
    database.enter(APPLICATION, None)
    assert database.connection.execute(query(f"select count(*) from {table}")).fetchone() == (0,)


@pytest.mark.req("R2.13")
@pytest.mark.parametrize("table", USER_TABLES)
def test_nothing_of_another_user_can_be_changed(database: Database, table: str) -> None:
    database.enter(APPLICATION, ANA)
    bob = {"bob": UUID(hex=BOB.digest)}
    deleted = database.connection.execute(query(f"delete from {table} where user_id = %(bob)s"), bob)
    assert deleted.rowcount == 0
    # On a cluster nobody changes whose a row is.
    with pytest.raises((errors.InsufficientPrivilege, errors.FeatureNotSupported), match=r"row-level|partition value"):
        database.connection.execute(query(f"update {table} set user_id = %(bob)s"), bob)


@pytest.mark.usefixtures("one_server")
@pytest.mark.parametrize("table", USER_TABLES)
def test_the_partitions_have_no_side_door(database: Database, table: str) -> None:
    database.enter(APPLICATION, ANA)
    with pytest.raises(errors.InsufficientPrivilege):
        database.connection.execute(query(f"select * from {table}_0"))


@pytest.mark.req("R2.13")
def test_search_answers_only_for_the_user_of_the_transaction(database: Database) -> None:
    ask = query("select count(*) from match_turns(%(user)s, %(words)s::text[], %(queries)s::text[]::tsquery[])")
    for asked, found in ((ANA, 1), (BOB, 0)):
        with database.connection.transaction(force_rollback=True):
            database.enter(APPLICATION, ANA)
            each = f"{mark(asked.digest)}canary"
            values = {"user": UUID(hex=asked.digest), "words": [each], "queries": [f"'{each}'"]}
            assert database.connection.execute(ask, values).fetchone() == (found,)


def test_the_search_role_reads_no_text(database: Database, sharded: bool) -> None:
    database.enter(SEARCH, None)
    if sharded:
        with pytest.raises(psycopg.OperationalError, match="not permitted to log in"):
            database.connection.execute("select count(words) from turns")
        return
    assert database.connection.execute("select count(words) from turns").fetchone() == (2,)
    with pytest.raises(errors.InsufficientPrivilege):
        database.connection.execute("select text from turns")


def test_a_setting_ends_with_its_transaction(database: Database) -> None:
    with database.connection.transaction():
        database.enter(APPLICATION, ANA)
    left = database.connection.execute("select current_user, current_setting('hitherto.user_id', true)").fetchone()
    assert left is not None
    assert left[0] != APPLICATION
    assert not left[1]


@pytest.fixture
def ordinary_owner(postgres_admin_url: str, empty_database: str) -> Iterator[str]:
    """The URL of an empty database whose owner is no superuser: an administrator made the roles."""
    name = empty_database.rsplit("/", maxsplit=1)[1]
    role = f"owner_{name}"
    with psycopg.connect(postgres_admin_url, autocommit=True) as admin:
        for each in (APPLICATION, SEARCH):
            if admin.execute("select from pg_roles where rolname = %s", (each,)).fetchone() is None:
                admin.execute(query(f"create role {each} nologin"))
        admin.execute(query(f"create role {role} login password 'owner'"))
        admin.execute(query(f"grant {APPLICATION}, {SEARCH} to {role} with inherit false, set true"))
        admin.execute(query(f"alter database {name} owner to {role}"))
        host = with_database(postgres_admin_url, name).rsplit("@", maxsplit=1)[1]
        yield f"postgresql://{role}:owner@{host}"
        admin.execute(query(f"alter database {name} owner to current_user"))
    with psycopg.connect(empty_database, autocommit=True) as inside:
        inside.execute(query(f"reassign owned by {role} to current_user"))
        inside.execute(query(f"drop owned by {role}"))
        inside.execute(query(f"drop role {role}"))


@pytest.mark.req("R2.13")
async def test_the_wall_holds_the_owner_back_too(ordinary_owner: str) -> None:
    store = PostgresStore(ordinary_owner)
    await store.open()
    await put(store.user(ANA), Change(turns=(turn_draft("t1"),)))
    assert len((await store.user(ANA).read(window := Window(limit=9)))[window]) == 1
    assert (await store.health()).problems == ()
    await store.close()
    with psycopg.connect(ordinary_owner) as connection:
        connection.execute(query(f"set search_path = {SCHEMA}"))
        connection.commit()
        assert connection.execute("select count(*) from turns").fetchone() == (0,)
        connection.execute("select set_config('hitherto.maintenance', 'on', true)")
        assert connection.execute("select count(*) from turns").fetchone() == (1,)
        connection.rollback()
        connection.execute("select set_config('role', %s, true)", (APPLICATION,))
        connection.execute("select set_config('hitherto.maintenance', 'on', true)")
        assert connection.execute("select count(*) from turns").fetchone() == (0,)


@pytest.mark.req("R2.13")
async def test_only_the_application_role_may_call_the_search_functions(ordinary_owner: str) -> None:
    """Whoever prepared the database, and whose the functions are since."""
    store = PostgresStore(ordinary_owner)
    await store.open()
    await store.close()
    with psycopg.connect(ordinary_owner) as connection:
        found = connection.execute(
            "select p.proname, r.grantee::regrole::text from pg_proc p, aclexplode(p.proacl) r"
            " where p.proname like 'match\\_%' and r.privilege_type = 'EXECUTE'"
        ).fetchall()
    assert set(found) == {(name, role) for name in FUNCTIONS for role in (APPLICATION, SEARCH)}
