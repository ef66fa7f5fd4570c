"""The step that closes a session after its silence: what it was about, what stays open, the day so far.

One transaction writes the session's end, its summary, its episode, the day's summary and what the persona keeps thinking
about, so that a return hours later finds all of them or none.
"""

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime, timedelta

from hitherto import ids as keys
from hitherto.ids import derived_id
from hitherto.learn import again
from hitherto.learn.services import Services, Task
from hitherto.learn.summarise import day_summary, unless_forgotten, version
from hitherto.learn.summarising import Digest
from hitherto.learn.thoughts import derived
from hitherto.store import records as nouns
from hitherto.store.protocol import Answers, Change, RecordList, RecordsById, RecordsByKey, TurnList, TurnsById
from hitherto.types import Episode, Loop, Record, Session, StoredTurn, Summary
from hitherto.work.cursors import Effect
from hitherto.work.overview import Overview
from hitherto.work.worker import Job, Step

NAME = "close"
LONGEST = 2_000
LOOPS = 50


def due(view: Overview, services: Services) -> Mapping[str, datetime]:
    """When the session that has been silent longest has been so for long enough."""
    gap = timedelta(minutes=services.numbers.gap_minutes)
    ends = [session.last_activity + gap for session in view.open_sessions if session.last_activity]
    return {NAME: min(ends)} if ends else {}


async def run(job: Job[Services]) -> Effect:
    session = min(job.view.open_sessions, key=lambda s: (s.last_activity or s.at, s.seq))
    listed = TurnList(session=session.id, limit=LONGEST)
    current = RecordsByKey(noun="summary", keys=(keys.session(session.id),))
    opened = RecordList(noun="loop", persona=session.persona, statuses=("open",), limit=LOOPS)
    answers = await job.store.read(listed, current, opened)
    turns = tuple(turn for turn in answers[listed] if turn.role in ("user", "assistant"))
    if not turns:
        last = max((turn.at for turn in answers[listed]), default=session.at)
        counted = len(answers[listed])
        return _effect(job, replace(session, status="closed", ended_at=job.now, last_activity=last, turn_count=counted))
    loops = nouns.records(answers[opened], Loop)
    digest = await job.services.summarising(job.cursor.attempts)(
        Task(
            kind="session",
            turns=turns,
            loops=tuple(loop for loop in loops if set(loop.sources) & {turn.id for turn in turns}),
            persona=job.services.name_of(session.persona),
            zone=job.view.zone,
            detail=job.services.numbers.detail,
        )
    )
    last = max(turn.at for turn in turns)
    closed = replace(session, status="closed", ended_at=last, last_activity=last, turn_count=len(answers[listed]))
    previous = nouns.records(answers[current], Summary)
    summary = version(
        previous[-1] if previous else None, kind="session", key=keys.session(session.id), digest=digest, turns=turns
    )
    summary = replace(summary, persona=session.persona, session=session.id, messages=len(turns), first=turns[0].place)
    today = (await day_summary(job, persona=session.persona, at=last)).summary
    thoughts = [thought for loop in loops if (thought := derived(loop, now=job.now)) is not None]
    made: list[Record] = [summary, *([today] if today else [])]
    return _effect(job, closed, *made, _episode(session, digest, turns), *thoughts)


def _episode(session: Session, digest: Digest, turns: tuple[StoredTurn, ...]) -> Episode:
    return Episode(
        id=derived_id("episode", session.id),
        text=digest.text,
        persona=session.persona,
        origin="assistant",
        sources=tuple(dict.fromkeys(source for sentence in digest.sentences for source in sentence.sources)),
        at=turns[-1].at,
        session=session.id,
        outcome=digest.outcome,
        tone=digest.tone,
        topics=digest.topics,
    )


def _effect(job: Job[Services], session: Session, *made: Record) -> Effect:
    still = RecordsById(ids=(session.id,))
    there = again.before(record.id for record in made if record.noun in ("thought", "episode"))
    before = RecordsById(ids=tuple(record.id for record in made if record.noun == "summary"))
    check = TurnsById(ids=tuple(dict.fromkeys(source for record in made for source in record.sources)))

    def decide(answers: Answers) -> Change:
        """Closes the session unless it was closed or went on meanwhile; a thought that was thought stays as it is."""
        [now_open] = nouns.records(answers[still], Session)
        if now_open.status != "open":
            return Change()
        earlier = again.newest(answers[there])
        records: list[Record] = [session]
        for record in made:
            if isinstance(record, Summary):
                unless_forgotten(record, check, answers, before)
            if isinstance(record, Episode) or not again.stands(record, earlier):
                records.append(again.following(record, earlier))
        return Change(records=tuple(nouns.indexed(r, index=job.services.indexer, now=job.now) for r in records))

    return Effect(position=job.view.head, queries=(still, there, check, before), decide=decide)


STEP: Step[Services] = Step(name=NAME, due=due, run=run)
