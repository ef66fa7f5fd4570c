"""A database of its own on a cluster that is sharded with Citus, for tests: `HITHERTO_TEST_POSTGRES` names a database of
its coordinator in which the workers are registered, by a role that is a superuser on every machine.

The workers have to accept the same role and password from here, and from the coordinator the roles of the store.
"""

from __future__ import annotations

import secrets
from contextlib import suppress
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

import psycopg
from psycopg import conninfo, errors

from hitherto.store.postgres.connections import query
from hitherto.store.postgres.layout import APPLICATION, SEARCH
from hitherto.store.postgres.shards import statements

SHARDS = 4
"""Few, because every one has all tables and each test empties them."""
_WORKERS = "select nodename, nodeport from pg_dist_node where groupid <> 0 and isactive and noderole = 'primary'"


@dataclass(frozen=True)
class Machine:
    host: str
    port: int


def workers(url: str) -> tuple[Machine, ...]:
    """The workers that the database knows; none for an ordinary server."""
    with psycopg.connect(url, autocommit=True) as connection:
        if connection.execute("select to_regclass('pg_catalog.pg_dist_node')").fetchone() == (None,):
            return ()
        return tuple(Machine(*row) for row in connection.execute(query(_WORKERS)).fetchall())


class made_sharded_database:  # noqa: N801 - a context manager, used like a function
    """A store's database that is spread over all workers, as long as its block lasts; on demand, of an owner of its own who is
    no superuser anywhere."""

    def __init__(self, admin_url: str, *, owned: bool = False) -> None:
        self._admin = conninfo.conninfo_to_dict(admin_url)
        self._url = urlsplit(admin_url)
        self._name = f"hitherto_test_{secrets.token_hex(6)}"
        self._owner = f"owner_{self._name}" if owned else ""
        self._workers = workers(admin_url)
        self._coordinator = Machine(str(self._admin["host"]), int(self._admin.get("port") or 5432))

    def __enter__(self) -> str:
        for machine in (*self._workers, self._coordinator):
            self._execute(machine, f"create database {self._name}")
            self._execute(machine, "create extension citus", inside=True)
        for machine in self._workers:
            self._execute(self._coordinator, "select citus_add_node(%s, %s)", machine.host, machine.port, inside=True)
        url = self._url._replace(path=f"/{self._name}")
        if self._owner:
            self._give_away()
            url = url._replace(netloc=f"{self._owner}:owner@{self._url.netloc.rpartition('@')[2]}")
        with psycopg.connect(url.geturl()) as connection:
            for each in statements(shards=SHARDS):
                connection.execute(query(each))
        return url.geturl()

    def _give_away(self) -> None:
        """What an administrator does for an owner. The coordinator makes the roles on all machines."""
        for role, kind in ((APPLICATION, "login"), (SEARCH, "nologin"), (self._owner, "login password 'owner'")):
            with suppress(errors.DuplicateObject):
                self._execute(self._coordinator, f"create role {role} {kind}", inside=True)
        self.let_the_owner_inherit(inherit=False)
        for machine in (self._coordinator, *self._workers):
            self._execute(machine, f"alter database {self._name} owner to {self._owner}")

    def let_the_owner_inherit(self, *, inherit: bool) -> None:
        both = f"grant {APPLICATION}, {SEARCH} to {self._owner} with inherit {inherit}, set true"
        self._execute(self._coordinator, both, inside=True)

    def __exit__(self, *_: object) -> None:
        for machine in (self._coordinator, *self._workers):
            self._execute(machine, f"drop database {self._name} with (force)")
        for machine in (self._coordinator, *self._workers) if self._owner else ():
            self._execute(machine, f"set citus.enable_create_role_propagation = off; drop role {self._owner}")

    def _execute(self, machine: Machine, sql: str, *values: Any, inside: bool = False) -> None:
        with psycopg.connect(**self._at(machine, inside=inside), autocommit=True) as connection:
            connection.execute(query(sql), values or None)

    def _at(self, machine: Machine, *, inside: bool) -> dict[str, Any]:
        database = {"dbname": self._name} if inside else {}
        return {**self._admin, "host": machine.host, "port": machine.port, **database}
