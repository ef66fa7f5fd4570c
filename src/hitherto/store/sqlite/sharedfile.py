"""A data file that other processes share: one connection that reads, one that writes, and the checks that both belong to
the current file.

Another process may remove the file or put a restored one in its place at any time. It does so under the sidecar lock and by
unlinking the file. So whoever holds that lock, or only looks, compares the inode of the open file with the one in the
folder, and reopens if they differ.
"""

import fcntl
import os
import struct
import threading
from collections.abc import Callable, Generator, Hashable
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from time import monotonic
from typing import ClassVar, TypeVar
from zlib import crc32

from hitherto.errors import KeyDestroyed, StoreCorrupt
from hitherto.store.sqlite import datafile
from hitherto.store.sqlite.connections import Connection, Secret, close, no_secret, roll_back, scrub
from hitherto.store.sqlite.failures import is_of_the_file, translating
from hitherto.store.sqlite.layout import lock_of, make_folder, sync_folder
from hitherto.store.sqlite.migrations import Kind, newest, refuse_newer, schema_of

T = TypeVar("T")
Work = Callable[[Connection], T]
MOMENT = 0.003
"""Seconds that a read may take of a file whose pages are cached."""
NEEDED_SECONDS = 5.0
"""How long the connection that only reads stays open after its last read, if the file is written to."""


@dataclass(frozen=True, slots=True)
class _Open:
    connection: Connection
    inode: int | None


