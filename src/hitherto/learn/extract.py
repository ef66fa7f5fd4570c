"""The step that learns: it has new lines read and writes what becomes of the notes.

Lines are read in passages of one persona and session, all lanes together, with what is known beside them. Reading may take
seconds (a model), so it waits until it is worth it: enough was said and the talk has paused, so much waits, or the session has
ended, which the same question then sums up; small talk alone is passed over. What was noted is decided on under the user's
lock, where a turn that was forgotten or revised meanwhile no longer counts. A revised turn takes back what its old words
alone had stated.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta

from hitherto import ids as keys
from hitherto.ids import derived_id
from hitherto.learn import cost, rederivation, scene, summaries
from hitherto.learn.decide import Noted, corrected, decide, ended, in_confidence
from hitherto.learn.loops import Heard, settle, thoughts_of
from hitherto.learn.notes import FactNote, LoopNote, Passage, Read, Reading, overdue
from hitherto.learn.people import USER, Book
from hitherto.learn.rederivation import BACK, NAME, listed
from hitherto.learn.services import Closed, Services
from hitherto.learn.verify import Ground, folded
from hitherto.store import records as nouns
from hitherto.store.protocol import (
    AGAIN,
    Answers,
    Change,
    Cursor,
    Erased,
    Log,
    RecordList,
    RecordsById,
    RecordsBySource,
    RowDraft,
    TurnsById,
)
from hitherto.text.names import slug
from hitherto.types import Entity, Episode, Json, Loop, Memory, Quote, Record, StoredTurn
from hitherto.work.cursors import SUCCEEDED, Effect
from hitherto.work.overview import Overview
from hitherto.work.worker import Job, Step

REVISED = "revised"
BATCH = 40
"""How many turns are read at once, at most."""
LONGEST = 16_000
"""Characters of turns that are read at once; one longer turn is read by itself."""
PAGE = 400
"""How many entries of the log are looked through at once for turns."""
WAITING, GOING_ON, MOST_WAITING = 4, 8, 24
"""So many unread messages are worth a question once the talk has paused: in a session of which nothing was read yet, and in
one that goes on; so many are without a pause."""
LOOKED_AT = 400
"""How many of the newest memories a note is held against."""
ENTITIES = 2_000

_ENDS = frozenset(("changed", "over", "done", "missed", "dropped"))
READ = "read"
"""In the cursor's body: how many messages of each persona have been read."""


# --- when ----------------------------------------------------------------------------------------------------------------


def due(view: Overview, services: Services) -> Mapping[str, datetime]:
    cursor = view.cursors.get(NAME, Cursor(step=NAME))
    if cursor.body.get(AGAIN):
        return {NAME: view.now}
    if view.newest is None or view.newest.seq <= cursor.position:
        return {}
    return {NAME: _worth_it(view, cursor, services) if services.paced else view.now}


def _worth_it(view: Overview, cursor: Cursor, services: Services) -> datetime:
    """When the unread lines are worth a question."""
    newest = view.newest
    assert newest is not None, "something was said"
    read = cursor.body.get(READ)
    counts: Mapping[str, Json] = read if isinstance(read, dict) else {}
    waiting = {persona: tail.number - int(str(counts.get(persona or "", 0))) for persona, tail in view.tails.items()}
    unread = sum(count for count in waiting.values() if count > 0)
    if services.pace == "live" or unread >= (BATCH if services.pace == "session" else MOST_WAITING):
        return view.now
    gap = timedelta(minutes=services.numbers.gap_minutes)
    ends = [
        session.last_activity + gap
        for session in view.open_sessions
        if session.last_activity and waiting.get(session.persona, 0) > 0
    ]
    end = min(ends, default=view.now)
    begun = any(tail.position > waiting.get(persona, 0) > 0 for persona, tail in view.tails.items())
    if services.pace == "session" or unread < (GOING_ON if begun else WAITING):
        return end
    return min(end, min(newest.at, newest.recorded_at) + timedelta(seconds=services.pause_seconds))


def revised_due(view: Overview, services: Services) -> Mapping[str, datetime]:
    """When anything else was not looked through. The work itself writes most of that, so it is passed over once, at the end,
    rather than after each step."""
    del services
    return {REVISED: view.now} if view.head > view.position(REVISED) else {}


