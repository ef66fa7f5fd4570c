"""One user's file: a connection that reads, one that writes, and the care that both are of the file that counts.

Other processes may wipe the user or put a restored file in its place at any time. They do so under the sidecar lock and
by unlinking the file, so whoever holds that lock, or merely looks, compares the inode of what it has open with what
stands in the folder, and opens anew when they differ.
"""

import threading
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from recollect.errors import StoreCorrupt
from recollect.store.base import UserKey
from recollect.store.sqlite import datafile
from recollect.store.sqlite.driver import Connection, roll_back, scrub
from recollect.store.sqlite.failures import is_of_the_file, translating
from recollect.store.sqlite.layout import lock_of, make_folder, sync_folder
from recollect.store.sqlite.migrate import newest, refuse_newer, schema_of
from recollect.store.sqlite.reading import head
from recollect.store.sqlite.sidecar import Sidecar, inode_of, marked

T = TypeVar("T")
Work = Callable[[Connection], T]


@dataclass(frozen=True, slots=True)
class _Open:
    connection: Connection
    inode: int | None


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


class UserFile:
    """Opens what is needed when it is needed. `read` and `write` may be called from any thread.

    `epoch` says how often the user was wiped so far; a file of an earlier life is a remnant and is never read.
    """

    def __init__(self, path: Path, key: UserKey, *, epoch: Callable[[], int], secret: bytes | None = None) -> None:
        self.path = path
        self.key = key
        self._epoch = epoch
        self._secret = secret
        self._sidecar = Sidecar(lock_of(path))
        self._reading, self._writing = threading.Lock(), threading.Lock()
        self._reader: _Open | None = None
        self._writer: _Open | None = None

    def read(self, work: Work[T]) -> T | None:
        """What `work` makes of one consistent state; None when there is no file."""
        with self._reading, translating(self.path):
            connection = self._current_reader()
            if connection is None:
                return None
            try:
                connection.execute("BEGIN")
                result = work(connection)
                connection.execute("COMMIT")
            except BaseException:
                self._drop_reader()
                raise
            return result

    def write(self, work: Work[T]) -> T:
        """Commits what `work` writes, under the lock; synced when this returns."""
        with self._writing, translating(self.path):
            make_folder(self.path.parent)
            with self._sidecar.held():
                return self._transact(self._current_writer(), work)

    def _transact(self, connection: Connection, work: Work[T]) -> T:
        try:
            connection.execute("BEGIN IMMEDIATE")
            refuse_newer(schema_of(connection), newest("user"))
            result = work(connection)
            entry = head(connection)
            connection.execute("COMMIT")
        except BaseException as failure:
            if is_of_the_file(failure):
                self._drop_writer()
            else:
                roll_back(connection)
            raise
        self._sidecar.mark(entry)
        return result

    def scrub(self) -> bool:
        """Leaves no byte of what was deleted in the file or its log; False when readers kept it from finishing."""
        with self._writing, translating(self.path), self._sidecar.held():
            return scrub(self._current_writer())

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

    def close(self) -> None:
        with self._writing, self._reading:
            self._close_connections()
            self._sidecar.close()

    def _current_reader(self) -> Connection | None:
        """Of the file that stands in the folder now; None when there is none, or only a remnant."""
        found = inode_of(self.path)
        if self._reader is not None and self._reader.inode == found:
            return self._reader.connection
        self._drop_reader()
        while found is not None:
            acknowledged = marked(self._sidecar.path)
            connection = datafile.open_reader(self.path, "user", key=self._secret)
            if connection is None:
                self._upgrade()
            elif found != inode_of(self.path):
                connection.close()
            else:
                self._reader = _Open(connection, found)
                return connection if self._is_whole(connection, acknowledged) else None
            found = inode_of(self.path)
        return None

    def _upgrade(self) -> None:
        """Brings the file up to date, under a descriptor of its own: the other belongs to whoever writes."""
        sidecar = Sidecar(lock_of(self.path))
        with closing(sidecar), sidecar.held():
            datafile.open_writer(self.path, "user", key=self._secret).close()

    def _current_writer(self) -> Connection:
        """Of the file that stands in the folder now, or of a new one."""
        found = inode_of(self.path)
        if self._writer is not None and self._writer.inode == found:
            return self._writer.connection
        self._drop_writer()
        if found is not None:
            connection = datafile.open_writer(self.path, "user", key=self._secret)
            self._writer = _Open(connection, found)
            if self._is_whole(connection, marked(self._sidecar.path)):
                return connection
            self._drop_writer()
        self._sidecar.mark(0)
        datafile.create(self.path, "user", key=self._secret, fill=self._sign)
        connection = datafile.open_writer(self.path, "user", key=self._secret)
        self._writer = _Open(connection, inode_of(self.path))
        return connection

    def _is_whole(self, connection: Connection, acknowledged: int) -> bool:
        """True for a file of the user's present life, False for a remnant. Another user's file under this name, or one
        that ends before an entry that was acknowledged, is damage."""
        identity = identity_of(connection, self.path)
        if identity.key != self.key:
            raise StoreCorrupt(f"{self.path} belongs to another user; restore it from a backup")
        if identity.epoch < self._epoch():
            return False
        if (entry := head(connection)) < acknowledged:
            lost = f"it ends at entry {entry}, but {acknowledged} was acknowledged"
            raise StoreCorrupt(f"{self.path} is damaged ({lost}); restore it from a backup")
        return True

    def _sign(self, connection: Connection) -> None:
        signature = {"tenant": self.key.tenant, "user": self.key.user, "epoch": str(self._epoch())}
        connection.executemany("INSERT INTO meta (name, value) VALUES (?, ?)", list(signature.items()))

    def _drop_reader(self) -> None:
        if self._reader is not None:
            self._reader.connection.close()
            self._reader = None

    def _drop_writer(self) -> None:
        if self._writer is not None:
            self._writer.connection.close()
            self._writer = None

    def _close_connections(self) -> None:
        self._drop_reader()
        self._drop_writer()
