"""What some recipes want from beyond the window: the first turns of the session, earlier turns of today, other lanes.

Asked in one more batch, and only by the recipes that have a place for it. Another lane's summary comes along when the
message names that lane, or when nearly all that the message is about is in it; never just because it is there.
"""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

from recollect.assemble.material import Material
from recollect.assemble.recipe import Recipe
from recollect.assemble.select import Running
from recollect.clock import day_bounds, local_day
from recollect.store import nouns
from recollect.store.base import Query, RecordList, TurnList, UserStore
from recollect.text.analyse import stems
from recollect.types import StoredTurn, Summary

LANES = 40
TODAY = 40
SPARE = 2
"""So many times what a recipe shows of today's turns are candidates: some repeat what the context holds elsewhere."""
CONFIDENT_STEMS = 2
"""A message of fewer words than this is never taken to be about another lane."""


async def beyond(
    store: UserStore, material: Material, recipe: Recipe, *, running: Running, known: int | None
) -> Material:
    """The material with what the recipe wants from beyond the window."""
    persona, lane = material.persona.id, material.lane
    begin, _ = day_bounds(local_day(material.now, material.profile.zone), material.profile.zone)
    firsts = TurnList(
        persona=persona,
        lane=lane,
        session=running.chain[-1] if running.chain else None,
        limit=max(recipe.history.keep_first, 1),
        known=known,
    )
    today = TurnList(persona=persona, lane=lane, since=begin, until=material.now, limit=TODAY, known=known)
    lanes = RecordList(noun="summary", persona=persona, key_prefix="lane:", limit=LANES, known=known)
    wanted: list[Query[object]] = []
    if recipe.history.keep_first and running.chain:
        wanted.append(firsts)
    few = recipe.limits.today_turns if "today" in recipe.order else 0
    if few and recipe.history.delivery == "moments":
        # The window is not shown as such, so that what was said just now and is in no summary yet would be missing.
        recent = _earlier(material.window, set(), begin=begin, message=material.message_id)
        material = replace(material, today_turns=recent[-few:])
    elif few:
        wanted.append(today)
    if recipe.limits.other_lanes and "other_lanes" in recipe.order:
        wanted.append(lanes)
    if not wanted:
        return material
    answers = await store.read(*wanted)
    shown = {turn.id for turn in material.window}
    if firsts in wanted:
        material = replace(material, first_turns=answers[firsts])
    if today in wanted:
        material = replace(
            material,
            today_turns=_earlier(answers[today], shown, begin=begin, message=material.message_id)[
                : SPARE * recipe.limits.today_turns
            ],
        )
    if lanes in wanted:
        material = replace(material, other_lanes=_related(nouns.records(answers[lanes], Summary), material, recipe))
    return material


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
