"""Which of the gathered records a context may show, and in which order; and what some recipes want from beyond the window:
the first turns of the session, earlier turns of today, other lanes. Pure.

Another lane's summary is included if the message names that lane, or if nearly everything that the message is about is in
it; never just because it exists.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any

from hitherto.assemble.material import Material
from hitherto.clock import day_bounds, local_day
from hitherto.ingest import sessions
from hitherto.recall.entities import named_days
from hitherto.recall.query import Period
from hitherto.recipes.recipe import Recipe
from hitherto.store import records as nouns
from hitherto.store.protocol import Answers, Query, RecordList, TurnList
from hitherto.text.analyser import stems
from hitherto.text.languages import ENGLISH, language, plausible
from hitherto.types import Card, Loop, Memory, Recalled, Record, Session, StoredTurn, Summary, Support, Thought

SOON = timedelta(hours=2)
"""A loop surfaces this long before it is due."""
OTHER_LANE = "other lane"
OTHER_PERSONA = "said to another persona"
WRAPPING = 60
PER_TURN = 6
"""Approximate tokens around the history and around each of its turns."""
CORE = 3
"""The importance of what is always true of the user."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Running:
    """The session that a message arriving now belongs to (None: it opens a new one) and the chain that its window spans."""

    id: str | None
    chain: tuple[str, ...]


def running_session(
    turns: Sequence[StoredTurn], known: Sequence[Session], *, now: datetime, rule: sessions.Rule
) -> Running:
    """`turns` are the lane's newest, so a session that continued in another lane is found among the sessions."""
    if not turns:
        return Running(id=None, chain=())
    newest = turns[-1]
    closed = any(session.id == newest.session and session.status == "closed" for session in known)
    gap = abs(now - newest.at)
    linked = sessions.chain(known, newest.session)
    if gap <= rule.gap and not closed:
        return Running(id=newest.session, chain=linked)
    return Running(id=None, chain=linked if gap < rule.chain else ())


def certain(window: Sequence[StoredTurn], recipe: Recipe, *, message: str) -> tuple[StoredTurn, ...]:
    """The newest turns, for which the history has room whatever else is shown; earlier turns of the same window can be
    recalled like anything else."""
    rules = recipe.history
    room = recipe.history_group.target - WRAPPING - len(message) // 2
    kept = 0
    for turn in reversed(window):
        room -= min(turn.tokens, rules.turn) + PER_TURN
        if kept >= rules.minimum and room < 0:
            break
        kept += 1
    return tuple(window[len(window) - kept :])


def today(days: Sequence[Summary], *, now: datetime, zone: str) -> Summary | None:
    day = local_day(now, zone)
    return next((summary for summary in days if summary.day == day), None)


