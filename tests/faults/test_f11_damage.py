"""F11: bytes of a user's file or of its log are changed or cut off.

Every answer is a clean error or exactly what was stored; and the folder can be restored from a backup.
"""

import random
import subprocess
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest

from hitherto.errors import StoreError
from hitherto.store.catalog import UserKey
from hitherto.store.protocol import (
    Answers,
    Blobs,
    Change,
    Counts,
    Cursor,
    Cursors,
    Log,
    Matches,
    Note,
    Notes,
    Query,
    RecordList,
    RecordsByEntity,
    RecordsBySource,
    SnapshotList,
    StoredSnapshot,
    Traces,
    TurnList,
    Vector,
    Window,
)
from hitherto.store.sqlite import connections
from hitherto.store.sqlite.backup import put_back
from hitherto.store.sqlite.layout import Layout, companions_of
from hitherto.store.sqlite.store import SqliteStore
from hitherto.testing import moment, put, row_draft, turn_draft
from tests.effort import count
from tests.faults.checks import ALL

ANA = UserKey("default", "ana")
CASES = count(test=200, soak=1_000)
QUERIES: tuple[Query[Any], ...] = (
    Log(limit=ALL),
    Window(persona="nikita", limit=30),
    TurnList(session="s1", limit=ALL),
    RecordList(noun="memory", limit=ALL),
    RecordsByEntity(noun="memory", refs=("person:p1",), limit=ALL),
    RecordsBySource(turns=("t1",)),
    Matches(stems=("w1", "w2", "w3"), target="turn"),
    Matches(stems=("w1", "w2", "w3"), target="record"),
    Traces(embedder="static", after=0, limit=ALL),
    Cursors(),
    SnapshotList(limit=ALL),
    Blobs(hashes=("h",)),
    Notes(prefix=""),
    Counts(),
)


def _everything(answers: Answers) -> list[Any]:
    return [answers[query] for query in QUERIES]


async def _fill(store: SqliteStore, chance: random.Random) -> list[Any]:
    """Enough that some is in the file and some only in its log."""
    user = store.user(ANA)
    for batch in range(12):
        first = batch * 10
        words = [" ".join(f"w{chance.randrange(60)}" for _ in range(30)) for _ in range(20)]
        vector = Vector(embedder="static", data=chance.randbytes(64))
        await put(
            user,
            Change(
                turns=tuple(
                    turn_draft(f"t{first + n}", words[n], persona="nikita", session=f"s{batch}", vector=vector)
                    for n in range(10)
                ),
                records=tuple(
                    row_draft(f"m{first + n}", words[10 + n], entities=(f"person:p{n}",), sources=(f"t{first + n}",))
                    for n in range(10)
                ),
                cursors=(Cursor(step="extract", position=first),),
                snapshots=(StoredSnapshot(id=f"s{batch}", at=moment(batch), known=first, body="{}" * 200),),
                blobs={"h": "x" * 5_000},
                notes=(Note(name=f"n{batch}", body="y" * 100),),
            ),
        )
    return _everything(await user.read(*QUERIES))


def _harm(path: Path, chance: random.Random) -> None:
    """Changes a few bits, overwrites a stretch or cuts the end off."""
    content = bytearray(path.read_bytes())
    kind = chance.choice(("flip", "flip", "stretch", "cut"))
    if kind == "cut":
        del content[chance.randrange(len(content)) :]
    elif kind == "stretch":
        start = chance.randrange(len(content))
        end = min(start + chance.randint(2, 4_096), len(content))
        content[start:end] = chance.randbytes(end - start)
    else:
        for _ in range(chance.randint(1, 8)):
            content[chance.randrange(len(content))] ^= 1 << chance.randrange(8)
    path.write_bytes(content)


def _copy(source: Path, target: Path) -> None:
    """As a crash leaves it: without the log's index. A process of its own, which does not drop the locks of this one."""
    subprocess.run(["cp", "-r", "-T", str(source), str(target)], check=True)
    for index in target.rglob("*-shm"):
        index.unlink()


async def _wrong_answers(folder: Path, expected: list[Any]) -> tuple[list[str], int]:
    """Answers that are neither right nor an error, and the number of errors."""
    store, wrong, errors = SqliteStore(folder), list[str](), 0
    await store.open()
    try:
        for query, right in zip(QUERIES, expected, strict=True):
            try:
                answer = (await store.user(ANA).read(query))[query]
            except StoreError:
                errors += 1
            else:
                if answer != right:
                    wrong.append(f"{query}")
    finally:
        await store.close()
    return wrong, errors


@dataclass(frozen=True)
class Images:
    """One memory, as a crash leaves it (some of it only in the log) and as closing it does."""

    folders: tuple[Path, Path]
    backup: Path
    expected: list[Any]

    def harmed(self, target: Path, chance: random.Random) -> None:
        """A copy of one of them, with damage somewhere in the user's file or its log."""
        image = chance.choice(self.folders)
        _copy(image, target)
        file = Layout(target).user(ANA.digest)
        _harm(chance.choice([part for part in (file, companions_of(file)[0]) if part.exists()]), chance)


async def _images(folder: Path, chance: random.Random) -> Images:
    crashed, closed, backup = folder / "crashed", folder / "closed", folder / "backup"
    store = SqliteStore(closed)
    await store.open()
    expected = await _fill(store, chance)
    await store.backup(str(backup))
    _copy(closed, crashed)
    await store.close()
    file = Layout(crashed).user(ANA.digest)
    sizes = [part.stat().st_size for part in (file, companions_of(file)[0], Layout(closed).user(ANA.digest))]
    assert min(sizes) > 40_000, "everywhere must be something to lose"
    return Images((crashed, closed), backup, expected)


@pytest.mark.promise("F11", tries=CASES)
async def test_damage_is_an_error_and_never_another_answer(fast_folder: Path, rng: random.Random) -> None:
    images = await _images(fast_folder, rng)
    noticed = 0
    for _ in range(CASES):
        with TemporaryDirectory(dir=fast_folder) as folder:
            harmed = Path(folder)
            images.harmed(harmed, rng)
            wrong, errors = await _wrong_answers(harmed, images.expected)
            assert wrong == []
            noticed += bool(errors)
            if errors and noticed % 10 == 1:
                await put_back(images.backup, harmed)
                assert await _wrong_answers(harmed, images.expected) == ([], 0)
    assert noticed > CASES / 2, "hardly any damage was noticed"


@pytest.mark.promise("F11", tries=CASES, control=True)
async def test_without_checksums_it_would_be_another_answer(
    fast_folder: Path, rng: random.Random, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connections, "VFS", connections.load_checksums())
    images = await _images(fast_folder, rng)
    for _ in range(CASES):
        with TemporaryDirectory(dir=fast_folder) as folder:
            images.harmed(Path(folder), rng)
            wrong, _ = await _wrong_answers(Path(folder), images.expected)
            if wrong:
                return
    pytest.fail("the damage does not bite")
