"""The embedded store: a folder with one file per user and a catalog."""

import asyncio
import os
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from hitherto.errors import StoreError, StoreUnavailable
from hitherto.store.catalog import Document, UserKey
from hitherto.store.protocol import Answers, Change, Decide, Health, LogEntry, Query, Scrubbed, TenantDocuments, Written
from hitherto.store.rows import still_true
from hitherto.store.sqlite import connections
from hitherto.store.sqlite.backup import Copy
from hitherto.store.sqlite.catalog import OWN, CatalogFile, SqliteCatalog
from hitherto.store.sqlite.changes import apply, restore
from hitherto.store.sqlite.connections import Connection, Secret, no_secret
from hitherto.store.sqlite.groups import Done, Groups, Job, commit
from hitherto.store.sqlite.layout import Layout, companions_of
from hitherto.store.sqlite.migrations import migrate, migrations, newest
from hitherto.store.sqlite.queries import answer, answer_cached, answered, few
from hitherto.store.sqlite.threads import Failed, Threads, attempt
from hitherto.store.sqlite.userfile import OpenFiles, SharedUserFile, UserFile

OPEN_FILES = 64
"""User files open at once; each takes up to six descriptors."""
PATIENCE_SECONDS = 30.0
"""How long a write waits for other processes before it gives up, having written nothing."""
SCRUB_AGAIN_SECONDS = 10.0
"""The pause before a write tries again to remove the bytes of an erasure."""
_READERS: Final = min(8, (os.cpu_count() or 1) + 1)
"""One more than can run at once, for a long read beside short ones; more would only compete for Python's lock."""
_WRITERS: Final = 2 * _READERS
"""They spend most of their time waiting for the disk or another process."""