# --- reading -------------------------------------------------------------------------------------------------------------


async def run(job: Job[Services]) -> Effect:
    ids = [str(turn) for turn in listed(job.cursor, AGAIN)]
    return await (_reread(job, ids) if ids else _read(job))


async def _reread(job: Job[Services], ids: Sequence[str]) -> Effect:
    """Turns that were read before, once more; those that come after the cursor wait for their turn."""
    asked = TurnsById(ids=tuple(ids[:BATCH]))
    turns = [t for t in (await job.store.read(asked))[asked] if t.seq <= job.cursor.position and t.retired is None]
    back, left = listed(job.cursor, BACK), list[Json](ids[BATCH:])
    effect = await _effect(job, turns, position=job.cursor.position, back=frozenset(map(str, back)), fresh=False)
    kept = {READ: job.cursor.body[READ]} if READ in job.cursor.body else {}
    return replace(effect, body={**kept, AGAIN: left, BACK: back} if left else kept)


async def _read(job: Job[Services]) -> Effect:
    turns, position = await _unread(job, job.cursor.position)
    effect = await _effect(job, turns, position=position)
    return replace(effect, body={READ: _counted(job, turns)})


def _counted(job: Job[Services], turns: Iterable[StoredTurn]) -> Json:
    before = job.cursor.body.get(READ)
    counts: dict[str, Json] = dict(before) if isinstance(before, dict) else {}
    for turn in turns:
        counts[turn.persona or ""] = max(turn.number, int(str(counts.get(turn.persona or "", 0))))
    return counts


async def revised(job: Job[Services]) -> Effect:
    """Turns that were given other words are read when they are, out of their turn: the cursor of reading has passed them."""
    turns, position = await _unread(job, job.cursor.position, revised=True)
    return await _effect(job, turns, position=position, fresh=False)


async def _unread(job: Job[Services], after: int, *, revised: bool = False) -> tuple[list[StoredTurn], int]:
    """The next turns of the log, at most a batch of them, and the place up to which it was read."""
    turns: list[StoredTurn] = []
    position, size = after, 0
    while True:
        log = Log(after=position, limit=PAGE)
        entries = (await job.store.read(log))[log]
        for entry in entries:
            turn = entry.turn
            if turn is not None and turn.retired is None and (turn.version > 1) == revised:
                if turns and size + len(turn.text) > LONGEST:
                    return turns, position
                turns.append(turn)
                size += len(turn.text)
            position = entry.seq
            if len(turns) == BATCH:
                return turns, position
        if len(entries) < PAGE:
            return turns, max(position, job.view.head)


async def _readings(job: Job[Services], turns: Sequence[StoredTurn], *, fresh: bool) -> list[Read]:
    """One reading for each persona and session of these turns that says anything."""
    reader = job.services.reader(job.cursor.attempts)
    groups: dict[tuple[str | None, str], list[StoredTurn]] = {}
    for turn in turns:
        groups.setdefault((turn.persona, turn.session), []).append(turn)
    done: list[Read] = []
    asks = reader is not job.services.plain
    for group in groups.values():
        rolls = job.services.model is not None
        passage = await scene.passage(job, group, ends=fresh and asks, rolls=rolls, asks=asks)
        if not passage.new:
            continue
        whole = passage.sitting.lines if passage.sitting is not None else passage.new
        if asks and job.services.plain.small_talk(whole):
            continue
        reading = await reader.read(passage)
        job.services.meter.asked(job.services.tenant, reading.cost)
        if asks and not _holds(reading, passage):
            plain = await job.services.plain.read(passage)
            reading = replace(plain, cost=reading.cost, dropped={**reading.dropped, "reader": 1})
        if reading.sitting is not None and passage.sitting is not None:
            last = passage.sitting.lines[-1].turn
            job.services.closed[last.session] = Closed(last=last.id, notes=reading.sitting)
        done.append(Read(passage=passage, reading=reading, turns=tuple(group)))
    return done


