"""Everything that makes up the schema of a database, to be compared with another's."""

import psycopg

from hitherto.store.postgres.connections import query
from hitherto.store.postgres.layout import SCHEMA

DESCRIPTION = query(f"""
select 'column', c.relname::text, a.attname::text, format_type(a.atttypid, a.atttypmod), concat(a.attnotnull, a.attacl)
from pg_class c join pg_attribute a on a.attrelid = c.oid
where c.relnamespace = '{SCHEMA}'::regnamespace and c.relkind in ('r', 'p') and a.attnum > 0
union all
select 'index', tablename::text, indexname::text, indexdef, '' from pg_indexes where schemaname = '{SCHEMA}'
union all
select 'policy', tablename::text, policyname::text, coalesce(qual, '') || coalesce(with_check, ''), roles::text
from pg_policies where schemaname = '{SCHEMA}'
union all
select 'function', proname::text, pg_get_userbyid(proowner)::text, prosrc, proacl::text
from pg_proc where pronamespace = '{SCHEMA}'::regnamespace
union all
select 'table', relname::text, relrowsecurity::text, relforcerowsecurity::text, relacl::text
from pg_class where relnamespace = '{SCHEMA}'::regnamespace and relkind in ('r', 'p')
union all
select 'migration', kind, number::text, name, digest from {SCHEMA}.migrations
order by 1, 2, 3, 4
""")


def description(url: str) -> list[tuple[object, ...]]:
    """Everything that makes up the schema."""
    with psycopg.connect(url) as connection:
        return connection.execute(DESCRIPTION).fetchall()
