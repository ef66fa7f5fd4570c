"""Which of the gathered records a context may show, and in which order; and what some recipes want from beyond the window: the
first turns of the session, earlier turns of today, other lanes. Pure.

Another lane's summary comes along when the message names that lane, or when nearly all that the message is about is in it;
never just because it is there.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from hitherto.assemble.material import Material
from hitherto.clock import day_bounds, local_day
from hitherto.ingest import sessions
from hitherto.recipes.model import Recipe
from hitherto.store import records as nouns
from hitherto.store.protocol import Answers, Query, RecordList, TurnList
from hitherto.text.analyser import stems
from hitherto.types import Card, Loop, Memory, Recalled, Session, StoredTurn, Summary, Thought

SOON = timedelta(hours=2)
"""A loop surfaces this long before it is due."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Running:
    """The session that a message of now belongs to (None: it opens a new one) and the chain that its window spans."""

    id: str | None
    chain: tuple[str, ...]


def running_session(
    turns: Sequence[StoredTurn], known: Sequence[Session], *, now: datetime, rule: sessions.Rule
) -> Running:
    """`turns` are the lane's newest, so a session that went on in another lane is found among the sessions."""
    if not turns:
        return Running(id=None, chain=())
    newest = turns[-1]
    closed = any(session.id == newest.session and session.status == "closed" for session in known)
    gap = abs(now - newest.at)
    linked = sessions.chain(known, newest.session)
    if gap <= rule.gap and not closed:
        return Running(id=newest.session, chain=linked)
    return Running(id=None, chain=linked if gap < rule.chain else ())


def today(days: Sequence[Summary], *, now: datetime, zone: str) -> Summary | None:
    day = local_day(now, zone)
    return next((summary for summary in days if summary.day == day), None)


def last_time(
    past: Sequence[Summary], days: Sequence[Summary], *, running: str | None, now: datetime, zone: str
) -> Summary | None:
    """The newest summary of an earlier session, else the newest day before today that has one."""
    for summary in past:
        if summary.session != running:
            return summary
    day = local_day(now, zone)
    return next((summary for summary in days if summary.day is not None and summary.day < day), None)


def surfacing(loops: Sequence[Loop], *, now: datetime, fade: timedelta) -> tuple[Loop, ...]:
    """Due ones first, then what is fresh, then what waits for a later day, then what has grown old; newest first in each."""

    def rank(loop: Loop) -> tuple[int, float, int]:
        freshness = -loop.at.timestamp()
        if loop.due is not None and now - fade < loop.due <= now + SOON:
            return 0, -loop.due.timestamp(), -loop.seq
        if loop.due is not None and loop.due > now + SOON:
            return 2, loop.due.timestamp(), -loop.seq
        return (1 if now - loop.at <= fade else 3), freshness, -loop.seq

    return tuple(sorted(loops, key=rank))


def step_begin(window: Sequence[StoredTurn], *, step: int) -> int:
    """The log's entry before the turn with which the newest step of so many turns began, or before the whole window."""
    first = window[-1].number // step * step
    return next(turn.place for turn in window if turn.number >= first) - 1


def unspent(thoughts: Sequence[Thought], *, now: datetime) -> tuple[Thought, ...]:
    """Thoughts that have neither expired nor been used."""
    return tuple(t for t in thoughts if t.used_in is None and (t.due is None or t.due > now))


def holds(memory: Memory, *, now: datetime) -> bool:
    """Whether a memory is still true."""
    return memory.valid_to is None or memory.valid_to > now


def foundation(memories: Sequence[Memory], *, now: datetime, limit: int) -> tuple[Memory, ...]:
    """Pinned ones first, then core identity, newest first."""
    lasting = [m for m in memories if holds(m, now=now) and (m.pinned or not m.standing) and m.importance >= 3]
    return tuple(sorted(lasting, key=lambda m: (not m.pinned, -m.at.timestamp(), -m.seq))[:limit])


def standing(memories: Sequence[Memory], *, now: datetime) -> tuple[Memory, ...]:
    """Standing requests that the user stated; those of any other origin never reach a prompt as requests."""
    return tuple(m for m in memories if m.standing and m.origin in ("user", "application") and holds(m, now=now))


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
"""So many times what a recipe shows of today's turns are candidates: some repeat what the context holds elsewhere. Twice as
many are read, for some are a tool's."""
CONFIDENT_STEMS = 2
"""A message of fewer words than this is never taken to be about another lane."""


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
    firsts = today = lanes = None
    if recipe.history.keep_first and running.chain:
        session, most = running.chain[-1], recipe.history.keep_first
        firsts = TurnList(persona=persona, lane=lane, session=session, limit=most, known=known)
    if (few := _todays(recipe)) and recipe.history.delivery != "moments":
        most = 2 * SPARE * few
        today = TurnList(persona=persona, lane=lane, since=begin, until=material.now, limit=most, known=known)
    if recipe.limits.other_lanes and "other_lanes" in recipe.order:
        lanes = RecordList(noun="summary", persona=persona, key_prefix="lane:", limit=LANES, known=known)
    return Beyond(begin=begin, firsts=firsts, today=today, lanes=lanes)


def reached(material: Material, recipe: Recipe, asked: Beyond, answers: Answers) -> dict[str, Any]:
    """What the recipe wants from beyond the window, by the names of the material's fields."""
    found: dict[str, Any] = {}
    if asked.firsts is not None:
        found["first_turns"] = answers[asked.firsts]
    if asked.today is not None:
        shown = {turn.id for turn in material.window}
        earlier = _earlier(answers[asked.today], shown, begin=asked.begin, message=material.message_id)
        found["today_turns"] = earlier[: SPARE * _todays(recipe)]
    elif few := _todays(recipe):
        # The window is not shown as such, so that what was said just now and is in no summary yet would be missing.
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
    """Today's own turns that the window does not hold."""
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
    """Whether a message says the lane's name; numbers of chats and topics are no names."""
    words = {stem for stem in stems((summary.lane or "").replace(":", " ").replace("_", " ")) if not stem.isdigit()}
    return bool(asked & (words - set(stems("topic reply root"))))


def _sure(asked: set[str], summary: Summary, confidence: float) -> bool:
    return len(asked) >= CONFIDENT_STEMS and len(asked & set(stems(summary.text))) >= confidence * len(asked)
