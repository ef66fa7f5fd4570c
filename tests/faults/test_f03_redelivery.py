"""F3: the same delivery again, reordered, concurrently, by two stores on one folder."""

import asyncio
import random
from pathlib import Path

import pytest

from hitherto.errors import Conflict
from hitherto.store.catalog import UserKey
from hitherto.store.protocol import Log
from hitherto.store.sqlite.store import SqliteStore
from tests.effort import count
from tests.faults.checks import turns_of
from tests.faults.deliveries import deliver

ANA = UserKey("default", "ana")
DELIVERIES = count(test=1_000, soak=10_000)


@pytest.mark.promise("F3", tries=DELIVERIES)
async def test_a_delivery_counts_once_however_often_it_comes(fast_folder: Path, rng: random.Random) -> None:
    ids = [f"t{n}" for n in range(DELIVERIES // 4)]
    deliveries = ids * 4
    rng.shuffle(deliveries)
    stores = [SqliteStore(fast_folder), SqliteStore(fast_folder)]
    for store in stores:
        await store.open()
    await asyncio.gather(*(deliver(rng.choice(stores).user(ANA), name, f"text of {name}") for name in deliveries))
    twisted = [deliver(rng.choice(stores).user(ANA), name, "something else") for name in rng.sample(ids, k=50)]
    answers = await asyncio.gather(*twisted, return_exceptions=True)
    log = (await stores[0].user(ANA).read(query := Log(limit=DELIVERIES)))[query]
    for store in stores:
        await store.close()
    assert all(isinstance(answer, Conflict) for answer in answers)
    assert [entry.seq for entry in log] == list(range(1, len(ids) + 1))
    assert {turn.id: turn.text for turn in await turns_of(fast_folder, ANA)} == {
        name: f"text of {name}" for name in ids
    }
