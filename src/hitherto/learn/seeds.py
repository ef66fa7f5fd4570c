"""A profile that an application knows before the first message: its lines become memories marked as `seeded_profile`.

A line may be worded as the user would say it ("I live in Austin"), as a statement ("Lives in Austin"), or as a form ("home:
Austin"). Rules read it like a turn, so that it gets the same type, entities and key, and a later word of the user can end
it; what no rule reads is kept as it stands. A profile is older than anything the user said: it ends only what an earlier
profile had stated.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from hitherto.errors import InvalidInput
from hitherto.ids import derived_id
from hitherto.ingest.edit import Desk
from hitherto.learn import loops, rederivation
from hitherto.learn.decide import Noted, decide
from hitherto.learn.notes import FactNote, Line, Passage, PlainReader, Reading, Scene
from hitherto.learn.people import USER, Alike, Book
from hitherto.store import records as nouns
from hitherto.store.protocol import Answers, Change, Cursor, Cursors, Log, RecordList, RecordsById, Row, UserStore
from hitherto.types import Entity, Memory, Quote, Record, StoredTurn

MOST = 1_000
LONGEST = 500
KNOWN = 2_000
_FILLED_IN = re.compile(r"(?P<name>[A-Za-z][\w -]{0,30}?)\s*[:=]\s*(?P<value>\S.*)")
_SAID = {"home": "I live in {}", "city": "I live in {}", "location": "I live in {}", "employer": "I work at {}",
         "company": "I work at {}", "job": "I work as {}", "occupation": "I work as {}", "likes": "I like {}",
         "dislikes": "I don't like {}", "allergies": "I'm allergic to {}", "allergy": "I'm allergic to {}"}  # fmt: skip
_IRREGULAR = {"is": "am", "has": "have", "does": "do", "goes": "go"}


async def seed(desk: Desk, facts: Sequence[str], *, reader: PlainReader, zone: str, alike: Alike) -> list[Memory]:
    """Writes what is new in these lines and returns the memories that were written. Repeating the same lines writes nothing."""
    store, index, now = desk.store, desk.indexer, desk.now
    read = [await _read(line, reader=reader, zone=zone, now=now) for line in _lines(facts)]
    known = RecordList(noun="entity", limit=KNOWN)
    listed = RecordList(noun="memory", statuses=("ACTIVE", "QUARANTINED"), limit=KNOWN)
    ids = RecordsById(ids=tuple(_noted(one, note, ()).id for one in read for note in one.reading.facts))
    written: list[Memory] = []

    def decided(answers: Answers) -> Change:
        written.clear()
        held = {memory.id: memory for memory in nouns.records((*answers[listed], *answers[ids]), Memory)}
        entities = {entity.id: entity for entity in nouns.records(answers[known], Entity)}
        made: dict[str, Record] = {}
        for one in read:
            book = Book(entities.values(), scene=one.scene, turns=[one.turn], alike=alike, now=now)
            for person in one.reading.people:
                book.note(person)
            entities |= {entity.id: entity for entity in book.changed.values()}
            made |= {entity.id: replace(entity, sources=()) for entity in book.changed.values()}
            for note in one.reading.facts:
                refs = tuple(ref for name in note.about if (ref := book.named(name)))
                for memory in _new(_noted(one, note, refs), held, book=book):
                    held[memory.id] = memory
                    written.append(memory)
        return Change(records=tuple(nouns.indexed(each, index=index, now=now) for each in (*made.values(), *written)))

    await store.write(decided, known, listed, ids)
    return written


@dataclass(frozen=True, slots=True)
class _Read:
    """A line as an imported turn of the user's, and what reading it gave."""

    turn: StoredTurn
    scene: Scene
    reading: Reading


def _noted(one: _Read, note: FactNote, refs: tuple[str, ...], label: str = "") -> Noted:
    return Noted(note=note, turns=(one.turn,), refs=tuple(dict.fromkeys((*refs, USER))), label=label)


def _new(noted: Noted, held: dict[str, Memory], *, book: Book) -> Iterator[Memory]:
    """What a line adds: nothing if it is known, or if the user has said otherwise."""
    first = book.of(noted.refs[0])
    if first is not None:
        noted = replace(noted, label=first.label, entity_type=first.type)
    changed = decide([noted], tuple(held.values()), persona=None).memories.values()
    if any(one.id in held and held[one.id].source != "seeded_profile" for one in changed):
        return
    fresh = [one for one in changed if one.id not in held]
    if fresh:
        yield from (one for one in changed if one.id in held)
        seeded = (replace(one, source="seeded_profile", origin="import", sources=(), quotes=()) for one in fresh)
        yield from seeded


