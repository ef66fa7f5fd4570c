"""What a PostgreSQL store says of itself."""

from collections.abc import Collection

from hitherto.store.postgres.connections import query
from hitherto.store.postgres.layout import (
    APPLICATION,
    SCHEMA,
    SEARCH,
    USER_TABLES,
    migrations,
)
from hitherto.store.postgres.machines import ask_each, citus_workers
from hitherto.store.postgres.migrations import distributed, newest
from hitherto.store.postgres.sending import Connection
from hitherto.store.postgres.sharding import TABLES
from hitherto.store.protocol import Health

_FACTS = query(f"""
select
    current_setting('server_version'),
    (select coalesce(max(number), 0) from {SCHEMA}.migrations where kind = 'user'),
    (select count(*) from {SCHEMA}.users),
    (select coalesce(sum(pg_total_relation_size(c.oid)), 0)
     from pg_class c where c.relnamespace = '{SCHEMA}'::regnamespace and c.relkind in ('r', 'm')),
    (select array_agg(c.relname::text)
     from pg_class c
     where c.relnamespace = '{SCHEMA}'::regnamespace and c.relrowsecurity and c.relforcerowsecurity),
    (select array_agg(rolname::text)
     from pg_roles where rolname = any (%(roles)s) and not rolsuper and not rolbypassrls)
""")

_SHARDS = query(f"""
select
    (select coalesce(sum(citus_total_relation_size(logicalrelid)), 0)
     from pg_dist_partition p join pg_class c on c.oid = p.logicalrelid
     where c.relnamespace = '{SCHEMA}'::regnamespace),
    (select count(distinct (nodename, nodeport)) from citus_shards
     where table_name = '{SCHEMA}.{USER_TABLES[0]}'::regclass),
    (select count(*) from pg_dist_node where isactive and noderole = 'primary' and shouldhaveshards)
""")


async def inspect(connection: Connection) -> Health:
    cursor = await connection.execute(_FACTS, {"roles": [APPLICATION, SEARCH]})
    row = await cursor.fetchone()
    assert row is not None
    version, schema, users, size, walled, roles = row
    problems: list[str] = []
    latest = newest(migrations())["user"]
    if schema != latest:
        problems.append(f"the schema is {schema}, this code knows {latest}")
    problems += [
        f"synchronous_commit is off on {reply.machine}: turns that were acknowledged can be lost when it stops"
        for reply in await ask_each(connection, "select current_setting('synchronous_commit')")
        if reply.text == "off"
    ]
    spread = await distributed(connection)
    if spread:
        size, found = await _shards(connection, spread)
        problems += found
    elif await citus_workers(connection):
        problems.append("the database has Citus and workers, but all users are on the coordinator; see docs/scaling.md")
    missing = sorted(set(USER_TABLES) - set(walled or ()))
    if missing:
        problems.append(f"no row-level security on {', '.join(missing)}")
    problems += [
        f"the role {role} is missing or is not held back by row-level security"
        for role in sorted({APPLICATION, SEARCH} - set(roles or ()))
    ]
    return Health(
        backend="postgresql",
        version=version,
        schema=schema,
        users=users,
        bytes=int(size),
        problems=tuple(problems),
    )


async def _shards(connection: Connection, spread: Collection[str]) -> tuple[int, list[str]]:
    """Bytes on all machines of a cluster, and what is not spread as it should be."""
    cursor = await connection.execute(_SHARDS)
    [(size, used, machines)] = await cursor.fetchall()
    problems: list[str] = []
    alone = sorted(set(TABLES) - set(spread))
    if alone:
        problems.append(f"not distributed: {', '.join(alone)}")
    if used < machines:
        problems.append(f"users lie on {used} of {machines} machines; move shards (citus_rebalance_start)")
    return int(size), problems
