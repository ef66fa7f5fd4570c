"""Forgetting, the only operation that removes anything. What is named goes, with everything that rests on it, in one
transaction.

A turn takes everything that rests on it along (`resting`), in all versions. It goes from snapshots (a replay then shows
where something was forgotten, never what), from cached prompts, and from the errors that steps noted. Work in progress is
fenced off, so that no step writes back what it read before. Summaries are rebuilt from what is left, and what other turns
state themselves is learnt again from those. The receipt contains counts and hashes, and says nothing about the content.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from datetime import datetime
from functools import partial
from typing import Final, Literal
from unicodedata import normalize

from hitherto import ids as keys
from hitherto.assemble import snapshot
from hitherto.clock import micros
from hitherto.errors import InvalidInput, NotFound
from hitherto.ids import derived_id, erased_name
from hitherto.ingest.record import Indexer
from hitherto.ingest.validation import optional_name
from hitherto.learn import rederivation
from hitherto.learn.people import follow
from hitherto.privacy.cascade import STAYS, Fall, fall, told
from hitherto.privacy.ledger import Forgotten
from hitherto.store import records as nouns
from hitherto.store.protocol import (
    ANY,
    Answers,
    Blobs,
    Change,
    CurrentLease,
    Cursor,
    Cursors,
    Erasure,
    Lease,
    Log,
    LogEntry,
    Notes,
    Query,
    RecordList,
    RecordsByEntity,
    RecordsById,
    RecordsBySource,
    Row,
    SnapshotList,
    StoredSnapshot,
    TurnList,
    TurnsById,
    UserStore,
)
from hitherto.text.names import entity_ref, slug
from hitherto.types import Entity, Memory, Origin, Record, RecordKind, Session, StoredTurn, Summary

BATCH = 5_000
ALL = 1_000_000
Deed = Literal["forget", "restore", "retain"]
"""Why something is removed, as the audit log calls it."""
EVERYTHING = "everything"
"""What the receipt for a whole user says was forgotten."""
HOLDER = "forget"
"""Who holds the lease that fences off running work."""
_GAP: Final = re.compile(r"[\s_\-‐‑‒–—]+")
"""What may stand between the words of a name."""
_WORD: Final = re.compile(r"[^\W_]+")
_DATE: Final = re.compile(r"\d{1,2}|(?:19|20)\d\d")
"""Numbers that dates are written with."""
_UNSPACED: Final = re.compile("[\u0e00-\u0eff\u3040-\u30ff\u3400-\u9fff]")
"""A letter of a script that is written without spaces: Thai, Lao, Japanese, Chinese."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """Where turns came from; None in a field means any."""

    origin: Origin | None = None
    conversation: str | None = None
    speaker: str | None = None

    @classmethod
    def of(cls, *, origin: Origin | None, conversation: str | None, speaker: str | None) -> "Source | None":
        """The source that is named; None if no part of it is, so that an empty source does not mean everything."""
        named = cls(origin=origin, conversation=conversation, speaker=speaker)
        return None if named == cls() else named

    def gave(self, turn: StoredTurn) -> bool:
        asked = {name: getattr(self, name) for name in ("origin", "conversation", "speaker")}
        return all(value is None or getattr(turn, name) == value for name, value in asked.items())


@dataclass(frozen=True, slots=True, kw_only=True)
class What:
    """What to forget: exactly one of these."""

    turn: str | None = None
    memory: str | None = None
    entity: str | None = None
    lane: str | None = None
    persona: str | None = None
    before: datetime | None = None
    source: Source | None = None
    everything: bool = False

    @property
    def named(self) -> str:
        names = [name for name in self.__slots__ if getattr(self, name) not in (None, False)]
        if len(names) != 1:
            raise InvalidInput(
                "name exactly one thing to forget: turn=, memory=, entity=, lane=, persona=, before=, a source"
                " (origin=, conversation=, speaker=) or everything=True"
            )
        return names[0]

    def check(self) -> None:
        if self.named in ("turn", "memory", "entity", "lane", "persona"):
            optional_name(getattr(self, self.named), what=self.named)


@dataclass(frozen=True, slots=True, kw_only=True)
class Receipt:
    """What was forgotten, in numbers. `hashes` are those of the ids as the log keeps them, never of the content."""

    what: str
    at: datetime
    turns: int = 0
    records: dict[str, int] = field(default_factory=dict[str, int])
    snapshots: int = 0
    links: int = 0
    hashes: tuple[str, ...] = ()
    dry_run: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Named:
    """What a request names: turns, records that rest on no turn, and what no snapshot may say. Records that are only
    `touched` go as well, and what the turns they rest on state is learnt again."""

    turns: tuple[StoredTurn, ...] = ()
    records: tuple[Record, ...] = ()
    touched: tuple[Record, ...] = ()
    says: Callable[[str], bool] | None = None
    context: Callable[[StoredSnapshot], bool] | None = None
    """Which snapshots go as a whole, with messages that were asked but never recorded."""


async def forget(store: UserStore, what: What, *, indexer: Indexer, now: datetime, dry_run: bool = False) -> Receipt:
    """Forgets what is named and what rests on it, durably on return; with `dry_run` it only counts."""
    what.check()
    if what.everything:
        return await _wipe(store, now=now, dry_run=dry_run)
    named = await _with_echoes(store, await _named(store, what))
    if not (named.turns or named.records or named.touched or await _taken(store, named)):
        raise NotFound("there is nothing of this user to forget by that name")
    return await forget_named(store, named, what=what.named, indexer=indexer, now=now, dry_run=dry_run)


async def forget_named(
    store: UserStore, named: Named, *, what: str, indexer: Indexer, now: datetime, dry_run: bool = False
) -> Receipt:
    turns = named.turns
    ids = tuple(dict.fromkeys(turn.id for turn in turns))
    resting = RecordsBySource(turns=ids, history=True)
    live = tuple(RecordList(noun=noun, limit=ALL) for noun in nouns.NOUNS)
    cursors, cached, leased = Cursors(), Notes(prefix=""), CurrentLease()
    taken = SnapshotList(limit=ALL)
    sessions = _sessions(turns)
    told = RecordsById(ids=tuple(derived_id("episode", name) for name in sessions), history=True)
    shown = await _showing(store, named.says)
    once = await _naming(store, named, resting)
    receipt: Receipt | None = None

    def decide(answers: Answers) -> Change:
        nonlocal receipt
        remembered = [record for query in live for record in nouns.all_records(answers[query])]
        fallen = (*nouns.all_records((*answers[resting], *answers[told])), *named.touched)
        lost = fall(turns, named.records, fallen, remembered, once=once)
        emptied = {name for name, query in sessions.items() if not _others(answers[query], ids)}
        gone = {*lost.gone, *emptied}
        loose = {*shown, *snapshot.message_names(turn.text for turn in turns)}
        whole = {s.id: snapshot.blob_names(s) for s in answers[taken] if named.context and named.context(s)}
        left = {s.id: (s, snapshot.blob_names(s)) for s in answers[taken] if s.id not in whole}
        touched = {
            name: blobs for name, (s, _) in left.items() if (blobs := snapshot.blobs_of(s, {*ids, *gone}, loose))
        }
        alone = {name for names in whole.values() for name in names} - {
            name for _, names in left.values() for name in names
        }
        beside = (*whole, *(name for name, (_, names) in left.items() if not loose.isdisjoint(names)))
        receipt = receipt_of(
            what, ids, lost.gone.values(), len(whole) + len(touched), beside=beside, now=now, dry_run=dry_run
        )
        if dry_run:
            return Change()
        held = [r for r in remembered if isinstance(r, Session) and r.id in sessions and r.id not in gone]
        return Change(
            erase=Erasure(
                turns=ids,
                records=tuple(sorted(gone)),
                snapshots=tuple(whole),
                blobs=tuple(sorted({*alone, *(name for blobs in touched.values() for name in blobs)})),
                notes=tuple(note.name for note in answers[cached] if tells(note.name, {*ids, *gone})),
            ),
            retired_at=now,
            records=(
                *(nouns.draft(session, now=now) for session in _reopened(held)),
                *(nouns.indexed(memory, index=indexer, now=now) for memory in lost.rewritten),
            ),
            snapshots=tuple(s for one, _ in left.values() if (s := snapshot.unnamed(one, {*ids, *gone}))),
            cursors=_moved(answers[cursors], lost),
            lease=_fence(answers[leased], now=now),
        )

    queries: tuple[Query[object], ...] = (resting, told, *live, cursors, cached, leased, taken, *sessions.values())
    await store.write(decide, *queries)
    assert receipt is not None, "write calls the decision or raises"
    return receipt


async def life(store: UserStore) -> str:
    """A name for the user's present log, from its first remaining entry. What came before that was forgotten on its own, so
    a backup that lacks the entry contains nothing of this life that may stay."""
    first = Log(limit=1)
    return "".join(map(_life_of, (await store.read(first))[first]))


def _life_of(entry: LogEntry) -> str:
    return erased_name(f"{entry.id} {micros(entry.at)}")


async def reapply(store: UserStore, lines: Sequence[Forgotten], *, indexer: Indexer, now: datetime) -> Receipt | None:
    """Repeats earlier forgetting in a memory restored from a backup. What was written after that moment stays: the log
    decides if it knows of the erasure or belongs to another life, the clock if a line names no life. None: nothing to do."""
    if not lines:
        return None
    log = await _log(store)
    turns = [entry.turn for entry in log if entry.turn is not None]
    records = [record for noun in nouns.NOUNS for record in await all_records(store, noun)]
    lives = {line.life for line in lines if line.life}
    ends = [line.at for line in lines if not line.hashes and not line.life]
    if (lives and any(_life_of(entry) in lives for entry in log)) or (
        ends and turns and all(turn.recorded_at <= max(ends) for turn in turns)
    ):
        return await _wipe(store, now=now, dry_run=False)
    erased = {entry.id for entry in log if entry.op == "erase"}
    ended = max((place for place, line in enumerate(lines) if not line.hashes), default=-1)
    since = frozenset[str]().union(*(line.hashes for line in lines[ended + 1 :])) - erased
    named_then = [(line.at, frozenset(line.hashes)) for line in lines]

    def was_forgotten(name: str, recorded_at: datetime | None) -> bool:
        known = erased_name(name)
        return known in since or any(
            recorded_at is not None and recorded_at <= at and known in names for at, names in named_then
        )

    gone = tuple(turn for turn in turns if was_forgotten(turn.id, turn.recorded_at))
    ids = {turn.id for turn in gone}
    alone = [r for r in records if was_forgotten(r.id, r.recorded_at) and not ids.intersection(r.sources)]
    named = Named(turns=gone, records=tuple(alone), context=lambda taken: was_forgotten(taken.id, taken.at))
    named = await _with_echoes(store, named)
    if not gone and not alone and not await _taken(store, named):
        return None
    return await forget_named(store, named, what="again", indexer=indexer, now=now)


async def _wipe(store: UserStore, *, now: datetime, dry_run: bool) -> Receipt:
    turns = await all_turns(store, TurnList(limit=BATCH))
    records = [record for noun in nouns.NOUNS for record in await all_records(store, noun)]
    taken = SnapshotList(limit=ALL)
    snapshots = len((await store.read(taken))[taken])
    if not dry_run:
        await store.wipe()
    return receipt_of(EVERYTHING, [turn.id for turn in turns], records, snapshots, now=now, dry_run=dry_run)


# --- what is named ---------------------------------------------------------------------------------------------------


async def _named(store: UserStore, what: What) -> Named:
    """Records that rest on turns are found through them; only records that rest on none are named here."""
    if what.turn is not None:
        query = TurnsById(ids=(what.turn,), history=True)
        return Named(turns=(await store.read(query))[query])
    if what.memory is not None:
        return Named(records=tuple(await _records(store, RecordsById(ids=(what.memory,), history=True)))[-1:])
    if what.entity is not None:
        return await _about(store, what.entity)
    records = [r for noun in nouns.NOUNS for r in await all_records(store, noun)]
    if what.before is not None:
        turns = await all_turns(store, TurnList(until=what.before, limit=BATCH))
        lasting = ("state", "session", "progress", "profile", "entity")
        old = [r for r in records if not r.sources and r.at < what.before and r.noun not in lasting]
        return Named(turns=tuple(turns), records=tuple(old), context=partial(_older, before=what.before))
    if what.source is not None:
        given = [turn for turn in await all_turns(store, TurnList(limit=BATCH)) if what.source.gave(turn)]
        alone = what.source == Source(origin=what.source.origin)
        by_hand = [
            r for r in records if alone and not r.sources and (r.origin, r.noun) == (what.source.origin, "memory")
        ]
        return Named(turns=tuple(given), records=tuple(by_hand))
    if what.lane is not None:
        query, place = TurnList(lane=what.lane, limit=BATCH), {"lane": what.lane}
    else:
        query, place = TurnList(persona=what.persona, limit=BATCH), {"persona": what.persona}
    turns = await all_turns(store, query)
    ids = {turn.id for turn in turns}
    alone = [r for r in records if place.items() <= {"lane": r.lane, "persona": r.persona}.items()]
    unsaid = tuple(r for r in alone if ids.isdisjoint(r.sources))
    return Named(turns=tuple(turns), records=unsaid, context=partial(snapshot.belongs, **place))


async def _with_echoes(store: UserStore, named: Named) -> Named:
    """What is named, and what was learnt in words that these turns alone have said: "Rita plays the cello" rests on "she plays
    the cello", and takes her name from the line before."""
    ids = {turn.id for turn in named.turns}
    log = await _log(store) if ids else []
    said = [entry.turn for entry in log if entry.turn is not None]
    alone = _vocabulary(t for t in said if t.id in ids) - _vocabulary(t for t in said if t.id not in ids)
    rows = [entry.row for entry in log if entry.row is not None and entry.row.noun not in STAYS]
    records = nouns.all_records([row for row in rows if row.sources]) if alone else []
    learnt = [record for record in records if not (isinstance(record, Memory) and record.source == "application")]
    echoing = {record.id for record in learnt if any(not alone.isdisjoint(_pieces(text)) for text in told(record))}
    touched = {row.id: nouns.record(row) for row in rows if row.id in echoing}
    return replace(named, touched=(*named.touched, *touched.values()))


