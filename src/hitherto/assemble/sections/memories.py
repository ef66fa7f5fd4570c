"""Sections of single memories: facts, episodes, open loops, thoughts, standing requests, and what was once
said.
"""

import re
from collections.abc import Sequence
from datetime import timedelta
from typing import Final

from hitherto.assemble.candidates import Candidate, Desk, Quota
from hitherto.assemble.sections.exchanges import Exchanges
from hitherto.recipes.titles import SectionId
from hitherto.types import Episode, Loop, Memory, Recalled, Record, StoredTurn, Summary

USER_FACTS: Final = "User facts:"
EPISODES: Final = "Relationship episodes:"
ABOUT_USER: Final = "About the user:"
"""Without the name, which is the user's to have forgotten: a heading is nobody's text."""
HAPPENED: Final = "What happened:"
_QUOTED: Final = re.compile(r"[^(“]{1,60} \((?P<day>\d{1,2}) (?P<month>[A-Z][a-z]+)\)[:,]")


def loops(desk: Desk) -> list[Candidate]:
    return [loop_line(desk, "loops", loop) for loop in fading_last(desk)]


def inner_life(desk: Desk) -> list[Candidate]:
    now, few = desk.material.now, Quota("thoughts", desk.recipe.limits.thoughts)
    entries: list[Candidate] = []
    for thought in desk.material.thoughts:
        over = "expired" if thought.due is not None and thought.due <= now else "used" if thought.used_in else ""
        entries.append(desk.entry("inner_life", thought, thought.text, alone=True, reason=over, quota=few))
    return entries


def long_term(desk: Desk) -> list[Candidate]:
    if desk.recipe.long_term.form == "exchanges":
        return _with_exchanges(desk)
    events = f"{desk.label(desk.material.persona.name) or 'Persona'} events:"
    few = Quota("long-term", desk.recipe.limits.long_term)
    entries: list[Candidate] = []
    for found in desk.material.recalled:
        what = found.what
        if isinstance(what, StoredTurn):
            entries.append(said_line(desk, "long_term", what, heading=EPISODES, found=found, quota=few))
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
                found.text,
                prefix=prefix,
                heading=heading,
                alone=not found.excerpt,
                found=found,
                quota=few,
            )
        )
    return entries


def _with_exchanges(desk: Desk) -> list[Candidate]:
    """Facts under whom they are about, and what was said as exchanges under its day."""
    about_persona = f"About {desk.label(desk.material.persona.name) or 'the persona'}:"
    few = Quota("long-term", desk.recipe.limits.long_term)
    exchanges = Exchanges(desk, desk.material.recalled)
    entries: list[Candidate] = []
    for found in desk.material.recalled:
        what = found.what
        if isinstance(what, StoredTurn):
            entries.append(exchanges.candidate(found, what))
            continue
        happened = isinstance(what, Episode | Summary)
        of_persona = isinstance(what, Memory) and what.subject == "persona"
        entries.append(
            desk.entry(
                "long_term",
                what,
                found.text,
                prefix="- " if _dated(desk, what, found.text) else f"- ({desk.weekday(what)}) ",
                heading=HAPPENED if happened else about_persona if of_persona else ABOUT_USER,
                alone=not found.excerpt,
                found=found,
                quota=few,
            )
        )
    return entries


def _dated(desk: Desk, what: Record, text: str) -> bool:
    """Whether a text that begins as a quote does, `Ana (14 March): …`, names its day itself."""
    named = _QUOTED.match(text)
    return named is not None and desk.weekday(what).split()[1:] == [named["day"], named["month"][:3]]


def foundation(desk: Desk) -> list[Candidate]:
    few = Quota("foundation", desk.recipe.limits.foundation)
    return [desk.entry("foundation", memory, memory.text, alone=True, quota=few) for memory in desk.material.foundation]


def memories(desk: Desk) -> list[Candidate]:
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
            entries.append(said_line(desk, "memories", what, found=found, quota=few))
        else:
            prefix = f"- ({desk.day(what)}) " if isinstance(what, Episode | Summary) else "- "
            whole = not found.excerpt
            entries.append(desk.entry("memories", what, found.text, prefix=prefix, alone=whole, found=found, quota=few))
    return entries


def requests(desk: Desk) -> list[Candidate]:
    few = Quota("requests", desk.recipe.limits.requests)
    return [desk.entry("requests", memory, memory.text, alone=True, quota=few) for memory in desk.material.requests]


def said_line(
    desk: Desk,
    section: SectionId,
    turn: StoredTurn,
    *,
    heading: str = "",
    found: Recalled | None = None,
    quota: Quota,
) -> Candidate:
    prefix = f"- ({desk.day(turn)}) {desk.speaker(turn)}: "
    text, whole = (found.text, not found.excerpt) if found else (turn.text, True)
    return desk.entry(section, turn, text, prefix=prefix, heading=heading, alone=whole, found=found, quota=quota)


def loop_line(desk: Desk, section: SectionId, loop: Loop, *, heading: str = "") -> Candidate:
    few = Quota("loops", desk.recipe.limits.loops)
    return desk.entry(section, loop, loop.text, prefix=f"- ({loop.kind}) ", heading=heading, alone=True, quota=few)


def fading_last(desk: Desk) -> Sequence[Loop]:
    """Loops in the order they were given, but those that have waited too long after all others."""
    fade = timedelta(days=desk.recipe.loops.fade_days)
    return sorted(desk.material.loops, key=lambda loop: desk.age(loop) > fade)


def card_ref(ref: str) -> str:
    """An entity or lane reference as it may stand in brackets; never a capital first, which would look like a
    marker.
    """
    return re.sub(r"[\[\]\s]+", "_", ref)[:80].lower()
