"""Questions of the hot path are answered from an index, in its order: what they cost does not grow with the log."""

from contextlib import closing
from typing import Any

import pytest

from hitherto.store.protocol import (
    Head,
    Matches,
    Query,
    RecordList,
    RecordsByEntity,
    RecordsById,
    RecordsByKey,
    RecordsBySource,
    Traces,
    TurnList,
    TurnsById,
    TurnsBySeq,
    Window,
)
from hitherto.store.sql import queries
from hitherto.store.sqlite.connections import Bindings, Connection, Cursor, in_memory
from hitherto.store.sqlite.migrations import GROWN, grow, migrate, migrations
from hitherto.store.sqlite.queries import answer

HOT: dict[Query[Any], str] = {
    Head(): "",
    Window(persona="a", limit=30): "turns_by_persona",
    Window(persona=None, lane=None, limit=30): "turns_by_lane",
    Window(persona="a", lane="b", limit=30, before=9): "turns_by_lane",
    Window(limit=30): "turns_by_place",
    Window(persona="a", limit=30, known=5): "turns_ended",
    TurnList(limit=30, after=3): "turns_by_place",
    TurnList(limit=30, session="s"): "turns_by_session",
    TurnList(limit=30, persona="a", lane="b"): "turns_by_lane",
    TurnsById(ids=("a",)): "turns_by_id",
    TurnsBySeq(seqs=(1,)): "INTEGER PRIMARY KEY",
    RecordList(noun="memory", limit=20): "records_by_time",
    RecordList(noun="loop", persona="a", shared=True, statuses=("open",), limit=20): "records_by_time",
    RecordList(noun="state", limit=1, known=5): "records_ended",
    RecordsById(ids=("a",)): "records_by_id",
    RecordsByKey(noun="state", keys=("a",)): "records_by_key",
    RecordsByKey(noun="state", keys=("a",), known=5): "records_ended",
    RecordsByEntity(noun="memory", refs=("person:a",), limit=9): "record_entities USING PRIMARY KEY",
    RecordsBySource(turns=("a",)): "record_sources USING PRIMARY KEY",
    Matches(stems=("a",), target="turn"): "VIRTUAL TABLE INDEX",
    Traces(embedder="e", after=0, limit=9): "INTEGER PRIMARY KEY",
}
SCANNED = ("SCAN turns", "SCAN records", "SCAN traces", "SCAN trace_pages")


class _Explained:
    """A connection that notes how each statement would be answered."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self.plan: list[str] = []

    def execute(self, statements: str, bindings: Bindings | None = None) -> Cursor:
        self.plan += [row[3] for row in self._connection.execute(f"EXPLAIN QUERY PLAN {statements}", bindings)]
        return self._connection.execute(statements, bindings)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._connection, name)


def _plan(query: Query[Any]) -> list[str]:
    with closing(in_memory()) as connection:
        migrate(connection, migrations("user"))
        grow(connection, before=0, head=GROWN)
        explained = _Explained(connection)
        answer(explained, [query])  # pyright: ignore[reportArgumentType] - it passes on whatever it does not have
        return explained.plan


@pytest.mark.parametrize(("name", "by"), [("named_document", "AND name=?"), ("last_documents_about", "AND about=?")])
def test_documents_are_found_by_their_names_and_by_whom_they_are_about(name: str, by: str) -> None:
    """A webhook asks which user a number means, of as many links as there are users; an audit log is everybody's."""
    with closing(in_memory()) as connection:
        migrate(connection, migrations("catalog"))
        values: Bindings = {
            "tenant": "default",
            "kind": "link",
            "name": "7",
            "about": "ana",
            "before": "9",
            "limit": 5,
        }
        found = connection.execute(f"EXPLAIN QUERY PLAN {queries('sqlite', 'catalog')[name]}", values)
        plan = [row[3] for row in found]
    assert any(step.startswith("SEARCH") and by in step for step in plan), plan
    assert not any("TEMP B-TREE" in step for step in plan), plan


@pytest.mark.parametrize("query", HOT, ids=str)
def test_it_uses_its_index(query: Query[Any]) -> None:
    plan = _plan(query)
    assert any(HOT[query] in step for step in plan), plan
    assert [step for step in plan if step.startswith(SCANNED) and "USING" not in step] == []


@pytest.mark.parametrize(
    "query", [query for query in HOT if isinstance(query, Window | TurnList) and not query.known], ids=str
)
def test_turns_need_no_sorting(query: Query[Any]) -> None:
    assert [step for step in _plan(query) if "TEMP B-TREE" in step] == []
