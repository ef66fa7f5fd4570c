"""The schema for a cluster that is sharded by user with Citus, as a script to run once on its coordinator.

Shards take the place of partitions: every user table is distributed by `user_id` and colocated with the lock row, so
that each read and each write of a user runs on one machine. The records of what was migrated are written as well; a
store that opens the database afterwards finds it up to date and changes nothing.

The coordinator speaks to the workers as the role of the moment and passes `set local` on to them. So both roles may log
in here, which the workers should allow from the coordinator only, and the passing on is a setting of the database.
"""

import re
from hashlib import sha256

from recollect.store.postgres.layout import (
    APPLICATION,
    SCHEMA,
    SEARCH,
    USER_TABLES,
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


def sharded_schema(*, shards: int = 128) -> str:
    """All statements, in order. `shards` is how many pieces the users are spread over: a multiple of the machines."""
    statements = [
        f"create schema if not exists {SCHEMA}",
        f"set search_path = {SCHEMA}, public",
        "create extension if not exists citus",
        "create extension if not exists vector",
        *(_role(role) for role in (APPLICATION, SEARCH)),
        _PASSING_ON,
        records_table(),
    ]
    for step in migrations():
        statements.append(_PARTITIONED.sub(");", step.sql).rstrip().rstrip(";"))
        statements.append(_record(step.kind, step.number, step.name, step.sql))
    statements += [f"set citus.shard_count = {shards}", *(_distribute(table) for table in USER_TABLES)]
    statements += [_distribute(table) for table in ("users", "hints")]
    statements.append(f"select create_reference_table('{SCHEMA}.documents')")
    return ";\n\n".join(["begin", *statements, *completion(partitioned=False), "commit"]) + ";\n"


def _role(role: str) -> str:
    """Made on the coordinator, which passes it on to the workers."""
    return (
        "do $$ begin\n"
        f"    if not exists (select from pg_roles where rolname = '{role}') then create role {role} login; end if;\n"
        f"    grant {role} to current_user with inherit false, set true;\n"
        "end $$"
    )


def _record(kind: str, number: int, name: str, sql: str) -> str:
    digest = sha256(sql.encode()).hexdigest()
    return f"insert into migrations (kind, number, name, digest) values ('{kind}', {number}, '{name}', '{digest}')"


def _distribute(table: str) -> str:
    where = "" if table == _LEADER else f", colocate_with => '{SCHEMA}.{_LEADER}'"
    return f"select create_distributed_table('{SCHEMA}.{table}', 'user_id'{where})"
