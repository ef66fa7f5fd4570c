"""What belongs to no single user: tenants' documents, hints of due work, the list of users, and how often each was wiped.

The catalog knows users by their digests. Their names are in their own files, so a digest is resolved by looking into the
file, once per process.
"""

import logging
import threading
from collections.abc import Hashable, Mapping, Sequence
from contextlib import closing
from datetime import datetime
from itertools import chain
from pathlib import Path
from typing import Any, ClassVar, TypeVar

from hitherto.clock import from_micros, micros
from hitherto.errors import Conflict, KeyDestroyed, StoreCorrupt, StoreError, StoreUnavailable
from hitherto.store.catalog import Document, UserKey
from hitherto.store.protocol import Query, TenantDocuments
from hitherto.store.rows import stamp
from hitherto.store.sql import queries
from hitherto.store.sqlite.connections import Connection, Secret, connect
from hitherto.store.sqlite.datafile import refuse_plain
from hitherto.store.sqlite.failures import translating
from hitherto.store.sqlite.layout import Layout
from hitherto.store.sqlite.migrations import Kind
from hitherto.store.sqlite.rows import built
from hitherto.store.sqlite.sharedfile import SharedFile, Work
from hitherto.store.sqlite.threads import InThread
from hitherto.store.sqlite.userfile import identity_of

LOG = logging.getLogger("hitherto.store")
T = TypeVar("T")
_CATALOG = queries("sqlite", "catalog")
NAMES = 20_000
"""Digests whose users a process remembers; a quarter is dropped when there are more."""
OWN = "catalog"
"""The name under which the catalog notes that it has to be scrubbed itself; users are noted by digest."""


class CatalogFile(SharedFile):
    kind: ClassVar[Kind] = "catalog"

    def open(self) -> None:
        """Creates the folder and the file, or brings the file up to date."""
        self.write(lambda _: None, durable=False)

    def ask(self, work: Work[T], *, like: Hashable = None) -> T:
        """What `work` computes from one consistent state of a catalog that must exist."""
        found = self.read(lambda connection: (work(connection),), like=like)
        if found is None:
            raise StoreUnavailable(f"{self.path} is gone; restore it from a backup or open the store anew")
        return found[0]

    def epoch(self, digest: str) -> int:
        """How often a user was wiped: the number of their current life."""
        return self.ask(lambda connection: connection.execute(_CATALOG["epoch"], {"digest": digest}).get) or 0

    def bury(self, digest: str) -> None:
        """Declares this user gone, whatever of them is still to be removed."""

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
        """Made durable before the erasure is, so that an interrupted one is finished later."""
        self._note("begin_scrub", digest)

    def end_scrub(self, digest: str) -> None:
        self._note("end_scrub", digest, durable=False)

    def _note(self, name: str, digest: str, *, durable: bool = True) -> None:
        """Keeps no cursor open: apsw never releases one that is still open while the connection runs something else."""

        def work(connection: Connection) -> None:
            connection.execute(_CATALOG[name], {"digest": digest})

        self.write(work, durable=durable)

    def erase(self, work: Work[T]) -> T:
        """Commits what `work` deletes and leaves no byte of it; an interrupted scrub is finished later."""

        def marked(connection: Connection) -> T:
            connection.execute(_CATALOG["begin_scrub"], {"digest": OWN})
            return work(connection)

        done = self.write(marked)
        self.finish_own_scrub()
        return done

    def finish_own_scrub(self) -> bool:
        """Returns False if readers kept it from finishing."""
        finished = self.scrub()
        if finished:
            self.end_scrub(OWN)
        return finished

    def unscrubbed(self) -> tuple[str, ...]:
        found = self.ask(lambda connection: connection.execute(_CATALOG["unscrubbed"]).fetchall())
        return tuple([digest for (digest,) in found])


def _document(row: tuple[Any, ...]) -> Document:
    name, version, body, recorded_at, about = row
    return Document(name=name, version=version, body=body, recorded_at=from_micros(recorded_at), about=about)


def _named(connection: Connection, tenant: str, query: TenantDocuments) -> tuple[Document, ...]:
    asked = [{"tenant": tenant, "kind": query.kind, "name": name} for name in sorted(set(query.names))]
    return built(_document, chain.from_iterable(connection.execute(_CATALOG["named_document"], one) for one in asked))