class SqliteStore:
    """A store that several processes may open on the same folder.

    `secret` returns the key that encrypts a user's file, by digest; None leaves it plain.
    """

    def __init__(
        self,
        folder: str | Path,
        *,
        open_files: int = OPEN_FILES,
        patience: float = PATIENCE_SECONDS,
        secret: Secret = no_secret,
    ) -> None:
        self._layout = Layout.of(folder)
        self._patience = patience
        self._secret = secret
        self._readers, self._writers = Threads(_READERS, "read"), Threads(_WRITERS, "write")
        self._file = CatalogFile(self._layout.catalog)
        self._catalog = SqliteCatalog(self._layout, self._file, in_thread=self._writers.run, secret=secret)
        self._files = OpenFiles(open_files, self._make_file)
        self._groups = Groups(self._writers, self._commit)
        self._nobody = Nobody()
        self._scrubbing: set[str] = set()
        """Users with an erasure whose bytes are not all gone."""
        self._owed: dict[str, float] = {}
        """Users whose bytes could not be removed, and when to try again."""

    @property
    def catalog(self) -> SqliteCatalog:
        return self._catalog

    async def open(self) -> None:
        connections.require_sound_library(connections.version())
        self._writers.start()
        await self._writers.run(self._open)

    def _open(self) -> None:
        self._readers.start()
        self._file.open()
        for digest in self._file.unfinished_burials():
            self._finish_burial(digest)
        for digest in self._file.unscrubbed():
            self._finish_scrub(digest)

    def _finish_burial(self, digest: str) -> None:
        path = self._layout.user(digest)
        if path.parent.is_dir():
            file = SharedUserFile(path, secret=self._secret)
            try:
                file.remove_remnant(self._file.epoch(digest))
            finally:
                file.close()
        self._file.finish_burial(digest)

    def _finish_scrub(self, digest: str) -> None:
        """Finishes an erasure from before a restart: its bytes go before anything else is done."""
        if digest == OWN:
            self._file.finish_own_scrub()
            return
        path = self._layout.user(digest)
        if path.exists():
            file = SharedUserFile(path, secret=self._secret)
            try:
                if not file.scrub():
                    return
            finally:
                file.close()
        self._file.end_scrub(digest)

    async def close(self) -> None:
        """Waits for what has begun, writes hints, and closes files."""
        await asyncio.to_thread(self._close)

    def _close(self) -> None:
        self._writers.close()
        self._readers.close()
        self._files.close()
        self._nobody.close()
        try:
            self._catalog.flush()
        finally:
            self._file.close()

    def user(self, key: UserKey) -> "SqliteUser":
        return SqliteUser(self, key)

    async def health(self) -> Health:
        return await self._readers.run(self._health)

    def _health(self) -> Health:
        paths = list(self._layout.all_users())
        sizes = [
            part.stat().st_size
            for path in (self._layout.catalog, *paths)
            for part in (path, *companions_of(path))
            if part.exists()
        ]
        damage = self._file.ask(lambda connection: connection.execute("PRAGMA quick_check").fetchall())
        problems = [f"catalog.db: {text}" for (text,) in damage if text != "ok"]
        problems += [f"users/{digest}: wiping it was not finished" for digest in self._file.unfinished_burials()]
        problems += [f"users/{digest}: bytes of what was erased are left" for digest in tuple(self._owed)]
        return Health(
            backend="sqlite",
            version=connections.version(),
            schema=newest("user"),
            users=len(paths),
            bytes=sum(sizes),
            problems=tuple(problems),
        )

    async def backup(self, target: str, *, progress: Callable[[int, int], None] | None = None) -> int:
        copy = Copy(self._layout, Layout.of(target), secret=self._secret)
        return await copy.make(self._writers.run, progress=progress)

    async def scrub(self, *, progress: Callable[[int, int], None] | None = None) -> Scrubbed:
        """Erasing and wiping leave nothing behind here, so this is for what other programs did to the files."""
        begun = time.monotonic()
        digests = [path.stem for path in self._layout.all_users()]
        left: list[str] = []
        for done, digest in enumerate(digests, start=1):
            await self._writers.run(lambda digest=digest: self._file.begin_scrub(digest))
            await self._writers.run(lambda digest=digest: self._finish_scrub(digest))
            if progress is not None:
                progress(done, len(digests))
        unfinished = await self._writers.run(self._file.unscrubbed)
        left += [f"users/{digest}: a reader holds on to its log" for digest in unfinished if digest != OWN]
        if not await self._writers.run(self._file.finish_own_scrub):
            left.append("catalog.db: a reader holds on to its log")
        return Scrubbed(files=len(digests) + 1, seconds=time.monotonic() - begun, left=tuple(left))

    # --- for its users ---------------------------------------------------------------------------------------------

    async def read(self, key: UserKey, queries: Sequence[Query[Any]]) -> Answers:
        asked = _Asked.of(queries)
        found = self._glance(key, asked) if all(map(few, queries)) else None
        return await self._readers.run(lambda: self._read(key, asked)) if found is None else found

    def _glance(self, key: UserKey, asked: "_Asked") -> Answers | None:
        """Reads a small part of a file that is cached, in this thread: handing it to another would take as long again."""
        told = self._catalog.at_a_glance(key.tenant, asked.documents) if asked.documents else {}
        if told is None:
            return None
        with self._files.borrow_open(key) as file:
            found = file and file.glance(lambda connection: answer_cached(connection, asked.own), like=asked.kinds)
        return found and found[0].merged(told)

    def _read(self, key: UserKey, asked: "_Asked") -> Answers:
        found = self._read_own(key, asked) if asked.own else Answers({})
        return found.merged({query: self._documents(key, query) for query in asked.documents})

    def _read_own(self, key: UserKey, asked: "_Asked") -> Answers:
        with self._files.borrow(key) as file:
            found = file.read(lambda connection: answer_cached(connection, asked.own), like=asked.kinds)
        return found if found is not None else self._nobody.answer(asked.own)

    def _documents(self, key: UserKey, query: TenantDocuments) -> tuple[Document, ...] | StoreError:
        try:
            return self._catalog.documents_now(key.tenant, query)
        except StoreError as error:
            return error

    async def write(self, key: UserKey, work: Callable[[Connection], Done | Failed]) -> Any:
        """Waits for the job's turn and its commit; a job whose turn does not come in time is withdrawn."""
        job = Job(work)
        self._groups.add(key, job)
        is_late = False

        def withdraw() -> None:
            nonlocal is_late
            is_late = job.future.cancel()

        patience = asyncio.get_running_loop().call_later(self._patience, withdraw)
        try:
            return await asyncio.wrap_future(job.future)
        except asyncio.CancelledError:
            if not is_late:
                raise
            raise StoreUnavailable(
                f"another process kept this user's file for {self._patience:g} s; nothing was stored"
            ) from None
        finally:
            patience.cancel()

    def _commit(self, key: UserKey, jobs: list[Job]) -> None:
        with self._files.borrow(key) as file:
            if commit(file, jobs) or (self._is_owed(key.digest) and attempt(file.scrub) is True):
                self._file.end_scrub(key.digest)
                self._scrubbing.discard(key.digest)
                self._owed.pop(key.digest, None)
            elif key.digest in self._scrubbing:
                self._owed.setdefault(key.digest, time.monotonic() + SCRUB_AGAIN_SECONDS)

    def _is_owed(self, digest: str) -> bool:
        """Whether bytes are left and it is time to try again; notes the next time."""
        if (due := self._owed.get(digest)) is None or time.monotonic() < due:
            return False
        self._owed[digest] = time.monotonic() + SCRUB_AGAIN_SECONDS
        return True

    def will_scrub(self, key: UserKey) -> None:
        """Called before an erasure commits, under the user's lock."""
        self._file.begin_scrub(key.digest)
        self._scrubbing.add(key.digest)

    async def wipe(self, key: UserKey) -> None:
        await self._writers.run(lambda: self._wipe(key))

    def _wipe(self, key: UserKey) -> None:
        with self._files.borrow(key) as file:
            file.wipe(bury=lambda: self._file.bury(key.digest))
            self._file.finish_burial(key.digest)

    def _make_file(self, key: UserKey) -> UserFile:
        digest = key.digest
        return UserFile(
            self._layout.user(digest),
            key,
            epoch=lambda: self._file.epoch(digest),
            secret=self._secret,
        )