def _holds(reading: Reading, passage: Passage) -> bool:
    """Whether anything that a model handed over was said at all; rules read for one that only makes up."""
    ground = scene.ground(passage)
    notes = (*reading.facts, *reading.loops)
    return not notes or any(ground.quotes(note.quotes) for note in notes)


# --- writing -------------------------------------------------------------------------------------------------------------


async def _effect(
    job: Job[Services],
    turns: Sequence[StoredTurn],
    *,
    position: int,
    back: frozenset[str] = frozenset(),
    fresh: bool = True,
) -> Effect:
    """What was forgotten by itself does not come back, however often its turn is read; only `back` may."""
    if not turns:
        return Effect(position=position)
    readings = await _readings(job, turns, fresh=fresh)
    lines = tuple(line.turn for one in readings for line in one.passage.lines)
    still = TurnsById(ids=tuple(dict.fromkeys((*(turn.id for turn in (*turns, *lines)), *_quoted(readings)))))
    resting = RecordsBySource(turns=tuple(turn.id for turn in turns))
    telling = RecordsBySource(turns=_told_in(readings))
    listed = RecordList(noun="memory", statuses=("ACTIVE", "ARCHIVED"), limit=LOOKED_AT)
    named = RecordsById(ids=_referred(readings))
    known = RecordList(noun="entity", limit=ENTITIES)
    opened = RecordList(noun="loop", statuses=("open",), limit=LOOKED_AT)
    thought = RecordList(noun="thought", statuses=("ACTIVE",), limit=LOOKED_AT)
    rolling = {one.turns[0].persona: summaries.current(keys.rolling(one.turns[0].persona)) for one in readings}
    possible = _possible(readings)
    run_id = f"{job.key.digest}:{job.cursor.step}:{job.cursor.position}:{position}"
    erased, made, spent = Erased(ids=possible), rederivation.before(possible), cost.asked_for(job.now)
    queries = (still, resting, telling, listed, named, known, opened, thought, *rolling.values(), erased, made, spent)

    def decided(answers: Answers) -> Change:
        live = {turn.id: turn for turn in answers[still] if turn.retired is None}
        rows = {row.id: row for row in (*answers[resting], *answers[named], *answers[listed], *answers[opened])}
        held = nouns.all_records(tuple(rows.values()))
        taken_back = _taken_back(nouns.all_records(answers[resting]), live, turns).difference(possible)
        desk = _Desk(
            job=job,
            live=live,
            memories=[r for r in held if isinstance(r, Memory) and r.id not in taken_back],
            loops=[r for r in held if isinstance(r, Loop) and r.id not in taken_back],
            entities=nouns.records(answers[known], Entity),
            away=answers[erased] - back,
        )
        for one in readings:
            desk.take(one)
        earlier = rederivation.newest(answers[made])
        job.services.meter.noted(run_id, kept=desk.kept, dropped=desk.dropped)
        total = cost.total(one.reading.cost for one in readings)
        notes = cost.added(answers[spent], step=NAME, now=job.now, cost=total, kept=desk.kept, dropped=desk.dropped)
        cursors: list[Cursor] = []
        over = ended(desk.memories_written.values(), now=job.now)
        their_own = {_episode_id(memory.id) for memory in over}
        resting_on = nouns.all_records(answers[telling])
        told = [one for one in resting_on if isinstance(one, Episode) and one.id not in taken_back]
        episodes = corrected((one for one in told if one.id not in their_own), over)
        written: list[Record] = [*desk.written(earlier), *episodes]
        for one in readings if fresh and job.services.model is not None else ():
            persona = one.turns[0].persona
            summary = summaries.rolling(
                one, summaries.live(answers, rolling[persona]), live=live, limit=job.services.numbers.rolling_chars
            )
            if summary is not None:
                written.append(replace(summary, persona=persona))
            tail = max(turn.number for turn in one.turns)
            body: dict[str, Json] = {SUCCEEDED: job.now.isoformat()}
            cursors.append(Cursor(step=keys.rolling(persona), position=tail, body=body))
        closed = thoughts_of(desk.loops_written.values())
        gone = {*taken_back.difference(record.id for record in written), *_thoughts(answers, thought, closed)}
        gone |= {one.id for one in told if one.id in their_own}
        return Change(
            records=tuple(draft(record, job=job) for record in _newest(written)),
            retire=tuple(sorted(gone)),
            retired_at=job.now if gone else None,
            notes=notes,
            cursors=tuple(cursors),
        )

    return Effect(position=position, queries=queries, decide=decided)