class SharedFile:
    """Opens what is needed when it is needed. `read` and `write` may be called from any thread."""

    kind: ClassVar[Kind]

    def __init__(self, path: Path, *, secret: Secret = no_secret) -> None:
        self.path = path
        self._secret = secret
        self._sidecar = Sidecar(lock_of(path))
        self._reading, self._writing = threading.Lock(), threading.Lock()
        self._reader: _Open | None = None
        self._writer: _Open | None = None
        self._last_needed = 0.0
        self._at_hand: set[Hashable] = set()
        """Kinds of reads whose last run was quick: the next one will neither wait for the disk nor open anything."""

    # What differs between kinds of files.

    def _fill(self, connection: Connection) -> None:
        """What a new file contains from the start."""

    def _is_current(self, connection: Connection, acknowledged: int) -> bool:
        """False for a remnant that must not be read; an error for a file that lacks acknowledged entries."""
        return True

    def _newest_entry(self, connection: Connection) -> int:
        """What to remember as acknowledged once a write is durable."""
        return 0

    # What all kinds share.

    def read(self, work: Work[T], *, like: Hashable = None) -> T | None:
        """What `work` computes from one consistent state; None if there is no file. Reads that are `like` each other take
        about the same time.

        The connection that writes also reads, unless it is busy: other connections' writes empty a connection's cache, and
        nearly everything is written here.
        """
        found = self._by_writer(work, like)
        if found is not None:
            return found[0]
        with self._reading, translating(self.path):
            self._last_needed = monotonic()
            connection = self._current_reader()
            return None if connection is None else self._look(connection, work, like, self._drop_reader)

    def glance(self, work: Work[T], *, like: Hashable = None) -> tuple[T] | None:
        """What a read would return, without waiting; None if it might have to wait for somebody else or the disk, or take
        more than a moment."""
        return self._by_writer(work, like) if like in self._at_hand else None

    def _by_writer(self, work: Work[T], like: Hashable) -> tuple[T] | None:
        """Reads through the connection that writes, unless it is busy or belongs to another file."""
        if not self._writing.acquire(blocking=False):
            return None
        try:
            writer = self._writer
            if writer is None or writer.inode != inode_of(self.path):
                return None
            return (self._look(writer.connection, work, like, self._drop_writer),)
        finally:
            self._writing.release()

    def _look(self, connection: Connection, work: Work[T], like: Hashable, drop: Callable[[], None]) -> T:
        begun = monotonic()
        with translating(self.path):
            try:
                connection.execute("BEGIN")
                result = work(connection)
                connection.execute("COMMIT")
            except BaseException:
                drop()
                raise
            if monotonic() - begun < MOMENT:
                self._at_hand.add(like)
            else:
                self._at_hand.discard(like)
            return result

    def write(self, work: Work[T], *, durable: bool = True) -> T:
        """Commits what `work` writes, under the lock. It is synced when this returns or, if it need not be durable, with
        the next write that is."""
        with self._writing, translating(self.path):
            make_folder(self.path.parent)
            with self._sidecar.held():
                is_new = self.kind == "user" and inode_of(self.path) is None
                connection = self._current_writer()
                before = connection.total_changes()
                if not durable:
                    connection.pragma("synchronous", "NORMAL")
                try:
                    return self._transact(connection, work)
                finally:
                    if is_new and connection.total_changes() == before:
                        self._remove_unused()
                    elif not durable and self._writer is not None:
                        connection.pragma("synchronous", "FULL")

    def _remove_unused(self) -> None:
        """Removes a file that was created for a write that wrote nothing, such as the last one of a worker whose user was
        forgotten in the meantime: an empty file would still hold the name."""
        self._drop_writer()
        datafile.remove(self.path)
        self._sidecar.remove()
        sync_folder(self.path.parent)

    def _transact(self, connection: Connection, work: Work[T]) -> T:
        try:
            connection.execute("BEGIN IMMEDIATE")
            refuse_newer(schema_of(connection), newest(self.kind))
            result = work(connection)
            entry = self._newest_entry(connection)
            connection.execute("COMMIT")
        except BaseException as failure:
            if is_of_the_file(failure):
                self._drop_writer()
            else:
                connection.kept.leave(0, {})
                roll_back(connection)
            raise
        self._sidecar.mark(entry)
        self._retire_reader()
        return result

    def _retire_reader(self) -> None:
        """Closes a reader that has been idle for a while: it takes nearly a megabyte."""
        if self._reader is None or monotonic() - self._last_needed < NEEDED_SECONDS:
            return
        if self._reading.acquire(blocking=False):
            try:
                self._drop_reader()
            finally:
                self._reading.release()

    def scrub(self) -> bool:
        """Leaves no byte of what was deleted in the file or its log; returns False if readers kept it from finishing."""
        with self._writing, translating(self.path), self._sidecar.held():
            return scrub(self._current_writer())

    def close(self) -> None:
        with self._writing, self._reading:
            self._close_connections()
            self._sidecar.close()

    def _current_reader(self) -> Connection | None:
        """A reader of the file now in the folder; None if there is none, or only a remnant."""
        found = inode_of(self.path)
        if self._reader is not None and self._reader.inode == found:
            return self._reader.connection
        self._drop_reader()
        checked = (writer := self._writer) is not None and writer.inode == found
        while found is not None and self._has_key():
            acknowledged = marked(self._sidecar.path)
            connection = datafile.open_reader(self.path, self.kind, key=self._key(), checked=checked)
            if connection is None:
                self._check()
                checked = True
            elif found != inode_of(self.path):
                close(connection)
            elif self._accepts(connection, acknowledged):
                self._reader = _Open(connection, found)
                return connection
            else:
                return None
            found = inode_of(self.path)
        if found is None and marked(self._sidecar.path):
            self._check()
        return None

    def _key(self, *, create: bool = False) -> bytes | None:
        return self._secret(self.path.stem, create=create)

    def _has_key(self) -> bool:
        """False for a file whose key was destroyed: nobody will ever read it, so it counts as missing."""
        try:
            self._key()
        except KeyDestroyed:
            datafile.refuse_plain(self.path)
            return False
        return True

    def _check(self) -> None:
        """Opens the file as a writer does, which brings it up to date and refuses one that is cut off or incomplete. Uses a
        descriptor of its own, because the other belongs to the writer."""
        sidecar = Sidecar(lock_of(self.path))
        with closing(sidecar), sidecar.held():
            if inode_of(self.path) is None:
                self._refuse_loss()
            else:
                close(datafile.open_writer(self.path, self.kind, key=self._key()))

    def _refuse_loss(self) -> None:
        """Wiping removes the lock file as well, so a lock file that remembers entries of a missing file means a loss."""
        if lost := marked(self._sidecar.path):
            raise StoreCorrupt(
                f"{self.path} is gone, but {lost} entries were acknowledged; restore it from a backup, or forget the user"
            )

    def _current_writer(self) -> Connection:
        """A writer of the file now in the folder, or of a new one."""
        found = inode_of(self.path)
        if self._writer is not None and self._writer.inode == found:
            return self._writer.connection
        self._drop_writer()
        if found is not None and self._has_key():
            connection = datafile.open_writer(self.path, self.kind, key=self._key())
            if self._accepts(connection, marked(self._sidecar.path)):
                self._writer = _Open(connection, found)
                return connection
        if found is None:
            self._refuse_loss()
        self._sidecar.mark(0)
        datafile.create(self.path, self.kind, key=self._key(create=True), fill=self._fill)
        connection = datafile.open_writer(self.path, self.kind, key=self._key())
        self._writer = _Open(connection, inode_of(self.path))
        return connection

    def _accepts(self, connection: Connection, acknowledged: int) -> bool:
        """Whether the connection may be used; otherwise it is closed."""
        accepted = False
        try:
            accepted = self._is_current(connection, acknowledged)
        finally:
            if not accepted:
                close(connection)
        return accepted

    def _drop_reader(self) -> None:
        dropped, self._reader = self._reader, None
        if dropped is not None:
            close(dropped.connection)

    def _drop_writer(self) -> None:
        dropped, self._writer = self._writer, None
        if dropped is not None:
            close(dropped.connection)

    def _close_connections(self) -> None:
        self._drop_reader()
        self._drop_writer()


