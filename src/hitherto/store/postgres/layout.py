"""What every user table has besides its columns: partitions, the wall between users, and grants. Pure: only statements.

There are three roles. The *owner* connects and migrates; the wall holds it back like everyone (`force`), except in a
transaction that declares itself maintenance. The *application* role runs every read and write of a user: it sees the rows
of the user named in `hitherto.user_id` of its transaction, and none without one. The *search* role owns the two full-text
functions and may read all users' words, but no text.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Final, Literal

_PACKAGE = files("hitherto.store.postgres")
KINDS: tuple[Literal["user", "catalog"], ...] = ("user", "catalog")
SCHEMA = "hitherto"
FORMER: Final = "recollect"
"""The schema's name in version 0.1.0, with which its roles and settings began as well."""
APPLICATION = "hitherto_app"
SEARCH = "hitherto_search"
PARTITIONS = 8
COMPLETION: Final = 3
"""Raised with every change to what `completion` does: a database completed with a lower number is completed again."""

USER_TABLES = (
    "heads",
    "turns",
    "records",
    "record_entities",
    "record_sources",
    "endings",
    "traces",
    "cursors",
    "snapshots",
    "blobs",
    "notes",
)
CATALOG_TABLES = ("users", "hints", "documents")
FUNCTIONS = ("match_turns", "match_records")

# What the search role may see of a row: enough to rank, nothing to read.
_SEARCH_COLUMNS = {
    "heads": ("tableoid", "user_id", "turn_documents", "turn_stems", "record_documents", "record_stems"),
    "turns": ("user_id", "seq", "length", "repeats", "words"),
    "records": ("user_id", "seq", "length", "repeats", "words"),
}
# What a user said, or what is derived from it. The planner needs no statistics about it, and would keep samples of the
# values where no erasure reaches them.
_CONTENT = {
    "turns": ("words", "text", "parts", "speaker"),
    "records": ("words", "text", "key", "sources", "entities", "body"),
    "record_entities": ("ref",),
    "record_sources": ("ref",),
    "traces": ("speaker", "vector"),
    "cursors": ("error", "body"),
    "snapshots": ("body",),
    "blobs": ("text",),
    "notes": ("name", "body"),
}
_WORD_INDEXES = ("turns_by_word", "records_by_word")
_MINE_ON_A_SHARD = "t.user_id = p_user and array_to_tsvector(t.words) @@ a.query"
"""A coordinator needs the user as a plain condition, for which the planner has other indexes. The words are given twice, so
that before statistics exist it uses their index alone (0.7 ms instead of 1.6 for 16 words of 3,000 turns)."""
_PARTITION = "substr(h.tableoid::regclass::text, length('heads') + 1)"
_BRANCH = re.compile(r" *-- each partition\n(.*?) *-- end\n", re.DOTALL)
_MINE = "user_id = nullif(current_setting('hitherto.user_id', true), '')::uuid"
_MAINTENANCE = "current_setting('hitherto.maintenance', true) = 'on'"


DROP_NEAR: Final = "alter table traces drop column if exists near"
"""A column of pgvector's type that 0.1.0 made and nothing reads."""


@dataclass(frozen=True, slots=True)
class Migration:
    """One numbered step of the schema; the embedded store has one of the same kind, number and name."""

    kind: Literal["user", "catalog"]
    number: int
    name: str
    sql: str


@cache
def migrations() -> tuple[Migration, ...]:
    """All migrations, in the order in which they are applied."""
    found: list[Migration] = []
    for kind in KINDS:
        for file in (_PACKAGE / "migrations" / kind).iterdir():
            number, _, name = file.name.removesuffix(".sql").partition("_")
            found.append(Migration(kind, int(number), name, file.read_text("utf-8")))
    return tuple(sorted(found, key=lambda step: (step.number, step.kind)))


def partitions(table: str, count: int = PARTITIONS) -> list[str]:
    return [
        f"create table if not exists {table}_{part} partition of {table}"
        f" for values with (modulus {count}, remainder {part})"
        for part in range(count)
    ]


def wall(table: str, *, sharded: bool = False) -> list[str]:
    """Row-level security of one user table; safe to repeat. A shard has no partitions that `tableoid` could tell apart."""
    statements = [
        f"alter table {table} enable row level security",
        f"alter table {table} force row level security",
        f"drop policy if exists mine on {table}",
        f"create policy mine on {table} to {APPLICATION} using ({_MINE}) with check ({_MINE})",
        f"drop policy if exists maintenance on {table}",
        f"create policy maintenance on {table} to current_user using ({_MAINTENANCE}) with check ({_MAINTENANCE})",
        f"grant select, insert, update, delete on {table} to {APPLICATION}",
    ]
    if table in _SEARCH_COLUMNS:
        columns = [name for name in _SEARCH_COLUMNS[table] if not (sharded and name == "tableoid")]
        statements += [
            f"revoke all on {table} from {SEARCH}",
            f"drop policy if exists words on {table}",
            f"create policy words on {table} for select to {SEARCH} using (true)",
            f"grant select ({', '.join(columns)}) on {table} to {SEARCH}",
        ]
    return statements


