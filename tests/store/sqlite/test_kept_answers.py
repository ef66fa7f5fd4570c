"""Answers about records, and turns, are kept between reads, and never longer than they are true."""

from __future__ import annotations

import asyncio
import gc
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hitherto.store.catalog import UserKey
from hitherto.store.protocol import (
    Answers,
    Change,
    Erasure,
    Head,
    Query,
    RecordList,
    RecordsByEntity,
    RecordsById,
    RecordsByKey,
    Row,
    TurnList,
    TurnsBySeq,
    Window,
)
from hitherto.store.rows import OFTEN
from hitherto.store.sqlite import queries
from hitherto.store.sqlite.connections import TURNS
from hitherto.store.sqlite.store import SqliteStore
from hitherto.testing.drafts import moment, put, row_draft, turn_draft
from hitherto.types import StoredTurn

ANA = UserKey("default", "ana")
NAMES = ("a", "b", "c")
QUERIES: tuple[Query[Any], ...] = (
    RecordsById(ids=NAMES),
    RecordsById(ids=NAMES, history=True),
    RecordsByKey(noun="memory", keys=("k",)),
    RecordList(noun="memory", limit=10),
    RecordList(noun="memory", limit=10, known=3),
    RecordsByEntity(noun="memory", refs=("person:bob",), limit=10),
    Head(),
    Window(limit=2),
    Window(limit=5, before=4),
    Window(limit=5, known=3),
    TurnList(limit=5),
    TurnList(limit=5, since=moment(), until=moment(minutes=9)),
    TurnsBySeq(seqs=(1, 2, 3, 4)),
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

    table = {kind: noted(kind, ask) for kind, ask in queries._ANSWERS.items()}  # pyright: ignore[reportPrivateUsage]
    monkeypatch.setattr(queries, "_ANSWERS", table)
    return found


async def test_records_are_read_once_until_one_is_written(tmp_path: Path, asked: list[str]) -> None:
    store = SqliteStore(tmp_path)
    await store.open()
    user, memories = store.user(ANA), RecordList(noun="memory", limit=10)
    await put(user, Change(records=(row_draft("a"),)))
    for _ in range(3):
        await user.read(memories)
    assert asked.count("RecordList") == 1
    await put(user, Change(turns=(turn_draft("t1"),)))
    await user.read(memories)
    assert asked.count("RecordList") == 1, "a turn is no record"
    await put(user, Change(records=(row_draft("b"),)))
    assert len((await user.read(memories))[memories]) == 2
    assert asked.count("RecordList") == 2
    await store.close()


async def test_turns_are_read_once_until_something_is_retired_or_erased(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path)
    await store.open()
    user, window = store.user(ANA), Window(limit=5)
    await put(user, Change(turns=(turn_draft("t1"), turn_draft("t2"))))
    first, second = (await user.read(window))[window]
    await put(user, Change(turns=(turn_draft("t3"),), records=(row_draft("a"),)))
    again = (await user.read(window))[window]
    assert again[0] is first
    assert again[1] is second
    await put(user, Change(erase=Erasure(turns=("t3",)), retired_at=moment()))
    [anew, _] = (await user.read(window))[window]
    assert anew == first
    assert anew is not first, "what is erased is not kept in memory, nor what was read with it"
    await store.close()


async def test_what_is_read_while_writing_is_not_kept(tmp_path: Path) -> None:
    """It may never be committed, and then another turn takes its entry."""
    store = SqliteStore(tmp_path)
    await store.open()
    user, window = store.user(ANA), Window(limit=5)
    await put(user, Change(turns=(turn_draft("t1"),)))
    seen: list[StoredTurn] = []

    def decide(answers: Answers) -> Change:
        seen.extend(answers[window])
        return Change(turns=(turn_draft("t2"),))

    await user.write(decide, window)
    [first, _] = (await user.read(window))[window]
    assert seen == [first]
    assert seen[0] is not first
    await store.close()


async def test_nothing_stays_in_memory_of_a_user_who_was_wiped(tmp_path: Path) -> None:
    """A service sees users come and go for months: what it kept of each would look like a leak, and outlive the file."""
    store = SqliteStore(tmp_path)
    await store.open()
    user, memories = store.user(ANA), RecordList(noun="memory", limit=10)
    for life in range(20):
        await put(user, Change(records=(row_draft(f"in life {life}"),)))
        assert len((await user.read(memories))[memories]) == 1
        await user.wipe()
    gc.collect()
    left = [found for found in gc.get_objects() if isinstance(found, Row) and found.id.startswith("in life")]
    assert left == []
    await store.close()


async def test_long_texts_and_long_lists_are_not_kept(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path)
    await store.open()
    user, many, all_ = store.user(ANA), Window(limit=TURNS), Window(limit=TURNS + 1)
    long = turn_draft("long", "a" * (OFTEN + 1))
    await put(user, Change(turns=(*(turn_draft(f"t{n}") for n in range(TURNS)), long)))
    listed = (await user.read(all_))[all_]
    before = (await user.read(many))[many]
    after = (await user.read(many))[many]
    assert before == after == listed[1:]
    assert before[-2] is not listed[-2]
    assert after[-2] is before[-2]
    assert after[-1] is not before[-1], "too long"
    await store.close()


async def test_the_turns_kept_are_the_newest_read(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path)
    await store.open()
    user, first, others = store.user(ANA), TurnList(limit=1), TurnList(after=1, limit=TURNS)
    await put(user, Change(turns=tuple(turn_draft(f"t{n}") for n in range(TURNS + 1))))
    [begin] = (await user.read(first))[first]
    assert (await user.read(first))[first][0] is begin
    await user.read(others)
    [again] = (await user.read(first))[first]
    assert again == begin
    assert again is not begin
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
        case "erase turn":
            return Change(erase=Erasure(turns=(name,)), retired_at=moment())
        case _:
            return Change(turns=(turn_draft(name, version=version),))


STEPS = st.tuples(
    st.booleans(), st.sampled_from(["write", "end", "erase", "turn", "erase turn", "forget"]), st.sampled_from(NAMES)
)


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
