"""The schema as a script, for one server or for a cluster that is sharded by user with Citus (run on its
coordinator).

On a cluster, shards take the place of partitions: every user table is distributed by `user_id` and colocated
with the lock row, so that each read and each write of a user runs on one machine. The records of what was
migrated are written as well; a store that opens the database afterwards finds it up to date and changes
nothing.

The coordinator speaks to the workers as the role of the moment and passes `set local` on to them. So both
roles may log in here, which the workers should allow from the coordinator only, and the passing on is a
setting of the database.
"""

import re
from hashlib import sha256

from hitherto.store.postgres.layout import (
    APPLICATION,
    SCHEMA,
    SEARCH,
    USER_TABLES,
    Migration,
    completion,
    migrations,
    records_table,
)

_PARTITIONED = re.compile(r"\) partition by hash \(user_id\);")
_LEADER = USER_TABLES[0]
_PASSING_ON = (
    "do $$ begin\n"
    "    execute format('alter database %I set citus.propagate_set_commands to %L', current_database(), 'local');\n"
    "end $$"
)


def schema(*, shards: int | None = None) -> str:
    """All statements, in order, for one server; or for a cluster, with the number of pieces the users are
    spread over (a multiple of its machines)."""
    sharded = shards is not None
    statements = [
        f"create schema if not exists {SCHEMA}",
        f"set search_path = {SCHEMA}, public",
        *(["create extension if not exists citus"] if sharded else []),
        *(_role(role, login=sharded) for role in (APPLICATION, SEARCH)),
        *([_PASSING_ON] if sharded else []),
        records_table(),
    ]
    for step in migrations():
        text = _PARTITIONED.sub(");", step.sql) if sharded else step.sql
        statements += [text.rstrip().rstrip(";"), _record(step)]
    if sharded:
        statements.append(f"set citus.shard_count = {shards}")
        statements += [_distribute(table) for table in (*USER_TABLES, "users", "hints")]
        statements.append(f"select create_reference_table('{SCHEMA}.documents')")
    return ";\n\n".join(["begin", *statements, *completion(partitioned=not sharded), "commit"]) + ";\n"


def _role(role: str, *, login: bool) -> str:
    """On a cluster, made on the coordinator, which passes it on to the workers."""
    kind = "login" if login else "nologin"
    return (
        "do $$ begin\n"
        f"    if not exists (select from pg_roles where rolname = '{role}') then create role {role} {kind}; end if;\n"
        f"    grant {role} to current_user with inherit false, set true;\n"
        "end $$"
    )


def _record(step: Migration) -> str:
    digest = sha256(step.sql.encode()).hexdigest()
    values = f"'{step.kind}', {step.number}, '{step.name}', '{digest}'"
    return f"insert into migrations (kind, number, name, digest) values ({values})"


def _distribute(table: str) -> str:
    where = "" if table == _LEADER else f", colocate_with => '{SCHEMA}.{_LEADER}'"
    return f"select create_distributed_table('{SCHEMA}.{table}', 'user_id'{where})"
