"""The summaries: rolling, of a session, of a day, of a lane, and the spine. Each is a version; the one before stays.

A reader gives sentences; here they become records. Every sentence rests on a quote in a turn, its own or that of a known note
that it repeats. The day is its sessions', a lane's summary what was noted of its older lines, the spine what is known: none of
these asks a model. Under the lock a step looks again whether the turns still exist: what was forgotten meanwhile makes it start
over rather than write it back.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Final

from hitherto import ids as keys
from hitherto.clock import day_bounds, local_day
from hitherto.errors import StoreUnavailable
from hitherto.ids import derived_id
from hitherto.learn import scene
from hitherto.learn.notes import LANE_TITLES, LaneSection, Method, Read, SentenceNote, SittingNotes
from hitherto.learn.services import Services
from hitherto.learn.verify import Ground, folded, same_words
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
from hitherto.types import Json, Loop, Memory, MemoryType, Session, StoredTurn, Summary, SummaryKind, Support
from hitherto.work.cursors import SUCCEEDED, Effect
from hitherto.work.overview import Overview, daily_cursor
from hitherto.work.worker import Job, Step

MOST: Final = 400
"""How many turns one summary reads at the most; the rest is in the version before."""
FACTS: Final = 60
LONGEST_DAY: Final = 2_000
MOMENTS: Final = 10
"""How many key moments a day keeps, the newest."""
TOLD: Final = 4
"""How many sentences tell a day."""
ENTRIES: Final = 12
"""How many entries a section of a lane or the spine keeps."""


_SPEAKER: Final = re.compile(r"(?:^|”, )(?P<who>[^“”]+ said )(?=“[^“]*$)")


class Forgotten(StoreUnavailable):
    """A turn was forgotten while it was summarised; the step starts over."""


def current(key: str) -> RecordsByKey:
    return RecordsByKey(noun="summary", keys=(key,))


def live(answers: Answers, query: RecordsByKey) -> Summary | None:
    found = nouns.records(answers[query], Summary)
    return found[-1] if found else None


def supports(notes: Iterable[SentenceNote], ground: Ground) -> tuple[Support, ...]:
    """The sentences that were said, each once, with their quotes."""
    found: dict[str, Support] = {}
    for note in notes:
        text = " ".join(note.text.split())
        quotes = ground.quotes(note.quotes)
        if text and quotes and ground.refused(text) is None:
            sources = tuple(dict.fromkeys(quote.turn for quote in quotes))
            found.setdefault(folded(text), Support(text=text, sources=sources, quotes=quotes))
    return tuple(found.values())


def version(
    previous: Summary | None,
    *,
    kind: SummaryKind,
    key: str,
    sentences: Sequence[Support],
    turns: Sequence[StoredTurn],
    method: Method,
    text: str | None = None,
    detail: Mapping[str, Json] | None = None,
) -> Summary:
    """The next version of a summary; what an earlier one covers stays covered."""
    first = previous.first if previous else turns[0].place
    base = previous or Summary(id=derived_id("summary", key), key=key, kind=kind, at=turns[-1].at)
    return replace(
        base,
        text=text if text is not None else told(sentences),
        detail=detail or {},
        sentences=tuple(sentences),
        sources=tuple(dict.fromkeys(source for sentence in sentences for source in sentence.sources)),
        at=max(base.at, turns[-1].at),
        first=min(first, turns[0].place),
        last=max(base.last, turns[-1].place),
        messages=base.messages + len(turns),
        method=method,
    )


def told(sentences: Iterable[Support]) -> str:
    """The sentences as one text. Quotes of one speaker in a row name him once: `Ana said “…”; “…”.`"""
    shown: list[str] = []
    speaker = ""
    for one in sentences:
        text = one.text if one.text.rstrip("”\"'’")[-1:] in ".!?…。！？" else f"{one.text}."
        said = _SPEAKER.search(text)
        if said is not None and said["who"] == speaker and not said.start():
            shown[-1] = f"{shown[-1].removesuffix('.')};"
            text = text[said.end() :]
        speaker = said["who"] if said is not None else ""
        shown.append(text)
    return " ".join(shown)


def unless_forgotten(
    summary: Summary, check: TurnsById, answers: Answers, before: RecordsById, *, told: Iterable[str] = ()
) -> None:
    """Every turn that this version is the first to rest on must still be there. One that the version before rests on, or one
    of the records that it was `told` of, may be over its time; had it been forgotten, they would be gone as well."""
    found = {turn.id for turn in answers[check]}
    carried = {source for row in answers[before] if row.id in {summary.id, *told} for source in row.sources}
    if any(source not in found and source not in carried for source in summary.sources):
        raise Forgotten


# --- rolling: what the persona has in mind, at most so many characters -----------------------------------------------------


def rolling(one: Read, previous: Summary | None, *, live: Mapping[str, StoredTurn], limit: int) -> Summary | None:
    """The rolling summary after a reading; sentences that rest on turns which are gone meanwhile are left out."""
    passage = one.passage
    earlier = {
        quote.turn: frozenset({quote.words})
        for shown in (*passage.memories, *passage.loops, *(previous.sentences if previous else ()))
        for quote in shown.quotes
    }
    standing = set(live) | (set(previous.sources) if previous else set[str]())
    standing |= {source for shown in (*passage.memories, *passage.loops) for source in shown.sources}
    found = supports(one.reading.rolling, scene.ground(passage, earlier=earlier))
    kept = fitting([s for s in found if set(s.sources) <= standing], limit)
    if not kept:
        return None
    key = keys.rolling(one.turns[0].persona)
    return version(previous, kind="rolling", key=key, sentences=kept, turns=one.turns, method=one.reading.method)


def fitting(sentences: Sequence[Support], limit: int) -> list[Support]:
    """The first sentences that fit: what must not be missed stands first."""
    kept: list[Support] = []
    room = limit
    for one in sentences:
        if len(one.text) <= room:
            kept.append(one)
            room -= len(one.text) + 1
    return kept


def _rolling_due(view: Overview, services: Services) -> Mapping[str, datetime]:
    """Without a model, every few messages; with one, the reading of new lines writes it."""
    if services.model is not None:
        return {}
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
    stands = current(keys.rolling(persona))
    answers = await job.store.read(window, stands)
    turns = answers[window]
    passage = await scene.passage(job, turns, ends=False, asks=False) if turns else None
    if passage is None or not passage.new:
        return Effect(position=tail.number)
    reading = await job.services.plain.read(replace(passage, memories=()))
    one = Read(passage=passage, reading=reading, turns=turns)
    still = {line.turn.id: line.turn for line in passage.lines}
    summary = rolling(one, live(answers, stands), live=still, limit=job.services.numbers.rolling_chars)
    noted: dict[str, Json] = {SUCCEEDED: job.now.isoformat()}
    made = [replace(summary, persona=persona)] if summary is not None else []
    return _written(job, *made, position=turns[-1].number, body=noted)


# --- daily: the user's own day, after every closed session and once more when it is over ----------------------------------


def day(
    previous: Summary | None,
    notes: SittingNotes,
    ground: Ground,
    *,
    persona: str | None,
    at: datetime,
    zone: str,
    turns: Sequence[StoredTurn],
) -> Summary | None:
    """The day's summary with a session more: its sentences beside those of before, or the whole day anew."""
    of_day = local_day(at, zone)
    fresh = supports(notes.summary, ground)
    moments = supports(notes.moments or notes.mattered or notes.summary, ground)
    whole = supports(notes.day, ground) if previous is not None or not fresh else ()
    if not (fresh or whole):
        return None
    ids = {turn.id for turn in turns}
    kept = [s for s in (previous.sentences if previous else ()) if not ids & set(s.sources)]
    before = _listed(previous, "summary_sentences")
    heart = list(whole) or [*(s for s in kept if s.text in before), *fresh][-TOLD:]
    past = [s for s in kept if s.text in _listed(previous, "key_moments")]
    key_moments = _once([*past, *moments])[-MOMENTS:]
    detail: dict[str, Json] = {
        "summary": told(heart),
        "summary_sentences": [one.text for one in heart],
        "key_moments": [one.text for one in key_moments],
    }
    key = keys.daily(persona, of_day)
    fresh_turns = [turn for turn in turns if previous is None or turn.place > previous.last] or turns[-1:]
    summary = version(
        previous,
        kind="daily",
        key=key,
        sentences=_once([*heart, *key_moments]),
        turns=fresh_turns,
        method=notes.method,
        text=told(heart),
        detail=detail,
    )
    return replace(summary, persona=persona, day=of_day)


