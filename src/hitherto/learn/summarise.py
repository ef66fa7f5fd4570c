"""The steps that keep summaries: rolling, daily, of a lane, and the spine. Each is a version; the one before stays.

A step reads the turns since its cursor, has them summarised (holding no transaction), and writes the next version together
with its cursor. Under the lock it looks again whether those turns still exist: what was forgotten meanwhile makes the step
start over rather than write it back.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from hitherto import ids as keys
from hitherto.clock import day_bounds, local_day
from hitherto.errors import StoreUnavailable
from hitherto.ids import derived_id
from hitherto.learn.services import Services, Task
from hitherto.learn.summarising import Digest
from hitherto.store import records as nouns
from hitherto.store.protocol import (
    ANY,
    Answers,
    Change,
    Query,
    RecordList,
    RecordsById,
    RecordsByKey,
    TurnList,
    TurnsById,
    Window,
)
from hitherto.types import Json, Loop, Memory, StoredTurn, Summary, SummaryKind
from hitherto.work.cursors import SUCCEEDED, Effect
from hitherto.work.overview import Overview, daily_cursor
from hitherto.work.worker import Job, Step

MOST = 400
"""How many turns one summary reads at the most; the rest is in the version before."""
FACTS = 60
LONGEST_DAY = 2_000


class Forgotten(StoreUnavailable):
    """A turn was forgotten while it was summarised; the step starts over."""


def version(
    previous: Summary | None, *, kind: SummaryKind, key: str, digest: Digest, turns: tuple[StoredTurn, ...]
) -> Summary:
    """The next version of a summary; what an earlier one rests on stays among its sources."""
    first = previous.first if previous else turns[0].place
    base = previous or Summary(id=derived_id("summary", key), key=key, kind=kind, at=turns[-1].at)
    return replace(
        base,
        text=digest.text,
        detail=digest.detail,
        sentences=digest.sentences,
        sources=tuple(dict.fromkeys(source for sentence in digest.sentences for source in sentence.sources)),
        at=turns[-1].at,
        first=first,
        last=turns[-1].place,
        messages=base.messages + len(turns),
        method=digest.method,
    )


def unless_forgotten(
    summary: Summary, check: TurnsById, answers: Answers, before: RecordsById, *, told: Iterable[str] = ()
) -> None:
    """Every turn that this version is the first to rest on must still be there. One that the version before rests on, or one
    of the records that it was `told` of, may be over its time; had it been forgotten, they would be gone as well."""
    found = {turn.id for turn in answers[check]}
    carried = {source for row in answers[before] if row.id in {summary.id, *told} for source in row.sources}
    if any(source not in found and source not in carried for source in summary.sources):
        raise Forgotten


# --- rolling: every few turns of a persona, at most so many characters ---------------------------------------------------


def _rolling_due(view: Overview, services: Services) -> Mapping[str, datetime]:
    every = services.numbers.rolling_every
    return {
        name: view.now
        for persona, tail in view.tails.items()
        if tail.number - view.position(name := keys.rolling(persona)) >= every
    }


async def _rolling(job: Job[Services]) -> Effect:
    persona = next(p for p in job.view.tails if keys.rolling(p) == job.cursor.step)
    tail = job.view.tails[persona]
    window = Window(persona=persona, lane=ANY, limit=min(tail.number - job.cursor.position, MOST))
    current = RecordsByKey(noun="summary", keys=(keys.rolling(persona),))
    answers = await job.store.read(window, current)
    turns = answers[window]
    if not turns:
        return Effect(position=tail.number)
    previous = _live(answers, current)
    digest = await job.services.summarising(job.cursor.attempts)(
        Task(
            kind="rolling",
            turns=turns,
            previous=previous,
            persona=job.services.name_of(persona),
            zone=job.view.zone,
            characters=job.services.numbers.rolling_chars,
            detail=job.services.numbers.detail,
        )
    )
    summary = version(previous, kind="rolling", key=keys.rolling(persona), digest=digest, turns=turns)
    noted: dict[str, Json] = {SUCCEEDED: job.now.isoformat()}
    return _written(job, replace(summary, persona=persona), position=turns[-1].number, body=noted)


# --- daily: the user's own day, after every closed session and once more when it is over ----------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class Day:
    """What a user's day gave: its summary, if there is something new to write, and the place of its last turn."""

    summary: Summary | None
    last: int


