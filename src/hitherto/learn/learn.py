"""The step that learns: it reads new entries of the log and writes what they state, promise and ask.

Turns are read in passages of one persona and lane, with a little of what came before. The reading may take seconds (a
model); what it found is decided on under the user's lock, where a turn that was forgotten or revised meanwhile no longer
counts. A revised turn takes back what its old words alone had stated.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime

from hitherto.ids import derived_id
from hitherto.learn import again, entities
from hitherto.learn.candidates import LoopCandidate
from hitherto.learn.decide import Learnt, decide, memory_id
from hitherto.learn.rules.sentences import dated
from hitherto.learn.services import Finding, Passage, Services
from hitherto.store import records as nouns
from hitherto.store.protocol import (
    Answers,
    Change,
    Cursor,
    Erased,
    Log,
    RecordList,
    RecordsByEntity,
    RecordsByKey,
    RecordsBySource,
    RowDraft,
    TurnsById,
    Window,
)
from hitherto.types import Entity, Episode, Json, Loop, Memory, Record, StoredTurn
from hitherto.work.cursors import Effect
from hitherto.work.overview import Overview
from hitherto.work.worker import Job, Step

NAME = "extract"
REVISED = "revised"
BATCH = 40
PAGE = 400
"""How many entries of the log are looked through at once for turns."""
CONTEXT = 2
"""How many earlier turns are read along with the first fresh one."""
LOOKED_AT = 500
ENTITIES = 2_000
"""How many of the newest entities a name is held against for variants; its own exact name is always found."""


AGAIN, BACK = "again", "back"
"""In the cursor's body: turns to read once more, and the ids that may return from them."""


def due(view: Overview, services: Services) -> Mapping[str, datetime]:
    """As soon as there is a turn that was not read, or one to be read again."""
    del services
    cursor = view.cursors.get(NAME, Cursor(step=NAME))
    unread = view.newest is not None and view.newest.seq > cursor.position
    return {NAME: view.now} if unread or cursor.body.get(AGAIN) else {}


def revised_due(view: Overview, services: Services) -> Mapping[str, datetime]:
    """When anything else was not read. The work itself writes most of that, so it is passed over once, at the end, rather
    than after each step."""
    del services
    return {NAME: view.now} if view.head > view.position(NAME) else {}


def reading_again(cursor: Cursor, *, turns: Iterable[str], back: Iterable[str]) -> Cursor:
    """The cursor with turns to read once more, because what rested on them and on something forgotten is gone."""
    body = {AGAIN: [*_listed(cursor, AGAIN), *turns], BACK: [*_listed(cursor, BACK), *back]}
    return replace(cursor, body={name: list(dict.fromkeys(ids)) for name, ids in body.items()})


def _listed(cursor: Cursor, name: str) -> list[Json]:
    found = cursor.body.get(name)
    return found if isinstance(found, list) else []


async def run(job: Job[Services]) -> Effect:
    ids = [str(turn) for turn in _listed(job.cursor, AGAIN)]
    return await (_reread(job, ids) if ids else _read(job))


async def _reread(job: Job[Services], ids: Sequence[str]) -> Effect:
    """Turns that were read before, once more; those that come after the cursor wait for their turn."""
    asked = TurnsById(ids=tuple(ids[:BATCH]))
    turns = [t for t in (await job.store.read(asked))[asked] if t.seq <= job.cursor.position and _readable(t)]
    back, left = _listed(job.cursor, BACK), list[Json](ids[BATCH:])
    read = job.services.reading(job.cursor.attempts)
    findings = await read(await _passages(job, turns)) if turns else tuple[Finding, ...]()
    effect = await _effect(job, turns, findings, position=job.cursor.position, back=frozenset(map(str, back)))
    return replace(effect, body={AGAIN: left, BACK: back} if left else {})


async def _read(job: Job[Services]) -> Effect:
    turns, position = await _unread(job)
    if not turns:
        return Effect(position=position)
    findings = await job.services.reading(job.cursor.attempts)(await _passages(job, turns))
    return await _effect(job, turns, findings, position=position)


