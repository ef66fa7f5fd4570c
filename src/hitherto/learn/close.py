"""The step that closes a session after its silence: what it was about, what stays open, the day so far.

If a reading ended the session, it has summed it up already; otherwise one question asks for it. One transaction writes the
session's end, its summary, its episode, the day's summary and what the persona keeps thinking about, so that a return hours
later finds all of them or none. A session of small talk has no summary.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta

from hitherto import ids as keys
from hitherto.clock import local_day
from hitherto.ids import derived_id
from hitherto.learn import cost, rederivation, scene
from hitherto.learn.notes import LaneSection, Sitting, SittingNotes
from hitherto.learn.services import Services
from hitherto.learn.summaries import current, day, live, supports, told, unless_forgotten, version
from hitherto.learn.thoughts import derived, thought
from hitherto.learn.verify import Ground, folded
from hitherto.store import records as nouns
from hitherto.store.protocol import Answers, Change, RecordsById, TurnList, TurnsById
from hitherto.types import Episode, Json, Loop, Record, Session, StoredTurn, Summary, Support, Thought
from hitherto.work.cursors import Effect
from hitherto.work.overview import Overview
from hitherto.work.worker import Job, Step

NAME = "close"
LONGEST = 2_000


def due(view: Overview, services: Services) -> Mapping[str, datetime]:
    """When the longest-silent session has been silent for long enough."""
    gap = timedelta(minutes=services.numbers.gap_minutes)
    ends = [session.last_activity + gap for session in view.open_sessions if session.last_activity]
    return {NAME: min(ends)} if ends else {}


async def run(job: Job[Services]) -> Effect:
    session = min(job.view.open_sessions, key=lambda s: (s.last_activity or s.at, s.seq))
    listed = TurnList(session=session.id, limit=LONGEST)
    stands = current(keys.session(session.id))
    answers = await job.store.read(listed, stands)
    turns = tuple(turn for turn in answers[listed] if scene.readable(turn))
    counted = len(answers[listed])
    last = max((turn.at for turn in (turns or answers[listed])), default=session.at)
    closed = replace(session, status="closed", ended_at=last, last_activity=last, turn_count=counted)
    if not turns:
        return _effect(job, replace(closed, ended_at=job.now))
    sitting = await scene.sitting(job, session, turns)
    notes = await _notes(job, session, sitting)
    ground = scene.ground_of(sitting)
    summary = _summary(live(answers, stands), notes, ground, sitting, session=session, turns=turns)
    if summary is None:
        return _effect(job, closed, notes=notes)
    today = current(keys.daily(session.persona, local_day(last, job.view.zone)))
    previous = live(await job.store.read(today), today)
    told_day = day(previous, notes, ground, persona=session.persona, at=last, zone=job.view.zone, turns=turns)
    made: list[Record] = [summary, *([told_day] if told_day is not None else [])]
    made += [_episode(session, summary, notes, turns), *_thoughts(job, sitting, notes, ground)]
    return _effect(job, closed, *made, notes=notes)


async def _notes(job: Job[Services], session: Session, sitting: Sitting) -> SittingNotes:
    """What this visit's reading said about the session, or what its reader says when asked now."""
    said = job.services.closed.pop(session.id, None)
    if said is not None and said.last == sitting.lines[-1].turn.id:
        return replace(said.notes, cost=None, dropped={})
    plain, reader = job.services.plain, job.services.reader(job.cursor.attempts)
    if reader is not plain and plain.small_talk(sitting.lines):
        return SittingNotes()
    notes = await reader.close(sitting)
    job.services.meter.asked(job.services.tenant, notes.cost)
    if reader is not plain and not supports(notes.summary, scene.ground_of(sitting)):
        return replace(await plain.close(sitting), cost=notes.cost, dropped={**notes.dropped, "reader": 1})
    return notes


def _summary(
    previous: Summary | None,
    notes: SittingNotes,
    ground: Ground,
    sitting: Sitting,
    *,
    session: Session,
    turns: Sequence[StoredTurn],
) -> Summary | None:
    told_of, mattered = supports(notes.summary, ground), supports(notes.mattered, ground)
    if not told_of and not mattered:
        return None
    ids = {turn.id for turn in turns}
    opened = [loop for loop in sitting.loops if loop.status == "open" and ids & set(loop.sources)]
    lane: dict[LaneSection, list[Support]] = {
        name: list(supports(entries, ground)) for name, entries in notes.lane.items()
    }
    detail: dict[str, Json] = {
        "one_liner": (told_of or mattered)[0].text,
        "what_mattered": [one.text for one in mattered],
        "open_loops": [loop.text for loop in opened if loop.kind not in ("promise", "commitment")],
        "commitments": [_owned(loop, sitting) for loop in opened if loop.kind in ("promise", "commitment")],
        "people": list[Json](_people(sitting)),
        "tone": _tone(notes, ground),
    }
    if notes.method == "model" and any(lane.values()):
        detail["lane"] = {name: [one.text for one in entries] for name, entries in lane.items() if entries}
    sentences = dict.fromkeys((*told_of, *mattered, *(one for entries in lane.values() for one in entries)))
    key = keys.session(session.id)
    made = version(
        previous,
        kind="session",
        key=key,
        sentences=tuple(sentences),
        turns=turns,
        method=notes.method,
        text=told(told_of or mattered[:2]),
        detail=detail,
    )
    return replace(
        made,
        persona=session.persona,
        session=session.id,
        messages=len(turns),
        first=turns[0].place,
        last=turns[-1].place,
    )


