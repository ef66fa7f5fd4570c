"""Translates SQLite's and the system's failures into Hitherto's errors. Each message names the file and what to do."""

import errno
import os
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import apsw

from hitherto.errors import (
    Conflict,
    HithertoError,
    InvalidInput,
    StoreCorrupt,
    StoreFull,
    StoreReadOnly,
    StoreUnavailable,
)

_CORRUPT = (apsw.CorruptError, apsw.NotADBError, apsw.FormatError, apsw.SQLError, apsw.MismatchError)
_READ_ONLY = (apsw.ReadOnlyError, apsw.PermissionsError)
_BUSY = (apsw.BusyError, apsw.LockedError, apsw.ProtocolError)
_NO_SPACE = {errno.ENOSPC, errno.EDQUOT}
_FORBIDDEN = {errno.EROFS, errno.EACCES, errno.EPERM}

Failure = apsw.Error | OSError | UnicodeError
FAILURES = (apsw.Error, OSError, UnicodeError)


def translated(failure: Failure, path: Path) -> HithertoError:
    """The error of ours that says what this failure means for the data in `path`."""
    if isinstance(failure, OSError):
        return _of_system(failure, path)
    if isinstance(failure, UnicodeEncodeError):
        return InvalidInput(f"a text cannot be stored as UTF-8: {failure.reason} at {failure.start}")
    if isinstance(failure, apsw.ConstraintError):
        return Conflict(f"this version is there already ({failure})")
    if isinstance(failure, apsw.TooBigError):
        return InvalidInput("a text is larger than SQLite can hold (1 GB)")
    if isinstance(failure, apsw.FullError):
        return StoreFull(f"no space left for {path}; nothing of this call was stored")
    if isinstance(failure, apsw.NotADBError):
        hint = "if it is encrypted, give its master key"
        return StoreCorrupt(f"{path} is damaged ({failure}; {hint}); restore it from a backup")
    if isinstance(failure, (*_CORRUPT, UnicodeError)) or _is_checksum_error(failure):
        return StoreCorrupt(f"{path} is damaged ({failure}); restore it from a backup")
    if isinstance(failure, _READ_ONLY) or (isinstance(failure, apsw.CantOpenError) and not _is_writable(path)):
        return StoreReadOnly(f"{path} cannot be written to; check the permissions of its folder")
    if isinstance(failure, _BUSY):
        return StoreUnavailable(f"{path} stayed locked by another process; try again later")
    return StoreUnavailable(f"{path} cannot be used now ({failure}); try again later")


def is_of_the_file(failure: BaseException) -> bool:
    """Whether the file or its disk failed, so that its connection should be reopened; otherwise a statement failed."""
    return isinstance(failure, apsw.Error) and not isinstance(failure, apsw.ConstraintError | apsw.TooBigError)


def _of_system(failure: OSError, path: Path) -> HithertoError:
    if failure.errno in _NO_SPACE:
        return StoreFull(f"no space left for {path}; nothing of this call was stored")
    if failure.errno in _FORBIDDEN:
        return StoreReadOnly(f"{path} cannot be written to; check the permissions of its folder")
    return StoreUnavailable(f"{path} cannot be used now ({failure}); try again later")


def _is_checksum_error(failure: apsw.Error) -> bool:
    return getattr(failure, "extendedresult", None) == apsw.SQLITE_IOERR_DATA


def _is_writable(path: Path) -> bool:
    return os.access(path.parent, os.W_OK)


@contextmanager
def translating(path: Path) -> Generator[None]:
    """Raises failures inside the block as our errors."""
    try:
        yield
    except FAILURES as failure:
        raise translated(failure, path) from failure
