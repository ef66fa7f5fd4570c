"""What a write leaves for the next one is what it would be told if it asked: whoever wrote in between, and whatever failed."""

import asyncio
import random
from contextlib import suppress
from pathlib import Path

import pytest

from hitherto.store.catalog import UserKey
from hitherto.store.protocol import ANY, Answers, Change, Erasure, Query, RecordList, Window
from hitherto.store.sqlite import queries
from hitherto.store.sqlite.connections import Connection
from hitherto.store.sqlite.store import SqliteStore
from hitherto.store.sqlite.userfile import UserFile
from hitherto.testing import moment, put, row_draft, turn_draft
from tests.effort import count

ANA = UserKey("default", "ana")
PERSONAS = (None, "nikita", "mio")
ASKED: tuple[Query[object], ...] = (
    *(Window(persona=persona, lane=ANY, limit=1) for persona in PERSONAS),
    *(RecordList(noun="session", persona=persona, statuses=("closed",), limit=8) for persona in PERSONAS),
)
ROUNDS = count(test=150, soak=5_000)


class _Writer:
    """Writes of every kind, by one of two processes, that ask and compare with what a fresh reader is told."""

    def __init__(self, stores: list[SqliteStore], chance: random.Random) -> None:
        self._stores = stores
        self._chance = chance
        self._number = 0

    def change(self) -> Change:
        self._number += 1
        kind, persona = self._chance.randrange(6), self._chance.choice(PERSONAS)
        some = f"s{self._chance.randrange(1, self._number + 1)}"
        if kind == 0:
            status = self._chance.choice(("open", "closed"))
            return Change(records=(row_draft(f"s{self._number}", noun="session", persona=persona, status=status),))
        if kind == 1:
            return Change(retire=(some,), retired_at=moment(self._number))
        if kind == 2:
            return Change(erase=Erasure(turns=(some,)), retired_at=moment(self._number))
        return Change(turns=(turn_draft(f"s{self._number}", f"turn {self._number}", persona=persona),))

    async def write(self) -> None:
        store = self._chance.choice(self._stores)
        asked = tuple(self._chance.sample(ASKED, self._chance.randrange(1, len(ASKED) + 1)))
        expected = await self._stores[0].user(ANA).read(*asked)
        change = self.change()

        def decide(answers: Answers) -> Change:
            assert [answers[one] for one in asked] == [expected[one] for one in asked]
            return change

        await store.user(ANA).write(decide, *asked)

    async def fail(self) -> None:
        """A write that is undone half-way, beside one that is not."""
        user = self._chance.choice(self._stores).user(ANA)
        twice = (turn_draft(f"twice {self._number}"), turn_draft(f"twice {self._number}"))
        done = await asyncio.gather(
            user.write(lambda _: Change(turns=twice), *ASKED),
            user.write(lambda _: Change(turns=(turn_draft(f"beside {self._number}"),)), *ASKED),
            return_exceptions=True,
        )
        assert isinstance(done[0], Exception)
        assert not isinstance(done[1], BaseException)
        self._number += 1


async def test_a_write_is_told_what_is_there(tmp_path: Path, rng: random.Random) -> None:
    stores = [SqliteStore(tmp_path), SqliteStore(tmp_path)]
    for store in stores:
        await store.open()
    await put(stores[0].user(ANA), Change(turns=(turn_draft("first"),)))
    writer = _Writer(stores, rng)
    for _ in range(ROUNDS):
        if rng.random() < 0.1:
            await writer.fail()
        await writer.write()
    for store in stores:
        await store.close()


async def test_a_write_that_was_undone_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    mine, other = SqliteStore(tmp_path), SqliteStore(tmp_path)
    for store in (mine, other):
        await store.open()
    newest = Window(persona="nikita", lane=ANY, limit=1)
    await put(mine.user(ANA), Change(turns=(turn_draft("there", persona="nikita"),)))

    def fails(file: UserFile, connection: Connection) -> int:
        raise ZeroDivisionError(f"{file.path}, {connection}")

    with monkeypatch.context() as broken:
        broken.setattr(UserFile, "_newest_entry", fails)
        with pytest.raises(ZeroDivisionError):
            await mine.user(ANA).write(lambda _: Change(turns=(turn_draft("undone", persona="nikita"),)), newest)
    await put(other.user(ANA), Change(turns=(turn_draft("by another", persona="nikita"),)))
    seen: list[str] = []

    def decide(answers: Answers) -> Change:
        seen.extend(turn.id for turn in answers[newest])
        return Change()

    await mine.user(ANA).write(decide, newest)
    assert seen == ["by another"]
    for store in (mine, other):
        await store.close()


async def test_the_next_turn_asks_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = SqliteStore(tmp_path)
    await store.open()
    user = store.user(ANA)
    for number in range(2):
        await user.write(lambda _, number=number: Change(turns=(turn_draft(f"t{number}", persona="nikita"),)), *ASKED)
    monkeypatch.setattr(queries, "_ANSWERS", {})
    seen: list[str] = []

    def decide(answers: Answers) -> Change:
        seen.extend(turn.id for one in ASKED if isinstance(one, Window) for turn in answers[one])
        return Change(turns=(turn_draft("t2", persona="nikita"),))

    await user.write(decide, *ASKED)
    assert seen == ["t1"]
    with suppress(KeyError):
        await user.write(decide, Window(limit=5))
        pytest.fail("what was not asked before is asked")
    await store.close()
