"""F2: the power fails. Whatever was acknowledged is there afterwards, and nothing is damaged.

The same crashes are tried with `synchronous=NORMAL`, where they must lose something: so we know that they bite.
"""

import asyncio
import random
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from hitherto.store.catalog import UserKey
from hitherto.store.protocol import Change, Erasure
from hitherto.store.sqlite import connections
from hitherto.store.sqlite.store import SqliteStore
from hitherto.testing import moment, put, row_draft, turn_draft
from tests.effort import count
from tests.faults.checks import damage_in, turns_of
from tests.faults.disk import Disk, Op, recording

ANA = UserKey("default", "ana")
EITHER = "there or not"
CRASHES = count(test=300, soak=3_000)
WORKLOADS = count(test=6, soak=30)


@dataclass
class Loss:
    """What crashes cost, in all."""

    lost: list[str] = field(default_factory=list[str])
    damaged: list[str] = field(default_factory=list[str])
    revived: list[str] = field(default_factory=list[str])


async def _work(folder: Path, chance: random.Random) -> list[Op]:
    """Writes of all kinds; each is marked when it has been acknowledged."""
    with recording(folder) as recorder:
        store = SqliteStore(folder)
        await store.open()
        user = store.user(ANA)
        names = (f"t{n}" for n in range(10_000))

        async def write() -> None:
            drafts = [
                turn_draft(next(names), "word " * chance.choice((1, 40, 2_000))) for _ in range(chance.randint(1, 5))
            ]
            await put(user, Change(turns=tuple(drafts), records=(row_draft(f"m{drafts[0].id}"),)))
            recorder.mark({draft.id: draft.text for draft in drafts})

        for _ in range(12):
            await asyncio.gather(*(write() for _ in range(chance.randint(1, 4))))
        doomed = f"t{chance.randrange(3)}"
        recorder.mark({doomed: EITHER})
        await put(user, Change(erase=Erasure(turns=(doomed,)), retired_at=moment(1)))
        recorder.mark({doomed: None})
        await asyncio.gather(*(write() for _ in range(3)))
        await store.close()
    return recorder.ops


async def _crash(root: Path, ops: list[Op], target: Path, chance: random.Random, loss: Loss) -> None:
    point = chance.randrange(len(ops) + 1)
    expected: dict[str, str | None] = {}
    for op in ops[:point]:
        if op.kind == "mark":
            expected |= op.word
    Disk([op for op in ops[:point] if op.kind != "mark"]).cut_power(root, target, chance)
    found = {turn.id: turn.text for turn in await turns_of(target, ANA)}
    for name, text in expected.items():
        if text is None and name in found:
            loss.revived.append(f"{name} at {point}")
        elif text not in (None, EITHER, found.get(name)):
            loss.lost.append(f"{name} at {point}")
    loss.damaged += [f"{text} at {point}" for text in damage_in(target)]


async def _losses(folder: Path, chance: random.Random) -> Loss:
    loss = Loss()
    for workload in range(WORKLOADS):
        root = folder / f"w{workload}"
        ops = await _work(root, chance)
        for _ in range(CRASHES // WORKLOADS):
            with TemporaryDirectory(dir=folder) as target:
                await _crash(root, ops, Path(target), chance, loss)
    return loss


@pytest.fixture(autouse=True)
def _small_log(monkeypatch: pytest.MonkeyPatch) -> None:
    """A log that is copied into the file every few commits, so that crashes fall into that as well."""
    settings = connections.CONNECTION_SETTINGS.replace(
        f"wal_autocheckpoint = {connections.WAL_PAGES}", "wal_autocheckpoint = 40"
    )
    assert settings != connections.CONNECTION_SETTINGS
    monkeypatch.setattr(connections, "CONNECTION_SETTINGS", settings)


@pytest.mark.promise("F2", tries=CRASHES)
async def test_no_acknowledged_turn_is_lost_when_the_power_fails(fast_folder: Path, rng: random.Random) -> None:
    loss = await _losses(fast_folder, rng)
    assert (loss.lost, loss.damaged, loss.revived) == ([], [], [])


@pytest.mark.promise("F2", tries=CRASHES, control=True)
async def test_the_crashes_bite(fast_folder: Path, rng: random.Random, monkeypatch: pytest.MonkeyPatch) -> None:
    settings = connections.CONNECTION_SETTINGS.replace("synchronous = FULL", "synchronous = NORMAL")
    assert settings != connections.CONNECTION_SETTINGS
    monkeypatch.setattr(connections, "CONNECTION_SETTINGS", settings)
    loss = await _losses(fast_folder, rng)
    assert loss.lost
    assert loss.damaged == []
