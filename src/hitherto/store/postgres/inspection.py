"""What a PostgreSQL store says of itself."""

from hitherto.store.postgres.connections import query
from hitherto.store.postgres.layout import (
    APPLICATION,
    SCHEMA,
    SEARCH,
    USER_TABLES,
    migrations,
)
from hitherto.store.postgres.migrations import newest
from hitherto.store.postgres.sending import Connection
from hitherto.store.protocol import Health

_FACTS = query(f"""
select
    current_setting('server_version'),
    (select coalesce(max(number), 0) from {SCHEMA}.migrations where kind = 'user'),
    (select count(*) from {SCHEMA}.users),
    (select coalesce(sum(pg_total_relation_size(c.oid)), 0)
     from pg_class c where c.relnamespace = '{SCHEMA}'::regnamespace and c.relkind in ('r', 'm')),
    current_setting('synchronous_commit'),
    (select array_agg(c.relname::text)
     from pg_class c
     where c.relnamespace = '{SCHEMA}'::regnamespace and c.relrowsecurity and c.relforcerowsecurity),
    (select array_agg(rolname::text)
     from pg_roles where rolname = any (%(roles)s) and not rolsuper and not rolbypassrls)
""")


async def inspect(connection: Connection) -> Health:
    cursor = await connection.execute(_FACTS, {"roles": [APPLICATION, SEARCH]})
    row = await cursor.fetchone()
    assert row is not None
    version, schema, users, size, durable, walled, roles = row
    problems: list[str] = []
    latest = newest(migrations())["user"]
    if schema != latest:
        problems.append(f"the schema is {schema}, this code knows {latest}")
    if durable == "off":
        problems.append("synchronous_commit is off: turns that were acknowledged can be lost when the server stops")
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
