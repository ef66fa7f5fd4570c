"""Nearest vectors inside the database: exact without an index, the user's own with one."""

from __future__ import annotations

import random
import struct
from collections.abc import Sequence

import psycopg

from hitherto.store.postgres import PostgresStore
from hitherto.store.postgres.connections import query
from hitherto.store.postgres.layout import SCHEMA
from hitherto.store.protocol import Change, UserKey, Vector
from hitherto.testing import put, turn_draft

ANA, BOB = UserKey("default", "ana"), UserKey("default", "bob")
DIMENSIONS = 8


def decode(data: bytes) -> Sequence[float]:
    return struct.unpack(f"<{len(data) // 4}f", data)


def encode(vector: Sequence[float]) -> bytes:
    return struct.pack(f"<{len(vector)}f", *vector)


def cosine(left: Sequence[float], right: Sequence[float]) -> float:
    dot = sum(a * b for a, b in zip(left, right, strict=True))
    return dot / (sum(a * a for a in left) * sum(b * b for b in right)) ** 0.5


def some_vector(rng: random.Random) -> tuple[float, ...]:
    """Of halves, as the database keeps them: rounding would let two that are nearly as near change places."""
    layout = f"<{DIMENSIONS}e"
    return struct.unpack(layout, struct.pack(layout, *(rng.gauss(0, 1) for _ in range(DIMENSIONS))))


async def test_the_nearest_are_the_users_own_and_exact(empty_database: str, rng: random.Random) -> None:
    store = PostgresStore(empty_database)
    await store.open()
    vectors = {key: [some_vector(rng) for _ in range(300)] for key in (ANA, BOB)}
    for key, own in vectors.items():
        drafts = (turn_draft(f"t{n}", vector=Vector(embedder="e", data=encode(vector))) for n, vector in enumerate(own))
        await put(store.user(key), Change(turns=tuple(drafts)))
        assert await store.user(key).bring_near(embedder="e", decode=decode) == 300
    user = store.user(ANA)
    asked = vectors[BOB][0]
    wanted = sorted(range(300), key=lambda n: -cosine(asked, vectors[ANA][n]))[:10]
    exact = await user.nearest(asked, embedder="e", limit=10)
    assert [match.seq - 1 for match in exact] == wanted
    assert abs(exact[0].score - cosine(asked, vectors[ANA][wanted[0]])) < 0.01
    assert await user.nearest(asked, embedder="other", limit=10) == ()

    await store.index_vectors(ANA, embedder="e")
    await store.index_vectors(ANA, embedder="e")
    with psycopg.connect(empty_database) as connection:
        indexes = connection.execute(
            query(f"select indexdef from pg_indexes where schemaname = '{SCHEMA}' and indexdef like '%hnsw%'")
        ).fetchall()
        assert len(indexes) == 1
        assert ANA.digest[:8] in str(indexes[0])
    found = await user.nearest(asked, embedder="e", limit=10)
    assert len({match.seq for match in found} & {match.seq for match in exact}) >= 8
    await put(user, Change(turns=(turn_draft("new", vector=Vector(embedder="e", data=encode(asked))),)))
    assert await user.bring_near(embedder="e", decode=decode) == 1
    assert (await user.nearest(asked, embedder="e", limit=1))[0].seq == 301
    await store.close()
