"""A VFS of ours between SQLite and its files: a watcher sees what is done, and may make it fail."""

import os
from collections.abc import Generator
from contextlib import contextmanager
from typing import Any, Literal

import apsw
import pytest

from hitherto.store.sqlite import connections

BELOW = "cksmvfs"
Operation = Literal["write", "truncate", "sync"]


class Watcher:
    """Override what matters; an exception in `before` makes the operation fail."""

    def before(self, operation: Operation) -> None: ...
    def created(self, path: str) -> None: ...
    def wrote(self, path: str, offset: int, data: bytes) -> None: ...
    def truncated(self, path: str, size: int) -> None: ...
    def synced(self, path: str) -> None: ...
    def deleted(self, path: str, *, folder_synced: bool) -> None: ...


class _File(apsw.VFSFile):
    def __init__(self, watcher: Watcher, name: str | apsw.URIFilename | None, flags: list[int]) -> None:
        self._path = "" if name is None else name if isinstance(name, str) else name.filename()
        existed = os.path.exists(self._path)  # noqa: PTH110 - a path may be empty here
        super().__init__(BELOW, name, flags)
        self._watcher = watcher
        if not existed:
            watcher.created(self._path)

    def xWrite(self, data: Any, offset: int) -> None:  # noqa: N802 - SQLite's name
        self._watcher.before("write")
        super().xWrite(data, offset)  # pyright: ignore[reportUnknownMemberType] - apsw's stub names a type of Python 3.12
        # The checksum shim below fills in the end of a page, so what lies there now is what was written.
        self._watcher.wrote(self._path, offset, super().xRead(len(data), offset))

    def xTruncate(self, newsize: int) -> None:  # noqa: N802
        self._watcher.before("truncate")
        super().xTruncate(newsize)
        self._watcher.truncated(self._path, newsize)

    def xSync(self, flags: int) -> None:  # noqa: N802
        self._watcher.before("sync")
        super().xSync(flags)
        self._watcher.synced(self._path)


class _Vfs(apsw.VFS):
    def __init__(self, watcher: Watcher) -> None:
        super().__init__("watched", BELOW)
        self._watcher = watcher

    def xOpen(self, name: str | apsw.URIFilename | None, flags: list[int]) -> apsw.VFSFile:  # noqa: N802
        return _File(self._watcher, name, flags)

    def xDelete(self, filename: str, syncdir: bool) -> None:  # noqa: N802
        super().xDelete(filename, syncdir)
        self._watcher.deleted(filename, folder_synced=syncdir)


@contextmanager
def watching(watcher: Watcher) -> Generator[None]:
    """The store's connections that are opened inside go through the watcher."""
    connections.load_checksums()
    vfs = _Vfs(watcher)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(connections, "VFS", "watched")
        try:
            yield
        finally:
            vfs.unregister()