def _vocabulary(turns: Iterable[StoredTurn]) -> set[str]:
    return {piece for turn in turns for piece in _pieces(_words(turn))}


def _pieces(text: str) -> Iterator[str]:
    """The words of a text as they are compared; of scripts without spaces, their letters two by two."""
    for word in _WORD.findall(normalize("NFKC", text).casefold()):
        if len(word) < 3 or _UNSPACED.match(word) is None:
            if _DATE.fullmatch(word) is None:
                yield word
        else:
            yield from (word[place : place + 2] for place in range(len(word) - 1))


def _older(taken: StoredSnapshot, *, before: datetime) -> bool:
    return taken.at < before


async def _taken(store: UserStore, named: Named) -> bool:
    """Whether a snapshot goes as a whole."""
    taken = SnapshotList(limit=ALL)
    return named.context is not None and any(map(named.context, (await store.read(taken))[taken]))


async def _about(store: UserStore, name: str) -> Named:
    """Everything about an entity, under whatever name it was merged: its records, the turns they came from, and whatever
    says one of its names in any version: turns with their parts, and records, whatever they rest on."""
    entities = nouns.records(await _rows(store, RecordList(noun="entity", limit=ALL)), Entity)
    ref, known = _meant(name, entities)
    refs = tuple(dict.fromkeys([ref, *(e.key for e in known if e.key)]))
    records = [
        record
        for noun in nouns.NOUNS
        for record in await _records(store, RecordsByEntity(noun=noun, refs=refs, persona=ANY, limit=ALL))
    ]
    sources = {source for record in records for source in record.sources}
    says = _saying({ref.partition(":")[2], *(name for e in known for name in (e.label, *e.aliases))})
    log = await _log(store)
    spoken = {entry.turn.id for entry in log if entry.turn is not None and says(_words(entry.turn))}
    turns = tuple(entry.turn for entry in log if entry.turn is not None and entry.turn.id in sources | spoken)
    written = [entry.row for entry in log if entry.row is not None and entry.row.noun not in STAYS]
    saying = {row.id for row in written if says(f"{row.text}\n{row.key}\n{row.body}")}
    touched = {row.id: nouns.record(row) for row in written if row.id in saying}
    return Named(turns=turns, records=(*records, *known), touched=tuple(touched.values()), says=says)