async def day_summary(job: Job[Services], *, persona: str | None, at: datetime) -> Day:
    """The summary of the user's day that holds `at`, from all of that persona's turns of the day."""
    day = local_day(at, job.view.zone)
    begin, end = day_bounds(day, job.view.zone)
    listed = TurnList(persona=persona, since=begin, until=end, limit=LONGEST_DAY)
    current = RecordsByKey(noun="summary", keys=(keys.daily(persona, day),))
    answers = await job.store.read(listed, current)
    last = answers[listed][-1].place if answers[listed] else 0
    turns = tuple(turn for turn in answers[listed] if turn.role in ("user", "assistant"))
    previous = _live(answers, current)
    if not turns or (previous is not None and _covers(previous, turns)):
        return Day(summary=None, last=last)
    digest = await job.services.summarising(job.cursor.attempts)(
        Task(
            kind="daily",
            turns=turns,
            persona=job.services.name_of(persona),
            zone=job.view.zone,
            detail=job.services.numbers.detail,
        )
    )
    summary = version(previous, kind="daily", key=keys.daily(persona, day), digest=digest, turns=turns)
    summary = replace(summary, persona=persona, day=day, first=turns[0].place, messages=len(turns))
    return Day(summary=summary, last=last)


def _covers(summary: Summary, turns: tuple[StoredTurn, ...]) -> bool:
    """Whether a day's summary was made from exactly these turns."""
    return (summary.first, summary.last, summary.messages) == (turns[0].place, turns[-1].place, len(turns))


def _daily_due(view: Overview, services: Services) -> Mapping[str, datetime]:
    """The end of the user's day that holds the first turn of a day that is not finished."""
    del services
    return {
        daily_cursor(persona): day_bounds(local_day(turn.at, view.zone), view.zone)[1]
        for persona, turn in view.unfinished.items()
    }


async def _daily(job: Job[Services]) -> Effect:
    persona, first = next((p, t) for p, t in job.view.unfinished.items() if daily_cursor(p) == job.cursor.step)
    day = await day_summary(job, persona=persona, at=first.at)
    position = max(day.last, first.place)
    return _written(job, *([day.summary] if day.summary else []), position=position)


# --- lanes: older turns of a growing lane go into its summary, the newest stay as they are --------------------------------


def _lanes_due(view: Overview, services: Services) -> Mapping[str, datetime]:
    del services
    newest = view.newest
    return {"lanes": view.now} if newest is not None and newest.place > view.position("lanes") else {}


async def _lanes(job: Job[Services]) -> Effect:
    """Goes through the lanes that were spoken in since the cursor; compacts those that are over a threshold."""
    fresh = TurnList(after=job.cursor.position, limit=MOST)
    turns = (await job.store.read(fresh))[fresh]
    if not turns:
        return Effect(position=job.view.newest.place if job.view.newest else job.cursor.position)
    summaries: list[Summary] = []
    for persona, lane in dict.fromkeys((turn.persona, turn.lane) for turn in turns):
        summary = await _compacted(job, persona=persona, lane=lane)
        if summary is not None:
            summaries.append(summary)
    return _written(job, *summaries, position=turns[-1].place)