def _lines(facts: Sequence[str]) -> list[str]:
    lines = [" ".join(fact.split()).lstrip("-*• ") for fact in facts]
    lines = list(dict.fromkeys(line for line in lines if line))
    if len(lines) > MOST:
        raise InvalidInput(f"a profile has at most {MOST} lines; this one has {len(lines)}")
    long = next((line for line in lines if len(line) > LONGEST), None)
    if long is not None:
        raise InvalidInput(
            f"a line of a profile has at most {LONGEST} characters; this one has {len(long)}: {long[:40]!r}…"
        )
    return lines


async def _read(line: str, *, reader: PlainReader, zone: str, now: datetime) -> _Read:
    scene = Scene(user="the user", persona="the assistant", zone=zone, now=now)
    plain = _as_turn(line, line, now=now)
    readings: list[Reading] = []
    for said in _ways(line):
        turn = _as_turn(line, said, now=now)
        new = (Line(turn=turn, speaker=scene.user, text=said),)
        reading = await reader.read(Passage(scene=scene, before=(), new=new, characters=0))
        facts = tuple(_as_written(note, line) for note in reading.facts if note.subject == "user" and note.sure)
        if facts:
            return _Read(turn, scene, replace(reading, facts=facts))
        readings.append(reading)
    quote = Quote(turn=plain.id, words=line)
    as_it_stands = readings[0]
    about = tuple(dict.fromkeys(name for note in as_it_stands.facts for name in note.about))
    fact = FactNote(text=line, importance=2, quotes=(quote,), about=about)
    return _Read(plain, scene, Reading(facts=(fact,), people=as_it_stands.people))


def _as_written(note: FactNote, line: str) -> FactNote:
    """The note in the profile's own words: nobody has said them, on this day or on another."""
    words = note.quotes[0].words
    return replace(note, text=words if words in line else line)


def _ways(line: str) -> Iterator[str]:
    """The line as the user might have said it."""
    ended = line if line[-1] in ".!?" else f"{line}."
    yield ended
    filled = _FILLED_IN.fullmatch(ended)
    if filled is not None:
        name = filled["name"].strip().lower()
        yield _SAID.get(name, f"My {name} is {{}}").format(filled["value"])
        return
    first, _, rest = ended.partition(" ")
    verb = _IRREGULAR.get(first.lower()) or (first[:-1].lower() if first.endswith("s") else None)
    if verb and rest:
        yield f"I {verb} {rest}"
    yield f"I'm {ended[0].lower()}{ended[1:]}"


def _as_turn(line: str, said: str, *, now: datetime) -> StoredTurn:
    """What decisions are made on: an imported statement of the user's, under an id derived from its words."""
    return StoredTurn(
        seq=0, place=0, id=derived_id("seed", line), version=1, role="user", text=said, at=now, recorded_at=now, retired=None,
        persona=None, lane=None, conversation=None, speaker=None, reply_to=None, origin="import", parts=(), snapshot=None,
        session="", position=0, number=0, tokens=0, family="",
    )  # fmt: skip


# Where background work continues in a memory that was loaded.
#
# An export holds what was learnt, not how far the work had read. It had read every turn up to the last one that something
# learnt rests on, because turns are read in order; reading them again would close and end what was opened and corrected
# since, and ask a model to read a whole life once more.

PAGE = 1_000


async def resume(store: UserStore) -> None:
    """Sets the cursors of reading, unless work has begun on this memory."""
    turns: dict[str, tuple[int, int]] = {}
    sources: dict[str, tuple[str, ...]] = {}
    position = place = 0
    query = Log(limit=PAGE)
    while entries := (await store.read(query))[query]:
        for entry in entries:
            if entry.turn is not None:
                turns[entry.id] = (entry.seq, entry.turn.place)
            elif entry.row is not None and _was_learnt(entry.row):
                # A later version may be somebody's correction: it says nothing of the turns that were known before.
                for turn in set(entry.row.sources).difference(sources.get(entry.id, ())) & turns.keys():
                    position, place = max(position, turns[turn][0]), max(place, turns[turn][1])
                sources[entry.id] = entry.row.sources
        query = Log(after=entries[-1].seq, limit=PAGE)
    begun = Cursors()

    def decide(answers: Answers) -> Change:
        known = {cursor.step for cursor in answers[begun]}
        resumed = (Cursor(step=rederivation.NAME, position=position), Cursor(step=loops.NAME, position=place))
        return Change(cursors=tuple(cursor for cursor in resumed if cursor.position and cursor.step not in known))

    await store.write(decide, begun)


def _was_learnt(row: Row) -> bool:
    memory = nouns.record(row) if row.noun == "memory" else None
    return isinstance(memory, Memory) and memory.source == "shadow_extraction"