def _newest(written: Sequence[Record]) -> list[Record]:
    """Each record once: of two readings of one persona, the rolling summary of the later."""
    return list({record.id: record for record in written}.values())


def _thoughts(answers: Answers, thought: RecordList, over: frozenset[str]) -> set[str]:
    return {row.id for row in answers[thought] if row.id in over}


class _Desk:
    """Where the notes of one run become records, one reading after the other."""

    def __init__(
        self,
        *,
        job: Job[Services],
        live: Mapping[str, StoredTurn],
        memories: Sequence[Memory],
        loops: Sequence[Loop],
        entities: Sequence[Entity],
        away: frozenset[str],
    ) -> None:
        self._job, self._live, self._away = job, live, away
        self._known = {memory.id: memory for memory in memories}
        self._before = dict(self._known)
        self._loops = {loop.id: loop for loop in loops}
        self._entities = {entity.id: entity for entity in entities}
        self.kept: Counter[str] = Counter()
        self.dropped: Counter[str] = Counter()
        self.memories_written: dict[str, Memory] = {}
        self.loops_written: dict[str, Loop] = {}
        self.people_written: dict[str, Entity] = {}

    def take(self, one: Read) -> None:
        self.dropped.update(one.reading.dropped)
        said = {name: turn.text for name, turn in self._live.items()}
        facts = in_confidence(one.reading.facts, said, persona=one.passage.scene.persona)
        one = replace(one, reading=replace(one.reading, facts=facts))
        ground = scene.ground(one.passage, live=self._live)
        book = Book(
            self._entities.values(),
            scene=one.passage.scene,
            turns=[line.turn for line in ground.lines],
            alike=self._job.services.alike,
            now=self._job.now,
            persona=one.turns[0].persona,
            confided=_confided(one.reading),
        )
        for person in one.reading.people:
            names = [n for n in (person.name, *person.aliases) if ground.named(n) and not ground.refused(n)]
            if names[:1] == [person.name]:
                refused = ground.refused(person.what)
                what = "" if refused else person.what
                self.dropped.update([refused] if refused else [])
                fit = replace(person, what=what, aliases=tuple(names[1:]))
                book.note(fit, cautious=one.reading.method == "rules")
            else:
                self.dropped["name"] += 1
        self._facts(one, ground, book)
        self._heard(one, ground)
        for entity in book.changed.values():
            self._entities[entity.id] = self.people_written[entity.id] = entity

    def _facts(self, one: Read, ground: Ground, book: Book) -> None:
        noted: list[Noted] = []
        seen: Counter[tuple[str, str]] = Counter()
        for given in one.reading.facts:
            told = one.reading.method == "rules" or ground.said_day(given.valid_to)
            note = given if told else replace(given, valid_to=None)
            self.dropped.update(["day"] if note is not given else [])
            quotes, older = _rests_on(note, one.passage, ground)
            refused = "quote" if not quotes else _unfit(note, quotes, ground) if note.text else None
            if older and not self._settles(note, quotes, one.passage):
                refused = "quote"
            if refused is not None:
                self.dropped[refused] += 1
                continue
            refs = [ref for name in note.about if (ref := self._ref(name, ground, book))]
            if not refs:
                refs = [f"person:{note.subject}"]
            if not note.private:
                for ref in refs:
                    book.share(ref)
            first = next((book.of(ref) for ref in refs if book.of(ref) is not None), None)
            of_self = refs[0].endswith((":user", ":persona"))
            place = (quotes[0].turn, folded(quotes[0].words))
            entry = Noted(
                note=replace(note, quotes=quotes, about=tuple(note.about)),
                turns=tuple(self._live[q.turn] for q in quotes if q.turn in self._live),
                refs=tuple(dict.fromkeys((*refs, *((USER,) if note.subject == "user" else ())))),
                label=first.label if first is not None else "",
                entity_type="person" if of_self or first is None else first.type,
                nth=seen[place],
                names={alias: entity.label for ref in refs if (entity := book.of(ref)) for alias in entity.aliases},
                heard=one.passage.new[-1].turn.at if older else None,
            )
            if note.text and note.op != "same":
                seen[place] += 1
            if entry.turns and entry.id not in self._away:
                noted.append(entry)
        decided = decide(noted, tuple(self._known.values()), persona=one.turns[0].persona)
        self._known |= decided.memories
        self.memories_written |= decided.memories
        self.kept.update({f"fact {name}": count for name, count in decided.kept.items()})
        self.dropped.update(decided.dropped)

    def _ref(self, name: str, ground: Ground, book: Book) -> str | None:
        """Whom a name means; one that nobody said means nobody."""
        return book.ref(name) or (book.named(name) if ground.named(name) else None)

    def _settles(self, note: FactNote | LoopNote, quotes: Sequence[Quote], passage: Passage) -> bool:
        """Whether a note may rest on known notes alone: it ends something by what is known of something else, or something
        whose own day has passed."""
        if note.op not in _ENDS or not note.ref:
            return False
        if isinstance(note, LoopNote):
            loop = self._loops.get(note.ref)
            return loop is not None and (overdue(loop, self._job.now) or not set(quotes) <= set(loop.quotes))
        memory = self._known.get(note.ref)
        return memory is not None and (note.ref in passage.past or not set(quotes) <= set(memory.quotes))

    def _heard(self, one: Read, ground: Ground) -> None:
        heard: list[Heard] = []
        for given in one.reading.loops:
            told = one.reading.method == "rules" or ground.said_day(given.due)
            note = given if told else replace(given, due=None)
            self.dropped.update(["day"] if note is not given else [])
            quotes, older = _rests_on(note, one.passage, ground)
            refused = ground.refused(note.text) if note.text else None
            if older and not self._settles(note, quotes, one.passage):
                refused = "quote"
            if refused is not None:
                self.dropped[refused] += 1
                continue
            turns = tuple(self._live[q.turn] for q in quotes if q.turn in self._live)
            if older:
                turns = tuple(t for t in (self._live.get(one.passage.new[-1].turn.id),) if t is not None)
            if not turns and note.op in ("open", "moved", "same"):
                self.dropped["quote"] += 1
                continue
            entry = Heard(note=replace(note, quotes=quotes), turns=turns)
            if not quotes or entry.id not in self._away:
                heard.append(entry)
        settled = settle(heard, tuple(self._loops.values()), persona=one.turns[0].persona, now=self._job.now)
        self._loops |= settled.loops
        self.loops_written |= settled.loops
        self.kept.update({f"loop {name}": count for name, count in settled.kept.items()})
        self.dropped.update(settled.dropped)

    def written(self, earlier: Mapping[str, rederivation.Row]) -> list[Record]:
        """What is new or has changed; what stands under an id already stays as it is."""
        memories = [m for m in self.memories_written.values() if m != self._before.get(m.id)]
        episodes = [
            one for one in _episodes(memories) if one.id not in self._away and not rederivation.stands(one, earlier)
        ]
        return [
            *self.people_written.values(),
            *(rederivation.following(memory, earlier) for memory in memories),
            *(rederivation.following(one, earlier) for one in episodes),
            *(rederivation.following(loop, earlier) for loop in self.loops_written.values()),
        ]


