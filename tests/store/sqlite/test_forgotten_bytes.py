"""What is erased leaves the disk: no byte of it in the file, its log or anything beside it."""

import random
from pathlib import Path

import pytest

from recollect.store.base import Change, Erasure, Note, StoredSnapshot, UserKey, Vector
from recollect.store.sqlite.store import SqliteStore
from recollect.testing import moment, put, row_draft, turn_draft
from tests.effort import count

ANA = UserKey("default", "ana")
CANARY = "canaryzebra"
ROUNDS = count(test=8, soak=300)


def _traces_of(word: str, folder: Path) -> list[str]:
    found = [path for path in folder.rglob("*") if path.is_file() and word.encode() in path.read_bytes()]
    return [path.name for path in found]


async def _remember_and_forget(store: SqliteStore, chance: random.Random) -> None:
    """Rows of many sizes, so that they move between pages before some of them are erased."""
    user = store.user(ANA)
    secret_turns: list[str] = []
    secret_records: list[str] = []
    number = 0
    batches = chance.randint(2, 12)
    for batch in range(batches):
        turns, records = list(Change().turns), list(Change().records)
        for _ in range(chance.randint(1, 50)):
            number += 1
            secret = CANARY if chance.random() < 0.08 else ""
            words = [f"w{chance.randrange(400)}" for _ in range(chance.choice((3, 20, 100, 900)))]
            vector = Vector(embedder="static", data=chance.randbytes(48) + secret.encode())
            turn = turn_draft(
                f"t{secret}{number}", " ".join([*words, secret]), session=f"s{number // 30}", vector=vector
            )
            turns.append(turn)
            secret_turns += [turn.id] * bool(secret)
            if chance.random() < 0.5:
                text = f"{secret} fact {number} " + "x" * chance.choice((3, 1_500))
                record = row_draft(f"m{secret}{number}", text, key=text[:40], entities=(f"person:{secret or 'x'}",))
                records.append(record)
                secret_records += [record.id] * bool(secret)
        await put(
            user,
            Change(
                turns=tuple(turns),
                records=tuple(records),
                snapshots=(StoredSnapshot(id=f"s{batch}", at=moment(batch), known=1, body=CANARY),),
                blobs={f"h{batch}": CANARY * 30},
                notes=(Note(name=f"n{batch}", body=CANARY),),
            ),
        )
    for name in secret_turns[::3]:
        await put(user, Change(turns=(turn_draft(name, f"again {CANARY}", version=2, place=1),)))
    for name in secret_records[::3]:
        await put(user, Change(retire=(name,), retired_at=moment(1)))
    erasure = Erasure(
        turns=tuple(secret_turns) or ("none",),
        records=tuple(secret_records),
        snapshots=tuple(f"s{batch}" for batch in range(batches)),
        blobs=tuple(f"h{batch}" for batch in range(batches)),
        notes=tuple(f"n{batch}" for batch in range(batches)),
    )
    await put(user, Change(erase=erasure, retired_at=moment(2)))


@pytest.mark.promise("forgotten: no byte left")
@pytest.mark.parametrize("round_", range(ROUNDS))
async def test_erasing_leaves_no_byte(tmp_path: Path, rng: random.Random, round_: int) -> None:
    store = SqliteStore(tmp_path)
    await store.open()
    await _remember_and_forget(store, rng)
    left = _traces_of(CANARY, tmp_path)
    await store.close()
    assert left == []


async def test_wiping_leaves_no_file_and_no_name(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path)
    await store.open()
    key = UserKey("default", CANARY)
    await put(store.user(key), Change(turns=(turn_draft("t1", CANARY),)))
    assert _traces_of(CANARY, tmp_path)
    await store.catalog.hint({key: moment()})
    await store.user(key).wipe()
    assert _traces_of(CANARY, tmp_path) == []
    assert [path.name for path in (tmp_path / "users").rglob("*") if path.is_file()] == []
    await store.close()
    assert _traces_of(CANARY, tmp_path) == []


async def test_a_wipe_that_was_cut_short_is_finished(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path)
    await store.open()
    await put(store.user(ANA), Change(turns=(turn_draft("t1", CANARY),)))
    await store.backup(str(tmp_path / "copy"))
    await store.user(ANA).wipe()
    await store.close()
    remnant = next((tmp_path / "copy" / "users").rglob("*.db"))
    place = tmp_path / remnant.relative_to(tmp_path / "copy")
    remnant.rename(place)
    store = SqliteStore(tmp_path)
    await store.open()
    assert await store.catalog.users() == ()
    assert (await put(store.user(ANA), Change(turns=(turn_draft("t2"),)))).head == 1
    await store.close()
    assert _traces_of(CANARY, tmp_path / "users") == []
