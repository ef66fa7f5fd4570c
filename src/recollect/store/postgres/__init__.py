"""The served store: PostgreSQL with pgvector."""

from recollect.store.postgres.store import PostgresStore

__all__ = ["PostgresStore"]