def searchable(table: str, count: int = PARTITIONS) -> list[str]:
    """Lets the search role read partitions by name."""
    columns = ", ".join(_SEARCH_COLUMNS.get(table, ()))
    parts = [f"{table}_{part}" for part in range(count)] if columns else []
    return [
        statement
        for part in parts
        for statement in (f"revoke all on {part} from {SEARCH}", f"grant select ({columns}) on {part} to {SEARCH}")
    ]


def unsampled(table: str) -> list[str]:
    """Keeps content out of the planner's statistics."""
    return [f"alter table {table} alter column {column} set statistics 0" for column in _CONTENT.get(table, ())]


def unsampled_words() -> str:
    """The same for the inverted indexes, on every partition or shard."""
    indexes = ", ".join(f"'{index}'" for index in _WORD_INDEXES)
    return (
        "do $$ declare found regclass; begin\n"
        "    for found in\n"
        "        select coalesce(i.inhrelid, c.oid)::regclass from pg_class c left join pg_inherits i on i.inhparent = c.oid\n"
        f"        where c.relname in ({indexes}) and c.relnamespace = current_schema()::regnamespace\n"
        "    loop\n"
        "        execute format('alter index %s alter column 1 set statistics 0', found);\n"
        "    end loop;\n"
        "end $$"
    )


def grants(schema: str = SCHEMA) -> list[str]:
    return [
        f"grant usage on schema {schema} to {APPLICATION}, {SEARCH}",
        *(f"grant select, insert, update, delete on {table} to {APPLICATION}" for table in CATALOG_TABLES),
        f"grant select on migrations to {APPLICATION}",
    ]


def records_table() -> str:
    """Where applied migrations are recorded."""
    return (
        "create table if not exists migrations"
        " (kind text, number integer, name text not null, digest text not null, primary key (kind, number))"
    )


def function_scripts(count: int = PARTITIONS) -> list[str]:
    """Both functions, with a branch per partition; with none, for a table that is sharded instead."""
    branches = [(f"_{part}", "(t.user_id = p_user) is true") for part in range(count)] or [("", _MINE_ON_A_SHARD)]
    where = _PARTITION if count else "''"

    def written_out(found: re.Match[str]) -> str:
        return "".join(found[1].replace("{part}", part).replace("{mine}", mine) for part, mine in branches)

    script = _BRANCH.sub(written_out, (_PACKAGE / "functions.sql").read_text("utf-8")).replace("{partition}", where)
    return [script.replace("{target}", target) for target in ("turn", "record")]


def functions(count: int = PARTITIONS, schema: str = SCHEMA, *, spread: Sequence[str] = ()) -> list[str]:
    """The search functions; `spread` says how a cluster's machines learn of them. The search role ends up owning them, and
    only the application role may call them. They are created by the session's role, because the machines of a cluster do
    not yet know what another role creates in a transaction. Ownership is handed over last, because an owner who is not a
    superuser may change nothing afterwards. Former versions are dropped whatever their signatures, by statements that a
    coordinator passes on."""
    rights = [
        statement
        for name in FUNCTIONS
        for statement in (
            f"revoke all on function {name} from public",
            f"grant execute on function {name} to {APPLICATION}",
        )
    ]
    return [
        f"grant create on schema {schema} to {SEARCH}",
        *(f"drop function if exists {name}" for name in FUNCTIONS),
        *function_scripts(count),
        *rights,
        *spread,
        *(f"alter function {name} owner to {SEARCH}" for name in FUNCTIONS),
        f"revoke create on schema {schema} from {SEARCH}",
    ]


def completion() -> list[str]:
    """All that follows the migrations on a single server, in order; safe to repeat."""
    statements = [DROP_NEAR]
    for table in USER_TABLES:
        statements += [*partitions(table), *unsampled(table), *wall(table), *searchable(table)]
    return [*statements, unsampled_words(), *grants(), *functions(), completed()]


def completed() -> str:
    """Records which completion this was."""
    return (
        f"insert into migrations (kind, number, name, digest) values ('completion', {COMPLETION}, '', '')"
        " on conflict do nothing"
    )
