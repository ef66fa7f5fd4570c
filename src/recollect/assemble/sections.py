"""What each section shows: one function per section id, from the material to its candidates, best first.
`SECTIONS` is the table.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import timedelta
from typing import Final

from recollect.assemble.candidate import Candidate, Desk, Quota
from recollect.assemble.render import safe
from recollect.assemble.situation import situation
from recollect.assemble.titles import NOTICE, SectionId
from recollect.types import Episode, Json, Loop, Memory, Recalled, StoredTurn, Summary

_SENTENCE: Final = re.compile(r"(?<=[.!?…])\s+|(?<=[。！？])")

USER_FACTS: Final = "User facts:"
EPISODES: Final = "Relationship episodes:"
HEADING_ORDER: Final = (USER_FACTS, EPISODES)
"""Headings that stand in this order, whatever their entries rank; others follow as they come."""

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


def _policy(desk: Desk) -> list[Candidate]:
    return desk.given("policy", "input", "policy", desk.material.inputs.get("policy", ""))


def _persona(desk: Desk) -> list[Candidate]:
    persona = desk.material.persona
    return desk.given("persona", "persona", persona.id or "", persona.text)


def _boundaries(desk: Desk) -> list[Candidate]:
    persona, inputs = desk.material.persona, desk.material.inputs
    return [
        *desk.given("boundaries", "persona", persona.id or "", persona.boundaries),
        *desk.given("boundaries", "input", "boundaries", inputs.get("boundaries", "")),
    ]


def _augmentations(desk: Desk) -> list[Candidate]:
    return desk.given(
        "augmentations", "input", "augmentations", desk.material.inputs.get("augmentations", "")
    )


def _notice(desk: Desk) -> list[Candidate]:
    return desk.given("notice", "notice", "notice", NOTICE)


def _style(desk: Desk) -> list[Candidate]:
    persona, inputs = desk.material.persona, desk.material.inputs
    return [
        *desk.given("style", "persona", persona.id or "", persona.style),
        *desk.given("style", "input", "style", inputs.get("style", "")),
    ]


def _relationship(desk: Desk) -> list[Candidate]:
    state = desk.material.state
    if state is None:
        return []
    lines = [
        (label(name), plain(value)) for name, value in state.fields.items() if value not in (None, "", [], {})
    ]
    entries = [desk.entry("relationship", state, value, prefix=f"{name}: ") for name, value in lines if value]
    if state.text.strip():
        entries.append(desk.entry("relationship", state, state.text, prefix="Note: "))
    return entries


def _moments(desk: Desk) -> list[Candidate]:
    """Working memory between two calls: what mattered in the last one. Chat turns are not this section's, see
    history.
    """
    last = desk.material.last_time
    if desk.recipe.history.delivery != "moments" or last is None:
        return []
    return _detailed(
        desk, "working", last, _SESSION_DETAIL, quota=Quota("moments", desk.recipe.limits.moments)
    )


def _nothing(desk: Desk) -> list[Candidate]:
    """Filled by the history, once it is known which turns are left out."""
    return []


def _last_time(desk: Desk) -> list[Candidate]:
    last = desk.material.last_time
    if last is None:
        return []
    text = last.text.strip() or plain(last.detail.get("one_liner"))
    sentences = [sentence for sentence in _SENTENCE.split(text) if sentence.strip()]
    most = desk.recipe.last_time.sentences
    chosen = " ".join(sentences[-most:] if last.kind == "daily" else sentences[:most])
    entries = [desk.entry("last_time", last, chosen, prefix="", alone=True, divisible=True)] if chosen else []
    if desk.recipe.last_time.detail:
        entries += _detailed(
            desk, "last_time", last, _SESSION_DETAIL, quota=Quota("moments", desk.recipe.limits.moments)
        )
    return entries


def _today(desk: Desk) -> list[Candidate]:
    today = desk.material.today
    entries: list[Candidate] = []
    if today is not None:
        if today.text.strip():
            entries.append(
                desk.entry("today", today, today.text, prefix="Summary: ", alone=True, divisible=True)
            )
        few = Quota("key moments", desk.recipe.limits.moments)
        moments = strings(today.detail.get("key_moments"))
        entries += [
            desk.entry("today", today, moment, heading="Key moments:", quota=few) for moment in moments
        ]
    few = Quota("today's turns", desk.recipe.limits.today_turns)
    turns = desk.material.today_turns
    return [*entries, *(_said(desk, "today", turn, heading="Earlier today:", quota=few) for turn in turns)]


def _loops(desk: Desk) -> list[Candidate]:
    return [_loop(desk, "loops", loop) for loop in _fading_last(desk)]


def _inner_life(desk: Desk) -> list[Candidate]:
    now, few = desk.material.now, Quota("thoughts", desk.recipe.limits.thoughts)
    entries: list[Candidate] = []
    for thought in desk.material.thoughts:
        over = (
            "expired" if thought.due is not None and thought.due <= now else "used" if thought.used_in else ""
        )
        entries.append(desk.entry("inner_life", thought, thought.text, alone=True, reason=over, quota=few))
    return entries


def _long_term(desk: Desk) -> list[Candidate]:
    events = f"{desk.label(desk.material.persona.name) or 'Persona'} events:"
    few = Quota("long-term", desk.recipe.limits.long_term)
    entries: list[Candidate] = []
    for found in desk.material.recalled:
        what = found.what
        if isinstance(what, StoredTurn):
            entries.append(_said(desk, "long_term", what, heading=EPISODES, found=found, quota=few))
            continue
        prefix, heading = "- ", USER_FACTS
        if isinstance(what, Episode | Summary):
            prefix, heading = f"- ({desk.day(what)}) ", EPISODES
        elif isinstance(what, Memory) and what.subject == "persona":
            heading = events
        entries.append(
            desk.entry(
                "long_term",
                what,
                what.text,
                prefix=prefix,
                heading=heading,
                alone=True,
                found=found,
                quota=few,
            )
        )
    return entries


def _foundation(desk: Desk) -> list[Candidate]:
    few = Quota("foundation", desk.recipe.limits.foundation)
    return [
        desk.entry("foundation", memory, memory.text, alone=True, quota=few)
        for memory in desk.material.foundation
    ]


def _memories(desk: Desk) -> list[Candidate]:
    entries: list[Candidate] = []
    for card in desk.material.cards:
        ref = card_ref(card.ref)
        few = Quota(f"card {ref}", desk.recipe.limits.card_facts)
        entries += [
            desk.entry("memories", fact, fact.text, prefix="", card=f"[{ref}]: ", alone=True, quota=few)
            for fact in card.facts
        ]
    few = Quota("memories", desk.recipe.limits.memories)
    for found in desk.material.recalled:
        what = found.what
        if isinstance(what, StoredTurn):
            entries.append(_said(desk, "memories", what, found=found, quota=few))
        else:
            prefix = f"- ({desk.day(what)}) " if isinstance(what, Episode | Summary) else "- "
            entries.append(
                desk.entry("memories", what, what.text, prefix=prefix, alone=True, found=found, quota=few)
            )
    return entries


def _spine(desk: Desk) -> list[Candidate]:
    """The long-term summary. It belongs to the user, its open loops to one persona: those are read afresh."""
    spine = desk.material.spine
    if spine is None:
        return []
    entries = _detailed(desk, "spine", spine, _SPINE_DETAIL)
    if not entries and spine.text.strip():
        entries = [desk.entry("spine", spine, spine.text, prefix="", alone=True, divisible=True)]
    return [*entries, *(_loop(desk, "spine", loop, heading="OPEN_LOOPS:") for loop in _fading_last(desk))]


def _rolling(desk: Desk) -> list[Candidate]:
    rolling = desk.material.rolling
    if rolling is None or not rolling.text.strip():
        return []
    return [desk.entry("rolling", rolling, rolling.text, prefix="", alone=True, divisible=True)]


def _lane_summary(desk: Desk) -> list[Candidate]:
    summary = desk.material.lane_summary
    if summary is None:
        return []
    entries = _detailed(desk, "lane_summary", summary, _LANE_DETAIL)
    if not entries and summary.text.strip():
        entries = [desk.entry("lane_summary", summary, summary.text, prefix="", alone=True, divisible=True)]
    return entries


def _other_lanes(desk: Desk) -> list[Candidate]:
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


def _requests(desk: Desk) -> list[Candidate]:
    few = Quota("requests", desk.recipe.limits.requests)
    return [
        desk.entry("requests", memory, memory.text, alone=True, quota=few)
        for memory in desk.material.requests
    ]


def _task_state(desk: Desk) -> list[Candidate]:
    """What the application says about its current step: stored nowhere, but tool output is in it, so it is
    not trusted.
    """
    return [
        desk.line("task_state", "input", "task_state", line, divisible=True)
        for line in safe(desk.material.inputs.get("task_state", "")).split("\n")
        if line.strip()
    ]


def _said(
    desk: Desk,
    section: SectionId,
    turn: StoredTurn,
    *,
    heading: str = "",
    found: Recalled | None = None,
    quota: Quota,
) -> Candidate:
    prefix = f"- ({desk.day(turn)}) {desk.speaker(turn)}: "
    return desk.entry(
        section, turn, turn.text, prefix=prefix, heading=heading, alone=True, found=found, quota=quota
    )


def _loop(desk: Desk, section: SectionId, loop: Loop, *, heading: str = "") -> Candidate:
    few = Quota("loops", desk.recipe.limits.loops)
    return desk.entry(
        section, loop, loop.text, prefix=f"- ({loop.kind}) ", heading=heading, alone=True, quota=few
    )


def _fading_last(desk: Desk) -> Sequence[Loop]:
    """Loops in the order they were given, but those that have waited too long after all others."""
    fade = timedelta(days=desk.recipe.loops.fade_days)
    return sorted(desk.material.loops, key=lambda loop: desk.age(loop) > fade)


def _detailed(
    desk: Desk, section: SectionId, summary: Summary, titles: Mapping[str, str], *, quota: Quota | None = None
) -> list[Candidate]:
    """A summary's structure: texts after their title, lists under it."""
    entries: list[Candidate] = []
    for name, title in titles.items():
        value = summary.detail.get(name)
        if not isinstance(value, str):
            entries += [
                desk.entry(section, summary, line, heading=title, quota=quota) for line in strings(value)
            ]
        elif value.strip():
            entries.append(desk.entry(section, summary, value, prefix=f"{title} ", quota=quota))
    return entries


