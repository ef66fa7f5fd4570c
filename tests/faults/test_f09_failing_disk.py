"""F9 and F10: the disk is full, or fails to write or to sync, for a while.

Nothing is acknowledged that is not stored, reading goes on, and when the disk is well again so is the store.
"""

import random
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import apsw
import pytest

from hitherto.errors import StoreFull, StoreUnavailable
from hitherto.store.catalog import UserKey
from hitherto.store.protocol import Change, TurnList
from hitherto.store.sqlite.store import SqliteStore
from hitherto.testing import put, turn_draft
from tests.effort import count
from tests.faults.checks import ALL, damage_in, turns_of
from tests.faults.shim import Operation, Watcher, watching

ANA = UserKey("default", "ana")
CASES = count(test=50, soak=200)


@dataclass
class Fault(Watcher):
    """What fails from now on; None lets everything through. `after` lets so many operations through first."""

    what: Literal["full", "write", "sync"] | None = None
    after: int = 0
    struck: int = 0

    def before(self, operation: Operation) -> None:
        if self.what is None:
            return
        if self.after > 0:
            self.after -= 1
        elif self.what == "full" and operation == "write":
            self.struck += 1
            raise apsw.FullError("no space left on device")
        elif self.what == operation:
            self.struck += 1
            raise apsw.IOError("input/output error")


@pytest.mark.promise("F9/F10", tries=CASES)
async def test_a_failing_disk_loses_nothing_and_heals(fast_folder: Path, rng: random.Random) -> None:
    acknowledged: dict[str, str] = {}
    refused = struck = 0
    fault = Fault()
    with watching(fault):
        store = SqliteStore(fast_folder)
        await store.open()
        user = store.user(ANA)
        numbers = iter(range(10**6))

        async def write() -> None:
            draft = turn_draft(f"t{next(numbers)}", "word " * rng.choice((1, 500, 9_000)))
            await put(user, Change(turns=(draft,)))
            acknowledged[draft.id] = draft.text

        await write()
        for _ in range(CASES):
            fault.what, fault.after = rng.choice(("full", "write", "sync")), rng.choice((0, 0, 1, 2, 5, 9))
            expected = StoreFull if fault.what == "full" else StoreUnavailable
            for _ in range(rng.randint(1, 3)):
                try:
                    await write()
                except expected:
                    refused += 1
                found = (await user.read(query := TurnList(limit=ALL)))[query]
                assert acknowledged.items() <= {turn.id: turn.text for turn in found}.items()
            struck += fault.struck
            fault.what, fault.struck = None, 0
            await write()
        await store.close()
    assert refused > CASES / 3, "the disk hardly failed"
    assert struck >= refused
    assert acknowledged.items() <= {turn.id: turn.text for turn in await turns_of(fast_folder, ANA)}.items()
    assert damage_in(fast_folder) == []
