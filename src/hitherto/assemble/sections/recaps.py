"""Sections of summaries: the last session, today, the long-term summary, the lane's, and working memory
between calls.
"""

import re
from collections.abc import Mapping
from typing import Final

from hitherto.assemble.candidates import Candidate, Desk, Quota
from hitherto.assemble.sections.application import plain, strings
from hitherto.assemble.sections.memories import card_ref, fading_last, loop_line, said_line
from hitherto.recipes.titles import SectionId
from hitherto.types import Summary

_SENTENCE: Final = re.compile(r"(?<=[.!?…])\s+|(?<=[.!?…]”)\s+|(?<=[。！？])")


_SESSION_DETAIL: Final = {
    "what_mattered": "What mattered:",
    "commitments": "Commitments:",
    "open_loops": "Left open:",
    "people": "People:",
    "tone": "Tone:",
}
_LANE_DETAIL: Final = {
    "goals": "Goals and open questions:",
    "decisions": "Decisions:",
    "facts": "Facts:",
    "outcomes": "Outcomes:",
    "pending": "Pending actions:",
}
_SPINE_DETAIL: Final = {"PROFILE": "PROFILE:", "PROJECTS": "PROJECTS:", "PEOPLE": "PEOPLE:"}


def moments(desk: Desk) -> list[Candidate]:
    """Working memory between two calls: what mattered in the last one. Chat turns belong to the history, not here."""
    last = desk.material.last_time
    if desk.recipe.history.delivery != "moments" or last is None:
        return []
    return _detailed(desk, "working", last, _SESSION_DETAIL, quota=Quota("moments", desk.recipe.limits.moments))


def last_time(desk: Desk) -> list[Candidate]:
    last = desk.material.last_time
    if last is None:
        return []
    text = last.text.strip() or plain(last.detail.get("one_liner"))
    sentences = _sentences(text)
    most = desk.recipe.last_time.sentences
    chosen = " ".join(sentences[-most:] if last.kind == "daily" else sentences[:most])
    entries = [desk.entry("last_time", last, chosen, prefix="", alone=True, divisible=True)] if chosen else []
    if desk.recipe.last_time.detail:
        entries += _detailed(
            desk, "last_time", last, _SESSION_DETAIL, quota=Quota("moments", desk.recipe.limits.moments)
        )
    return entries


def _sentences(text: str) -> list[str]:
    """The sentences of a summary; one that quotes several is not cut inside a quote."""
    found: list[str] = []
    for part in _SENTENCE.split(text):
        if found and found[-1].count("“") > found[-1].count("”"):
            found[-1] = f"{found[-1]} {part}"
        elif part.strip():
            found.append(part)
    return found


def today(desk: Desk) -> list[Candidate]:
    today = desk.material.today
    entries: list[Candidate] = []
    if today is not None:
        if today.text.strip():
            entries.append(desk.entry("today", today, today.text, prefix="Summary: ", alone=True, divisible=True))
        few = Quota("key moments", desk.recipe.limits.moments)
        moments = strings(today.detail.get("key_moments"))
        entries += [desk.entry("today", today, moment, heading="Key moments:", quota=few) for moment in moments]
    few = Quota("today's turns", desk.recipe.limits.today_turns)
    turns = desk.material.today_turns
    return [
        *entries,
        *(said_line(desk, "today", turn, heading="Earlier today:", quota=few) for turn in turns),
    ]


def spine(desk: Desk) -> list[Candidate]:
    """The long-term summary. It belongs to the user, but its open loops belong to one persona and are read afresh.

    A recipe that shows loops after the history keeps them out of here, where they would change what should stay stable.
    """
    spine = desk.material.spine
    if spine is None:
        return []
    entries = _detailed(desk, "spine", spine, _SPINE_DETAIL)
    if not entries and spine.text.strip():
        entries = [desk.entry("spine", spine, spine.text, prefix="", alone=True, divisible=True)]
    if "loops" in desk.recipe.tail:
        return entries
    return [*entries, *(loop_line(desk, "spine", loop, heading="OPEN_LOOPS:") for loop in fading_last(desk))]


def rolling(desk: Desk) -> list[Candidate]:
    rolling = desk.material.rolling
    if rolling is None or not rolling.text.strip():
        return []
    return [desk.entry("rolling", rolling, rolling.text, prefix="", alone=True, divisible=True)]


def lane_summary(desk: Desk) -> list[Candidate]:
    summary = desk.material.lane_summary
    if summary is None:
        return []
    entries = _detailed(desk, "lane_summary", summary, _LANE_DETAIL)
    if not entries and summary.text.strip():
        entries = [desk.entry("lane_summary", summary, summary.text, prefix="", alone=True, divisible=True)]
    return entries


def other_lanes(desk: Desk) -> list[Candidate]:
    few = Quota("other lanes", desk.recipe.limits.other_lanes)
    return [
        desk.entry(
            "other_lanes",
            lane,
            lane.text,
            prefix=f"- ({card_ref(lane.lane or 'root')}) ",
            alone=True,
            divisible=True,
            quota=few,
        )
        for lane in desk.material.other_lanes
        if lane.text.strip()
    ]


def _detailed(
    desk: Desk, section: SectionId, summary: Summary, titles: Mapping[str, str], *, quota: Quota | None = None
) -> list[Candidate]:
    """A summary's structure: texts after their title, lists under it."""
    entries: list[Candidate] = []
    for name, title in titles.items():
        value = summary.detail.get(name)
        if not isinstance(value, str):
            entries += [desk.entry(section, summary, line, heading=title, quota=quota) for line in strings(value)]
        elif value.strip():
            entries.append(desk.entry(section, summary, value, prefix=f"{title} ", quota=quota))
    return entries
