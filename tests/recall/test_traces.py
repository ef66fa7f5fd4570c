"""A user's columns are the same, however the traces came: all at once, in pieces, or one by one."""

import itertools
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hitherto.recall.cache import Columns, Names, TraceCache, UserRows
from hitherto.recall.traits import Traits, pack
from hitherto.recall.vectors import unit
from hitherto.store.catalog import UserKey
from hitherto.store.columns import Trace, Traced
from hitherto.store.protocol import Answers, Change, Traces, Vector
from hitherto.store.sqlite.changes import apply
from hitherto.store.sqlite.connections import in_memory
from hitherto.store.sqlite.migrations import migrate, migrations
from hitherto.store.sqlite.queries import answer
from hitherto.testing import turn_draft
from tests.store.sqlite.small_pages import small_pages

SIZE = 16
NOBODY = UserKey("default", "nobody")
_CHANCE = np.random.default_rng(3)
_VECTORS = unit(_CHANCE.normal(size=(64, SIZE)).astype(np.float32))
_VECTORS[5] = 0


def _packed(number: int) -> bytes:
    """The vector of a row: every fifth is a long text with passages."""
    row = number % len(_VECTORS)
    passages = _VECTORS[: number % 3 + 1] if number % 5 == 0 else _VECTORS[:0]
    return pack(_VECTORS[row : row + 1], [Traits(flags=number % 16, length=number % 40)], [passages])[0]


@st.composite
def logs(draw: st.DrawFn) -> list[Trace]:
    """Turns of several sessions, personas and lanes, revisions of some, and records with several versions."""
    traces: list[Trace] = []
    placed: list[int] = []
    for seq in range(1, draw(st.integers(1, 60)) + 1):
        if draw(st.booleans()) and draw(st.booleans()):
            continue  # an entry without a vector
        names = (draw(st.sampled_from((None, "p", "q"))), draw(st.sampled_from((None, "a", "b"))))
        kind = draw(st.sampled_from(("turn", "turn", "turn", "revision", "memory", "episode")))
        if kind in ("turn", "revision"):
            place = draw(st.sampled_from(placed)) if kind == "revision" and placed else seq
            placed.append(place)
            scope = (draw(st.sampled_from(("user", "assistant", "tool"))), *names, f"s{seq // 7}", "ana")
            traces.append(Trace(seq, place, "turn", f"t{place}", seq * 10**6, *scope, _packed(seq)))
        else:
            name = draw(st.sampled_from(("m1", "m2", "m3")))
            noun = "memory" if kind == "memory" else "episode"
            traces.append(Trace(seq, seq, noun, name, seq * 10**6, None, *names, None, None, _packed(seq)))
    return traces


def _named(column: Any, names: Names) -> list[str]:
    texts = names.texts()
    return [texts[number] for number in column.tolist()]


def _said(rows: UserRows, columns: Columns) -> dict[str, Any]:
    """Everything that ranking can see of the columns, in words."""
    session, speaker, role, persona, lane, noun = (column.all for column in columns.fields)
    dots = columns.dots(_VECTORS[7])
    return {
        "seqs": columns.matrix.seqs.tolist(),
        "previous": columns.matrix.previous.tolist(),
        "next": columns.matrix.next.tolist(),
        "sessions": _named(session, rows.sessions),
        "speakers": _named(speaker, rows.speakers),
        "roles": role.tolist(),
        "personas": _named(persona, rows.personas),
        "lanes": _named(lane, rows.lanes),
        "nouns": _named(noun, rows.names),
        "times": columns.times.all.tolist(),
        "flags": columns.flags.all.tolist(),
        "lengths": columns.lengths.all.tolist(),
        "replaced": columns.replaced.all.tolist(),
        "dots": dots.tolist(),
        "blended": columns.matrix.blended(dots).tolist(),
        "owners": columns.owners.all.tolist(),
        "passages": columns.passages.dots(_VECTORS[7]).tolist(),
    }


def _built(*pieces: Traced) -> UserRows:
    rows = UserRows(SIZE)
    for piece in pieces:
        rows.extend(piece)
    return rows


@given(logs(), st.data())
@settings(max_examples=100)
def test_columns_do_not_depend_on_how_traces_came(traces: list[Trace], data: st.DataObject) -> None:
    cuts = sorted(data.draw(st.sets(st.integers(0, len(traces)))) | {0, len(traces)})
    pieces = [Traced.of(traces[start:end]) for start, end in itertools.pairwise(cuts)] or [Traced.of(traces)]
    one_by_one = _built(*(Traced.of([trace]) for trace in traces))
    for rows in (_built(Traced.of(traces)), _built(*pieces), _built(Traced.joined(pieces))):
        assert rows.last == one_by_one.last
        assert _said(rows, rows.turns) == _said(one_by_one, one_by_one.turns)
        assert _said(rows, rows.records) == _said(one_by_one, one_by_one.records)


