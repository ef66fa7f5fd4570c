"""One user's file: it says whose it is, which of their lives it holds, and that nothing acknowledged is missing."""

import threading
from collections import OrderedDict
from collections.abc import Callable, Generator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from hitherto.errors import StoreCorrupt
from hitherto.store.catalog import UserKey
from hitherto.store.sqlite import datafile
from hitherto.store.sqlite.connections import Connection, Secret, connect, no_secret
from hitherto.store.sqlite.failures import translating
from hitherto.store.sqlite.layout import sync_folder
from hitherto.store.sqlite.migrations import Kind
from hitherto.store.sqlite.queries import head
from hitherto.store.sqlite.sharedfile import SharedFile, inode_of


@dataclass(frozen=True, slots=True)
class Identity:
    """Who a file says it belongs to, and which of their lives it holds."""

    key: UserKey
    epoch: int


def identity_of(connection: Connection, path: Path) -> Identity:
    meta = dict(connection.execute("SELECT name, value FROM meta").fetchall())
    try:
        return Identity(UserKey(meta["tenant"], meta["user"]), int(meta["epoch"]))
    except (KeyError, ValueError) as error:
        raise StoreCorrupt(f"{path} is damaged (it does not say whose it is); restore it from a backup") from error


class SharedUserFile(SharedFile):
    """A user's file known only by its digest: enough to clean it, not to read it."""

    kind: ClassVar[Kind] = "user"

    def remove_remnant(self, epoch: int) -> None:
        """Removes what is left of an earlier life. Under the lock, because the user may already be back with a new file."""
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
    """`epoch` says how often the user has been wiped; a file of an earlier life is a remnant and is never read."""

    kind: ClassVar[Kind] = "user"

    def __init__(self, path: Path, key: UserKey, *, epoch: Callable[[], int], secret: Secret = no_secret) -> None:
        super().__init__(path, secret=secret)
        self.key = key
        self._epoch = epoch

    def wipe(self, *, bury: Callable[[], None]) -> None:
        """Removes the file. `bury` first records durably that the user is gone."""
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


# The open user files: at most so many, the least recently used closed first.


@dataclass(slots=True)
class _Entry:
    file: UserFile
    borrowers: int = 0


class OpenFiles:
    """Lends files to threads. A lent file is not closed, so there may briefly be a few more than `limit`."""

    def __init__(self, limit: int, make: Callable[[UserKey], UserFile]) -> None:
        self._limit = limit
        self._make = make
        self._lock = threading.Lock()
        self._entries: OrderedDict[UserKey, _Entry] = OrderedDict()

    @contextmanager
    def borrow(self, key: UserKey) -> Generator[UserFile]:
        with self._lock:
            entry = self._entries.get(key)
            if entry is None:
                entry = self._entries[key] = _Entry(self._make(key))
            entry.borrowers += 1
            self._entries.move_to_end(key)
            surplus = self._take_surplus()
        for file in surplus:
            file.close()
        with self._lent(entry) as file:
            yield file

    @contextmanager
    def borrow_open(self, key: UserKey) -> Generator[UserFile | None]:
        """A file that is already open; None for any other. Opens and closes nothing, so it takes no time."""
        with self._lock:
            entry = self._entries.get(key)
            if entry is not None:
                entry.borrowers += 1
        if entry is None:
            yield None
            return
        with self._lent(entry) as file:
            yield file

    @contextmanager
    def _lent(self, entry: _Entry) -> Generator[UserFile]:
        try:
            yield entry.file
        finally:
            with self._lock:
                entry.borrowers -= 1

    def _take_surplus(self) -> list[UserFile]:
        over = len(self._entries) - self._limit
        if over <= 0:
            return []
        idle = [key for key, entry in self._entries.items() if not entry.borrowers]
        return [self._entries.pop(key).file for key in idle[:over]]

    def close(self) -> None:
        with self._lock:
            files = [entry.file for entry in self._entries.values()]
            self._entries.clear()
        for file in files:
            file.close()

    def __len__(self) -> int:
        with self._lock:
            return len(self._entries)