def last_time(
    past: Sequence[Summary], days: Sequence[Summary], *, running: str | None, now: datetime, zone: str
) -> Summary | None:
    """The newest summary of an earlier session, or else of the newest earlier day that has one."""
    for summary in past:
        if summary.session != running:
            return summary
    day = local_day(now, zone)
    return next((summary for summary in days if summary.day is not None and summary.day < day), None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Apart:
    """What stays out of a conversation because it belongs to another: one topic's matters are not another's, and a user's
    own words are for whom they were said to. General knowledge about the user, what the message asks for, and lanes that it
    names are let in.
    """

    persona: str | None
    home: str | None
    named: frozenset[str]
    said_in: Mapping[str, StoredTurn]
    """The turns that known records rest on."""
    sure: frozenset[int]
    """Entries of records that answer the message nearly as well as the best turn."""

    def keeps_out(self, record: Record) -> str:
        """The reason to keep it out, or nothing."""
        if record.seq in self.sure or (isinstance(record, Memory) and _general(record)):
            return ""
        turns = [self.said_in[turn] for turn in record.sources if turn in self.said_in]
        if isinstance(record, Memory):
            # A fact that was said in several lanes belongs to none of them.
            if turns and _quotes(record) and all(turn.persona != self.persona for turn in turns):
                return OTHER_PERSONA
            open_ = any(self._open(turn.lane) for turn in turns) if turns else self._open(record.lane)
        else:
            # A story of several lanes is about each of them.
            open_ = all(self._open(turn.lane) for turn in turns) if turns else self._open(record.lane)
        return "" if open_ else OTHER_LANE

    def told(self, summaries: Sequence[Summary]) -> tuple[Summary, ...]:
        """The summaries in the form that this lane may read, without those of which nothing is left."""
        return tuple(told for summary in summaries if (told := self._told(summary)) is not None)

    def _told(self, summary: Summary) -> Summary | None:
        if not self.keeps_out(summary):
            return summary
        kept = tuple(one for one in summary.sentences if self._all_open(one.sources))
        if not kept:
            return None
        said = {one.text for one in kept}
        detail = {
            name: [one for one in value if one in said] if isinstance(value, list) else ""
            for name, value in summary.detail.items()
        }
        text = " ".join(one.text for one in kept)
        return replace(summary, text=text, sentences=kept, detail=detail, sources=_sources(kept))

    def _all_open(self, sources: Sequence[str]) -> bool:
        return all(self._open(self.said_in[turn].lane) for turn in sources if turn in self.said_in)

    def _open(self, lane: str | None) -> bool:
        return lane in self.named or sessions.shows(self.home, lane)


def _general(memory: Memory) -> bool:
    """Whether a fact is known about the user wherever they talk."""
    return memory.pinned or memory.standing or memory.importance >= CORE


def _quotes(memory: Memory) -> bool:
    """Whether a memory is worded like the turn that it comes from."""
    return any(f"“{quote.words}" in memory.text for quote in memory.quotes)


def _sources(sentences: Sequence[Support]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(source for one in sentences for source in one.sources))


def surfacing(loops: Sequence[Loop], *, now: datetime, fade: timedelta) -> tuple[Loop, ...]:
    """Due ones first, then fresh ones, then those that wait for a later day, then old ones; newest first in each group."""

    def rank(loop: Loop) -> tuple[int, float, int]:
        freshness = -loop.at.timestamp()
        if loop.due is not None and now - fade < loop.due <= now + SOON:
            return 0, -loop.due.timestamp(), -loop.seq
        if loop.due is not None and loop.due > now + SOON:
            return 2, loop.due.timestamp(), -loop.seq
        return (1 if now - loop.at <= fade else 3), freshness, -loop.seq

    return tuple(sorted(loops, key=rank))


def asked_for(loops: Sequence[Loop], periods: Sequence[Period], *, zone: str) -> dict[str, Any]:
    """Loops with those first that tell of a day in these periods, by the material's field names."""
    meant = named_days(periods, zone=zone)
    called = frozenset(loop.id for loop in loops if not meant.isdisjoint(nouns.days(loop, zone=zone)))
    return {"loops": tuple(sorted(loops, key=lambda loop: loop.id not in called)), "called": called}


def step_begin(window: Sequence[StoredTurn], *, step: int) -> int:
    """The log's entry before the turn that began the newest step, or before the whole window."""
    first = window[-1].number // step * step
    return next(turn.place for turn in window if turn.number >= first) - 1


def unspent(thoughts: Sequence[Thought], *, now: datetime) -> tuple[Thought, ...]:
    """Thoughts that have neither expired nor been used."""
    return tuple(t for t in thoughts if t.used_in is None and (t.due is None or t.due > now))


def holds(memory: Memory, *, now: datetime) -> bool:
    """Whether a memory is still true."""
    return memory.valid_to is None or memory.valid_to > now


def endangers(memory: Memory) -> bool:
    """Whether something that is always shown is a danger to somebody rather than a request."""
    spoken = (language(ENGLISH), *plausible(memory.text))
    return memory.standing and any(one.has("standing.danger", memory.text) for one in spoken)


def foundation(memories: Sequence[Memory], *, now: datetime, limit: int) -> tuple[Memory, ...]:
    """Pinned ones first, then dangers, then core identity, newest first."""
    lasting = [
        m
        for m in memories
        if holds(m, now=now) and (endangers(m) or ((m.pinned or not m.standing) and m.importance >= CORE))
    ]
    return tuple(sorted(lasting, key=lambda m: (not m.pinned, not endangers(m), -m.at.timestamp(), -m.seq))[:limit])


def standing(memories: Sequence[Memory], *, now: datetime) -> tuple[Memory, ...]:
    """Standing requests that the user stated; those of any other origin never reach a prompt as requests."""
    own = (m for m in memories if m.standing and m.origin in ("user", "application") and holds(m, now=now))
    return tuple(m for m in own if not endangers(m))


def cards(refs: Sequence[str], facts: Sequence[Memory], *, now: datetime, recipe: Recipe) -> tuple[Card, ...]:
    """A card for each entity, in the order in which they were found: pinned, then important, then newest facts."""
    worthy = [m for m in facts if (m.pinned or m.importance >= recipe.recall.card_importance) and holds(m, now=now)]
    worthy.sort(key=lambda m: (not m.pinned, -m.importance, -m.at.timestamp(), -m.seq))
    found: list[Card] = []
    for ref in refs:
        about = [memory for memory in worthy if ref in memory.entities][: recipe.limits.card_facts]
        if about:
            label = next((m.entity_label for m in about if m.entity_label), ref)
            found.append(Card(ref=ref, label=label, facts=tuple(about)))
    return tuple(found)


def beside(recalled: Sequence[Recalled], cards: Sequence[Card]) -> tuple[Recalled, ...]:
    """Facts of cards that were not found by themselves, for a recipe that shows no cards."""
    known = {found.what.id for found in recalled}
    facts = {fact.id: fact for card in cards for fact in card.facts if fact.id not in known}
    return tuple(Recalled(what=fact, score=0.0, parts={"entity": 0.0}) for fact in facts.values())


LANES = 40
SPARE = 2
"""How many times more of today's turns are candidates than a recipe shows, because some repeat what the context already
has. Twice as many are read, because some are a tool's."""
CONFIDENT_STEMS = 2
"""A message with fewer words than this is never taken to be about another lane."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Beyond:
    """The queries for what a recipe wants from beyond the window; None for what it does not want."""

    begin: datetime
    """When today began."""
    firsts: TurnList | None
    today: TurnList | None
    lanes: RecordList | None

    @property
    def queries(self) -> tuple[Query[object], ...]:
        return tuple(query for query in (self.firsts, self.today, self.lanes) if query is not None)


def beyond(material: Material, recipe: Recipe, *, running: Running, known: int | None) -> Beyond:
    persona, lane, zone = material.persona.id, material.lane, material.profile.zone
    begin, _ = day_bounds(local_day(material.now, zone), zone)
    firsts = today = others = None
    if recipe.history.keep_first and running.chain:
        session, most = running.chain[-1], recipe.history.keep_first
        firsts = TurnList(persona=persona, lane=lane, session=session, limit=most, known=known)
    if (few := _todays(recipe)) and recipe.history.delivery != "moments":
        most = 2 * SPARE * few
        today = TurnList(persona=persona, lane=lane, since=begin, until=material.now, limit=most, known=known)
    if recipe.limits.other_lanes and "other_lanes" in recipe.order:
        others = RecordList(noun="summary", persona=persona, key_prefix="lane:", limit=LANES, known=known)
    return Beyond(begin=begin, firsts=firsts, today=today, lanes=others)


def reached(material: Material, recipe: Recipe, asked: Beyond, answers: Answers) -> dict[str, Any]:
    """What the recipe wants from beyond the window, by the material's field names."""
    found: dict[str, Any] = {}
    if asked.firsts is not None:
        found["first_turns"] = answers[asked.firsts]
    if asked.today is not None:
        shown = {turn.id for turn in material.window}
        earlier = _earlier(answers[asked.today], shown, begin=asked.begin, message=material.message_id)
        found["today_turns"] = earlier[: SPARE * _todays(recipe)]
    elif few := _todays(recipe):
        # The window is not shown as such, so what was said just now and is in no summary yet would be missing.
        recent = _earlier(material.window, set(), begin=asked.begin, message=material.message_id)
        found["today_turns"] = recent[-few:]
    if asked.lanes is not None:
        found["other_lanes"] = _related(nouns.records(answers[asked.lanes], Summary), material, recipe)
    return found


def _todays(recipe: Recipe) -> int:
    """How many of today's turns are shown."""
    return recipe.limits.today_turns if "today" in recipe.order else 0


def _earlier(
    turns: Sequence[StoredTurn], shown: set[str], *, begin: datetime, message: str | None
) -> tuple[StoredTurn, ...]:
    """Today's turns outside the window."""
    return tuple(
        turn
        for turn in turns
        if turn.id not in shown and turn.id != message and turn.at >= begin and turn.role in ("user", "assistant")
    )


def _related(summaries: Sequence[Summary], material: Material, recipe: Recipe) -> tuple[Summary, ...]:
    others = [summary for summary in summaries if summary.lane != material.lane]
    policy = recipe.recall.other_lanes
    if policy == "always":
        return tuple(others)
    if policy == "never":
        return ()
    asked = set(stems(material.message))
    return tuple(
        summary
        for summary in others
        if _names(asked, summary)
        or (policy == "named_or_confident" and _sure(asked, summary, recipe.recall.confidence))
    )


def _names(asked: set[str], summary: Summary) -> bool:
    """Whether a message says the lane's name; numbers of chats and topics are not names."""
    words = {stem for stem in stems((summary.lane or "").replace(":", " ").replace("_", " ")) if not stem.isdigit()}
    return bool(asked & (words - set(stems("topic reply root"))))


def _sure(asked: set[str], summary: Summary, confidence: float) -> bool:
    return len(asked) >= CONFIDENT_STEMS and len(asked & set(stems(summary.text))) >= confidence * len(asked)
