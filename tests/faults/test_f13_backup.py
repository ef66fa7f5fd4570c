"""F13: a backup is taken while others write; what was acknowledged before it began is in it."""

import asyncio
import random
from pathlib import Path

import pytest

from hitherto.store.catalog import UserKey
from hitherto.store.protocol import Change
from hitherto.store.sqlite.backup import put_back
from hitherto.store.sqlite.store import SqliteStore
from hitherto.testing import moment, put, turn_draft
from tests.effort import count
from tests.faults.checks import damage_in, turns_of

BACKUPS = 5
ROUNDS = count(test=1, soak=10)
"""Each on a folder of its own: the writers never rest, so that a backup is larger than the one before."""
KEYS = [UserKey("default", f"u{n}") for n in range(4)]


@pytest.mark.promise("F13", tries=BACKUPS)
@pytest.mark.parametrize("round_", range(ROUNDS))
async def test_a_backup_holds_what_was_acknowledged_before(fast_folder: Path, rng: random.Random, round_: int) -> None:
    folder = fast_folder / "memories"
    store = SqliteStore(folder)
    await store.open()
    await store.catalog.put("default", "persona", "nikita", "{}", at=moment())
    acknowledged: dict[UserKey, set[str]] = {key: set() for key in KEYS}
    writing, begun = True, asyncio.Event()

    async def write(key: UserKey) -> None:
        number = 0
        while writing:
            name = f"{key.user}-{number}"
            await put(store.user(key), Change(turns=(turn_draft(name, "word " * rng.choice((1, 400))),)))
            acknowledged[key].add(name)
            if all(acknowledged.values()):
                begun.set()
            number += 1

    async with asyncio.TaskGroup() as tasks:
        for key in KEYS:
            tasks.create_task(write(key))
        await begun.wait()
        for number in range(BACKUPS):
            before = {key: set(names) for key, names in acknowledged.items()}
            seen: list[tuple[int, int]] = []
            copy = fast_folder / f"backup{number}"
            assert await store.backup(str(copy), progress=lambda done, total: seen.append((done, total))) == len(KEYS)  # noqa: B023 - called before the next round
            assert seen == [(n + 1, len(KEYS)) for n in range(len(KEYS))]
            for key in KEYS:
                assert before[key] <= {turn.id for turn in await turns_of(copy, key)}
            assert damage_in(copy) == []
        writing = False
    await store.catalog.put("default", "persona", "max", "{}", at=moment())
    last = fast_folder / f"backup{BACKUPS - 1}"
    kept = {key: await turns_of(last, key) for key in KEYS}
    assert await put_back(last, folder) == len(KEYS)
    for key in KEYS:
        assert await turns_of(folder, key) == kept[key]
        await put(store.user(key), Change(turns=(turn_draft("after"),)))
        assert {turn.id for turn in await turns_of(folder, key)} == {turn.id for turn in kept[key]} | {"after"}
    assert [one.name for one in await store.catalog.documents("default", "persona")] == ["nikita"]
    await store.close()
    assert damage_in(folder) == []