def _unfit(note: FactNote, quotes: Sequence[Quote], ground: Ground) -> str | None:
    """Why a fact cannot stand. Orders are held back where facts are decided on, with their reason, rather than left out."""
    reason = ground.refused(note.text, origin="user")
    if reason is None and note.subject == "user" and ground.unstated_name(note.text, quotes) is not None:
        return "unstated"
    return None if reason == "order" else reason


def _rests_on(note: FactNote | LoopNote, passage: Passage, ground: Ground) -> tuple[tuple[Quote, ...], bool]:
    """The quotes that stand, those of the lines first, and whether there are none but of earlier turns. What ends something
    needs new lines, what was said just before them may be noted late."""
    read = {line.turn.id for line in (passage.new if note.op in _ENDS else passage.lines)}
    quotes = sorted(ground.quotes(note.quotes), key=lambda quote: quote.turn not in read)
    return tuple(quotes), bool(quotes) and quotes[0].turn not in read


def _told_in(readings: Sequence[Read]) -> tuple[str, ...]:
    """The turns that said what these readings change."""
    named = {name for one in readings for note in one.reading.facts for name in (note.ref, *note.also)}
    known = (memory for one in readings for memory in one.passage.memories if memory.id in named)
    return tuple(dict.fromkeys(source for memory in known for source in memory.sources))


