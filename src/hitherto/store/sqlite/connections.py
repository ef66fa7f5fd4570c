"""The one place that opens SQLite: which library, which settings, and which part of it the rest may use.

apsw's own types mention buffers that Python 3.11 cannot name, so the few methods in use are declared here. Nothing else in
the process may open a data file, not even to read its bytes: closing any other descriptor of it would drop SQLite's locks.
"""

import ctypes
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, suppress
from functools import cache
from itertools import islice
from pathlib import Path
from typing import Any, Final, Protocol, cast

import apsw
import apsw.sqlite_extra

from hitherto.errors import StoreUnavailable
from hitherto.private import FILE_MODE
from hitherto.store.protocol import Query
from hitherto.store.rows import OFTEN
from hitherto.types import StoredTurn

# What the readers of a connection keep between two transactions, because contexts ask for the same records and turns again
# and again. Without it they take 0.5 to 0.9 ms more of 7 to 9, in a conversation of a user with 1,000 or 5,000 turns.
#
# Only what was read in a transaction that wrote nothing is kept, and only as long as it holds. Answers about records are
# dropped when a record is written or ended; turns, which never change, when anything is retired or erased, by whichever
# process.

ANSWERS: Final = 32
TURNS: Final = 256


class Kept:
    """Belongs to one connection and is dropped with it."""

    def __init__(self) -> None:
        self._marks = (0, 0, 0)
        self._answers: dict[Query[Any], Any] = {}
        self._turns: dict[int, StoredTurn] = {}
        self._left: tuple[int, Mapping[Query[Any], Any]] = (0, {})

    def as_of(self, turns: int, records: int, endings: int) -> None:
        """Drops what no longer holds, given the newest entries of each kind."""
        _, of_records, of_endings = self._marks
        if endings != of_endings:
            self._turns.clear()
        if (records, endings) != (of_records, of_endings):
            self._answers.clear()
        self._marks = turns, records, endings

    @property
    def head(self) -> int:
        """The newest entry of all, as of now."""
        return max(self._marks)

    def answer(self, query: Query[Any], ask: Callable[[], Any]) -> Any:
        found = self._answers.pop(query, None)
        if found is None:
            found = ask()
            if len(self._answers) >= ANSWERS:
                del self._answers[next(iter(self._answers))]
        self._answers[query] = found
        return found

    def left(self, head: int) -> Mapping[Query[Any], Any]:
        """Answers that the last write left, if the log is still as it left it. Without them a write takes a sixth more
        processor time."""
        found, answers = self._left
        return answers if found == head else {}

    def leave(self, head: int, answers: Mapping[Query[Any], Any]) -> None:
        self._left = head, dict(islice(answers.items(), ANSWERS))

    def turns(
        self, seqs: Sequence[int], fetch: Callable[[tuple[int, ...]], Iterable[StoredTurn]]
    ) -> tuple[StoredTurn, ...]:
        """The live turns of these entries; missing ones are fetched."""
        missing = tuple(seq for seq in seqs if seq not in self._turns)
        fetched = {turn.seq: turn for turn in fetch(missing)} if missing else {}
        found = tuple(fetched.get(seq) or self._turns[seq] for seq in seqs)
        self._turns.update((seq, turn) for seq, turn in fetched.items() if len(turn.text) <= OFTEN)
        for old in tuple(islice(self._turns, max(len(self._turns) - TURNS, 0))):
            del self._turns[old]
        return found


Value = int | float | str | bytes | None
Bindings = Mapping[str, Value] | Sequence[Value]

OLDEST = (3, 51, 3)
"""SQLite 3.7.0 to 3.51.2 can corrupt a write-ahead log that several connections share."""

PAGE_SIZE = 1_024
"""A user's file has forty tables and indexes, each of at least a page, and most users say little. Larger pages make no
context faster: users with 10,000 and 60,000 turns took the same CPU time at 1, 2 and 16 kB, warm and cold, within a tenth."""
CACHE_KIB = 16_384
WAL_PAGES = 1_024
"""Pages in the write-ahead log before a commit copies them into the file."""
BUSY = (apsw.BusyError, apsw.LockedError)
BUSY_MILLISECONDS = 10_000
_STATEMENTS = 200
_CHECKSUM_BYTES = 8
VFS = "cksmvfs"
"""SQLite's shim that ends each page with a checksum and verifies it on reading: damage is an error, never other data."""

CONNECTION_SETTINGS = f"""
PRAGMA synchronous = FULL;
PRAGMA secure_delete = ON;
PRAGMA cell_size_check = ON;
PRAGMA trusted_schema = OFF;
PRAGMA cache_size = -{CACHE_KIB};
PRAGMA wal_autocheckpoint = {WAL_PAGES};
PRAGMA journal_size_limit = {WAL_PAGES * PAGE_SIZE};
"""


class Secret(Protocol):
    """The keys that encrypt users' files, by user digest."""

    def __call__(self, digest: str, *, create: bool = False) -> bytes | None:
        """Returns None to leave the file plain; raises KeyDestroyed if there was a key and it is gone."""
        ...


class Cursor(Protocol):
    def __iter__(self) -> Iterator[tuple[Any, ...]]: ...
    def fetchall(self) -> list[tuple[Any, ...]]: ...
    @property
    def get(self) -> Any: ...


class Backup(Protocol):
    def step(self, npages: int = -1) -> bool: ...
    def finish(self) -> None: ...


