"""Traces are the same, whether they lie loose or in pages, whatever was added, erased or embedded later in between."""

import random
from collections.abc import Generator
from contextlib import closing
from dataclasses import dataclass, field

import pytest

from hitherto.clock import micros
from hitherto.errors import StoreCorrupt
from hitherto.store.columns import Trace
from hitherto.store.protocol import Change, Erasure, Traces, TurnDraft, Untraced, Vector
from hitherto.store.sqlite import tracepages as traces
from hitherto.store.sqlite.changes import apply
from hitherto.store.sqlite.connections import Connection, in_memory
from hitherto.store.sqlite.migrations import migrate, migrations
from hitherto.store.sqlite.tracepages import LOOSE, ROWS, WIDTH
from hitherto.testing import moment, row_draft, turn_draft
from tests.effort import count
from tests.store.sqlite.small_pages import small_pages

ROUNDS = count(test=60, soak=2_000)
EMBEDDERS = ("static", "other")
ALL = Traces(embedder="static", after=0, limit=1 << 20)


@dataclass(slots=True)
class _Model:
    """What should be there: every entry's trace by embedder, and every entry that could have one."""

    connection: Connection
    chance: random.Random
    head: int = 0
    names: dict[int, str] = field(default_factory=dict[int, str])
    retired: set[int] = field(default_factory=set[int])
    bare: dict[int, Trace] = field(default_factory=dict[int, Trace])
    held: dict[str, dict[int, Trace]] = field(default_factory=lambda: {name: {} for name in EMBEDDERS})

    def vector(self, embedder: str) -> Vector:
        return Vector(embedder=embedder, data=self.chance.randbytes(self.chance.choice((8, 8, 8, 16))))

    def apply(self, change: Change) -> None:
        self.head = apply(self.connection, change).head

    def record(self) -> None:
        drafts = [self._draft(self.head + 1 + n) for n in range(self.chance.choice((1, 1, 1, 2, 30)))]
        for n, draft in enumerate(drafts):
            self._noted(self.head + 1 + n, draft)
        self.apply(Change(turns=tuple(drafts)))

    def _draft(self, seq: int) -> TurnDraft:
        chance = self.chance
        return turn_draft(
            f"t{seq}",
            at=moment(seq),
            role=chance.choice(("user", "assistant")),
            persona=chance.choice((None, "nikita")),
            lane=chance.choice((None, "a", "b")),
            session=f"s{seq // 9}",
            speaker=chance.choice((None, "ana")),
            vector=self.vector("static") if chance.random() < 0.9 else None,
        )

    def _noted(self, seq: int, draft: TurnDraft) -> None:
        self.names[seq] = draft.id
        scope = (draft.role, draft.persona, draft.lane, draft.session, draft.speaker)
        place = seq if draft.place is None else draft.place
        self.bare[seq] = Trace(seq, place, "turn", draft.id, micros(draft.at), *scope, b"")
        if draft.vector is not None:
            self.held["static"][seq] = self.bare[seq]._replace(vector=draft.vector.data)

    def revise(self) -> None:
        if turns := [seq for seq, name in self.names.items() if name.startswith("t") and seq not in self.retired]:
            before = self.chance.choice(turns)
            version = 1 + sum(name == self.names[before] for name in self.names.values())
            draft = turn_draft(
                self.names[before], version=version, place=self.bare[before].place, vector=self.vector("static")
            )
            self.retired.add(before)
            self._noted(self.head + 1, draft)
            self.apply(Change(turns=(draft,)))

    def learn(self) -> None:
        seq = self.head + 1
        draft = row_draft(f"m{seq}", f"fact {seq}", vector=self.vector("static"))
        assert draft.vector is not None
        self.names[seq] = draft.id
        self.bare[seq] = Trace(seq, seq, "memory", draft.id, micros(draft.at), None, None, None, None, None, b"")
        self.held["static"][seq] = self.bare[seq]._replace(vector=draft.vector.data)
        self.apply(Change(records=(draft,)))

    def embed(self) -> None:
        """Vectors that come later: for entries without one, in place of another, or for one that has gone meanwhile."""
        embedder = self.chance.choice(EMBEDDERS)
        seqs = self.chance.sample(range(1, self.head + 2), min(self.head, self.chance.choice((1, 5, 40))))
        vectors = tuple((seq, self.vector(embedder)) for seq in seqs)
        for seq, vector in vectors:
            if seq in self.bare:
                self.held[embedder][seq] = self.bare[seq]._replace(vector=vector.data)
        self.apply(Change(vectors=vectors))

    def erase(self) -> None:
        there = sorted(set(self.names.values()))
        some = self.chance.sample(there, min(len(there), self.chance.choice((1, 4))))
        for seq in [seq for seq, name in self.names.items() if name in some]:
            for gone in (self.names, self.bare, *self.held.values()):
                gone.pop(seq, None)
            self.retired.discard(seq)
        erasure = Erasure(
            turns=tuple(name for name in some if name.startswith("t")),
            records=tuple(name for name in some if name.startswith("m")),
        )
        self.apply(Change(erase=erasure, retired_at=moment()))

    def check(self) -> None:
        for embedder, held in self.held.items():
            expected = [held[seq] for seq in sorted(held)]
            after, limit = (
                self.chance.choice((0, self.chance.randint(0, self.head))),
                self.chance.choice((3, 20, 10_000)),
            )
            found = traces.traces(self.connection, Traces(embedder=embedder, after=after, limit=limit))
            assert list(found) == [trace for trace in expected if trace.seq > after][:limit]
            missing = [seq for seq in sorted(self.bare) if seq > after and seq not in held and seq not in self.retired]
            assert traces.untraced(self.connection, Untraced(embedder=embedder, after=after, limit=limit)) == tuple(
                missing[:limit]
            )
        for (number,) in self.connection.execute("SELECT number FROM embedders").fetchall():
            values = (number * WIDTH, (number + 1) * WIDTH)
            newest = self.connection.execute("SELECT max(slot) FROM trace_pages WHERE slot BETWEEN ? AND ?", values).get
            oldest = self.connection.execute("SELECT min(slot) FROM traces WHERE slot BETWEEN ? AND ?", values).get
            assert newest is None or oldest is None or newest < oldest


