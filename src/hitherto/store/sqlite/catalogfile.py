"""The catalog's file: besides what the catalog asks of it, how often each user was wiped."""

from collections.abc import Hashable
from typing import ClassVar, TypeVar

from hitherto.errors import StoreUnavailable
from hitherto.store.sql import queries
from hitherto.store.sqlite.driver import Connection
from hitherto.store.sqlite.migrate import Kind
from hitherto.store.sqlite.sharedfile import SharedFile, Work

T = TypeVar("T")
_CATALOG = queries("sqlite", "catalog")
OWN = "catalog"
"""Under which name the catalog itself is to be scrubbed; users go by their digests."""


class CatalogFile(SharedFile):
    kind: ClassVar[Kind] = "catalog"

    def open(self) -> None:
        """Creates the folder and the file, or brings the file up to date."""
        self.write(lambda _: None, durable=False)

    def ask(self, work: Work[T], *, like: Hashable = None) -> T:
        """What `work` makes of one consistent state of a catalog that must be there."""
        found = self.read(lambda connection: (work(connection),), like=like)
        if found is None:
            raise StoreUnavailable(f"{self.path} is gone; restore it from a backup or open the store anew")
        return found[0]

    def epoch(self, digest: str) -> int:
        """How often a user was wiped: the number of the life they are in."""
        return self.ask(lambda connection: connection.execute(_CATALOG["epoch"], {"digest": digest}).get) or 0

    def bury(self, digest: str) -> None:
        """From now on this user is gone, whatever of them is still to be removed."""

        def work(connection: Connection) -> None:
            connection.execute(_CATALOG["bury"], {"digest": digest})
            connection.execute(_CATALOG["drop_hint"], (digest,))

        self.write(work)

    def finish_burial(self, digest: str) -> None:
        self._note("buried", digest, durable=False)

    def unfinished_burials(self) -> tuple[str, ...]:
        found = self.ask(lambda connection: connection.execute(_CATALOG["unfinished"]).fetchall())
        return tuple([digest for (digest,) in found])

    def begin_scrub(self, digest: str) -> None:
        """Durable before the erasure is, so that one that is cut short is finished later."""
        self._note("begin_scrub", digest)

    def end_scrub(self, digest: str) -> None:
        self._note("end_scrub", digest, durable=False)

    def _note(self, name: str, digest: str, *, durable: bool = True) -> None:
        """Keeps no cursor: apsw never lets go of one that is there while the connection runs something else."""

        def work(connection: Connection) -> None:
            connection.execute(_CATALOG[name], {"digest": digest})

        self.write(work, durable=durable)

    def erase(self, work: Work[T]) -> T:
        """Commits what `work` deletes and leaves no byte of it; one that is cut short is finished later."""

        def marked(connection: Connection) -> T:
            connection.execute(_CATALOG["begin_scrub"], {"digest": OWN})
            return work(connection)

        done = self.write(marked)
        self.finish_own_scrub()
        return done

    def finish_own_scrub(self) -> bool:
        """False when readers kept it from finishing."""
        finished = self.scrub()
        if finished:
            self.end_scrub(OWN)
        return finished

    def unscrubbed(self) -> tuple[str, ...]:
        found = self.ask(lambda connection: connection.execute(_CATALOG["unscrubbed"]).fetchall())
        return tuple([digest for (digest,) in found])
