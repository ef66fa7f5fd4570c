"""Answers that rest on records alone are kept between reads, and never longer than they are true."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recollect.store.base import (
    Change,
    Erasure,
    Query,
    RecordList,
    RecordsByEntity,
    RecordsById,
    RecordsByKey,
    Window,
)
from recollect.store.catalog import UserKey
from recollect.store.sqlite import reading
from recollect.store.sqlite.store import SqliteStore
from recollect.testing.drafts import moment, put, row_draft, turn_draft

ANA = UserKey("default", "ana")
NAMES = ("a", "b", "c")
QUERIES: tuple[Query[Any], ...] = (
    RecordsById(ids=NAMES),
    RecordsById(ids=NAMES, history=True),
    RecordsByKey(noun="memory", keys=("k",)),
    RecordList(noun="memory", limit=10),
    RecordList(noun="memory", limit=10, known=3),
    RecordsByEntity(noun="memory", refs=("person:bob",), limit=10),
)


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The kinds of queries that went to SQLite."""
    found: list[str] = []

    def noted(kind: type[Query[Any]], ask: Callable[..., Any]) -> Callable[..., Any]:
        def asking(*arguments: Any) -> Any:
            found.append(kind.__name__)
            return ask(*arguments)

        return asking

    table = {kind: noted(kind, ask) for kind, ask in reading._ANSWERS.items()}  # pyright: ignore[reportPrivateUsage]
    monkeypatch.setattr(reading, "_ANSWERS", table)
    return found


async def test_records_are_read_once_until_one_is_written(tmp_path: Path, asked: list[str]) -> None:
    store = SqliteStore(tmp_path)
    await store.open()
    user, memories, window = store.user(ANA), RecordList(noun="memory", limit=10), Window(limit=5)
    await put(user, Change(records=(row_draft("a"),)))
    for _ in range(3):
        await user.read(memories, window)
    assert asked.count("RecordList") == 1
    assert asked.count("Window") == 3
    await put(user, Change(turns=(turn_draft("t1"),)))
    assert len((await user.read(memories, window))[window]) == 1
    assert asked.count("RecordList") == 1, "a turn is no record"
    await put(user, Change(records=(row_draft("b"),)))
    assert len((await user.read(memories))[memories]) == 2
    assert asked.count("RecordList") == 2
    await store.close()


async def test_a_few_are_kept_not_all(tmp_path: Path, asked: list[str]) -> None:
    store = SqliteStore(tmp_path)
    await store.open()
    user, often = store.user(ANA), RecordsById(ids=("a",))
    await put(user, Change(records=(row_draft("a"),)))
    for n in range(500):
        await user.read(often, RecordsByKey(noun="memory", keys=(f"k{n}",)))
    assert asked.count("RecordsById") == 1, "what is asked for again and again stays"
    asked.clear()
    await user.read(RecordsByKey(noun="memory", keys=("k0",)))
    assert asked == ["RecordsByKey"]
    await store.close()


def change(what: str, name: str, *, version: int) -> Change:
    match what:
        case "write":
            row = row_draft(name, f"tea {version}", version=version, key="k", entities=("person:bob",))
            return Change(records=(row,))
        case "end":
            return Change(retire=(name,), retired_at=moment())
        case "erase":
            return Change(erase=Erasure(records=(name,)), retired_at=moment())
        case _:
            return Change(turns=(turn_draft(name, version=version),))


STEPS = st.tuples(st.booleans(), st.sampled_from(["write", "end", "erase", "turn", "forget"]), st.sampled_from(NAMES))


@given(st.lists(STEPS, max_size=12))
@settings(max_examples=40)
def test_kept_answers_are_what_a_new_connection_finds(steps: Sequence[tuple[bool, str, str]]) -> None:
    """Two stores on one folder stand for two processes; a user may be forgotten altogether and come again."""

    async def run(folder: Path) -> None:
        stores = [SqliteStore(folder), SqliteStore(folder)]
        for store in stores:
            await store.open()
        for number, (first, what, name) in enumerate(steps, start=1):
            user = stores[first].user(ANA)
            if what == "forget":
                await user.wipe()
            else:
                await put(user, change(what, name, version=number))
            fresh = SqliteStore(folder)
            await fresh.open()
            true = await fresh.user(ANA).read(*QUERIES)
            for store in stores:
                found = await store.user(ANA).read(*QUERIES)
                assert [found[query] for query in QUERIES] == [true[query] for query in QUERIES]
            await fresh.close()
        for store in stores:
            await store.close()

    with tempfile.TemporaryDirectory() as name:
        asyncio.run(run(Path(name)))