async def _compacted(job: Job[Services], *, persona: str | None, lane: str | None) -> Summary | None:
    key = keys.lane(persona, lane)
    window = Window(persona=persona, lane=lane, limit=MOST)
    current = RecordsByKey(noun="summary", keys=(key,))
    answers = await job.store.read(window, current)
    previous = _live(answers, current)
    recent = tuple(turn for turn in answers[window] if previous is None or turn.place > previous.last)
    older = recent[: -job.services.numbers.compact_keep]
    if not older or not over_threshold(recent, previous, services=job.services, now=job.now):
        return None
    digest = await job.services.summarising(job.cursor.attempts)(
        Task(
            kind="lane",
            turns=older,
            previous=previous,
            persona=job.services.name_of(persona),
            zone=job.view.zone,
            detail=job.services.numbers.detail,
        )
    )
    return replace(version(previous, kind="lane", key=key, digest=digest, turns=older), persona=persona, lane=lane)


def over_threshold(
    recent: tuple[StoredTurn, ...], previous: Summary | None, *, services: Services, now: datetime
) -> bool:
    """More messages, more tokens, or a longer time than a lane may have outside its summary."""
    numbers = services.numbers
    if len(recent) > numbers.compact_messages or sum(turn.tokens for turn in recent) > numbers.compact_tokens:
        return True
    return previous is not None and now - previous.at > timedelta(hours=numbers.compact_hours)


# --- spine: who the user is, over everything ------------------------------------------------------------------------------


def _spine_due(view: Overview, services: Services) -> Mapping[str, datetime]:
    """After more than so many messages, over all personas, since the last one."""
    cursor = view.cursors.get("spine")
    told = int(str(cursor.body.get("messages", 0))) if cursor else 0
    return {"spine": view.now} if view.messages - told > services.numbers.spine_messages else {}


async def _spine(job: Job[Services]) -> Effect:
    fresh = TurnList(after=job.cursor.position, limit=MOST)
    current = RecordsByKey(noun="summary", keys=(keys.SPINE,))
    facts = RecordList(noun="memory", persona=None, statuses=("ACTIVE",), limit=FACTS)
    loops = RecordList(noun="loop", statuses=("open",), limit=FACTS)
    answers = await job.store.read(fresh, current, facts, loops)
    turns = answers[fresh]
    counted: dict[str, Json] = {"messages": job.view.messages}
    if not turns:
        return Effect(position=job.cursor.position, body=counted)
    previous = _live(answers, current)
    digest = await job.services.summarising(job.cursor.attempts)(
        Task(
            kind="spine",
            turns=turns,
            previous=previous,
            memories=nouns.records(answers[facts], Memory),
            loops=nouns.records(answers[loops], Loop),
            zone=job.view.zone,
            detail=job.services.numbers.detail,
        )
    )
    summary = version(previous, kind="spine", key=keys.SPINE, digest=digest, turns=turns)
    told = tuple(row.id for row in (*answers[facts], *answers[loops]))
    return _written(job, replace(summary, messages=len(turns)), position=turns[-1].place, body=counted, told=told)


def _live(answers: Answers, query: RecordsByKey) -> Summary | None:
    found = nouns.records(answers[query], Summary)
    return found[-1] if found else None


def _written(
    job: Job[Services],
    *summaries: Summary,
    position: int,
    body: Mapping[str, Json] | None = None,
    told: tuple[str, ...] = (),
) -> Effect:
    checks = tuple(TurnsById(ids=summary.sources) for summary in summaries)

    before = RecordsById(ids=(*(summary.id for summary in summaries), *told))

    def decide(answers: Answers) -> Change:
        for summary, check in zip(summaries, checks, strict=True):
            unless_forgotten(summary, check, answers, before, told=told)
        return Change(records=tuple(nouns.indexed(s, index=job.services.indexer, now=job.now) for s in summaries))

    queries: tuple[Query[object], ...] = (*checks, before)
    return Effect(position=position, queries=queries, decide=decide, body=body or {})


STEPS: tuple[Step[Services], ...] = (
    Step(name="rolling", due=_rolling_due, run=_rolling),
    Step(name="lanes", due=_lanes_due, run=_lanes),
    Step(name="spine", due=_spine_due, run=_spine),
    Step(name="daily", due=_daily_due, run=_daily),
)
