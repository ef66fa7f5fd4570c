"""Receipts are packed in PostgreSQL too, and come out as they went in; those of before are read as they are."""

import json

import psycopg
from hypothesis import given
from hypothesis import strategies as st

from hitherto import Hitherto, Turn
from hitherto.ids import derived_id
from hitherto.store.catalog import UserKey
from hitherto.store.postgres import PostgresStore
from hitherto.store.postgres.connections import query
from hitherto.store.postgres.rows import escape, packed, unescape, unpacked
from hitherto.store.protocol import Change, SnapshotList, StoredSnapshot
from hitherto.testing import moment, put

NAMES = st.integers(0, 6).map(lambda number: derived_id(str(number)))
PIECES = st.one_of(st.text(), NAMES, st.sampled_from(['"', ",", "\x01", "\x00", "\U0010fffd", "\U0010fffd2", "0" * 32]))


@given(st.lists(PIECES).map("".join))
def test_whatever_is_packed_comes_out_as_it_was(body: str) -> None:
    assert unpacked(packed(body)) == body
    assert unpacked(escape(body)) == unescape(escape(body)), "what an earlier version wrote"


async def test_receipts_take_a_fraction_and_are_read_again(postgres_url: str) -> None:
    async with Hitherto(postgres_url) as memory:
        said = [f"I moved the picnic to day {n}, because Mukesh is only back from Oslo then." for n in range(12)]
        await memory.record([Turn("ana", "user", text, persona="nikita") for text in said])
        made = await memory.context(user="ana", persona="nikita", message="When is the picnic, and who comes?")
        await memory.flush()
        [receipt] = await memory.snapshots(user="ana", limit=1)
        assert (await memory.replay(user="ana", snapshot=made.snapshot)).system == made.system
    store = PostgresStore(postgres_url)
    await store.open()
    [written] = (await store.user(UserKey("default", "ana")).read(listed := SnapshotList(limit=1)))[listed]
    await store.close()
    with psycopg.connect(postgres_url) as connection:
        rows = connection.execute(query("select id, body from hitherto.snapshots")).fetchall()
    stored: dict[str, str] = dict(rows)
    assert written.id == receipt.id
    assert len(stored[receipt.id]) < len(receipt.body) / 3, "it is listed with a row for each item"
    assert unpacked(stored[receipt.id]) == written.body


async def test_a_receipt_of_before_is_read(postgres_url: str) -> None:
    body = json.dumps({"renderer": 1, "items": [["long_term", "turn", derived_id("one")]] * 50})
    store = PostgresStore(postgres_url)
    await store.open()
    user = store.user(UserKey("default", "ana"))
    await put(user, Change(snapshots=(StoredSnapshot(id="s1", at=moment(3), known=5, body="{}"),)))
    with psycopg.connect(postgres_url, autocommit=True) as connection:
        connection.execute(query("update hitherto.snapshots set body = %s"), [body])
    listed = SnapshotList(limit=3)
    assert [one.body for one in (await user.read(listed))[listed]] == [body]
    await store.close()