def _meant(name: str, entities: Sequence[Entity]) -> tuple[str, list[Entity]]:
    """The reference of the entity with this reference, id or name, and everything known about it, including merged ones."""
    by_ref = {entity.key or entity_ref(entity.type, entity.label): entity for entity in entities}
    called = {follow(ref, by_ref) for ref, entity in by_ref.items() if entity.id == name or _is_called(entity, name)}
    ref = min(called) if len(called) == 1 else name
    kind, _, label = ref.partition(":")
    if not slug(label):
        several = f"; there are {', '.join(sorted(called))}" if called else ""
        raise InvalidInput(
            f"entity={name!r} is neither a reference, such as 'person:john', nor the id or name of one entity{several}"
        )
    ref = follow(f"{kind.lower()}:{slug(label)}", by_ref)
    return ref, [entity for other, entity in by_ref.items() if follow(other, by_ref) == ref]


def _is_called(entity: Entity, name: str) -> bool:
    return slug(name) != "" and slug(name) in {slug(each) for each in (entity.label, *entity.aliases)}


def _saying(names: Iterable[str]) -> Callable[[str], bool]:
    """Whether a text contains one of these names as separate words, however their letters and gaps are written."""
    forms = {_GAP.pattern.join(map(re.escape, filter(None, _GAP.split(normalize("NFKC", name))))) for name in names} - {
        ""
    }
    pattern = re.compile(r"(?<![^\W_])(?:" + "|".join(sorted(forms)) + r")(?![^\W_])", re.IGNORECASE)
    return lambda text: pattern.search(normalize("NFKC", text)) is not None