def _owned(loop: Loop, sitting: Sitting) -> str:
    """What was promised and who owes it, unless the words begin with a name, which may be a third person's."""
    scene = sitting.scene
    names = (scene.user, scene.persona, *scene.speakers, *(n for e in scene.people for n in (e.label, *e.aliases)))
    if any(f"{folded(loop.text)} ".startswith(f"{folded(name)} ") for name in names):
        return loop.text
    return f"{scene.user if loop.owner == 'user' else scene.persona}: {loop.text}"


def _people(sitting: Sitting) -> list[str]:
    """The known people whom the session mentioned."""
    said = Ground(lines=sitting.lines, zone=sitting.scene.zone, now=sitting.scene.now)
    return [e.label for e in sitting.scene.people if e.type in ("person", "animal") and said.named(e.label)][:20]


def _tone(notes: SittingNotes, ground: Ground) -> str:
    tone = " ".join(notes.tone.split())[:40]
    return tone if tone and ground.refused(tone) is None else ""


def _thoughts(job: Job[Services], sitting: Sitting, notes: SittingNotes, ground: Ground) -> list[Thought]:
    """What the persona keeps thinking: in a model's words, or wherever a promise yields a plain sentence."""
    loops = {loop.id: loop for loop in sitting.loops if loop.status == "open"}
    if notes.method == "model":
        found: dict[str, Thought] = {}
        for one in notes.thoughts:
            left = [loop for name, loop in loops.items() if name not in found]
            loop = loops.get(one.ref) or _spoken_of(one.text, left)
            if loop is not None and loop.id not in found and ground.refused(one.text) is None:
                found[loop.id] = thought(loop, one.text, now=job.now)
        return list(found.values())
    user, zone = sitting.scene.user, job.view.zone
    made = (derived(loop, now=job.now, zone=zone, user=user) for loop in loops.values())
    return [one for one in made if one is not None]


def _spoken_of(text: str, loops: Iterable[Loop]) -> Loop | None:
    """The loop that shares most of its longer words with a thought."""
    words = {word for word in folded(text).split() if len(word) > 3}
    shared = [(len(words & set(folded(loop.text).split())), loop.seq, loop) for loop in loops]
    best = max(shared, key=lambda one: one[:2], default=None)
    return best[2] if best is not None and best[0] else None


def _episode(session: Session, summary: Summary, notes: SittingNotes, turns: tuple[StoredTurn, ...]) -> Episode:
    return Episode(
        id=derived_id("episode", session.id),
        text=summary.text,
        persona=session.persona,
        origin="assistant",
        sources=summary.sources,
        quotes=tuple(quote for sentence in summary.sentences for quote in sentence.quotes)[:6],
        at=turns[-1].at,
        session=session.id,
        outcome=notes.outcome,
        tone=str(summary.detail.get("tone") or ""),
        topics=notes.topics,
    )


def _effect(job: Job[Services], session: Session, *made: Record, notes: SittingNotes | None = None) -> Effect:
    still = RecordsById(ids=(session.id,))
    there = rederivation.before(record.id for record in made if record.noun in ("thought", "episode"))
    before = RecordsById(ids=tuple(record.id for record in made if record.noun == "summary"))
    check = TurnsById(ids=tuple(dict.fromkeys(source for record in made for source in record.sources)))
    spent = cost.asked_for(job.now)

    def decide(answers: Answers) -> Change:
        """Closes the session unless it was closed or continued in the meantime; an existing thought stays as it is."""
        [now_open] = nouns.records(answers[still], Session)
        if now_open.status != "open":
            return Change()
        earlier = rederivation.newest(answers[there])
        records: list[Record] = [session]
        for record in made:
            if isinstance(record, Summary):
                unless_forgotten(record, check, answers, before)
            if isinstance(record, Episode) or not rederivation.stands(record, earlier):
                records.append(rederivation.following(record, earlier))
        counted = (
            cost.added(answers[spent], step=NAME, now=job.now, cost=notes.cost, kept={}, dropped=notes.dropped)
            if notes is not None
            else ()
        )
        return Change(
            records=tuple(nouns.indexed(r, index=job.services.indexer, now=job.now) for r in records), notes=counted
        )

    return Effect(position=job.view.head, queries=(still, there, check, before, spent), decide=decide)


STEP: Step[Services] = Step(name=NAME, due=due, run=run)