def label(name: str) -> str:
    """A field's name as the beginning of a line."""
    words = " ".join(name.replace("_", " ").replace("[", " ").replace("]", " ").replace(":", " ").split())
    return words[:1].upper() + words[1:]


def plain(value: Json) -> str:
    """A JSON value in a line, as a person would write it."""
    match value:
        case None:
            return ""
        case bool():
            return "yes" if value else "no"
        case dict():
            return ", ".join(f"{name.replace('_', ' ')} {plain(inner)}" for name, inner in value.items())
        case list():
            return ", ".join(plain(inner) for inner in value)
        case _:
            return str(value)


def strings(value: Json) -> list[str]:
    """The lines of a JSON list; anything else counts as one line."""
    lines: Iterable[Json] = value if isinstance(value, list) else [value]
    return [text for line in lines if (text := plain(line).strip())]


def card_ref(ref: str) -> str:
    """An entity or lane reference as it may stand in brackets; never a capital first, which would look like a
    marker.
    """
    return re.sub(r"[\[\]\s]+", "_", ref)[:80].lower()


SECTIONS: Final[Mapping[SectionId, Callable[[Desk], list[Candidate]]]] = {
    "policy": _policy,
    "persona": _persona,
    "boundaries": _boundaries,
    "augmentations": _augmentations,
    "notice": _notice,
    "relationship": _relationship,
    "situation": situation,
    "working": _moments,
    "earlier": _nothing,
    "last_time": _last_time,
    "today": _today,
    "loops": _loops,
    "inner_life": _inner_life,
    "long_term": _long_term,
    "foundation": _foundation,
    "memories": _memories,
    "spine": _spine,
    "rolling": _rolling,
    "lane_summary": _lane_summary,
    "other_lanes": _other_lanes,
    "requests": _requests,
    "task_state": _task_state,
    "style": _style,
}