async def _unread(job: Job[Services]) -> tuple[list[StoredTurn], int]:
    """The next turns of the log, at most a batch of them, and the place up to which it was read."""
    turns: list[StoredTurn] = []
    position = job.cursor.position
    while True:
        log = Log(after=position, limit=PAGE)
        entries = (await job.store.read(log))[log]
        for entry in entries:
            position = entry.seq
            if entry.turn and _readable(entry.turn):
                turns.append(entry.turn)
            if len(turns) == BATCH:
                return turns, position
        if len(entries) < PAGE:
            return turns, max(position, job.view.head)


def _readable(turn: StoredTurn) -> bool:
    return turn.retired is None and turn.role in ("user", "assistant") and bool(turn.text.strip())


async def _passages(job: Job[Services], turns: Sequence[StoredTurn]) -> list[Passage]:
    lanes: dict[tuple[str | None, str | None], list[StoredTurn]] = {}
    for turn in turns:
        lanes.setdefault((turn.persona, turn.lane), []).append(turn)
    before = {
        (persona, lane): Window(persona=persona, lane=lane, limit=CONTEXT, before=fresh[0].place)
        for (persona, lane), fresh in lanes.items()
    }
    answers = await job.store.read(*before.values())
    return [
        Passage(
            turns=(*answers[before[scope]], *fresh),
            fresh=frozenset(turn.id for turn in fresh),
            persona=job.services.name_of(scope[0]),
            zone=job.view.zone,
            now=job.now,
        )
        for scope, fresh in lanes.items()
    ]


async def _effect(
    job: Job[Services],
    turns: Sequence[StoredTurn],
    findings: Sequence[Finding],
    *,
    position: int,
    back: frozenset[str] = frozenset(),
) -> Effect:
    """What was forgotten by itself does not come back, however often its turn is read; only `back` may."""
    candidates = [candidate for finding in findings for candidate in finding.memories]
    refs = tuple(dict.fromkeys(ref for candidate in candidates for ref in candidate.entities))
    known, named = RecordList(noun="entity", limit=ENTITIES), RecordsByKey(noun="entity", keys=refs)
    answers = await job.store.read(known, named)
    # A variant of a known name leads to that one's memories, so they are asked for as well.
    settled = _resolved(job, findings, answers, known, named)
    candidates += [candidate for finding in settled.findings for candidate in finding.memories]
    still = TurnsById(ids=tuple(dict.fromkeys(turn.id for turn in turns)))
    rereads = position == job.cursor.position
    revised = RecordsBySource(turns=tuple(turn.id for turn in turns if turn.version > 1 and not rereads))
    by_key = RecordsByKey(noun="memory", keys=tuple(dict.fromkeys(candidate.key for candidate in candidates)))
    by_entity = RecordsByEntity(
        noun="memory",
        refs=tuple(dict.fromkeys(ref for candidate in candidates for ref in candidate.entities)),
        statuses=("ACTIVE",),
        limit=LOOKED_AT,
    )
    opened = RecordList(noun="loop", statuses=("open",), limit=LOOKED_AT)
    possible = _possible((*findings, *settled.findings))
    erased, made = Erased(ids=possible), again.before(possible)

    def decided(answers: Answers) -> Change:
        live = {turn.id: turn for turn in answers[still]}
        fresh = [replace(f, turn=live[f.turn.id]) for f in findings if _same(live.get(f.turn.id), f.turn)]
        resolved = _resolved(job, fresh, answers, known, named)
        taken_back = _taken_back(nouns.all_records(answers[revised]), live)
        gone = {record.id for record in taken_back}.difference(_possible(resolved.findings))
        held = [
            memory
            for memory in {m.id: m for m in nouns.records((*answers[by_key], *answers[by_entity]), Memory)}.values()
            if memory.id not in gone
        ]
        stays_away = answers[erased] - back
        learnt = [
            Learnt(candidate=candidate, turn=finding.turn)
            for finding in resolved.findings
            for candidate in finding.memories
            if memory_id(finding.turn, candidate) not in stays_away
        ]
        memories = decide(learnt, held, stems=job.services.indexer.stems, now=job.now)
        loops = [loop for loop in nouns.records(answers[opened], Loop) if loop.id not in gone]
        found: list[Record] = [*_episodes(memories), *_loops(resolved.findings, loops, zone=job.view.zone)]
        earlier = again.newest(answers[made])
        unchanged = {memory.id: memory for memory in held}
        records: list[Record] = [
            *resolved.entities,
            *(memory for memory in memories if memory != unchanged.get(memory.id)),
            *(record for record in found if record.id not in stays_away and not again.stands(record, earlier)),
        ]
        return Change(
            records=tuple(draft(again.following(record, earlier), job=job) for record in records),
            retire=tuple(sorted(gone)),
            retired_at=job.now if gone else None,
        )

    queries = (still, revised, by_key, by_entity, known, named, opened, erased, made)
    return Effect(position=position, queries=queries, decide=decided)


