"""Translates PostgreSQL's failures into Hitherto's errors. No message contains the password."""

import re
from collections.abc import Generator, Mapping
from contextlib import contextmanager

import psycopg
from psycopg import conninfo, errors
from psycopg_pool import PoolTimeout, TooManyRequests

from hitherto.errors import (
    Conflict,
    HithertoError,
    InvalidInput,
    StoreCorrupt,
    StoreError,
    StoreFull,
    StoreReadOnly,
    StoreUnavailable,
)

RETRIED = (errors.SerializationFailure, errors.DeadlockDetected)
"""Two transactions conflicted; the loser runs again."""

_WORKER = re.compile(r"(?:command on |remote node [^ ]*@)(?P<address>[^ ]+:\d+)")
_LOST = (
    "could not commit transaction for shard",
    "server closed the connection",
    "connection not open",
    "no connection to the server",
    "could not receive data from server",
    "could not send data to server",
)
"""How a coordinator reports a lost worker in an error without a code."""

_BY_TYPE: tuple[tuple[type[psycopg.Error], type[HithertoError], str], ...] = (
    (errors.DiskFull, StoreFull, "the PostgreSQL server has no space left; nothing of this call was stored"),
    (errors.ReadOnlySqlTransaction, StoreReadOnly, "the PostgreSQL server takes no writes (a standby?)"),
    (errors.DataCorrupted, StoreCorrupt, "PostgreSQL reports damaged data; restore it from a backup"),
    (
        errors.IndexCorrupted,
        StoreCorrupt,
        "PostgreSQL reports a damaged index; run REINDEX, or restore a backup",
    ),
    (errors.UniqueViolation, Conflict, "the same id was used before with other content"),
    (
        errors.LockNotAvailable,
        StoreUnavailable,
        "another writer holds this user's lock for too long; try again",
    ),
    (errors.QueryCanceled, StoreUnavailable, "PostgreSQL took too long to answer; try again"),
    (errors.TooManyConnections, StoreUnavailable, "PostgreSQL has no connection left; raise max_connections"),
)


def lost_worker(error: psycopg.Error) -> str | None:
    """The worker that a cluster's coordinator lost while answering, if the error says so. Whatever was being committed
    there may have been committed."""
    found = _WORKER.search(str(error))
    state = error.sqlstate or ""
    if not (
        state[:2] == "08" or state[:3] == "57P" or (state == "XX000" and any(each in str(error) for each in _LOST))
    ):
        return None
    return found["address"] if found else ("a worker" if state == "XX000" else None)


_UNREADABLE = (
    "the PostgreSQL URL cannot be read; it looks like postgresql://USER:PASSWORD@HOST:PORT/DATABASE,"
    " with special characters of the password written as %XX"
)


def settings_of(url: str) -> dict[str, str]:
    """The connection settings in a URL, or a clear error that does not repeat it.

    The driver's own messages quote the part they stumble over. With an unescaped @ or : that is half of the password, so
    such URLs never reach it.
    """
    try:
        found = conninfo.conninfo_to_dict(url)
    except psycopg.ProgrammingError:
        raise StoreUnavailable(_UNREADABLE) from None
    settings = {name: str(value) for name, value in found.items() if value is not None}
    ports = settings.get("port", "").replace(",", "")
    if "@" in settings.get("host", "") or (ports and not ports.isdigit()):
        raise StoreUnavailable(_UNREADABLE)
    return settings


def where(settings: Mapping[str, str]) -> str:
    """The server as people name it, without the password."""
    host = settings.get("host", "the local socket")
    port, database = settings.get("port", "5432"), settings.get("dbname", "")
    return f"{host}:{port}/{database}"


def translated(error: psycopg.Error, settings: Mapping[str, str]) -> HithertoError:
    """The error to raise instead."""
    for kind, ours, message in _BY_TYPE:
        if isinstance(error, kind):
            return ours(message)
    if isinstance(error, PoolTimeout | TooManyRequests):
        return StoreUnavailable(
            f"no connection to PostgreSQL at {where(settings)} became free in time: the server is away, or"
            " all connections are busy (raise pool_size, or run fewer calls at once)"
        )
    detail = _without_password(str(error), settings)
    if isinstance(error, errors.InsufficientPrivilege):
        return StoreError(f"the PostgreSQL role may not do this: {detail}")
    if isinstance(error, psycopg.DataError):
        return InvalidInput(f"PostgreSQL cannot store this value: {detail}")
    worker = lost_worker(error)
    if worker is not None:
        return StoreUnavailable(
            f"the cluster at {where(settings)} lost {worker}, and its users cannot be reached until it is back: {detail}"
        )
    if isinstance(error, psycopg.OperationalError | psycopg.InterfaceError):
        return StoreUnavailable(f"PostgreSQL at {where(settings)} cannot be reached: {detail}")
    return StoreError(f"PostgreSQL failed: {detail}")


def _without_password(message: str, settings: Mapping[str, str]) -> str:
    password = settings.get("password")
    first = " ".join(message.split())
    return first.replace(password, "***") if password else first


@contextmanager
def clear_errors(settings: Mapping[str, str]) -> Generator[None]:
    """Translates the driver's errors that leave this block."""
    try:
        yield
    except psycopg.Error as error:
        raise translated(error, settings) from error
    except UnicodeEncodeError as error:
        raise InvalidInput("the text holds a half of a surrogate pair, which is no character") from error
