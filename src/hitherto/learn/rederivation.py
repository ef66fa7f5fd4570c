"""What background work makes a second time under the same id. Pure.

Ids are derived from what a record rests on, so a turn that is read again, after a revision, a forgetting or an import,
names what it made before. Of that, live records stay as they are; ended ones come back as their next version. The reader's
cursor lists the turns to read again.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TypeVar

from hitherto.store.protocol import AGAIN, Cursor, RecordsById, Row
from hitherto.types import Json, Record

N = TypeVar("N", bound=Record)


def before(ids: Iterable[str]) -> RecordsById:
    """Asks for all versions that were ever written under these ids and not forgotten."""
    return RecordsById(ids=tuple(dict.fromkeys(ids)), history=True)


def newest(versions: Sequence[Row]) -> Mapping[str, Row]:
    """The last version of each record, ended or not."""
    return {row.id: row for row in versions}


def stands(record: Record, earlier: Mapping[str, Row]) -> bool:
    """Whether such a record exists and was not ended."""
    return record.id in earlier and earlier[record.id].retired is None


def following(record: N, earlier: Mapping[str, Row]) -> N:
    """A record that was made again, as the version after the last one; a record that is already a later version is left as
    it is."""
    if record.version or record.id not in earlier:
        return record
    return replace(record, version=earlier[record.id].version)


NAME = "extract"
"""The step that reads turns."""
BACK = "back"
"""In its cursor's body: the ids that may return from the turns that it lists to be read again."""


def reading_again(cursor: Cursor, *, turns: Iterable[str], back: Iterable[str]) -> Cursor:
    """The cursor with turns to read again, because what rested on them and on something forgotten is gone."""
    more = {AGAIN: [*listed(cursor, AGAIN), *turns], BACK: [*listed(cursor, BACK), *back]}
    return replace(cursor, body={**cursor.body, **{name: list(dict.fromkeys(ids)) for name, ids in more.items()}})


def listed(cursor: Cursor, name: str) -> list[Json]:
    """The entries under this name in a cursor's body."""
    found = cursor.body.get(name)
    return found if isinstance(found, list) else []