def _words(turn: StoredTurn) -> str:
    """What a turn says, including its parts; some models write the letters of arguments as code points."""
    parts = "\n".join(str(value) for part in turn.parts for value in asdict(part).values())
    return f"{turn.text}\n" + re.sub(r"\\u([0-9a-fA-F]{4})", lambda found: chr(int(found[1], 16)), parts)


async def _rows(store: UserStore, query: RecordList) -> tuple[Row, ...]:
    return (await store.read(query))[query]


async def _records(store: UserStore, query: RecordsById | RecordList | RecordsByEntity) -> list[Record]:
    return nouns.all_records((await store.read(query))[query])


async def all_records(store: UserStore, noun: RecordKind) -> list[Record]:
    return await _records(store, RecordList(noun=noun, limit=ALL))


async def all_turns(store: UserStore, query: TurnList) -> list[StoredTurn]:
    found: list[StoredTurn] = []
    while turns := (await store.read(query))[query]:
        found += turns
        query = replace(query, after=turns[-1].place)
    return found


async def _log(store: UserStore) -> list[LogEntry]:
    """Every version of everything, because retired ones are remembered until they are forgotten."""
    found: list[LogEntry] = []
    query = Log(limit=BATCH)
    while entries := (await store.read(query))[query]:
        found += entries
        query = replace(query, after=entries[-1].seq)
    return found


