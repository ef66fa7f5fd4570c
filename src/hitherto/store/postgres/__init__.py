"""The served store: PostgreSQL."""

from hitherto.store.postgres.store import PostgresStore

__all__ = ["PostgresStore"]
