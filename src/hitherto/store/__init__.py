"""Where memories are kept. `connect` is the one place that knows which backends exist."""

import re
from pathlib import Path

from hitherto.errors import InvalidInput, MissingExtra
from hitherto.store.catalog import Keys
from hitherto.store.protocol import Store


def connect(url: str, *, keys: Keys | None = None) -> Store:
    """The store behind a folder's path or a `postgresql://` URL, not yet opened. With `keys`, each user's memory is
    encrypted with a key of its own: whole files on SQLite, the columns that hold content on PostgreSQL."""
    if url.startswith(("postgresql://", "postgres://")):
        try:
            from hitherto.store.postgres import PostgresStore
        except ModuleNotFoundError as error:
            raise MissingExtra("PostgreSQL support needs an extra: pip install 'hitherto[postgres]'") from error

        return PostgresStore(url) if keys is None else _sealed(PostgresStore(url, is_sealed=True), keys)
    if "://" in url:
        raise InvalidInput(f"{url.split('://', maxsplit=1)[0]!r} is not a store; pass a folder or postgresql://…")
    if Path(url).is_file():
        raise InvalidInput(
            f"{url!r} is a file; pass a folder, which is created if it does not exist, or postgresql://…"
        )
    from hitherto.store.sqlite import SqliteStore

    return SqliteStore(url) if keys is None else SqliteStore(url, secret=keys)


def _sealed(store: Store, keys: Keys) -> Store:
    from hitherto.store.encryption import SealedStore

    return SealedStore(store, keys)


def shown(url: str) -> str:
    """The place in a form that is safe on a screen or in a log: a URL without its passwords.

    It need not be a valid URL: a password whose `@` or `:` is not escaped is masked entirely.
    """
    return re.sub(r"(password=)[^&]*", r"\1***", re.sub(r"(://[^:/?]*:).*@", r"\1***@", url)) if "://" in url else url


def exists(url: str) -> bool:
    """Whether a memory exists at that place; a database is assumed to hold one. Creates nothing."""
    if "://" in url:
        return True
    from hitherto.store.sqlite.layout import Layout

    return Layout.of(url).catalog.is_file()


def has_files(url: str) -> bool:
    """Whether users have files of their own there; in a database nobody has."""
    if "://" in url:
        return False
    from hitherto.store.sqlite.layout import Layout

    return any(True for _ in Layout.of(url).all_users())
