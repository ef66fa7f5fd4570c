"""Nouns of rows: what was written comes back, field by field, also from rows that are older than a field."""

import json
from dataclasses import asdict, fields, replace
from datetime import UTC, datetime, timedelta

import pytest

from hitherto.store import records as nouns
from hitherto.store.protocol import Row, RowDraft
from hitherto.types import Loop, Memory, Profile, Record, State, Summary, Support

AT = datetime(2026, 3, 2, 9, 30, 0, 125, tzinfo=UTC)
VALUES: tuple[Record, ...] = (
    Memory(id="m", at=AT, text="has a dog", importance=3, pinned=True, accessed_at=AT, valid_to=AT + timedelta(days=1)),
    Summary(id="s", at=AT, text="a day", sentences=(Support(text="a day", sources=("t1", "t2")),)),
    Loop(id="l", at=AT, text="call", due=AT, persona="nikita", lane="work", sources=("t1",), entities=("person:jo",)),
    State(id="st", at=AT, persona="nikita"),
)


def _row(draft: RowDraft) -> Row:
    written = {name: value for name, value in asdict(draft).items() if name not in ("stems", "vector")}
    return Row(**written, seq=7, retired=9, retired_at=AT)


@pytest.mark.parametrize("value", VALUES, ids=lambda value: value.noun)
def test_what_was_written_comes_back(value: Record) -> None:
    draft = nouns.draft(value, now=AT)
    made = nouns.record(_row(draft))
    assert type(made) is type(value)
    assert made == replace(value, seq=7, version=1, recorded_at=AT, retired=9, retired_at=AT)


@pytest.mark.parametrize("cls", nouns.NOUNS.values(), ids=nouns.NOUNS)
def test_a_field_that_is_newer_than_a_row_has_its_default(cls: type[Record]) -> None:
    row = replace(_row(nouns.draft(cls(id="a", at=AT), now=AT)), body=json.dumps({"a field": "nobody knows"}))
    made = nouns.record(row)
    assert made == replace(cls(id="a", at=AT), seq=7, version=1, recorded_at=AT, retired=9, retired_at=AT)
    assert all(hasattr(made, field.name) for field in fields(cls))


def test_what_a_caller_changes_in_a_default_is_nobody_elses() -> None:
    row = replace(_row(nouns.draft(Profile(id="a", at=AT), now=AT)), body="{}")
    one, other = nouns.record(row), nouns.record(row)
    assert isinstance(one, Profile)
    assert isinstance(other, Profile)
    assert one.extra == other.extra == {}
    assert one.extra is not other.extra


def test_marks_are_the_stores_own() -> None:
    draft = nouns.draft(VALUES[0], now=AT)
    assert set(draft.entities) >= {nouns.PINNED, nouns.CORE}
    assert nouns.record(_row(draft)).entities == ()