def _quoted(readings: Sequence[Read]) -> tuple[str, ...]:
    notes = (note for one in readings for note in (*one.reading.facts, *one.reading.loops))
    return tuple(dict.fromkeys(quote.turn for note in notes for quote in note.quotes if quote.turn))


def _referred(readings: Sequence[Read]) -> tuple[str, ...]:
    notes = (note for one in readings for note in (*one.reading.facts, *one.reading.loops))
    also = (ref for one in readings for note in one.reading.facts for ref in note.also)
    return tuple(dict.fromkeys((*(note.ref for note in notes if note.ref), *also)))


def _confided(reading: Reading) -> frozenset[str]:
    """Names that only facts and loops told in confidence speak of."""
    told = [(note.private, slug(name)) for note in reading.facts for name in note.about]
    told += [
        (note.private, slug(person.name))
        for note in (*reading.facts, *reading.loops)
        for person in reading.people
        if person.name in note.text
    ]
    return frozenset(name for private, name in told if private) - {name for private, name in told if not private}


def _possible(readings: Sequence[Read]) -> tuple[str, ...]:
    """The ids of all memories, episodes and loops that these readings could make."""
    ids: list[str] = []
    for one in readings:
        ground = scene.ground(one.passage)
        seen: Counter[tuple[str, str]] = Counter()
        for note in one.reading.facts:
            quotes, older = _rests_on(note, one.passage, ground)
            if quotes:
                place = (quotes[0].turn, folded(quotes[0].words))
                heard = one.passage.new[-1].turn.at if older else None
                made = Noted(note=replace(note, quotes=quotes), turns=(), heard=heard)
                ids += [replace(made, nth=n).id for n in range(seen[place] + 1)]
                seen[place] += 1
        for note in one.reading.loops:
            quotes, _ = _rests_on(note, one.passage, ground)
            if quotes:
                ids.append(Heard(note=replace(note, quotes=quotes), turns=()).id)
    return tuple(dict.fromkeys((*ids, *map(_episode_id, ids))))


def _episode_id(memory: str) -> str:
    return derived_id("episode", memory)


def _same(live: StoredTurn | None, read: StoredTurn) -> bool:
    return live is not None and live.version == read.version


def _taken_back(records: Sequence[Record], live: Mapping[str, StoredTurn], read: Sequence[StoredTurn]) -> set[str]:
    """What rests on a revised turn alone; a memory that others support, or that a person pinned, stays."""
    other_words = {turn.id for turn in read if turn.version > 1 and _same(live.get(turn.id), turn)}
    if not other_words:
        return set()
    return {
        record.id
        for record in records
        if record.noun in ("memory", "loop", "episode")
        and record.sources
        and set(record.sources) <= other_words
        and not (isinstance(record, Memory) and (record.pinned or record.source != "shadow_extraction"))
    }


def _episodes(memories: Sequence[Memory]) -> list[Episode]:
    """An event is remembered as something that happened as well."""
    return [
        Episode(
            id=_episode_id(memory.id),
            text=memory.text,
            persona=memory.persona,
            origin=memory.origin,
            sources=memory.sources,
            quotes=memory.quotes,
            entities=memory.entities,
            at=memory.at,
            importance=memory.importance,
            topics=tuple(ref.partition(":")[2] for ref in memory.entities),
        )
        for memory in memories
        if memory.category == "EVENT" and memory.status == "ACTIVE" and memory.version == 0
    ]


def draft(record: Record, *, job: Job[Services]) -> RowDraft:
    """The version to write, counted and indexed."""
    return nouns.indexed(record, index=job.services.indexer, now=job.now)


STEP: Step[Services] = Step(name=NAME, due=due, run=run)
REVISIONS: Step[Services] = Step(name=REVISED, due=revised_due, run=revised)
