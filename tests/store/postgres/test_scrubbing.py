"""After scrubbing, no byte of what was erased is left in any file of the server."""

from __future__ import annotations

import subprocess
from pathlib import Path

import psycopg
import pytest

from hitherto.store.postgres import PostgresStore
from hitherto.store.protocol import (
    Change,
    Cursor,
    Erasure,
    Matches,
    Note,
    StoredSnapshot,
    TurnsById,
    UserKey,
    Vector,
    Window,
)
from hitherto.testing import moment, put, row_draft, turn_draft
from tests.postgres_server import PostgresServer
from tests.stores import made_database

ANA, BOB = UserKey("default", "ana"), UserKey("default", "bob")
CANARY = "xylophonecanary"


def files_with(text: str, server: PostgresServer) -> list[str]:
    found = subprocess.run(["grep", "-rlF", text, str(server.data)], capture_output=True, text=True, check=False)
    return [str(Path(name).relative_to(server.data)) for name in found.stdout.splitlines()]


async def test_nothing_of_what_was_erased_is_left(server: PostgresServer) -> None:
    with psycopg.connect(server.url(), autocommit=True) as admin:
        admin.execute("alter system set wal_recycle = off")
        admin.execute("alter system set full_page_writes = on")
        admin.execute("select pg_reload_conf()")
    with made_database(server.url()) as url:
        store = PostgresStore(url)
        await store.open()
        for key in (ANA, BOB):
            secret = CANARY if key is ANA else "plain"
            await put(
                store.user(key),
                Change(
                    turns=tuple(
                        turn_draft(f"t{n}", f"{secret} {n}", vector=Vector(embedder="e", data=secret.encode()))
                        for n in range(300)
                    ),
                    records=tuple(
                        row_draft(f"m{n}", secret, key=f"{secret}{n}", entities=(f"person:{secret}",))
                        for n in range(99)
                    ),
                    cursors=(Cursor(step="extract", error=secret),),
                    snapshots=(StoredSnapshot(id="s", at=moment(), known=1, body=secret),),
                    blobs={"h": secret},
                    notes=(Note(name="n", body=secret),),
                ),
            )
        with psycopg.connect(url, autocommit=True) as connection:
            connection.execute("analyze")
            connection.execute("checkpoint")
        assert files_with(CANARY, server), "the test must find what is there"
        await put(
            store.user(ANA),
            Change(
                erase=Erasure(
                    turns=tuple(f"t{n}" for n in range(300)),
                    records=tuple(f"m{n}" for n in range(99)),
                    snapshots=("s",),
                    blobs=("h",),
                    notes=("n",),
                ),
                retired_at=moment(1),
                cursors=(Cursor(step="extract"),),
            ),
        )
        seen: list[tuple[int, int]] = []

        def note(done: int, total: int) -> None:
            seen.append((done, total))

        assert (await store.scrub(progress=note)).left == ()
        assert seen[-1][0] == seen[-1][1] > 0
        answers = await store.user(BOB).read(
            window := Window(limit=999), found := Matches(stems=("plain",), target="turn")
        )
        assert (len(answers[window]), len(answers[found])) == (300, 300)
        gone = TurnsById(ids=("t1",), history=True)
        assert (await store.user(ANA).read(gone))[gone] == ()
        await store.close()
        assert files_with(CANARY, server) == []


@pytest.mark.parametrize("table", ["turns", "records", "blobs", "notes", "snapshots"])
async def test_the_planner_keeps_no_samples_of_content(postgres_url: str, table: str) -> None:
    store = PostgresStore(postgres_url)
    await store.open()
    drafts = tuple(turn_draft(f"t{n}", f"{CANARY} {n}", stems=(CANARY, f"s{n}")) for n in range(50))
    rows = tuple(row_draft(f"m{n}", f"{CANARY} {n}", stems=(CANARY, f"s{n}"), key=f"{CANARY}{n}") for n in range(50))
    notes = tuple(Note(name=f"{CANARY} {n}", body=f"{CANARY} {n}") for n in range(50))
    await put(store.user(ANA), Change(turns=drafts, records=rows, notes=notes, blobs={"h": CANARY}))
    await store.close()
    with psycopg.connect(postgres_url, autocommit=True) as connection:
        connection.execute("analyze")
        samples = connection.execute(
            "select tablename, attname from pg_stats where tablename like %s"
            " and concat(most_common_vals::text, histogram_bounds::text, most_common_elems::text) like %s",
            (f"{table}%", f"%{CANARY}%"),
        ).fetchall()
    assert samples == []