def _listed(summary: Summary | None, name: str) -> tuple[str, ...]:
    found = summary.detail.get(name) if summary is not None else None
    return tuple(str(one) for one in found) if isinstance(found, list) else ()


def _once(sentences: Iterable[Support]) -> list[Support]:
    return list({folded(one.text): one for one in sentences}.values())


def _daily_due(view: Overview, services: Services) -> Mapping[str, datetime]:
    """The end of the user's day that holds the first turn of a day that is not finished."""
    del services
    return {
        daily_cursor(persona): day_bounds(local_day(turn.at, view.zone), view.zone)[1]
        for persona, turn in view.unfinished.items()
    }


async def _daily(job: Job[Services]) -> Effect:
    """Finishes a day: what no closed session has told of it yet, such as one that runs over midnight, is told by rules."""
    persona, first = next((p, t) for p, t in job.view.unfinished.items() if daily_cursor(p) == job.cursor.step)
    of_day = local_day(first.at, job.view.zone)
    begin, end = day_bounds(of_day, job.view.zone)
    listed = TurnList(persona=persona, since=begin, until=end, limit=LONGEST_DAY)
    stands = current(keys.daily(persona, of_day))
    answers = await job.store.read(listed, stands)
    turns, previous = answers[listed], live(answers, stands)
    last = max(turns[-1].place if turns else 0, first.place)
    open_ = {session.id for session in job.view.open_sessions}
    untold = [t for t in turns if previous is None or t.place > previous.last]
    if previous is not None:
        untold = [turn for turn in untold if turn.session in open_]
    if not untold:
        return Effect(position=last)
    session = Session(id=untold[-1].session, persona=persona, at=untold[0].at)
    sitting = await scene.sitting(job, session, untold)
    notes = await job.services.plain.close(sitting)
    ground = scene.ground_of(sitting)
    made = day(previous, notes, ground, persona=persona, at=first.at, zone=job.view.zone, turns=untold)
    return _written(job, *([made] if made is not None else []), position=last)


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
    found: list[Summary] = []
    for persona, lane in dict.fromkeys((turn.persona, turn.lane) for turn in turns):
        summary = await _compacted(job, persona=persona, lane=lane)
        if summary is not None:
            found.append(summary)
    return _written(job, *found, position=turns[-1].place, told=tuple(summary.id for summary in found))


