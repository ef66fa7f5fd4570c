"""Where memories are kept. `connect` is the one place that knows which backends there are."""

from recollect.errors import InvalidInput
from recollect.store.base import Store


def connect(url: str) -> Store:
    """The store behind a folder's path or a `postgresql://` URL; it is opened later."""
    if url.startswith(("postgresql://", "postgres://")):
        from recollect.store.postgres import PostgresStore

        return PostgresStore(url)
    if "://" in url:
        raise InvalidInput(f"{url.split('://', maxsplit=1)[0]!r} is not a store; pass a folder or postgresql://…")
    from recollect.store.sqlite import SqliteStore

    return SqliteStore(url)


def exists(url: str) -> bool:
    """Whether there is a memory at that place already; a database is taken at its word. Nothing is created."""
    if "://" in url:
        return True
    from recollect.store.sqlite.layout import Layout

    return Layout.of(url).catalog.is_file()
