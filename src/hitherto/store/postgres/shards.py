"""The schema as a script, for one server or for a cluster that Citus shards by user (run on its coordinator).

On a cluster, shards take the place of partitions: every user table is distributed by `user_id` and colocated with the lock
row, so that each read and each write of a user runs on one machine. The migration records are written as well, so a store
that opens the database afterwards finds it up to date and changes nothing.

The coordinator talks to the workers as the current role and passes `set local` on to them. So the application's role may
log in here, which the workers should allow from the coordinator only, and passing settings on is a setting of the database.
A search is a function that its user's worker runs as a whole, so the search role needs no login.
"""

import re
from collections.abc import Collection
from hashlib import sha256
from typing import Final

from hitherto.store.postgres import layout
from hitherto.store.postgres.layout import (
    APPLICATION,
    CATALOG_TABLES,
    DROP_NEAR,
    FORMER,
    FUNCTIONS,
    SCHEMA,
    SEARCH,
    USER_TABLES,
    Migration,
    completed,
    functions,
    grants,
    migrations,
    records_table,
    unsampled,
    unsampled_words,
    wall,
)

_PARTITIONED = re.compile(r"\) partition by hash \(user_id\);")
_LEADER = USER_TABLES[0]
WHOLE: Final = "documents"
"""The table that every machine has in full."""
TABLES = (*USER_TABLES, *CATALOG_TABLES)
"""What a cluster distributes; the first one leads the others' shards."""
_PASSING_ON = (
    "do $$ begin\n"
    "    execute format('alter database %I set citus.propagate_set_commands to %L', current_database(), 'local');\n"
    "end $$"
)


def schema(*, shards: int | None = None) -> str:
    """All statements as a script; see `statements`."""
    return ";\n\n".join(["begin", *statements(shards=shards), "commit"]) + ";\n"


def statements(*, shards: int | None = None) -> list[str]:
    """All statements of one transaction, in order, for one server; or for a cluster, with the number of shards the users
    are spread over (a multiple of its machines). A coordinator passes on what it is sent, so they go one by one."""
    sharded = shards is not None
    found = [
        *(["create extension if not exists citus"] if sharded else []),  # it sets the search path back
        f"create schema if not exists {SCHEMA}",
        f"set search_path = {SCHEMA}, public",
        _role(APPLICATION, login=sharded),
        _role(SEARCH, login=False),
        *([_PASSING_ON] if sharded else []),
        records_table(),
    ]
    for step in migrations():
        text = unpartitioned(step.sql) if sharded else step.sql
        found += [text.rstrip().rstrip(";"), _record(step)]
    if shards is None:
        found += layout.completion()
    else:
        found += [f"set citus.shard_count = {shards}", *completion(frozenset())]
    return found


def renaming(old: str = FORMER) -> str:
    """A script that renames a memory of version 0.1.0; the store does the rest when it opens it. The old roles belong to
    the whole server and may be in use elsewhere, so they stay, without any rights here."""
    found = [
        f"alter schema {old} rename to {SCHEMA}",
        *(_role(role, login=False) for role in (APPLICATION, SEARCH)),
        f"revoke all on all tables in schema {SCHEMA} from {old}_app, {old}_search",
        f"revoke all on all functions in schema {SCHEMA} from {old}_app, {old}_search",
        f"revoke all on schema {SCHEMA} from {old}_app, {old}_search",
    ]
    return ";\n\n".join(["begin", *found, "commit"]) + ";\n"


def unpartitioned(migration: str) -> str:
    """A migration for a cluster, where shards take the place of partitions."""
    return _PARTITIONED.sub(");", migration)


def completion(distributed: Collection[str]) -> list[str]:
    """All that follows the migrations on a cluster, in order; safe to repeat. A distributed table cannot be kept out of the
    planner's samples, so this is set beforehand and the shards inherit it."""
    new = [table for table in TABLES if table not in distributed]
    statements = [DROP_NEAR]
    for table in new:
        statements += unsampled(table)
    if new:
        statements.append(unsampled_words())
    statements += map(_distribute, new)
    for table in USER_TABLES:
        statements += wall(table, sharded=True)
    delegated = [
        f"select create_distributed_function('{SCHEMA}.{name}(uuid, text[], tsquery[])', 'p_user',"
        f" colocate_with => '{SCHEMA}.{_LEADER}', force_delegation => true)"
        for name in FUNCTIONS
    ]
    return [*statements, *grants(), *functions(0, spread=delegated), completed()]


def _role(role: str, *, login: bool) -> str:
    """On a cluster, created on the coordinator, which passes it on to the workers."""
    kind = "login" if login else "nologin"
    return (
        "do $$ begin\n"
        f"    if not exists (select from pg_roles where rolname = '{role}') then create role {role} {kind}; end if;\n"
        f"    if not (select pg_has_role(oid, 'set') from pg_roles where rolname = '{role}') then\n"
        f"        grant {role} to current_user with inherit false, set true;\n"
        "    end if;\n"
        "end $$"
    )


def _record(step: Migration) -> str:
    digest = sha256(step.sql.encode()).hexdigest()
    values = f"'{step.kind}', {step.number}, '{step.name}', '{digest}'"
    return f"insert into migrations (kind, number, name, digest) values ({values})"


def _distribute(table: str) -> str:
    if table == WHOLE:
        return f"select create_reference_table('{SCHEMA}.{table}')"
    where = "" if table == _LEADER else f", colocate_with => '{SCHEMA}.{_LEADER}'"
    return f"select create_distributed_table('{SCHEMA}.{table}', 'user_id'{where})"
