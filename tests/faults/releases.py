"""Data files as released versions wrote them: frozen, so that every later version can prove that it reads them.

`python -m tests.faults.releases` freezes files of the present schema, when a release makes it final.
"""

import asyncio
import gzip
import json
from contextlib import closing
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory

from hitherto.store.catalog import UserKey
from hitherto.store.protocol import Change, Cursor, Erasure, Lease, Note, StoredSnapshot, Vector
from hitherto.store.sqlite.connections import Connection, connect
from hitherto.store.sqlite.layout import Layout
from hitherto.store.sqlite.migrations import newest
from hitherto.store.sqlite.store import SqliteStore
from hitherto.testing import moment, put, row_draft, turn_draft
from hitherto.types import ToolCall

FOLDER = Path(__file__).parent / "released"
KEY = UserKey("default", "ana")
_BOOKKEEPING = ("migrations",)
_WIDE_TRACES = """
(SELECT slot, coalesce(place, records.seq) AS place, coalesce(noun, 'turn') AS noun, coalesce(turns.id, records.id) AS id,
    coalesce(turns.at, records.at) AS at, role, coalesce(turns.persona, records.persona) AS persona,
    coalesce(turns.lane, records.lane) AS lane, session, speaker, vector
FROM traces LEFT JOIN turns ON turns.seq = slot % (1 << 40) LEFT JOIN records ON records.seq = slot % (1 << 40))
"""
"""What a trace's row said itself, up to schema 4."""


def frozen_users() -> list[Path]:
    """One user's file of each released schema, oldest first."""
    return sorted(FOLDER.glob("user-*.db.gz"))


def thaw(frozen: Path, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_bytes(gzip.decompress(frozen.read_bytes()))


def expected_hashes(frozen: Path) -> dict[str, str]:
    return json.loads(frozen.with_suffix("").with_suffix(".json").read_text())


def row_hashes(connection: Connection, like: dict[str, str] | None = None) -> dict[str, str]:
    """A hash of the rows of each table, over the columns it had when it was released ("table(a,b)": hash)."""
    names = list(like) if like is not None else [_shape(connection, table) for table in _tables(connection)]
    return {name: _hash(connection, name) for name in names}


def _tables(connection: Connection) -> list[str]:
    found = connection.execute(
        "SELECT name FROM pragma_table_list WHERE schema = 'main' AND type = 'table' ORDER BY name"
    )
    return [name for (name,) in found if not name.startswith("sqlite_") and name not in _BOOKKEEPING]


def _shape(connection: Connection, table: str) -> str:
    columns = [name for (name,) in connection.execute(f"SELECT name FROM pragma_table_info('{table}') ORDER BY cid")]
    return f"{table}({','.join(columns)})"


def _hash(connection: Connection, name: str) -> str:
    table, _, columns = name.removesuffix(")").partition("(")
    source = _WIDE_TRACES if table == "traces" and "noun" in columns else table
    rows = connection.execute(f"SELECT {columns} FROM {source} ORDER BY {columns}").fetchall()
    return sha256(repr(rows).encode()).hexdigest()


async def _fill(folder: Path) -> None:
    """Something in every table."""
    store = SqliteStore(folder)
    await store.open()
    user = store.user(KEY)
    vector = Vector(embedder="static", data=bytes(range(32)))
    call = ToolCall(id="c1", name="weather", args="{}")
    await put(
        user,
        Change(
            turns=tuple(
                turn_draft(f"t{n}", f"turn number {n} 🦊", persona="nikita", lane="a", parts=(call,), vector=vector)
                for n in range(600)
            ),
            records=tuple(
                row_draft(
                    f"m{n}", f"fact {n}", key=f"k{n}", sources=(f"t{n}",), entities=("person:ana",), due=moment(n)
                )
                for n in range(20)
            ),
            cursors=(Cursor(step="extract", position=7, due=moment(1), body={"a": [1]}),),
            lease=Lease(holder="w", fence=3, expires=moment(2)),
            snapshots=(StoredSnapshot(id="s1", at=moment(3), known=5, body="{}"),),
            blobs={"h1": "a persona"},
            notes=(Note(name="n1", body="a note", expires=moment(4)),),
        ),
    )
    await put(
        user, Change(turns=(turn_draft("t3", "again", version=2, place=4),), retire=("m4",), retired_at=moment(5))
    )
    await put(user, Change(erase=Erasure(turns=("t9",)), retired_at=moment(6)))
    await store.close()


def freeze() -> None:
    number = newest("user")
    with TemporaryDirectory() as folder:
        asyncio.run(_fill(Path(folder)))
        path = Layout(Path(folder)).user(KEY.digest)
        with closing(connect(path, writes=False)) as connection:
            hashes = row_hashes(connection)
        FOLDER.mkdir(exist_ok=True)
        (FOLDER / f"user-{number:04}.db.gz").write_bytes(gzip.compress(path.read_bytes(), mtime=0))
        (FOLDER / f"user-{number:04}.json").write_text(json.dumps(hashes, indent=1) + "\n")


if __name__ == "__main__":
    freeze()
