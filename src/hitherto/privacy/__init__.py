"""Forgetting, secrecy and accountability. Keys and the ledger are opened here, without importing what only encryption needs."""

from pathlib import Path
from typing import TYPE_CHECKING

from hitherto import store
from hitherto.errors import InvalidInput, StoreUnavailable
from hitherto.privacy.ledger import NAME, Ledger

if TYPE_CHECKING:
    from hitherto.privacy.keyring import Keyring


def open_keyring(url: str, *, master: str | None, folder: str | Path | None) -> "Keyring | None":
    """The keys of a memory's users; None without a master key. They lie in `folder`; for a data folder, beside it by
    default."""
    beside = Path(url).absolute().with_name(Path(url).absolute().name + ".keys")
    if master is None:
        if folder is not None:
            raise InvalidInput("a key folder needs a master key as well")
        if "://" not in url and beside.is_dir() and any(beside.iterdir()) and store.has_files(url):
            raise StoreUnavailable(
                f"{url} is encrypted, its users' keys are in {str(beside)!r}: give the master key (HITHERTO_MASTER_KEY_FILE)"
            )
        return None
    if folder is None and "://" in url:
        raise InvalidInput("a database needs a separate folder for its users' keys: name it")
    from hitherto.privacy.keyring import Keyring, master_key

    place = Path(folder) if folder is not None else beside
    keyring = Keyring(place, master=master_key(master))
    if not place.is_dir() and store.has_files(url):  # without their keys they would count as forgotten, and be replaced
        raise StoreUnavailable(
            f"{url} holds memories, and their keys are not in {str(place)!r}: name the folder of keys (HITHERTO_KEYS); "
            "if they were never encrypted, open them without a master key, or copy them into a new memory"
        )
    return keyring


def open_ledger(url: str, path: str | Path | None) -> Ledger | None:
    """The file that records what was forgotten: at `path`, or beside the files of a data folder. A database has no such
    place outside its own backups, so it needs a path."""
    if path is not None:
        return Ledger(Path(path))
    return None if "://" in url else Ledger(Path(url) / NAME)
