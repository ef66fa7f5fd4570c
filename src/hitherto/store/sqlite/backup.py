"""Copies a data folder while others read and write it, and puts such a copy back.

SQLite's online backup copies each file from one consistent state; in WAL mode that keeps no writer waiting. The catalog
comes last, so that a user who is wiped in the meantime is a remnant in the copy as well.
"""

from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from hitherto.errors import InvalidInput, KeyDestroyed, StoreCorrupt, StoreUnavailable
from hitherto.store.sqlite.connections import Connection, Secret, connect, no_secret, truncate_log
from hitherto.store.sqlite.datafile import put_in_place, refuse_plain, remove
from hitherto.store.sqlite.failures import translating
from hitherto.store.sqlite.layout import Layout, lock_of, make_folder, sync_folder
from hitherto.store.sqlite.sharedfile import Sidecar
from hitherto.store.sqlite.threads import InThread, Threads

Progress = Callable[[int, int], None]


@dataclass(frozen=True, slots=True)
class Copy:
    """A copy of one folder in another."""

    source: Layout
    target: Layout
    secret: Secret

    async def make(self, in_thread: InThread, *, progress: Progress | None = None) -> int:
        """Copies every user and the catalog into an empty folder; returns the number of users."""
        return await self._all(in_thread, self._begin, copy_file, progress=progress)

    async def put_back(self, in_thread: InThread, *, progress: Progress | None = None) -> int:
        """Puts every file of a copy back in its place; other processes may have the folder open. Users that the copy lacks
        stay as they are."""
        return await self._all(in_thread, self._begin_putting_back, put_back_file, progress=progress)

    async def _all(
        self,
        in_thread: InThread,
        begin: Callable[[], list[Path]],
        copy: Callable[[Path, Path, bytes | None], bool],
        *,
        progress: Progress | None,
    ) -> int:
        paths = await in_thread(begin)
        copied = 0
        for number, path in enumerate(paths, start=1):
            try:
                key = self.secret(path.stem)
            except KeyDestroyed:
                refuse_plain(path)
                continue
            target = self.target.user(path.stem)
            copied += await in_thread(lambda path=path, target=target, key=key: copy(path, target, key))
            if progress is not None:
                progress(number, len(paths))
        await in_thread(lambda: copy(self.source.catalog, self.target.catalog, None))
        return copied

    def _begin(self) -> list[Path]:
        root = self.target.root
        if root.exists() and any(root.iterdir()):
            raise InvalidInput(f"{str(root)!r} is not empty; name a new folder for the backup")
        return list(self.source.all_users())

    def _begin_putting_back(self) -> list[Path]:
        if not self.source.catalog.is_file():
            raise InvalidInput(f"{str(self.source.root)!r} is no backup: it has no {self.source.catalog.name}")
        return list(self.source.all_users())


async def put_back(
    backup: str | Path, folder: str | Path, *, secret: Secret = no_secret, progress: Progress | None = None
) -> int:
    """Restores a backup into a data folder file by file, even while other processes have the folder open."""
    threads = Threads(1, "restore")
    threads.start()
    try:
        return await Copy(Layout.of(backup), Layout.of(folder), secret).put_back(threads.run, progress=progress)
    finally:
        threads.close()


def copy_file(source: Path, target: Path, key: bytes | None) -> bool:
    """Copies one data file, synced; returns False if it is gone."""
    with translating(source):
        if not source.exists():
            return False
        make_folder(target.parent)
        with closing(connect(source, writes=False, key=key)) as origin:
            _copy(origin, target, key)
        sync_folder(target.parent)
        return True


def put_back_file(source: Path, target: Path, key: bytes | None) -> bool:
    """Puts a copy, once it is found sound, in the place of a file that others may have open."""
    with translating(source):
        make_folder(target.parent)
        sidecar, fresh = Sidecar(lock_of(target)), target.with_suffix(".restoring")
        remove(fresh)
        with closing(connect(source, writes=False, key=key)) as origin:
            damage = [text for (text,) in origin.execute("PRAGMA integrity_check") if text != "ok"]
            if damage:
                raise StoreCorrupt(f"{source} is damaged ({damage[0]}); take another backup")
            _copy(origin, fresh, key)
        with closing(sidecar), sidecar.held():
            put_in_place(fresh, target)
            sidecar.mark(0)
        return True


def _copy(origin: Connection, target: Path, key: bytes | None) -> None:
    size = int(origin.pragma("page_size"))
    with closing(connect(target, create=True, key=key, page_size=size)) as copy:
        steps = copy.backup("main", origin, "main")
        steps.step(-1)
        steps.finish()
        if not truncate_log(copy):
            raise StoreUnavailable(f"{target} is in use; try again later")
