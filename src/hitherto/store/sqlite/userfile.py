"""One user's file: it says whose it is, which life of theirs it holds, and that nothing acknowledged is missing."""

from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from hitherto.errors import StoreCorrupt
from hitherto.store.catalog import UserKey
from hitherto.store.sqlite import datafile
from hitherto.store.sqlite.driver import Connection, Secret, connect, no_secret
from hitherto.store.sqlite.failures import translating
from hitherto.store.sqlite.layout import sync_folder
from hitherto.store.sqlite.migrate import Kind
from hitherto.store.sqlite.reading import head
from hitherto.store.sqlite.sharedfile import SharedFile
from hitherto.store.sqlite.sidecar import inode_of


@dataclass(frozen=True, slots=True)
class Identity:
    """Who a file says it belongs to, and which life of theirs it is."""

    key: UserKey
    epoch: int


def identity_of(connection: Connection, path: Path) -> Identity:
    meta = dict(connection.execute("SELECT name, value FROM meta").fetchall())
    try:
        return Identity(UserKey(meta["tenant"], meta["user"]), int(meta["epoch"]))
    except (KeyError, ValueError) as error:
        raise StoreCorrupt(f"{path} is damaged (it does not say whose it is); restore it from a backup") from error


class SharedUserFile(SharedFile):
    """A user's file of which only the digest is known: good for cleaning it, not for reading it."""

    kind: ClassVar[Kind] = "user"

    def remove_remnant(self, epoch: int) -> None:
        """Removes what is left of a life before this one. Under the lock: the user may be back already, with a new file."""
        with self._writing, translating(self.path), self._sidecar.held():
            if self._is_remnant(epoch):
                datafile.remove(self.path)
                self._sidecar.remove()
                sync_folder(self.path.parent)

    def _is_remnant(self, epoch: int) -> bool:
        if inode_of(self.path) is None or not self._has_key():
            return True
        try:
            with translating(self.path), closing(connect(self.path, writes=False, key=self._key())) as connection:
                return identity_of(connection, self.path).epoch < epoch
        except StoreCorrupt:
            return True


class UserFile(SharedFile):
    """`epoch` says how often the user was wiped so far; a file of an earlier life is a remnant and is never read."""

    kind: ClassVar[Kind] = "user"

    def __init__(self, path: Path, key: UserKey, *, epoch: Callable[[], int], secret: Secret = no_secret) -> None:
        super().__init__(path, secret=secret)
        self.key = key
        self._epoch = epoch

    def wipe(self, *, bury: Callable[[], None]) -> None:
        """Removes the file. `bury` records durably that the user is gone, before anything is removed."""
        with self._writing, self._reading, translating(self.path):
            if not self.path.parent.is_dir():
                return
            with self._sidecar.held():
                if inode_of(self.path) is not None:
                    bury()
                self._close_connections()
                datafile.remove(self.path)
                self._sidecar.remove()
                sync_folder(self.path.parent)
            self._sidecar.close()

    def _fill(self, connection: Connection) -> None:
        signature = {"tenant": self.key.tenant, "user": self.key.user, "epoch": str(self._epoch())}
        connection.executemany("INSERT INTO meta (name, value) VALUES (?, ?)", list(signature.items()))

    def _is_current(self, connection: Connection, acknowledged: int) -> bool:
        identity = identity_of(connection, self.path)
        if identity.key != self.key:
            raise StoreCorrupt(f"{self.path} belongs to another user; restore it from a backup")
        if identity.epoch < self._epoch():
            return False
        if (entry := head(connection)) < acknowledged:
            lost = f"it ends at entry {entry}, but {acknowledged} was acknowledged"
            raise StoreCorrupt(f"{self.path} is damaged ({lost}); restore it from a backup")
        return True

    def _newest_entry(self, connection: Connection) -> int:
        return head(connection)
