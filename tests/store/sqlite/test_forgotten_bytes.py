"""What is erased leaves the disk: no byte of it in the file, its log or anything beside it.

Four mechanisms stand behind it, and each is needed by itself. Full text is told to remove words, the log is emptied, the file
is rewritten (SQLite overwrites what it deletes, but a copy stays behind in about one of a hundred files, where rows had moved
between pages), and what routine removes without a rewrite is overwritten. Each is taken out in turn, and must be missed.
"""

import random
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from hitherto.store.protocol import Change, Erasure, Note, StoredSnapshot, UserKey, Vector
from hitherto.store.sqlite import connections, datafile, sharedfile
from hitherto.store.sqlite import tracepages as traces
from hitherto.store.sqlite.connections import Connection
from hitherto.store.sqlite.migrations import Kind, Migration, migrations
from hitherto.store.sqlite.store import SqliteStore
from hitherto.testing import moment, put, row_draft, turn_draft
from tests.effort import count
from tests.store.sqlite.small_pages import small_pages

ANA = UserKey("default", "ana")
CANARY = "canaryzebra"
ROUNDS = count(test=8, soak=300)
HARD = (5, 63)
"""Seeds of which rows stay behind in unused parts of pages, unless the file is rewritten."""


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


async def _left_after_erasing(folder: Path, chance: random.Random) -> list[str]:
    store = SqliteStore(folder)
    await store.open()
    await _remember_and_forget(store, chance)
    left = _traces_of(CANARY, folder)
    await store.close()
    return left


@pytest.mark.promise("forgotten: no byte left", tries=ROUNDS + len(HARD))
async def test_erasing_leaves_no_byte(fast_folder: Path, rng: random.Random) -> None:
    chances = [*map(random.Random, HARD), *(random.Random(rng.random()) for _ in range(ROUNDS))]
    for round_, chance in enumerate(chances):
        assert await _left_after_erasing(fast_folder / str(round_), chance) == [], round_


@pytest.mark.promise("forgotten: no byte left", tries=ROUNDS)
async def test_erasing_from_pages_of_traces_leaves_no_byte(
    fast_folder: Path, rng: random.Random, monkeypatch: pytest.MonkeyPatch
) -> None:
    small_pages(monkeypatch)
    for round_ in range(ROUNDS):
        assert await _left_after_erasing(fast_folder / str(round_), random.Random(rng.random())) == [], round_


@pytest.mark.promise("forgotten: no byte left", control=True)
async def test_a_page_that_stays_shut_is_noticed(fast_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def leave_shut(*_: object) -> bool:
        return False

    small_pages(monkeypatch)
    monkeypatch.setattr(traces, "open_pages", leave_shut)
    assert await _left_after_erasing(fast_folder, random.Random(HARD[0])) != []


# --- is each mechanism needed, and would these tests notice? ---------------------------------------------------------------


def _without_secure_delete(patch: pytest.MonkeyPatch) -> None:
    settings = connections.CONNECTION_SETTINGS.replace("secure_delete = ON", "secure_delete = OFF")
    assert settings != connections.CONNECTION_SETTINGS
    patch.setattr(connections, "CONNECTION_SETTINGS", settings)


def _without_rewrite(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(sharedfile, "scrub", connections.truncate_log)


def _without_emptying_the_log(patch: pytest.MonkeyPatch) -> None:
    def rewritten(connection: Connection) -> bool:
        connection.execute("VACUUM")
        return True

    patch.setattr(sharedfile, "scrub", rewritten)


def _without_removing_words(patch: pytest.MonkeyPatch) -> None:
    def weaker(kind: Kind) -> tuple[Migration, ...]:
        return tuple(
            replace(one, sql=one.sql.replace("'secure-delete', 1", "'secure-delete', 0")) for one in ours[kind]
        )

    ours: dict[Kind, tuple[Migration, ...]] = {"user": migrations("user"), "catalog": migrations("catalog")}
    assert weaker("user") != ours["user"]
    patch.setattr(datafile, "migrations", weaker)


Weakening = Callable[[pytest.MonkeyPatch], None]


@pytest.mark.promise("forgotten: no byte left", control=True)
@pytest.mark.parametrize("weaken", [_without_emptying_the_log, _without_removing_words], ids=["log", "full text"])
async def test_without_it_bytes_stay_and_are_noticed(
    weaken: Weakening, fast_folder: Path, rng: random.Random, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not in every round: one of eleven leaves nothing in the log by chance."""
    weaken(monkeypatch)
    assert [again for again in range(8) if await _left_after_erasing(fast_folder / str(again), rng)]


@pytest.mark.promise("forgotten: no byte left", control=True)
async def test_without_a_rewrite_copies_stay_behind(fast_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """If none does any more, rows lie otherwise: look for other seeds with the rewrite taken out."""
    _without_rewrite(monkeypatch)
    assert [seed for seed in HARD if await _left_after_erasing(fast_folder / str(seed), random.Random(seed))]


@pytest.mark.promise("forgotten: no byte left", tries=len(HARD))
async def test_the_rewrite_needs_no_help(fast_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _without_secure_delete(monkeypatch)
    for seed in HARD:
        assert await _left_after_erasing(fast_folder / str(seed), random.Random(seed)) == []


async def _left_by_routine(folder: Path) -> list[str]:
    """Snapshots and notes that are over their time go without a rewrite of the file."""
    store = SqliteStore(folder)
    await store.open()
    user = store.user(ANA)
    for number in range(40):
        await put(
            user,
            Change(
                turns=(turn_draft(f"t{number}"),),
                snapshots=(StoredSnapshot(id=f"s{number}", at=moment(number), known=1, body=CANARY),),
                blobs={f"h{number}": CANARY * 30},
                notes=(Note(name=f"n{number}", body=CANARY),),
            ),
        )
    gone = [str(number) for number in range(40)]
    erasure = Erasure(
        snapshots=tuple(f"s{name}" for name in gone),
        blobs=tuple(f"h{name}" for name in gone),
        notes=tuple(f"n{name}" for name in gone),
    )
    await put(user, Change(erase=erasure, retired_at=moment(2)))
    await store.close()
    return _traces_of(CANARY, folder)


@pytest.mark.promise("forgotten: no byte left")
async def test_what_routine_removes_is_overwritten(fast_folder: Path) -> None:
    assert await _left_by_routine(fast_folder) == []


@pytest.mark.promise("forgotten: no byte left", control=True)
async def test_without_overwriting_it_stays(fast_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _without_secure_delete(monkeypatch)
    assert await _left_by_routine(fast_folder) != []


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
