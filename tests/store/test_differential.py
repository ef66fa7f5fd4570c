"""The same history on both stores gives the same answers, in the same order."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace
from itertools import count as numbers
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hitherto.store import connect
from hitherto.store.protocol import (
    ANY,
    Change,
    Cursor,
    Erasure,
    Head,
    Log,
    Matches,
    Note,
    Notes,
    Query,
    RecordList,
    RecordsByEntity,
    RecordsByKey,
    RecordsBySource,
    RowDraft,
    Store,
    Traces,
    TurnDraft,
    TurnList,
    Untraced,
    UserKey,
    Vector,
    Window,
)
from hitherto.testing import moment, put, row_draft, turn_draft
from tests.effort import count

NAMES = st.sampled_from(["a", "b", "c", "d", "ü", "A"])
SCOPES = st.sampled_from([None, "nikita", "max"])
STEMS = st.lists(st.sampled_from(["fox", "hound", "tea", "日本", "o'clock", "c++", "🦊"]), max_size=8).map(tuple)
MINUTES = st.integers(0, 50)
VECTORS = st.one_of(st.none(), st.binary(min_size=1, max_size=4).map(lambda data: Vector(embedder="static", data=data)))

_users = numbers()


@st.composite
def turns(draw: st.DrawFn) -> TurnDraft:
    return turn_draft(
        draw(NAMES),
        draw(st.text(st.characters(codec="utf-8"), max_size=12)),
        at=moment(draw(MINUTES)),
        persona=draw(SCOPES),
        lane=draw(SCOPES),
        session=draw(st.sampled_from(["s1", "s2"])),
        stems=draw(STEMS),
        vector=draw(VECTORS),
    )


@st.composite
def records(draw: st.DrawFn) -> RowDraft:
    return row_draft(
        f"r-{draw(NAMES)}",
        draw(st.text(st.characters(codec="utf-8"), max_size=12)),
        noun=draw(st.sampled_from(["memory", "episode"])),
        at=moment(draw(MINUTES)),
        persona=draw(SCOPES),
        lane=draw(SCOPES),
        key=draw(st.one_of(st.none(), st.sampled_from(["k", "k|1", "j"]))),
        status=draw(st.sampled_from(["ACTIVE", "ARCHIVED"])),
        sources=tuple(draw(st.lists(NAMES, max_size=3, unique=True))),
        entities=tuple(draw(st.lists(st.sampled_from(["person:x", "org:y"]), max_size=2, unique=True))),
        stems=draw(STEMS),
        vector=draw(VECTORS),
    )


IDS = st.lists(st.one_of(NAMES, NAMES.map(lambda name: f"r-{name}")), max_size=2).map(tuple)
CHANGES = st.builds(
    Change,
    turns=st.lists(turns(), max_size=3).map(tuple),
    records=st.lists(records(), max_size=3).map(tuple),
    retire=IDS,
    retired_at=MINUTES.map(moment),
    erase=st.one_of(st.none(), st.none(), st.builds(Erasure, turns=IDS, records=IDS, notes=IDS)),
    cursors=st.lists(st.builds(Cursor, step=NAMES, position=MINUTES), max_size=1).map(tuple),
    notes=st.lists(st.builds(Note, name=NAMES, body=st.text(st.characters(codec="utf-8"))), max_size=2).map(tuple),
)


def queries(known: int | None) -> tuple[Query[Any], ...]:
    scopes = (ANY, None, "nikita")
    return (
        Head(),
        Log(limit=1_000),
        Notes(prefix=""),
        Untraced(embedder="static", limit=99),
        Traces(embedder="static", after=0, limit=99),
        RecordsBySource(turns=("a", "b"), history=True),
        *(Window(limit=5, persona=persona, lane=lane, known=known) for persona in scopes for lane in scopes),
        *(TurnList(limit=5, after=2, session=session, known=known) for session in (None, "s1")),
        *(
            Matches(stems=stems, target=target)
            for stems in (("fox", "日本"), ("tea", "o'clock", "hound"))
            for target in ("turn", "record")
        ),
        *(
            RecordList(noun="memory", limit=4, persona=persona, shared=shared, known=known)
            for persona in scopes
            for shared in (False, True)
        ),
        RecordList(noun="memory", limit=4, key_prefix="k", statuses=("ACTIVE",), known=known),
        RecordList(noun="memory", limit=4, after=(moment(25), 3), known=known),
        RecordsByKey(noun="memory", keys=("k", "j"), known=known),
        RecordsByEntity(noun="memory", refs=("person:x",), limit=4, known=known),
    )


def numbered(change: Change, versions: dict[str, int]) -> Change:
    """The change with the versions that come next."""

    def version(name: str) -> int:
        versions[name] = versions.get(name, 0) + 1
        return versions[name]

    return replace(
        change,
        turns=tuple(replace(draft, version=version(draft.id)) for draft in change.turns),
        records=tuple(replace(draft, version=version(draft.id)) for draft in change.records),
    )


@pytest.fixture
async def both(tmp_path: Path, postgres_url: str) -> AsyncIterator[tuple[Store, Store]]:
    pair = connect(str(tmp_path / "memories")), connect(postgres_url)
    for each in pair:
        await each.open()
    yield pair
    for each in pair:
        await each.close()


@settings(max_examples=count(test=30, soak=1_000), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(changes=st.lists(CHANGES, min_size=1, max_size=6), known=st.one_of(st.none(), st.integers(1, 12)))
async def test_both_stores_answer_alike(both: tuple[Store, Store], changes: list[Change], known: int | None) -> None:
    key = UserKey("default", f"user {next(_users)}")
    left, right = (store.user(key) for store in both)
    versions: dict[str, int] = {}
    for change in changes:
        wanted = numbered(change, versions)
        assert await put(left, wanted) == await put(right, wanted)
    asked = queries(known)
    ours, theirs = await left.read(*asked), await right.read(*asked)
    for query in asked:
        assert theirs[query] == ours[query], query
