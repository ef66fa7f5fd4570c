"""Where memories are kept. `connect` is the one place that knows which backends there are."""

from pathlib import Path

from recollect.errors import InvalidInput
from recollect.store.base import Store
from recollect.store.ledger import NAME, Ledger


def connect(url: str) -> Store:
    """The store behind a folder's path or a `postgresql://` URL; it is opened later."""
    if url.startswith(("postgresql://", "postgres://")):
        from recollect.store.postgres import PostgresStore

        return PostgresStore(url)
    if "://" in url:
        raise InvalidInput(f"{url.split('://', maxsplit=1)[0]!r} is not a store; pass a folder or postgresql://…")
    from recollect.store.sqlite import SqliteStore

    return SqliteStore(url)


def ledger(url: str, path: str | Path | None) -> Ledger | None:
    """Where it is noted what was forgotten: at `path`, or beside the files of a data folder. A database has no place of
    its own for it that a backup would not take along, so it needs a path."""
    if path is not None:
        return Ledger(Path(path))
    return None if "://" in url else Ledger(Path(url) / NAME)


def exists(url: str) -> bool:
    """Whether there is a memory at that place already; a database is taken at its word. Nothing is created."""
    if "://" in url:
        return True
    from recollect.store.sqlite.layout import Layout

    return Layout.of(url).catalog.is_file()
