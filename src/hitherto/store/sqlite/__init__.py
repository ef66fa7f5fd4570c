"""The embedded store: one SQLite file per user, and a catalog of what belongs to no single one."""

from hitherto.store.sqlite.store import SqliteStore

__all__ = ["SqliteStore"]
