"""The catalog's file, from any thread."""

import threading
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from recollect.errors import StoreUnavailable
from recollect.store.sqlite import datafile
from recollect.store.sqlite.driver import Connection, roll_back
from recollect.store.sqlite.failures import translating
from recollect.store.sqlite.layout import lock_of, make_folder
from recollect.store.sqlite.migrate import newest, refuse_newer, schema_of
from recollect.store.sqlite.sidecar import Sidecar
from recollect.store.sqlite.sql import queries

T = TypeVar("T")
_CATALOG = queries("catalog")


def _opened(connection: Connection | None) -> Connection:
    if connection is None:
        raise StoreUnavailable("the store is not open")
    return connection


class CatalogFile:
    """One connection that reads and one that writes, each used by one thread at a time."""

    def __init__(self, path: Path, *, secret: bytes | None = None) -> None:
        self.path = path
        self._secret = secret
        self._sidecar = Sidecar(lock_of(path))
        self._reading, self._writing = threading.Lock(), threading.Lock()
        self._reader: Connection | None = None
        self._writer: Connection | None = None

    @property
    def is_open(self) -> bool:
        return self._writer is not None

    def open(self) -> None:
        """Creates the folder and the file, or brings the file up to date."""
        with self._writing, self._reading, translating(self.path):
            make_folder(self.path.parent)
            with self._sidecar.held():
                if not self.path.exists():
                    datafile.create(self.path, "catalog", key=self._secret)
                self._writer = datafile.open_writer(self.path, "catalog", key=self._secret)
            self._reader = datafile.open_reader(self.path, "catalog", key=self._secret)

    def close(self) -> None:
        with self._writing, self._reading:
            for connection in (self._reader, self._writer):
                if connection is not None:
                    connection.close()
            self._reader = self._writer = None
            self._sidecar.close()

    def read(self, work: Callable[[Connection], T]) -> T:
        with self._reading, translating(self.path):
            return work(_opened(self._reader))

    def write(self, work: Callable[[Connection], T], *, durable: bool = True) -> T:
        """Commits what `work` writes. What is not durable is synced with the next write that is."""
        with self._writing, translating(self.path):
            connection = _opened(self._writer)
            with self._sidecar.held():
                connection.pragma("synchronous", "FULL" if durable else "NORMAL")
                connection.execute("BEGIN IMMEDIATE")
                try:
                    refuse_newer(schema_of(connection), newest("catalog"))
                    result = work(connection)
                    connection.execute("COMMIT")
                except BaseException:
                    roll_back(connection)
                    raise
                return result

    def epoch(self, digest: str) -> int:
        """How often a user was wiped: the number of the life they are in."""
        return self.read(lambda connection: connection.execute(_CATALOG["epoch"], {"digest": digest}).get) or 0

    def bury(self, digest: str) -> None:
        """From now on this user is gone, whatever of them is still to be removed."""

        def work(connection: Connection) -> None:
            connection.execute(_CATALOG["bury"], {"digest": digest})
            connection.execute(_CATALOG["drop_hint"], (digest,))

        self.write(work)

    def finish_burial(self, digest: str) -> None:
        self.write(lambda connection: connection.execute(_CATALOG["buried"], {"digest": digest}), durable=False)

    def unfinished_burials(self) -> tuple[str, ...]:
        found = self.read(lambda connection: connection.execute(_CATALOG["unfinished"]).fetchall())
        return tuple([digest for (digest,) in found])