async def _naming(store: UserStore, named: Named, resting: RecordsBySource) -> list[Record]:
    """Versions, including old ones, of memories and entities, if an entity goes that they may name."""
    known = (*named.records, *named.touched, *nouns.all_records((await store.read(resting))[resting]))
    if not any(isinstance(record, Entity) for record in known):
        return []
    rows = [entry.row for entry in await _log(store) if entry.row is not None]
    return nouns.all_records([row for row in rows if row.noun in ("memory", "entity")])


async def _showing(store: UserStore, says: Callable[[str], bool] | None) -> tuple[str, ...]:
    """The texts of snapshots that say this, whatever they came from."""
    if says is None:
        return ()
    taken = SnapshotList(limit=ALL)
    names = {name for one in (await store.read(taken))[taken] for name in snapshot.blob_names(one)}
    query = Blobs(hashes=tuple(sorted(names)))
    return tuple(name for name, text in (await store.read(query))[query].items() if says(text))


# --- what follows ------------------------------------------------------------------------------------------------------


def _sessions(turns: Iterable[StoredTurn]) -> dict[str, TurnList]:
    """For each session concerned, one turn more than it would lose: enough to see whether any remains."""
    counts: dict[str, int] = {}
    for turn in turns:
        counts[turn.session] = counts.get(turn.session, 0) + 1
    return {name: TurnList(session=name, limit=count + 1) for name, count in counts.items()}


