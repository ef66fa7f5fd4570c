"""What must hold of a folder after any fault."""

from contextlib import closing
from pathlib import Path

from hitherto.errors import StoreError
from hitherto.store.catalog import UserKey
from hitherto.store.protocol import Log, TurnList
from hitherto.store.sqlite.connections import connect
from hitherto.store.sqlite.layout import Layout
from hitherto.store.sqlite.store import SqliteStore
from hitherto.types import StoredTurn

ALL = 10**9


async def turns_of(folder: Path, key: UserKey) -> tuple[StoredTurn, ...]:
    """Every visible turn of a user, by a store of its own."""
    store = SqliteStore(folder)
    await store.open()
    try:
        query = TurnList(limit=ALL)
        return (await store.user(key).read(query))[query]
    finally:
        await store.close()


async def log_is_gapless(folder: Path, key: UserKey) -> bool:
    store = SqliteStore(folder)
    await store.open()
    try:
        query = Log(limit=ALL)
        entries = (await store.user(key).read(query))[query]
    finally:
        await store.close()
    return [entry.seq for entry in entries] == list(range(1, len(entries) + 1))


def damage_in(folder: Path) -> list[str]:
    """What SQLite's own thorough check says of every file; nothing means well."""
    layout = Layout(folder)
    found: list[str] = []
    for path in (layout.catalog, *layout.all_users()):
        with closing(connect(path, writes=False)) as connection:
            found += [
                f"{path.name}: {text}" for (text,) in connection.execute("PRAGMA integrity_check") if text != "ok"
            ]
    return found


__all__ = ["ALL", "StoreError", "damage_in", "log_is_gapless", "turns_of"]