# The lock beside a data file, held by whoever writes.
#
# SQLite's own lock makes waiting writers poll, so that processes starve each other for seconds; the kernel's queue for
# `flock` is fair. The lock file is removed together with its user, so a holder checks that what it locked is still what
# stands in the folder.
#
# It also remembers the newest acknowledged entry. To SQLite, a damaged write-ahead log looks like one that ends earlier,
# and what came after would be missing silently; the mark reveals it.

_MARK = struct.Struct("<QI")


def inode_of(path: Path) -> int | None:
    """The file now under this name; None if there is none. While it is open, its inode number is not reused."""
    try:
        return os.stat(path).st_ino  # noqa: PTH116 - on the path of every read, and twice as fast as Path.stat
    except FileNotFoundError:
        return None


class Sidecar:
    """One descriptor of a lock file; used by one thread at a time."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._descriptor: int | None = None

    @contextmanager
    def held(self) -> Generator[None]:
        """Waits for the lock, in order of arrival over all processes, and holds it."""
        descriptor = self.hold()
        try:
            yield
        finally:
            fcntl.flock(descriptor, fcntl.LOCK_UN)

    def hold(self) -> int:
        """Waits for the lock, which is held until the descriptor returned is unlocked or closed."""
        while True:
            if self._descriptor is None:
                self._descriptor = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
            fcntl.flock(self._descriptor, fcntl.LOCK_EX)
            if inode_of(self.path) == os.fstat(self._descriptor).st_ino:
                return self._descriptor
            self.close()

    def mark(self, head: int) -> None:
        """Records, while holding the lock, that everything up to this entry is durable. The mark itself need not be
        durable: an older one claims less, never something wrong."""
        if self._descriptor is not None:
            number = head.to_bytes(8, "little")
            os.pwrite(self._descriptor, _MARK.pack(head, crc32(number)), 0)

    def remove(self) -> None:
        """Removes the lock file; those who wait for it will find it gone and create a new one."""
        self.path.unlink(missing_ok=True)

    def close(self) -> None:
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None


def marked(path: Path) -> int:
    """The newest entry that the lock file remembers; 0 if it remembers none."""
    try:
        found = path.read_bytes()
    except FileNotFoundError:
        return 0
    if len(found) != _MARK.size:
        return 0
    head, check = _MARK.unpack(found)
    return head if crc32(head.to_bytes(8, "little")) == check else 0
