"""The one place that opens SQLite: which library, which settings, and what of it the rest may use.

apsw's own types mention buffers that Python 3.11 cannot name, so the few methods in use are spelt out here.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Protocol, cast

import apsw

from recollect.errors import StoreUnavailable

Value = int | float | str | bytes | None
Bindings = Mapping[str, Value] | Sequence[Value]

OLDEST = (3, 51, 3)
"""SQLite 3.7.0 to 3.51.2 can corrupt a write-ahead log that several connections share."""

PAGE_SIZE = 16_384
WAL_PAGES = 256
"""Pages in the write-ahead log before a commit copies them into the file."""


class Cursor(Protocol):
    def __iter__(self) -> Iterator[tuple[Any, ...]]: ...
    def fetchall(self) -> list[tuple[Any, ...]]: ...
    def fetchone(self) -> tuple[Any, ...] | None: ...
    @property
    def get(self) -> Any: ...


class Backup(Protocol):
    def step(self, npages: int = -1) -> bool: ...
    def finish(self) -> None: ...
    @property
    def remaining(self) -> int: ...
    @property
    def page_count(self) -> int: ...


class Connection(Protocol):
    def execute(self, statements: str, bindings: Bindings | None = None) -> Cursor: ...
    def executemany(self, statements: str, sequenceofbindings: Iterable[Bindings]) -> Cursor: ...
    def pragma(self, name: str, value: Value = None) -> Any: ...
    def backup(
        self, databasename: str, sourceconnection: "Connection", sourcedatabasename: str
    ) -> Backup: ...
    def set_busy_timeout(self, milliseconds: int) -> None: ...
    def set_busy_handler(self, callable: Callable[[int], bool] | None) -> None: ...  # noqa: A002 - apsw's name
    def close(self) -> None: ...


def require_sound_library() -> None:
    """Refuses a SQLite that may lose data."""
    version = apsw.sqlite_lib_version()
    if tuple(int(part) for part in version.split(".")) < OLDEST:
        needed = ".".join(map(str, OLDEST))
        raise StoreUnavailable(
            f"SQLite {version} is too old: Recollect needs {needed} or newer (apsw-sqlite3mc)"
        )


def in_memory() -> Connection:
    """An empty database that lives as long as its connection."""
    return cast(Connection, apsw.Connection(":memory:"))