async def _compacted(job: Job[Services], *, persona: str | None, lane: str | None) -> Summary | None:
    key = keys.lane(persona, lane)
    window = Window(persona=persona, lane=lane, limit=MOST)
    stands = current(key)
    answers = await job.store.read(window, stands)
    previous = live(answers, stands)
    recent = tuple(turn for turn in answers[window] if previous is None or turn.place > previous.last)
    older = recent[: -job.services.numbers.compact_keep]
    if not older or not over_threshold(recent, previous, services=job.services, now=job.now):
        return None
    session = Session(id=older[-1].session, persona=persona, at=older[0].at)
    sitting = replace(await scene.sitting(job, session, older), lane=previous, day=None)
    notes = await job.services.plain.close(sitting)
    ground = scene.ground_of(sitting)
    sections = await _sections(job, older, notes, ground)
    sections = _carried(previous, sections, closed=[loop for loop in sitting.loops if loop.status != "open"])
    detail: dict[str, Json] = {name: [one.text for one in entries] for name, entries in sections.items()}
    shown = [f"{LANE_TITLES[name]}: " + told(entries) for name, entries in sections.items() if entries]
    sentences = _once(one for entries in sections.values() for one in entries)
    summary = version(
        previous, kind="lane", key=key, sentences=sentences, turns=older, method=notes.method, text="\n".join(shown),
        detail=detail,
    )  # fmt: skip
    return replace(summary, persona=persona, lane=lane)


async def _sections(
    job: Job[Services], older: Sequence[StoredTurn], notes: SittingNotes, ground: Ground
) -> dict[LaneSection, list[Support]]:
    """What the older lines gave: where a model has read them, what it noted of them, otherwise what rules find."""
    ids = {turn.id for turn in older}
    by_rules: dict[LaneSection, list[Support]] = {
        name: list(supports(notes.lane.get(name, ()), ground)) for name in LANE_TITLES
    }
    if job.services.model is None:
        return by_rules
    persona = older[0].persona
    known = RecordList(noun="memory", persona=persona, shared=True, statuses=("ACTIVE",), limit=MOST)
    loops, sessions = (
        RecordList(noun="loop", persona=persona, limit=MOST),
        RecordList(noun="summary", persona=persona, limit=MOST),
    )
    answers = await job.store.read(known, loops, sessions)
    facts = [_support(m) for m in nouns.records(answers[known], Memory) if set(m.sources) <= ids and m.valid_to is None]
    opened = [loop for loop in nouns.records(answers[loops], Loop) if loop.sources and set(loop.sources[:1]) <= ids]
    waiting = [loop for loop in opened if loop.status == "open"]
    stored = [s for s in nouns.records(answers[sessions], Summary) if s.kind == "session" and s.method == "model"]
    if not (facts or opened or stored):
        return by_rules
    ended = [_support(loop) for loop in opened if loop.status == "done" and set(loop.sources) <= ids]
    return {
        "goals": [_support(loop) for loop in waiting if loop.kind in ("question", "topic", "habit", "friction")],
        "decisions": _told_of(stored, "decisions", ids),
        "facts": facts,
        "outcomes": [*_told_of(stored, "outcomes", ids), *ended],
        "pending": [_support(loop) for loop in waiting if loop.kind in ("promise", "commitment")],
    }