def _pages(connection: Connection) -> int:
    return connection.execute("SELECT count(*) FROM trace_pages").get


def test_pages_hold_what_rows_would(rng: random.Random, monkeypatch: pytest.MonkeyPatch) -> None:
    small_pages(monkeypatch)
    most = 0
    for _ in range(ROUNDS):
        seed = rng.random()
        with closing(in_memory()) as connection:
            migrate(connection, migrations("user"))
            model = _Model(connection, random.Random(seed))
            steps = (model.record, model.record, model.record, model.learn, model.revise, model.embed, model.erase)
            for step in model.chance.choices(steps, k=40):
                step()
                model.check()
            most = max(most, _pages(connection))
    assert most > 5, "nearly no pages: this would prove nothing"


@pytest.fixture
def connection() -> Generator[Connection]:
    with closing(in_memory()) as connection:
        migrate(connection, migrations("user"))
        yield connection


def _record(connection: Connection, number: int, *, batch: int) -> None:
    vector = Vector(embedder="static", data=bytes(40))
    for start in range(0, number, batch):
        turns = (turn_draft(f"t{n}", vector=vector) for n in range(start, min(start + batch, number)))
        apply(connection, Change(turns=tuple(turns)))


def _loose(connection: Connection) -> int:
    return connection.execute("SELECT count(*) FROM traces").get


@pytest.mark.parametrize("batch", [1, 50, 5_000])
def test_the_newest_stay_loose(connection: Connection, batch: int) -> None:
    _record(connection, 3 * ROWS, batch=batch)
    assert (_pages(connection), _loose(connection)) == (2, ROWS)
    newest = Traces(embedder="static", after=3 * ROWS - LOOSE, limit=9_999)
    assert [trace.seq for trace in traces.traces(connection, newest)] == list(range(3 * ROWS - LOOSE + 1, 3 * ROWS + 1))


def test_rows_of_an_older_file_come_into_pages_with_the_next_turns(connection: Connection) -> None:
    with pytest.MonkeyPatch.context() as patch:
        small_pages(patch, rows=10**9)
        _record(connection, 2 * ROWS, batch=1_000)
    assert (_pages(connection), _loose(connection)) == (0, 2 * ROWS)
    before = traces.traces(connection, ALL)
    apply(connection, Change(turns=tuple(turn_draft(f"new{n}") for n in range(LOOSE))))
    assert (_pages(connection), _loose(connection)) == (1, ROWS)
    assert traces.traces(connection, ALL) == before


@pytest.mark.parametrize("column", ["numbers", "labels", "sizes", "names", "ids", "vectors"])
def test_a_page_that_makes_no_sense_is_damage(connection: Connection, column: str) -> None:
    _record(connection, ROWS + LOOSE, batch=1_000)
    value = "CAST('[]' AS TEXT)" if column == "names" else "x'00'"
    connection.execute(f"UPDATE trace_pages SET {column} = {value}")
    with pytest.raises(StoreCorrupt, match="restore it from a backup"):
        traces.traces(connection, ALL)
