"""Where memories are kept. `connect` is the one place that knows which backends there are."""

from pathlib import Path
from typing import TYPE_CHECKING

from hitherto.errors import InvalidInput, StoreUnavailable
from hitherto.store.ledger import NAME, Ledger
from hitherto.store.protocol import Store

if TYPE_CHECKING:
    from hitherto.store.keyring import Keyring


def connect(url: str, *, keyring: "Keyring | None" = None) -> Store:
    """The store behind a folder's path or a `postgresql://` URL; it is opened later. With a keyring each user's memory is
    encrypted with a key of its own: a file as a whole, in a database the columns that hold content."""
    if url.startswith(("postgresql://", "postgres://")):
        from hitherto.store.postgres import PostgresStore

        return PostgresStore(url) if keyring is None else _sealed(PostgresStore(url, is_sealed=True), keyring)
    if "://" in url:
        raise InvalidInput(f"{url.split('://', maxsplit=1)[0]!r} is not a store; pass a folder or postgresql://…")
    from hitherto.store.sqlite import SqliteStore

    return SqliteStore(url) if keyring is None else SqliteStore(url, secret=keyring)


def _sealed(store: Store, keyring: "Keyring") -> Store:
    from hitherto.store.sealed import SealedStore

    return SealedStore(store, keyring)


def open_keyring(url: str, *, master: str | None, folder: str | Path | None) -> "Keyring | None":
    """The keys of a memory's users; None without a master key. They lie in `folder`, for a data folder beside it."""
    if master is None:
        if folder is not None:
            raise InvalidInput("a folder of keys needs the master key as well")
        return None
    if folder is None and "://" in url:
        raise InvalidInput("the keys of a database's users need a folder of their own: name it")
    from hitherto.store.keyring import Keyring, master_key

    place = Path(folder) if folder is not None else Path(url).absolute().with_name(Path(url).absolute().name + ".keys")
    keyring = Keyring(place, master=master_key(master))
    if not place.is_dir() and _has_memories(url):
        raise StoreUnavailable(
            f"{url} holds memories, and their keys are not in {str(place)!r}: name the folder of keys (HITHERTO_KEYS); "
            "if they were never encrypted, open them without a master key, or copy them into a new memory"
        )
    return keyring


def _has_memories(url: str) -> bool:
    """Whether users have files there. Without their keys they would count as forgotten, and be replaced."""
    if "://" in url:
        return False
    from hitherto.store.sqlite.layout import Layout

    return any(True for _ in Layout.of(url).all_users())


def open_ledger(url: str, path: str | Path | None) -> Ledger | None:
    """Where it is noted what was forgotten: at `path`, or beside the files of a data folder. A database has no place of
    its own for it that a backup would not take along, so it needs a path."""
    if path is not None:
        return Ledger(Path(path))
    return None if "://" in url else Ledger(Path(url) / NAME)


def exists(url: str) -> bool:
    """Whether there is a memory at that place already; a database is taken at its word. Nothing is created."""
    if "://" in url:
        return True
    from hitherto.store.sqlite.layout import Layout

    return Layout.of(url).catalog.is_file()
