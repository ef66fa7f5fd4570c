"""The served store: PostgreSQL with pgvector."""

from hitherto.store.postgres.store import PostgresStore

__all__ = ["PostgresStore"]
