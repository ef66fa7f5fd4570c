"""Which of the gathered records a context may show, and in which order. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from hitherto.clock import local_day
from hitherto.ingest import sessions
from hitherto.recipes.model import Recipe
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