class SqliteCatalog:
    """The catalog of one data folder."""

    def __init__(self, layout: Layout, file: CatalogFile, *, in_thread: InThread, secret: Secret) -> None:
        self._layout = layout
        self._file = file
        self._in_thread = in_thread
        self._secret = secret
        self._names: dict[str, UserKey] = {}
        self._hinting = threading.Lock()
        self._hints: dict[str, int | None] = {}

    async def documents(self, tenant: str, kind: str, names: Sequence[str] | None = None) -> tuple[Document, ...]:
        if names is not None:
            query = TenantDocuments(kind=kind, names=tuple(names))
            return await self._in_thread(lambda: self.documents_now(tenant, query))
        values = {"tenant": tenant, "kind": kind}

        def work(connection: Connection) -> tuple[Document, ...]:
            return built(_document, connection.execute(_CATALOG["newest_documents"], values))

        return await self._in_thread(lambda: self._file.ask(work))

    def documents_now(self, tenant: str, query: TenantDocuments) -> tuple[Document, ...]:
        """The same, for callers that are already in a thread."""
        return self._file.ask(lambda connection: _named(connection, tenant, query), like=TenantDocuments)

    def at_a_glance(self, tenant: str, queries: Sequence[TenantDocuments]) -> dict[Query[Any], Any] | None:
        """The same for callers that must not wait; None if it would have to, or fails."""

        def work(connection: Connection) -> dict[Query[Any], Any]:
            return {query: _named(connection, tenant, query) for query in queries}

        try:
            found = self._file.glance(work, like=TenantDocuments)
        except StoreError:
            return None
        return found and found[0]

    async def last(
        self, tenant: str, kind: str, *, limit: int, before: str | None = None, about: str | None = None
    ) -> tuple[Document, ...]:
        name, values = "last_documents", {"tenant": tenant, "kind": kind, "before": before, "limit": limit}
        if about is not None:
            name, values = "last_documents_about", {**values, "about": about}

        def work(connection: Connection) -> tuple[Document, ...]:
            return built(_document, connection.execute(_CATALOG[name], values))

        return await self._in_thread(lambda: self._file.ask(work))

    async def versions(self, tenant: str, kind: str, name: str) -> tuple[Document, ...]:
        values = {"tenant": tenant, "kind": kind, "name": name}

        def work(connection: Connection) -> tuple[Document, ...]:
            return built(_document, connection.execute(_CATALOG["versions"], values))

        return await self._in_thread(lambda: self._file.ask(work))

    async def kinds(self) -> tuple[tuple[str, str], ...]:
        def work(connection: Connection) -> tuple[tuple[str, str], ...]:
            return tuple((tenant, kind) for tenant, kind in connection.execute(_CATALOG["kinds"]))

        return await self._in_thread(lambda: self._file.ask(work))

    async def put(
        self,
        tenant: str,
        kind: str,
        name: str,
        body: str,
        *,
        at: datetime,
        expected: int | None = None,
        about: str | None = None,
    ) -> Document:
        values = {"tenant": tenant, "kind": kind, "name": name, "body": body, "recorded_at": micros(at), "about": about}

        def work(connection: Connection) -> Document:
            versions = built(_document, connection.execute(_CATALOG["versions"], values))
            if versions and versions[-1].body == body:
                return versions[-1]
            version = versions[-1].version if versions else 0
            if expected is not None and expected != version:
                raise Conflict(f"{kind} {name!r} is at version {version}, not {expected}; read it again")
            connection.execute(_CATALOG["add_document"], {**values, "version": version + 1})
            return Document(name=name, version=version + 1, body=body, recorded_at=at, about=about)

        return await self._in_thread(lambda: self._file.write(work))

    async def delete(self, tenant: str, kind: str, name: str) -> bool:
        values = {"tenant": tenant, "kind": kind, "name": name}

        def work(connection: Connection) -> bool:
            return bool(connection.execute(_CATALOG["delete_document"], values).fetchall())

        return await self._in_thread(lambda: self._file.erase(work))

    async def hint(self, dues: Mapping[UserKey, datetime | None]) -> None:
        """Writes the hint together with others gathered by then, unsynced."""
        with self._hinting:
            is_first = not self._hints
            for key, due in dues.items():
                self._note(key.digest, key)
                self._hints[key.digest] = stamp(due)
        if is_first and dues:
            await self._in_thread(self.flush)

    def flush(self) -> None:
        """Writes the gathered hints."""
        with self._hinting:
            hints, self._hints = self._hints, {}

        def work(connection: Connection) -> None:
            connection.executemany(_CATALOG["drop_hint"], [(digest,) for digest, due in hints.items() if due is None])
            connection.executemany(_CATALOG["hint"], [one for one in hints.items() if one[1] is not None])

        if hints:
            self._file.write(work, durable=False)

    async def due(self, *, now: datetime, limit: int) -> tuple[UserKey, ...]:
        def work() -> tuple[UserKey, ...]:
            self.flush()
            values = {"now": micros(now), "limit": limit}
            found = self._file.ask(lambda connection: connection.execute(_CATALOG["due"], values).fetchall())
            keys = (self._name_if_readable(self._layout.user(digest)) for (digest,) in found)
            return tuple([key for key in keys if key is not None])

        return await self._in_thread(work)

    async def users(self, tenant: str | None = None, *, readable: bool = False) -> tuple[UserKey, ...]:
        def work() -> tuple[UserKey, ...]:
            name = self._name_if_readable if readable else self._name
            keys = map(name, self._layout.all_users())
            mine = (key for key in keys if key is not None and tenant in (None, key.tenant))
            return tuple(sorted(mine, key=lambda key: (key.tenant, key.user)))

        return await self._in_thread(work)

    def _name_if_readable(self, path: Path) -> UserKey | None:
        """The file's user; also None if the file is damaged, so that it holds up nobody else's work."""
        try:
            return self._name(path)
        except StoreCorrupt as error:
            LOG.warning("%s", error)
            return None

    def _name(self, path: Path) -> UserKey | None:
        """The file's user; None if the file is gone or a remnant."""
        digest = path.stem
        if not path.exists():
            return None
        known = self._names.get(digest)
        if known is None:
            try:
                key = self._secret(digest)
            except KeyDestroyed:
                refuse_plain(path)
                return None
            with translating(path), closing(connect(path, writes=False, key=key)) as connection:
                identity = identity_of(connection, path)
            if identity.epoch < self._file.epoch(digest):
                return None
            known = self._note(digest, identity.key)
        return known

    def _note(self, digest: str, key: UserKey) -> UserKey:
        """Remembers whose digest it is for the next caller; opening the file tells as well."""
        self._names[digest] = key
        if len(self._names) > NAMES:
            for oldest in tuple(self._names)[: NAMES // 4]:
                self._names.pop(oldest, None)
        return key