class Connection(Protocol):
    kept: Kept

    def execute(self, statements: str, bindings: Bindings | None = None) -> Cursor: ...
    def executemany(self, statements: str, sequenceofbindings: Iterable[Bindings]) -> Cursor: ...
    def pragma(self, name: str, value: Value = None) -> Any: ...
    def total_changes(self) -> int: ...
    def backup(self, databasename: str, sourceconnection: "Connection", sourcedatabasename: str) -> Backup: ...
    def wal_checkpoint(
        self, dbname: str | None = None, mode: int = apsw.SQLITE_CHECKPOINT_PASSIVE
    ) -> tuple[int, int]: ...
    def set_busy_timeout(self, milliseconds: int) -> None: ...
    @property
    def in_transaction(self) -> bool: ...
    def file_control(self, dbname: str, op: int, pointer: int) -> bool: ...
    def close(self) -> None: ...


class _Connection(apsw.Connection):
    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.kept = Kept()


def no_secret(digest: str, *, create: bool = False) -> bytes | None:
    """Nothing is encrypted."""
    del digest, create


def version() -> str:
    return apsw.sqlite_lib_version()


def require_sound_library(found: str) -> None:
    """Refuses a SQLite that may lose data."""
    if tuple(int(part) for part in found.split(".")) < OLDEST:
        needed = ".".join(map(str, OLDEST))
        raise StoreUnavailable(f"SQLite {found} is too old: Hitherto needs {needed} or newer (apsw-sqlite3mc)")


@cache
def load_checksums() -> str:
    """Registers the shim, once per process, leaving the process's default as it was; returns the default's name."""
    default = apsw.vfs_names()[0]
    with closing(apsw.Connection(":memory:")) as connection:
        try:
            apsw.sqlite_extra.load(connection, "cksumvfs")
        except apsw.sqlite_extra.NotAvailable as error:
            raise StoreUnavailable(f"this build of apsw has no cksumvfs ({error}); install apsw-sqlite3mc") from error
    apsw.set_default_vfs(default)
    return default


def connect(
    path: Path, *, create: bool = False, writes: bool = True, key: bytes | None = None, page_size: int = PAGE_SIZE
) -> Connection:
    """Opens a data file, or creates one with pages of a given size. With a `key`, its pages are encrypted from the first
    one on and carry the cipher's own authentication; otherwise they carry a checksum. The two shims exclude each other."""
    plain = load_checksums()
    vfs = VFS if key is None else plain
    flags = apsw.SQLITE_OPEN_READWRITE | (apsw.SQLITE_OPEN_CREATE if create else 0)
    connection = cast(Connection, _Connection(str(path), flags=flags, vfs=vfs, statementcachesize=_STATEMENTS))
    try:
        connection.set_busy_timeout(BUSY_MILLISECONDS)
        if key is not None:
            connection.pragma("hexkey", key.hex())
        if create:
            # Before the file has content; SQLite gives the log and its index the file's mode.
            path.chmod(FILE_MODE)
            connection.pragma("page_size", page_size)
            if key is None:
                _reserve(connection, _CHECKSUM_BYTES)
            connection.pragma("journal_mode", "WAL")
        # Read to the end: apsw stops at the first statement that returns a row.
        connection.execute(CONNECTION_SETTINGS).fetchall()
        if not writes:
            connection.pragma("query_only", 1)
    except BaseException:
        close(connection)
        raise
    return connection


def _reserve(connection: Connection, size: int) -> None:
    """Keeps bytes free at the end of each page; a file that already has pages stays as it is."""
    number = ctypes.c_int(size)
    connection.file_control("main", apsw.SQLITE_FCNTL_RESERVE_BYTES, ctypes.addressof(number))


def attach(connection: Connection, path: Path, *, key: bytes | None) -> None:
    """Makes another file of the same user readable as `old`."""
    if key is None:
        connection.execute("ATTACH ? AS old", (str(path),)).fetchall()
    else:
        connection.execute("ATTACH ? AS old KEY ?", (str(path), key)).fetchall()


def close(connection: Connection) -> None:
    """Closes a connection. Whatever a failing disk keeps SQLite from tidying up stays in the log, as after a crash, and is
    nobody's error."""
    with suppress(apsw.FullError, apsw.IOError):
        connection.close()


def in_memory() -> Connection:
    """An empty database that lives as long as its connection."""
    return cast(Connection, _Connection(":memory:", statementcachesize=_STATEMENTS))


def truncate_log(connection: Connection) -> bool:
    """Copies the write-ahead log into the file and empties it; returns False if readers kept it from finishing."""
    try:
        connection.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_TRUNCATE)
    except apsw.BusyError:
        return False
    return True


def copy_log(connection: Connection) -> bool:
    """Copies the write-ahead log into the file as far as readers and the disk allow; returns True if that was all of it."""
    try:
        frames, copied = connection.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_PASSIVE)
    except (apsw.FullError, apsw.IOError, apsw.BusyError):
        return False
    return frames == copied


def scrub(connection: Connection) -> bool:
    """Leaves no byte of what was deleted; returns False if readers kept it from finishing.

    `secure_delete` overwrites deleted content in place, but not the copies left in the unused part of a page when rows
    moved, so the whole file is rewritten.
    """
    connection.execute("VACUUM")
    return truncate_log(connection)


def roll_back(connection: Connection) -> None:
    """Leaves a transaction, if there still is one: after some failures SQLite ends it itself."""
    if connection.in_transaction:
        connection.execute("ROLLBACK")
