"""What some recipes want from beyond the window: the first turns of the session, earlier turns of today, other lanes.

Asked beside the texts that recall fetches, and only by the recipes that have a place for it. Another lane's summary comes
along when the message names that lane, or when nearly all that the message is about is in it; never just because it is
there.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from hitherto.assemble.material import Material
from hitherto.assemble.select import Running
from hitherto.clock import day_bounds, local_day
from hitherto.recipes.model import Recipe
from hitherto.store import records as nouns
from hitherto.store.protocol import Answers, Query, RecordList, TurnList
from hitherto.text.analyser import stems
from hitherto.types import StoredTurn, Summary

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
