"""Backups as a folder of COPY files: one file per table, all from one snapshot, and a table of contents.

They need only this package on either side, and can be restored into an empty database of any newer PostgreSQL. For large
databases the server's own tools (base backups, WAL archiving) are the better choice; see docs/scaling.md.
"""

import asyncio
import hashlib
import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, BinaryIO, cast

from hitherto import private
from hitherto.errors import SchemaMismatch, StoreCorrupt, StoreError, StoreUnavailable
from hitherto.store.postgres.connections import query
from hitherto.store.postgres.layout import CATALOG_TABLES, USER_TABLES
from hitherto.store.postgres.migrations import applied
from hitherto.store.postgres.pipeline import Connection

CONTENTS = "contents.json"
_TABLES = (*CATALOG_TABLES, *USER_TABLES)


async def save(connection: Connection, target: str, *, progress: Callable[[int, int], None] | None = None) -> int:
    """Writes all tables to the folder `target`, which must be new or empty; returns the number of users."""
    folder = await asyncio.to_thread(_empty_folder, target)
    await connection.execute("begin isolation level repeatable read read only")
    try:
        await connection.execute("set local hitherto.maintenance = 'on'")
        await connection.execute("set local enable_seqscan = on")
        cursor = await connection.execute("select count(*) from users")
        users = int((await cursor.fetchone() or (0,))[0])
        files: dict[str, dict[str, Any]] = {}
        for done, table in enumerate(_TABLES, start=1):
            files[table] = await _save_table(connection, table, folder)
            if progress is not None:
                progress(users * done // len(_TABLES), users)
        contents = {"schema": await applied(connection), "users": users, "tables": files}
    finally:
        await connection.rollback()
    await asyncio.to_thread(_write_contents, folder, contents)
    return users


def _empty_folder(target: str) -> Path:
    folder = Path(target)
    private.make_folder(folder)
    if any(folder.iterdir()):
        raise StoreUnavailable(f"the backup folder {target!r} is not empty")
    return folder


def _write_contents(folder: Path, contents: dict[str, Any]) -> None:
    """Written last: a folder without it is not a backup."""
    with open(folder / CONTENTS, "w", encoding="utf-8", opener=private.opener) as file:
        json.dump(contents, file, indent=1)
        file.flush()
        os.fsync(file.fileno())


async def _save_table(connection: Connection, table: str, folder: Path) -> dict[str, Any]:
    cursor = await connection.execute(
        "select string_agg(quote_ident(attname), ', ' order by attnum) from pg_attribute"
        " where attrelid = %s::regclass and attnum > 0 and not attisdropped",
        (table,),
    )
    columns = (await cursor.fetchone() or ("",))[0]
    digest = hashlib.sha256()
    with await asyncio.to_thread(_new_file, folder / f"{table}.copy") as file:
        async with (
            connection.cursor() as reader,
            reader.copy(query(f"copy (select {columns} from {table}) to stdout")) as copy,
        ):
            async for block in copy:
                digest.update(block)
                file.write(block)
        await asyncio.to_thread(_sync, file)
    return {"columns": columns, "sha256": digest.hexdigest()}


def _new_file(path: Path) -> BinaryIO:
    return open(path, "wb", opener=private.opener)


def _sync(file: BinaryIO) -> None:
    file.flush()
    os.fsync(file.fileno())


async def load(connection: Connection, source: str) -> int:
    """Fills the tables from a backup folder, completely or not at all; returns the number of users."""
    folder = Path(source)
    contents = await asyncio.to_thread(_read_contents, folder)
    current = await applied(connection)
    if contents["schema"] != current:
        raise SchemaMismatch(f"the backup has schema {contents['schema']}, the database {current}")
    async with connection.transaction():
        cursor = await connection.execute("select exists (select 1 from users)")
        if (await cursor.fetchone() or (True,))[0]:
            raise StoreError("a backup can only be restored into an empty database")
        for table in USER_TABLES:
            # COPY cannot write through row-level security, so the owner lifts it for this transaction alone.
            await connection.execute(query(f"alter table {table} no force row level security"))
        for table, about in contents["tables"].items():
            if table not in _TABLES:
                raise StoreCorrupt(f"the backup names an unknown table {table!r}")
            await _load_table(connection, table, about, folder)
        for table in USER_TABLES:
            await connection.execute(query(f"alter table {table} force row level security"))
    return int(contents["users"])


def _read_contents(folder: Path) -> dict[str, Any]:
    try:
        return cast("dict[str, Any]", json.loads((folder / CONTENTS).read_text("utf-8")))
    except (OSError, ValueError) as error:
        raise StoreUnavailable(f"{str(folder)!r} is no backup: {CONTENTS} cannot be read") from error


async def _load_table(connection: Connection, table: str, about: dict[str, Any], folder: Path) -> None:
    digest = hashlib.sha256()
    async with (
        connection.cursor() as writer,
        writer.copy(query(f"copy {table} ({about['columns']}) from stdin")) as copy,
    ):
        with (folder / f"{table}.copy").open("rb") as file:
            while block := file.read(1 << 20):
                digest.update(block)
                await copy.write(block)
    if digest.hexdigest() != about["sha256"]:
        raise StoreCorrupt(f"the backup's file {table}.copy is damaged")
