"""Both stores for tests: `store_url` and `store` run a test once on each.

PostgreSQL is one server for the whole run (see `postgres_server`) with one database for each test process,
which is emptied after each test. Where `HITHERTO_TEST_POSTGRES` names a sharded database, so are these (see `cluster`).
Without a server its half is skipped, loudly; where CI is set, that is a
failure.
"""

from __future__ import annotations

import asyncio
import os
import secrets
import tempfile
from collections.abc import AsyncIterator, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Literal, NoReturn
from urllib.parse import urlsplit, urlunsplit

import psycopg
import pytest

from hitherto.store import connect
from hitherto.store.postgres.connections import query
from hitherto.store.postgres.layout import CATALOG_TABLES, SCHEMA, USER_TABLES
from hitherto.store.protocol import Store
from tests import cluster, postgres_server
from tests.postgres_server import SERVER_VARIABLE, MissingServerError, PostgresServer

Backend = Literal["sqlite", "postgres"]
BACKENDS: tuple[Backend, ...] = ("sqlite", "postgres")


def pytest_configure() -> None:
    if "PYTEST_XDIST_WORKER" not in os.environ:
        postgres_server.prepare_session()


def pytest_unconfigure() -> None:
    if "PYTEST_XDIST_WORKER" not in os.environ:
        postgres_server.finish_session()


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    skipped = [report for report in terminalreporter.getreports("skipped") if "no PostgreSQL" in str(report.longrepr)]
    if skipped:
        terminalreporter.write_line(
            f"WARNING: {len(skipped)} tests of the PostgreSQL store did not run: there is no server for them",
            red=True,
            bold=True,
        )


@pytest.fixture(scope="session")
def postgres_admin_url() -> str:
    """A URL of the run's server, by a role that may create databases and roles."""
    named = os.environ.get(SERVER_VARIABLE)
    if named:
        return named
    try:
        return postgres_server.session_server().url()
    except MissingServerError as reason:
        without_server(reason)


def without_server(reason: Exception) -> NoReturn:
    if os.environ.get("CI"):
        pytest.fail(f"the tests of the PostgreSQL store must run in CI: {reason}")
    pytest.skip(f"no PostgreSQL: {reason}")


def with_database(url: str, database: str) -> str:
    return urlunsplit(urlsplit(url)._replace(path=f"/{database}"))


@pytest.fixture
def empty_database(postgres_admin_url: str) -> Iterator[str]:
    """The URL of a new database without a schema."""
    with made_database(postgres_admin_url) as url:
        yield url


class made_database:  # noqa: N801 - a context manager, used like a function
    """A database that exists as long as its block."""

    def __init__(self, admin_url: str, *, template: str | None = None) -> None:
        self._admin_url = admin_url
        self._name = f"hitherto_test_{secrets.token_hex(6)}"
        self._template = urlsplit(template).path[1:] if template else "template1"

    def __enter__(self) -> str:
        self._execute(f"create database {self._name} template {self._template}")
        return with_database(self._admin_url, self._name)

    def __exit__(self, *_: object) -> None:
        self._execute(f"drop database {self._name} with (force)")

    def _execute(self, sql: str) -> None:
        with psycopg.connect(self._admin_url, autocommit=True) as connection:
            connection.execute(query(sql))


@pytest.fixture(scope="session")
def sharded(postgres_admin_url: str) -> bool:
    """Whether the server of this run is the coordinator of a cluster."""
    return bool(cluster.workers(postgres_admin_url))


@pytest.fixture(scope="session")
def _template(postgres_admin_url: str) -> Iterator[str]:
    """A database with the schema in it that nobody connects to: copying it is faster than migrating a new one."""
    with made_database(postgres_admin_url) as url:
        with ThreadPoolExecutor(1) as elsewhere:  # the fixture may be asked for inside a running event loop
            elsewhere.submit(_migrate, url).result()
        yield url


def _migrate(url: str) -> None:
    async def migrate() -> None:
        store = connect(url)
        await store.open()
        await store.close()

    asyncio.run(migrate())


def made_store(admin_url: str) -> AbstractContextManager[str]:
    """The URL of a store's database on that server, or spread over its workers: to be opened, as long as the block lasts."""
    return cluster.made_sharded_database(admin_url) if cluster.workers(admin_url) else made_database(admin_url)


@pytest.fixture
def one_server(sharded: bool) -> None:
    """For tests of what only an ordinary server has: its plans and its partitions."""
    if sharded:
        pytest.skip("about an ordinary server, and this one coordinates a cluster")


def _made_store(request: pytest.FixtureRequest, admin_url: str, *, sharded: bool) -> AbstractContextManager[str]:
    if sharded:
        return cluster.made_sharded_database(admin_url)
    return made_database(admin_url, template=str(request.getfixturevalue("_template")))


@pytest.fixture(scope="session")
def _shared_database(request: pytest.FixtureRequest, postgres_admin_url: str, sharded: bool) -> Iterator[str]:
    with _made_store(request, postgres_admin_url, sharded=sharded) as url:
        yield url


@pytest.fixture
def second_postgres_url(request: pytest.FixtureRequest, postgres_admin_url: str, sharded: bool) -> Iterator[str]:
    """The URL of another empty store than `postgres_url`."""
    with _made_store(request, postgres_admin_url, sharded=sharded) as url:
        yield url


@pytest.fixture
def postgres_url(_shared_database: str) -> Iterator[str]:
    """The URL of an empty store; emptied again after the test."""
    yield _shared_database
    with psycopg.connect(_shared_database) as connection:
        if connection.execute("select to_regclass(%s)", (f"{SCHEMA}.heads",)).fetchone() != (None,):
            for table in (*USER_TABLES, *CATALOG_TABLES):
                connection.execute(query(f"delete from {SCHEMA}.{table}"))


@pytest.fixture(params=BACKENDS)
def backend(request: pytest.FixtureRequest) -> Backend:
    return request.param


@pytest.fixture
def store_url(backend: Backend, request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Where an empty store is, on each backend in turn."""
    if backend == "sqlite":
        return str(tmp_path / "memories")
    return str(request.getfixturevalue("postgres_url"))


@pytest.fixture
async def store(store_url: str) -> AsyncIterator[Store]:
    """An opened, empty store, on each backend in turn."""
    opened = connect(store_url)
    await opened.open()
    yield opened
    await opened.close()


@pytest.fixture(scope="module")
def own_server() -> Iterator[PostgresServer]:
    """A server that only this module's tests use, running when a test begins."""
    with tempfile.TemporaryDirectory(prefix="hitherto-own-") as folder:
        Path(folder).chmod(0o755)
        try:
            server = PostgresServer.create(Path(folder) / "server")
        except MissingServerError as reason:
            without_server(reason)
        yield server
        server.stop("immediate")
