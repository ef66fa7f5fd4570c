"""Lists of turns and records, read in one query. None as a persona or lane means all of them."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from typing import Final, TypeVar, get_args

from hitherto.clock import bound
from hitherto.errors import InvalidInput
from hitherto.ingest import validation as validate
from hitherto.store import records as nouns
from hitherto.store.protocol import (
    ANY,
    Notes,
    RecordList,
    RecordsByEntity,
    RecordsById,
    Scope,
    SnapshotList,
    SnapshotsById,
    StoredSnapshot,
    TurnList,
    TurnsById,
    UserStore,
    Window,
)
from hitherto.types import Loop, LoopStatus, Memory, Record, Status, StoredTurn

N = TypeVar("N", bound=Record)

Place = tuple[datetime, int]
"""A record's place in a list: its `at` and `seq`."""

_STATUSES: Final[dict[type[Record], tuple[str, ...]]] = {Memory: get_args(Status), Loop: get_args(LoopStatus)}
"""What a status may be, for the records that are listed by it."""

ACCESSED: Final = "accessed:"
"""Prefix of the notes that say when a memory was last given to a model."""
LISTED = 1_000
"""How many rows a list returns by default."""


def everything_or(value: str | None) -> Scope:
    """In lists and searches, None means all."""
    return ANY if value is None else value


async def turns(
    store: UserStore,
    *,
    ids: Sequence[str] | None = None,
    persona: str | None = None,
    lane: str | None = None,
    session: str | None = None,
    since: datetime | None = None,
    until: datetime | None = None,
    after: int = 0,
    limit: int = LISTED,
    known: int | None = None,
    before: int | None = None,
) -> list[StoredTurn]:
    """Turns in conversation order."""
    whose, where = everything_or(persona), everything_or(lane)
    query: TurnsById | Window | TurnList
    if ids is not None:
        query = TurnsById(ids=tuple(ids), known=known)
    elif before is not None:
        if session is not None or since is not None or until is not None or after:
            raise InvalidInput("before= gives the newest turns; it combines with persona, lane, limit and known only")
        query = Window(before=before, limit=limit, persona=whose, lane=where, known=known)
    else:
        query = TurnList(
            after=after,
            limit=limit,
            session=session,
            since=since and bound(since, name="since"),
            until=until and bound(until, name="until"),
            persona=whose,
            lane=where,
            known=known,
        )
    return list((await store.read(query))[query])


async def records(
    store: UserStore,
    noun: type[N],
    *,
    persona: str | None = None,
    status: str | None = None,
    entity: str | None = None,
    limit: int = LISTED,
    after: Place | None = None,
    known: int | None = None,
    shared: bool = False,
) -> list[N]:
    """Records of one kind, newest first; `shared` adds those of no persona to a persona's own."""
    statuses = (validate.one_of(status, _STATUSES[noun], what="status"),) if status else ()
    query: RecordsByEntity | RecordList
    if entity:
        query = RecordsByEntity(
            noun=noun.noun,
            refs=(entity,),
            persona=everything_or(persona),
            shared=shared,
            statuses=statuses,
            limit=limit,
            known=known,
        )
    else:
        query = RecordList(
            noun=noun.noun,
            persona=everything_or(persona),
            shared=shared,
            statuses=statuses,
            limit=limit,
            after=after,
            known=known,
        )
    return list(nouns.records((await store.read(query))[query], noun))


async def with_access(store: UserStore, found: Sequence[Memory]) -> list[Memory]:
    """The memories with the times at which an answer last rested on them, which are kept beside the log."""
    if not found:
        return []
    query = Notes(names=tuple(ACCESSED + memory.id for memory in found))
    times = {note.name: datetime.fromisoformat(note.body) for note in (await store.read(query))[query]}
    return [replace(memory, accessed_at=times.get(ACCESSED + memory.id)) for memory in found]


async def versions(store: UserStore, id: str) -> list[Record]:
    """Every version of a record, oldest first."""
    query = RecordsById(ids=(id,), history=True)
    return [nouns.record(row) for row in (await store.read(query))[query]]


async def snapshots(
    store: UserStore, *, ids: Sequence[str] | None, limit: int, before: datetime | None
) -> list[StoredSnapshot]:
    """The newest snapshots, newest first, or those with these ids."""
    query: SnapshotList | SnapshotsById = (
        SnapshotList(limit=limit, before=before and bound(before, name="before"))
        if ids is None
        else SnapshotsById(ids=tuple(ids))
    )
    return list((await store.read(query))[query])