def _others(turns: Sequence[StoredTurn], ids: Sequence[str]) -> bool:
    return any(turn.id not in ids for turn in turns)


def _reopened(sessions: Iterable[Session]) -> list[Session]:
    """Sessions hold times and no words; one whose summary went is reopened, so that it is summarised again."""
    return [
        replace(session, status="open", ended_at=None, last_activity=None)
        for session in sessions
        if session.status == "closed"
    ]


def tells(name: str, ids: set[str]) -> bool:
    """Notes that may contain words: cached prompts and answers, and what is kept about a thing that goes."""
    return name.startswith(("voice:", "idempotency:")) or name.partition(":")[2] in ids


def _moved(cursors: Sequence[Cursor], lost: Fall) -> tuple[Cursor, ...]:
    """Steps whose summaries went start over; the learning step reads some turns again; noted errors go."""
    steps = {_step(record) for record in lost.gone.values() if isinstance(record, Summary)}
    known = {cursor.step: cursor for cursor in cursors}
    moved = {name: Cursor(step=name) if name in steps else replace(c, error=None) for name, c in known.items()}
    if lost.again and rederivation.NAME in known:
        moved[rederivation.NAME] = rederivation.reading_again(
            moved[rederivation.NAME], turns=lost.again, back=lost.back
        )
    return tuple(moved.values())


def _step(summary: Summary) -> str:
    match summary.kind:
        case "rolling":
            return keys.rolling(summary.persona)
        case "daily":
            return f"daily:{summary.persona or ''}"
        case "lane" | "chat":
            return "lanes"
        case _:
            return summary.kind


def _fence(current: Lease | None, *, now: datetime) -> Lease | None:
    """Whoever is working on this user has read what is going, so their result will be refused."""
    return None if current is None else Lease(holder=HOLDER, fence=current.fence + 1, expires=now)


def receipt_of(
    what: str,
    turns: Sequence[str],
    records: Iterable[Record],
    snapshots: int,
    *,
    beside: Iterable[str] = (),
    now: datetime,
    dry_run: bool,
) -> Receipt:
    """`beside` are ids of snapshots with content that was never recorded, by which a restored memory recognises them."""
    nouns_of: Mapping[str, RecordKind] = {record.id: record.noun for record in records}
    counts: dict[str, int] = {}
    for noun in nouns_of.values():
        counts[noun] = counts.get(noun, 0) + 1
    return Receipt(
        what=what,
        at=now,
        turns=len(turns),
        records=dict(sorted(counts.items())),
        snapshots=snapshots,
        hashes=tuple(erased_name(identity) for identity in (*turns, *nouns_of, *beside)),
        dry_run=dry_run,
    )