@dataclass(frozen=True, slots=True)
class _Asked:
    """Which queries go to the user's own file, and which to the catalog."""

    own: tuple[Query[Any], ...]
    documents: tuple[TenantDocuments, ...]
    kinds: tuple[type, ...]
    """The kinds of queries sent to the user's file: the same kinds take about the same time."""

    @classmethod
    def of(cls, queries: Sequence[Query[Any]]) -> "_Asked":
        own = tuple(query for query in queries if not isinstance(query, TenantDocuments))
        return cls(own, tuple(query for query in queries if isinstance(query, TenantDocuments)), tuple(map(type, own)))


class Nobody:
    """Answers any queries for a user without a file, from an empty database."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._connection: Connection | None = None

    def answer(self, queries: Sequence[Query[Any]]) -> Answers:
        with self._lock:
            if self._connection is None:
                self._connection = connections.in_memory()
                migrate(self._connection, migrations("user"))
            return answer(self._connection, queries)

    def close(self) -> None:
        with self._lock:
            if self._connection is not None:
                self._connection.close()
                self._connection = None


def _must_scrub(change: Change) -> bool:
    """Forgetting turns or records leaves no trace. A note or snapshot removed by routine is no reason to rewrite the file;
    its bytes are overwritten in any case."""
    return change.erase is not None and bool(change.erase.turns or change.erase.records)


class SqliteUser:
    """One user's memory in their own file."""

    def __init__(self, store: SqliteStore, key: UserKey) -> None:
        self._store = store
        self._key = key

    async def read(self, *queries: Query[Any]) -> Answers:
        return await self._store.read(self._key, queries)

    async def write(self, decide: Decide, *queries: Query[Any]) -> Written:
        def work(connection: Connection) -> Done | Failed:
            answers = answered(connection, queries)
            change = attempt(lambda: decide(Answers(answers)))
            if isinstance(change, Failed):
                return change
            if scrub := _must_scrub(change):
                self._store.will_scrub(self._key)
            written = apply(connection, change)
            connection.kept.leave(written.head, still_true(answers, change, written))
            return Done(written, scrub=scrub)

        return await self._store.write(self._key, work)

    async def restore(self, entries: Sequence[LogEntry]) -> None:
        def work(connection: Connection) -> Done | Failed:
            if scrub := any(entry.op == "erase" for entry in entries):
                self._store.will_scrub(self._key)
            restore(connection, entries)
            return Done(None, scrub=scrub)

        await self._store.write(self._key, work)

    async def wipe(self) -> None:
        await self._store.wipe(self._key)