def _support(record: Memory | Loop) -> Support:
    return Support(text=record.text, sources=record.sources, quotes=record.quotes)


def _told_of(stored: Sequence[Summary], name: LaneSection, ids: set[str]) -> list[Support]:
    found: list[Support] = []
    for summary in stored:
        lane = summary.detail.get("lane")
        texts = lane.get(name) if isinstance(lane, dict) else None
        named = {str(text) for text in texts} if isinstance(texts, list) else set[str]()
        found += [s for s in summary.sentences if s.text in named and set(s.sources) <= ids]
    return found


def _carried(
    previous: Summary | None, fresh: Mapping[LaneSection, list[Support]], *, closed: Sequence[Loop]
) -> dict[LaneSection, list[Support]]:
    """What an earlier version said stays, unless it was closed since; the newest of each section are kept."""
    resting = {sentence.text: sentence for sentence in (previous.sentences if previous else ())}
    sections: dict[LaneSection, list[Support]] = {}
    for name, entries in fresh.items():
        over = closed if name in ("goals", "pending") else ()
        told = (resting[text] for text in _listed(previous, name) if text in resting)
        kept = [one for one in told if not any(_tells_of(one, loop) for loop in over)]
        sections[name] = _once([*kept, *entries])[-ENTRIES:]
    return sections


def _tells_of(sentence: Support, loop: Loop) -> bool:
    """Whether a sentence says what a loop does, or rests on words that opened it."""
    if folded(sentence.text) == folded(loop.text):
        return True
    return any(same_words(own, quote.turn, quote.words) for own in sentence.quotes for quote in loop.quotes)


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
    counted = int(str(cursor.body.get("messages", 0))) if cursor else 0
    return {"spine": view.now} if view.messages - counted > services.numbers.spine_messages else {}


_SPINE: Final[Mapping[str, MemoryType]] = {"PROFILE": "PROFILE", "PROJECTS": "PROJECT", "PEOPLE": "PEOPLE"}


async def _spine(job: Job[Services]) -> Effect:
    """Made of what is known for every persona; what is open is each persona's own and is shown with its name."""
    fresh = TurnList(after=job.cursor.position, limit=MOST)
    stands = current(keys.SPINE)
    facts = RecordList(noun="memory", persona=None, statuses=("ACTIVE",), limit=FACTS * 4)
    answers = await job.store.read(fresh, stands, facts)
    turns = answers[fresh]
    counted: dict[str, Json] = {"messages": job.view.messages}
    if not turns:
        return Effect(position=job.cursor.position, body=counted)
    previous = live(answers, stands)
    known = [
        m
        for m in nouns.records(answers[facts], Memory)
        if m.subject == "user" and (m.valid_to is None or m.valid_to > job.now)
    ]
    sections = {title: _best(known, kind) for title, kind in _SPINE.items()} | {"OPEN_LOOPS": list[Support]()}
    detail: dict[str, Json] = {name: [one.text for one in entries] for name, entries in sections.items()}
    shown = [f"{name}: " + told(entries) for name, entries in sections.items() if entries]
    sentences = _once(one for entries in sections.values() for one in entries)
    summary = version(
        previous, kind="spine", key=keys.SPINE, sentences=sentences, turns=turns, method="rules", text="\n".join(shown),
        detail=detail,
    )  # fmt: skip
    told_of = tuple(row.id for row in answers[facts])
    return _written(job, replace(summary, messages=len(turns)), position=turns[-1].place, body=counted, told=told_of)


def _best(known: Sequence[Memory], kind: MemoryType) -> list[Support]:
    held = sorted(
        (m for m in known if m.type == kind), key=lambda m: (not m.pinned, -m.importance, -m.mentions, -m.seq)
    )
    return [_support(memory) for memory in held[:ENTRIES]]


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