def test_links_and_replacements_are_right() -> None:
    def turn(seq: int, place: int, session: str) -> Trace:
        return Trace(seq, place, "turn", f"t{place}", seq, "user", "p", None, session, None, _packed(seq))

    def memory(seq: int, name: str) -> Trace:
        return Trace(seq, seq, "memory", name, seq, None, None, None, None, None, _packed(seq))

    log = [
        turn(1, 1, "a"),
        turn(2, 2, "b"),
        memory(3, "m"),
        turn(4, 4, "a"),
        turn(5, 1, "a"),
        turn(6, 1, "a"),
        memory(7, "m"),
    ]
    rows = _built(Traced.of(log))
    assert rows.turns.matrix.seqs.tolist() == [1, 2, 4, 5, 6]
    assert rows.turns.matrix.previous.tolist() == [-1, -1, 0, -1, -1]
    assert rows.turns.matrix.next.tolist() == [2, -1, -1, -1, -1]
    assert rows.turns.replaced.all.tolist() == [5, 0, 0, 6, 0]
    assert rows.records.replaced.all.tolist() == [7, 0]


@pytest.mark.parametrize("paged", [False, True])
async def test_what_is_cached_follows_the_store(monkeypatch: pytest.MonkeyPatch, *, paged: bool) -> None:
    """Also when what was new to a reader has come into a page meanwhile."""
    if paged:
        small_pages(monkeypatch)
    connection = in_memory()
    migrate(connection, migrations("user"))

    class Store:
        async def read(self, *queries: Traces) -> Answers:
            return answer(connection, queries)

        write = restore = wipe = None

    cache, number = TraceCache(embedder="static", dimension=SIZE), 0
    for batch in (1, 1, 30, 1, 5, 1, 1, 1, 60):
        drafts = [
            turn_draft(f"t{n}", session=f"s{n // 9}", vector=Vector(embedder="static", data=_packed(n)))
            for n in range(number, number + batch)
        ]
        number += batch
        apply(connection, Change(turns=tuple(drafts)))
        asked = cache.query(cache.held(NOBODY))
        found = answer(connection, [asked])[asked]
        held = await cache.refresh(NOBODY, Store(), asked, found)  # pyright: ignore[reportArgumentType] - it reads only
        every = Traces(embedder="static", after=0, limit=10_000)
        fresh = _built(*(Traced.of([trace]) for trace in answer(connection, [every])[every]))
        assert _said(held, held.turns) == _said(fresh, fresh.turns)
    assert bool(connection.execute("SELECT count(*) FROM trace_pages").get) == paged
    connection.close()


def _user(number: int) -> UserKey:
    return UserKey("default", f"u{number}")


async def _taken_in(cache: TraceCache, key: UserKey, log: Traced) -> UserRows:
    asked = cache.query(cache.held(key))
    return await cache.refresh(key, None, asked, log)  # pyright: ignore[reportArgumentType] - all is there, nothing is read


def _log(turns: int) -> Traced:
    scope = ("user", None, None, "s", "ana")
    return Traced.of([Trace(n, n, "turn", f"t{n}", n * 10**6, *scope, _packed(n)) for n in range(1, turns + 1)])


async def test_who_was_silent_longest_is_let_go_when_all_are_too_large() -> None:
    cache = TraceCache(embedder="static", dimension=SIZE, largest=100_000)
    kept = {number: await _taken_in(cache, _user(number), _log(40)) for number in range(30)}
    again = {number: cache.held(_user(number)) for number in reversed(range(30))}
    still = [number for number in kept if again[number] is kept[number]]
    assert 3 <= len(still) < 16, "columns of 40 turns, and what a user takes without any"
    assert still == list(range(30 - len(still), 30))
    alone = TraceCache(embedder="static", dimension=SIZE, largest=10)
    assert alone.held(_user(1)) is await _taken_in(alone, _user(1), _log(40)), "whoever is asked about stays"


async def test_how_many_users_are_held_makes_a_search_no_slower(monkeypatch: pytest.MonkeyPatch) -> None:
    cache = TraceCache(embedder="static", dimension=SIZE)
    for number in range(200):
        await _taken_in(cache, _user(number), _log(3))
    weighed: list[UserRows] = []
    monkeypatch.setattr(UserRows, "nbytes", property(lambda rows: weighed.append(rows) or 1))
    held = await _taken_in(cache, _user(7), _log(3).after(2))
    assert weighed == [held]
