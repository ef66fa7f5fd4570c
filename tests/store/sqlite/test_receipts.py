"""Receipts are small in the file and come out as they went in; what was forgotten has no name in them any more."""

import json
import statistics
from collections.abc import AsyncIterator
from contextlib import closing
from pathlib import Path

import pytest

from hitherto import Hitherto, Turn
from hitherto.ids import derived_id
from hitherto.store.catalog import UserKey
from hitherto.store.protocol import Blobs, Change, Erasure, SnapshotList, SnapshotsById, StoredSnapshot
from hitherto.store.sqlite import receipts
from hitherto.store.sqlite.connections import connect
from hitherto.store.sqlite.layout import Layout
from hitherto.store.sqlite.store import SqliteStore
from hitherto.testing import moment, put, row_draft, turn_draft

ANA = UserKey("default", "ana")
TURNS = [derived_id("turn", str(number)) for number in range(40)]
FACTS = [derived_id("fact", str(number)) for number in range(40)]
TEXTS = {derived_id("text", str(number)): f"what was said as number {number}" for number in range(40)}


def _receipt(name: str, *, extra: str = "") -> StoredSnapshot:
    items = [
        ["long_term", "turn", one, place, 17, 4.5, {"dense": 1.5}, [one], True, ""] for place, one in enumerate(TURNS)
    ]
    items += [
        ["long_term", "memory", one, 0, 9, 1.0, {}, [], False, f"duplicate of {TURNS[0]} in working"] for one in FACTS
    ]
    body = {"renderer": 1, "result": derived_id("nowhere"), "items": items, "blobs": [[one, 0] for one in TEXTS]}
    return StoredSnapshot(id=name, at=moment(3), known=5, body=json.dumps({**body, "extra": extra}, ensure_ascii=False))


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[SqliteStore]:
    store = SqliteStore(tmp_path)
    await store.open()
    drafts = tuple(map(turn_draft, TURNS))
    facts = tuple(row_draft(name, "a fact") for name in FACTS)
    await put(store.user(ANA), Change(turns=drafts, records=facts))
    yield store
    await store.close()


def _stored(store_folder: Path) -> dict[str, str | bytes]:
    with closing(connect(Layout.of(store_folder).user(ANA.digest), writes=False)) as connection:
        return dict(connection.execute("SELECT id, body FROM snapshots").fetchall())


@pytest.mark.parametrize("extra", ["", "🦊 naïve", "\ud83e alone", "\u0001 escaped", "0" * 32, "~" + TURNS[0]])
async def test_a_receipt_comes_out_as_it_went_in(store: SqliteStore, tmp_path: Path, extra: str) -> None:
    receipt = _receipt("s1", extra=extra)
    user = store.user(ANA)
    await put(user, Change(snapshots=(receipt,), blobs=TEXTS))
    by_id, listed, texts = SnapshotsById(ids=("s1",)), SnapshotList(limit=9), Blobs(hashes=tuple(TEXTS))
    found = await user.read(by_id, listed, texts)
    assert (found[by_id], found[listed], found[texts]) == ((receipt,), (receipt,), TEXTS)
    assert isinstance(stored := _stored(tmp_path)["s1"], bytes)
    assert len(stored) < len(receipt.body) / 8


@pytest.mark.parametrize("body", ["{}", "", '{"raw": "\1a"}', "\2" + "x" * 500])
async def test_what_gains_nothing_is_kept_as_it_is(store: SqliteStore, tmp_path: Path, body: str) -> None:
    receipt = StoredSnapshot(id="s1", at=moment(3), known=5, body=body)
    await put(store.user(ANA), Change(snapshots=(receipt,)))
    query = SnapshotList(limit=9)
    assert (await store.user(ANA).read(query))[query] == (receipt,)
    assert _stored(tmp_path)["s1"] == body


async def test_what_was_forgotten_has_no_name(store: SqliteStore) -> None:
    user = store.user(ANA)
    gone = next(iter(TEXTS))
    await put(user, Change(snapshots=(_receipt("s1"),), blobs=TEXTS))
    await put(user, Change(erase=Erasure(turns=(TURNS[7],), records=(FACTS[3],), blobs=(gone,)), retired_at=moment(9)))
    await put(user, Change(turns=(turn_draft(TURNS[7]),), blobs={derived_id("another"): "a later text"}))
    query = SnapshotList(limit=9)
    [found] = (await user.read(query))[query]
    expected = _receipt("s1").body
    for name in (TURNS[7], FACTS[3], gone):
        expected = expected.replace(name, receipts.FORGOTTEN)
    assert found.body == expected


async def test_a_revised_turn_keeps_its_name(store: SqliteStore) -> None:
    user = store.user(ANA)
    await put(user, Change(snapshots=(_receipt("s1"),), blobs=TEXTS))
    await put(
        user,
        Change(turns=(turn_draft(TURNS[7], "again", version=2, place=8),), retire=(FACTS[1],), retired_at=moment(9)),
    )
    query = SnapshotList(limit=9)
    assert (await user.read(query))[query] == (_receipt("s1"),)


# --- bytes ---------------------------------------------------------------------------------------------------------------

SAID = "I think we should move the picnic to Sunday, because Mukesh is only back from Oslo on Saturday night."
REPLY = "Sunday it is then; shall I tell Mukesh and the others, and who brings the salad this time?"


async def _talk(folder: Path, *, turns: int) -> tuple[int, list[int]]:
    """The bytes of a user's file, closed, and of each receipt."""
    async with Hitherto(folder) as memory:
        for number in range(turns // 2):
            made = await memory.context(user="ana", persona="nikita", message=f"{SAID} {number}")
            await memory.record(
                [
                    Turn(user="ana", role="user", text=f"{SAID} {number}", persona="nikita"),
                    Turn(
                        user="ana", role="assistant", text=f"{REPLY} {number}", persona="nikita", snapshot=made.snapshot
                    ),
                ]
            )
    [file] = (folder / "users").rglob("*.db")
    return file.stat().st_size, [len(body) for body in _stored(folder).values()]


async def test_a_small_user_is_a_small_file(tmp_path: Path) -> None:
    new, _ = await _talk(tmp_path / "new", turns=2)
    assert new <= 64_000
    talked, sizes = await _talk(tmp_path / "talked", turns=100)
    assert talked <= 200_000
    assert statistics.median(sizes) <= 3_000