def _possible(findings: Sequence[Finding]) -> tuple[str, ...]:
    """The ids of all memories, episodes and loops that these findings could make."""
    memories = [memory_id(f.turn, candidate) for f in findings for candidate in f.memories]
    loops = [_loop_id(f.turn, candidate) for f in findings for candidate in f.loops]
    return tuple(dict.fromkeys((*memories, *map(_episode_id, memories), *loops)))


def _loop_id(turn: StoredTurn, candidate: LoopCandidate) -> str:
    return derived_id("loop", turn.id, candidate.text)


def _episode_id(memory: str) -> str:
    return derived_id("episode", memory)


def _resolved(
    job: Job[Services], findings: Sequence[Finding], answers: Answers, known: RecordList, named: RecordsByKey
) -> entities.Resolved:
    book = {entity.id: entity for entity in nouns.records((*answers[known], *answers[named]), Entity)}
    return entities.resolve(findings, tuple(book.values()), alike=job.services.alike, now=job.now)


def _same(live: StoredTurn | None, read: StoredTurn) -> bool:
    return live is not None and live.version == read.version


def _taken_back(records: Sequence[Record], live: Mapping[str, StoredTurn]) -> list[Record]:
    """What rests on a revised turn alone; a memory that others support, or that a person pinned, stays."""
    return [
        record
        for record in records
        if record.noun in ("memory", "loop", "episode")
        and set(record.sources) <= {turn.id for turn in live.values() if turn.version > 1}
        and not (isinstance(record, Memory) and (record.pinned or record.source != "shadow_extraction"))
    ]


def _episodes(memories: Sequence[Memory]) -> list[Episode]:
    """An event is remembered as something that happened as well."""
    return [
        Episode(
            id=_episode_id(memory.id),
            text=memory.text,
            persona=memory.persona,
            origin=memory.origin,
            sources=memory.sources,
            entities=memory.entities,
            at=memory.at,
            importance=memory.importance,
            topics=tuple(ref.partition(":")[2] for ref in memory.entities),
        )
        for memory in memories
        if memory.category == "EVENT" and memory.status == "ACTIVE" and memory.version == 0
    ]


def _loops(findings: Sequence[Finding], opened: Sequence[Loop], *, zone: str) -> list[Loop]:
    """New loops, their relative days dated; one that is open with the same words already is not opened twice."""
    said = {(loop.persona, loop.text.casefold()) for loop in opened}
    fresh: list[Loop] = []
    for finding in findings:
        turn = finding.turn
        for candidate in finding.loops:
            text = dated(candidate.text, at=turn.at, zone=zone, tense="future")
            place = (turn.persona, text.casefold())
            if place in said:
                continue
            said.add(place)
            fresh.append(
                Loop(
                    id=_loop_id(turn, candidate),
                    text=text,
                    persona=turn.persona,
                    lane=turn.lane,
                    origin=turn.origin,
                    sources=(turn.id,),
                    at=turn.at,
                    due=candidate.due,
                    kind=candidate.kind,
                    owner=candidate.owner,
                )
            )
    return fresh


def draft(record: Record, *, job: Job[Services]) -> RowDraft:
    """The version to write, counted and indexed."""
    return nouns.indexed(record, index=job.services.indexer, now=job.now)


STEP: Step[Services] = Step(name=NAME, due=due, run=run)
REVISIONS: Step[Services] = Step(name=REVISED, due=revised_due, run=run)
