"""Nearest vectors inside the database, for one user at a time and only where somebody asks for it.

Ranking scans a user's traces in memory; nothing here is needed for it. This serves those who search a very long memory
without loading it. The vectors of one user are copied to pgvector's type on demand; compared one by one they are exact. An
approximate index is worth its price past about 50,000 rows of one user, and it is that user's own: an index over many
users returns the wrong rows for the small ones.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from uuid import UUID

from psycopg import AsyncCursor

from hitherto.store.bm25 import PLACES
from hitherto.store.matches import Match
from hitherto.store.postgres.connections import query
from hitherto.store.postgres.sending import Connection
from hitherto.store.postgres.statements import statement

Decode = Callable[[bytes], Sequence[float]]
_BATCH = 2_000


@dataclass(frozen=True, slots=True)
class Vectors:
    """The vectors of one user by one embedder. Both ids are made of hex digits, so they may stand in a statement's text:
    an index of one user is only found by a statement that names the user as a constant."""

    user: UUID
    embedder: UUID

    @property
    def index(self) -> str:
        return f"near_{self.user.hex}_{self.embedder.hex[:12]}"

    @property
    def where(self) -> str:
        return f"user_id = '{self.user}' and embedder = '{self.embedder}'"


def written(vector: Sequence[float]) -> str:
    """A vector as pgvector reads it."""
    return f"[{','.join(f'{value:.7g}' for value in vector)}]"


async def fill(connection: Connection, vectors: Vectors, decode: Decode) -> int:
    """Writes the next vectors that are not yet of pgvector's type; how many. Inside the user's transaction."""
    values = {"user": vectors.user, "embedder": vectors.embedder}
    cursor = await connection.execute(query(statement("distant")), {**values, "limit": _BATCH}, binary=True)
    rows = await cursor.fetchall()
    near = [{**values, "seq": seq, "near": written(decode(vector))} for seq, vector in rows]
    if near:
        await connection.cursor().executemany(query(statement("bring_near")), near)
    return len(near)


async def build(connection: Connection, vectors: Vectors) -> None:
    """An approximate index of one user's vectors; while it is built, everyone may write."""
    async with connection.transaction():
        await connection.execute("set local hitherto.maintenance = 'on'")
        cursor = await connection.execute(
            query(
                "select t.tableoid::regclass::text, vector_dims(t.near) from traces t"
                f" where {vectors.where} and t.near is not null limit 1"
            )
        )
        found = await cursor.fetchone()
    if found is not None:
        partition, dimensions = found
        await connection.execute(
            query(
                f"create index concurrently if not exists {vectors.index} on {partition}"
                f" using hnsw ((near::halfvec({dimensions})) halfvec_cosine_ops) where {vectors.where}"
            )
        )


async def nearest(
    connection: Connection, vectors: Vectors, vector: Sequence[float], *, limit: int
) -> AsyncCursor[tuple[int, float]]:
    """Sends the question; inside the user's transaction."""
    close = f"t.near::halfvec({len(vector)}) <=> %(vector)s::halfvec({len(vector)})"
    await connection.execute(query(f"set local hnsw.ef_search = {max(40, min(1_000, 2 * limit))}"))
    return await connection.execute(
        query(
            f"select t.seq, 1 - ({close}) from traces t"
            f" where {vectors.where} and t.near is not null order by {close} limit %(limit)s"
        ),
        {"vector": written(vector), "limit": limit},
    )


def ranked(rows: Sequence[tuple[int, float]]) -> tuple[Match, ...]:
    found = [Match(seq=seq, score=round(similarity, PLACES)) for seq, similarity in rows]
    return tuple(sorted(found, key=lambda match: (-match.score, match.seq)))
