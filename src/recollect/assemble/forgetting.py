"""Forgetting: the one thing that removes. What is named goes, and everything that rests on it, in one transaction.

A turn takes its memories, loops, episodes, thoughts and every summary that drew on it with it, in all their versions; it goes
from snapshots (a replay then shows where something was forgotten, never what), from cached prompts, and from the errors
that steps noted. Summaries are made again from what is left, because the work starts over where the forgotten began. The
receipt counts and hashes, and says nothing of the content.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

from recollect.assemble import snapshot
from recollect.errors import InvalidInput, NotFound
from recollect.ids import content_hash
from recollect.ingest.validate import optional_name
from recollect.store import nouns
from recollect.store.base import (
    ANY,
    Answers,
    Change,
    Cursor,
    Cursors,
    Erasure,
    Notes,
    RecordList,
    RecordsByEntity,
    RecordsById,
    RecordsBySource,
    Row,
    SnapshotList,
    TurnList,
    TurnsById,
    UserStore,
)
from recollect.types import Entity, Record, RecordKind, Session, StoredTurn

BATCH = 5_000
ALL = 1_000_000
AGAIN = frozenset({"rolling", "lanes", "spine", "daily"})
"""Steps whose summaries are made again when something they drew on is forgotten."""
EVERY: tuple[RecordKind, ...] = (
    "memory",
    "episode",
    "loop",
    "thought",
    "summary",
    "state",
    "session",
    "slot",
    "progress",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class What:
    """What to forget: exactly one of these."""

    turn: str | None = None
    memory: str | None = None
    entity: str | None = None
    lane: str | None = None
    persona: str | None = None
    before: datetime | None = None
    everything: bool = False

    def check(self) -> None:
        named = [name for name in self.__slots__ if getattr(self, name) not in (None, False)]
        if len(named) != 1:
            raise InvalidInput(
                "name exactly one thing to forget: turn=, memory=, entity=, lane=, persona=, before= or everything=True"
            )
        for name in ("turn", "memory", "entity", "lane", "persona"):
            optional_name(getattr(self, name), what=name)


@dataclass(frozen=True, slots=True, kw_only=True)
class Receipt:
    """What was forgotten, in numbers: `hashes` are those of the ids, to compare with, never of the content."""

    what: str
    at: datetime
    turns: int = 0
    records: dict[str, int] = field(default_factory=dict[str, int])
    snapshots: int = 0
    hashes: tuple[str, ...] = ()


async def forget(store: UserStore, what: What, *, now: datetime) -> Receipt:
    """Forgets what is named and what rests on it, durably on return."""
    what.check()
    if what.everything:
        return await _wipe(store, now=now)
    turns, records = await _named(store, what)
    if not turns and not records:
        raise NotFound("there is nothing of this user to forget by that name")
    resting = RecordsBySource(turns=tuple(turn.id for turn in turns), history=True)
    cursors, cached = Cursors(), Notes(prefix="")
    taken = SnapshotList(limit=ALL)
    held = RecordsById(ids=tuple(dict.fromkeys(turn.session for turn in turns)))
    receipt: Receipt | None = None

    def decide(answers: Answers) -> Change:
        nonlocal receipt
        gone = {record.id: record for record in (*records, *nouns.all_records(answers[resting]))}
        lost = {name: record for name, record in gone.items() if record.noun != "session"}
        ids = {*(turn.id for turn in turns), *lost}
        touched = {s.id: blobs for s in answers[taken] if (blobs := snapshot.blobs_of(s, ids))}
        receipt = _receipt(what, turns, tuple(lost.values()), touched, now=now)
        return Change(
            erase=Erasure(
                turns=tuple(turn.id for turn in turns),
                records=tuple(sorted(lost)),
                blobs=tuple(sorted({name for blobs in touched.values() for name in blobs})),
                notes=tuple(note.name for note in answers[cached] if _tells(note.name, ids)),
            ),
            retired_at=now,
            records=tuple(nouns.draft(s, now=now) for s in _reopened(answers[held], turns)),
            cursors=_started_over(answers[cursors], turns),
        )

    await store.write(decide, resting, cursors, cached, taken, held)
    assert receipt is not None, "write calls the decision or raises"
    return receipt


async def _wipe(store: UserStore, *, now: datetime) -> Receipt:
    turns = await _all_turns(store, TurnList(limit=BATCH))
    counts = {noun: len(await _all_records(store, noun)) for noun in EVERY}
    await store.wipe()
    return Receipt(
        what="everything",
        at=now,
        turns=len(turns),
        records={noun: count for noun, count in counts.items() if count},
        hashes=tuple(content_hash(turn.id) for turn in turns),
    )


async def _named(store: UserStore, what: What) -> tuple[list[StoredTurn], list[Record]]:
    """The turns and records that are named themselves; what rests on the turns comes on top."""
    if what.turn is not None:
        query = TurnsById(ids=(what.turn,), history=True)
        return list((await store.read(query))[query])[-1:], []
    if what.memory is not None:
        return [], await _records(store, RecordsById(ids=(what.memory,), history=True))
    if what.entity is not None:
        return await _about(store, what.entity)
    if what.before is not None:
        listed = TurnList(until=what.before, limit=BATCH)
        records = [r for noun in EVERY for r in await _all_records(store, noun) if r.at < what.before]
        return await _all_turns(store, listed), [r for r in records if r.noun not in ("state", "session", "progress")]
    if what.lane is not None:
        records = [r for noun in EVERY for r in await _all_records(store, noun) if r.lane == what.lane]
        return await _all_turns(store, TurnList(lane=what.lane, limit=BATCH)), records
    records = [r for noun in EVERY for r in await _all_records(store, noun) if r.persona == what.persona]
    return await _all_turns(store, TurnList(persona=what.persona, limit=BATCH)), records


async def _about(store: UserStore, ref: str) -> tuple[list[StoredTurn], list[Record]]:
    """Everything about an entity: its records, the turns they came from, and every turn that says its name."""
    entities = await _records(store, RecordList(noun="entity", limit=ALL))
    known = [e for e in entities if isinstance(e, Entity) and (e.key == ref or e.merged_into == ref)]
    refs = tuple(dict.fromkeys([ref, *(e.key for e in known if e.key)]))
    records = [
        record
        for noun in EVERY
        for record in await _records(store, RecordsByEntity(noun=noun, refs=refs, persona=ANY, limit=ALL))
    ]
    sources = {source for record in records for source in record.sources}
    names = {ref.partition(":")[2].replace("_", " ")}
    names |= {name for e in known for name in (e.label, *e.aliases) if name}
    spoken = re.compile(r"(?<!\w)(?:" + "|".join(map(re.escape, sorted(names))) + r")(?!\w)", re.IGNORECASE)
    turns = [
        turn
        for turn in await _all_turns(store, TurnList(limit=BATCH))
        if turn.id in sources or spoken.search(turn.text)
    ]
    return turns, [*records, *known]


async def _records(store: UserStore, query: RecordsById | RecordList | RecordsByEntity) -> list[Record]:
    return nouns.all_records((await store.read(query))[query])


async def _all_records(store: UserStore, noun: RecordKind) -> list[Record]:
    return await _records(store, RecordList(noun=noun, limit=ALL))


async def _all_turns(store: UserStore, query: TurnList) -> list[StoredTurn]:
    found: list[StoredTurn] = []
    while turns := (await store.read(query))[query]:
        found += turns
        query = replace(query, after=turns[-1].place)
    return found


def _reopened(sessions: Sequence[Row], turns: Sequence[StoredTurn]) -> list[Session]:
    """Sessions stay, they hold times and no words; one whose summary went is open again, so that it is made anew."""
    touched = {turn.session for turn in turns}
    return [
        replace(session, status="open", ended_at=None, last_activity=None)
        for session in nouns.records(tuple(sessions), Session)
        if session.id in touched and session.status == "closed"
    ]


def _tells(name: str, ids: set[str]) -> bool:
    """Notes that may hold words: cached prompts and answers, and what is kept about a thing that goes."""
    return name.startswith(("voice:", "idempotency:")) or name.partition(":")[2] in ids


def _started_over(cursors: Sequence[Cursor], turns: Sequence[StoredTurn]) -> tuple[Cursor, ...]:
    """Steps that summarise begin anew, from what is left; what any step noted about an error goes."""
    return tuple(
        Cursor(step=cursor.step) if turns and cursor.step.partition(":")[0] in AGAIN else replace(cursor, error=None)
        for cursor in cursors
    )


def _receipt(
    what: What,
    turns: Sequence[StoredTurn],
    records: Sequence[Record],
    touched: dict[str, tuple[str, ...]],
    *,
    now: datetime,
) -> Receipt:
    counts: dict[str, int] = {}
    for record in records:
        counts[record.noun] = counts.get(record.noun, 0) + 1
    named = next(name for name in what.__slots__ if getattr(what, name) not in (None, False))
    return Receipt(
        what=named,
        at=now,
        turns=len(turns),
        records=counts,
        snapshots=len(touched),
        hashes=tuple(content_hash(identity) for identity in (*(t.id for t in turns), *(r.id for r in records))),
    )
