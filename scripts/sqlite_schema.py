"""Writes the schema that the migrations of the SQLite store lead to, to be read; a test compares it with them."""

from contextlib import closing
from pathlib import Path
from typing import get_args

from hitherto.store.sqlite.connections import in_memory
from hitherto.store.sqlite.migrations import Kind, migrate, migrations

FOLDER = Path(__file__).parents[1] / "src/hitherto/store/sqlite/schema"
KINDS: tuple[Kind, ...] = get_args(Kind)


def schema(kind: Kind) -> str:
    """Every table and index of that kind of file, without what FTS5 makes for itself."""
    with closing(in_memory()) as connection:
        migrate(connection, migrations(kind))
        own = [name for (name,) in connection.execute("SELECT name FROM pragma_table_list WHERE type <> 'shadow'")]
        found = connection.execute(
            "SELECT tbl_name, sql FROM sqlite_schema WHERE sql IS NOT NULL ORDER BY rowid"
        ).fetchall()
    return (
        f"-- Generated from migrations/{kind}; see scripts/sqlite_schema.py.\n\n"
        + "\n\n".join(f"{sql};" for table, sql in found if table in own)
        + "\n"
    )


def main() -> None:
    for kind in KINDS:
        (FOLDER / f"{kind}.sql").write_text(schema(kind), encoding="utf-8")


if __name__ == "__main__":
    main()
