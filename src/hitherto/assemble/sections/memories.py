"""Sections of single memories: facts, episodes, open loops, thoughts, standing requests, and past turns."""

import re
from collections.abc import Sequence
from datetime import timedelta
from typing import Final, TypeGuard

from hitherto.assemble.candidates import Candidate, Desk, Quota
from hitherto.assemble.sections.exchanges import Exchanges
from hitherto.clock import local
from hitherto.ingest.sessions import shows
from hitherto.recipes.titles import SectionId
from hitherto.text.time import written_day
from hitherto.types import Episode, Loop, Memory, Recalled, Record, StoredTurn, Summary, Thought

USER_FACTS: Final = "User facts:"
EPISODES: Final = "Relationship episodes:"
ABOUT_USER: Final = "About the user:"
"""Without the name, which the user may have forgotten: a heading belongs to nobody's text."""
HAPPENED: Final = "What happened:"
_QUOTED: Final = re.compile(r"[^(“]{1,60} \((?P<day>\d{1,2}) (?P<month>[A-Z][a-z]+)\)[:,]")
_QUOTE: Final = re.compile("“([^”]*)”")
_WORKED_OUT: Final = re.compile(r"(?<=”) \(([^()]+)\)$")
"""The days that a quote means, behind it."""
_PARTS: Final = re.compile(r"\d+|[^\W\d_]+")


def loops(desk: Desk) -> list[Candidate]:
    return [loop_line(desk, "loops", loop, reason=_elsewhere(desk, loop)) for loop in fading_last(desk)]


def _elsewhere(desk: Desk, record: Loop | Thought) -> str:
    """Why an open loop of another lane stays out of this one, if lanes are kept apart."""
    apart = desk.recipe.long_term.form == "exchanges" and not shows(desk.material.lane, record.lane)
    return "other lane" if apart else ""


def inner_life(desk: Desk) -> list[Candidate]:
    now, few = desk.material.now, Quota("thoughts", desk.recipe.limits.thoughts)
    entries: list[Candidate] = []
    for thought in desk.material.thoughts:
        over = "expired" if thought.due is not None and thought.due <= now else "used" if thought.used_in else ""
        over = over or _elsewhere(desk, thought)
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
        until = _until(desk, what)
        prefix, heading = f"- ({until}) " if until else "- ", USER_FACTS
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
    """Facts grouped by whom they are about, and past turns as exchanges under their day."""
    about_persona = f"About {desk.label(desk.material.persona.name) or 'the persona'}:"
    few = Quota("long-term", desk.recipe.limits.long_term)
    exchanges = Exchanges(desk, desk.material.recalled)
    entries: list[Candidate] = []
    quoting: list[tuple[int, Memory | Episode]] = []
    for found in desk.material.recalled:
        what = found.what
        if isinstance(what, StoredTurn):
            entries.append(exchanges.candidate(found, what))
            continue
        if _quotes(what):
            quoting.append((len(entries), what))
        happened = isinstance(what, Episode | Summary)
        of_persona = isinstance(what, Memory) and what.subject == "persona"
        days = ["" if _dated(desk, what, found.text) else desk.weekday(what), _until(desk, what)]
        days = [day for day in days if day]
        entries.append(
            desk.entry(
                "long_term",
                what,
                found.text,
                prefix=f"- ({', '.join(days)}) " if days else "- ",
                heading=HAPPENED if happened else about_persona if of_persona else ABOUT_USER,
                alone=not found.excerpt,
                found=found,
                quota=few,
            )
        )
    _told_by_turns(desk, exchanges, entries, quoting)
    return entries


def _until(desk: Desk, what: Record) -> str:
    """Until when a memory held, if it is shown because the message asks about the past."""
    if not isinstance(what, Memory) or what.valid_to is None or what.valid_to > desk.material.now:
        return ""
    profile = desk.material.profile
    then, today = local(what.valid_to, profile.zone), local(desk.material.now, profile.zone)
    return f"until {written_day(then, profile.locale, year=then.year != today.year)}"


def _told_by_turns(
    desk: Desk, exchanges: Exchanges, entries: list[Candidate], quoting: Sequence[tuple[int, Memory | Episode]]
) -> None:
    """Records that are nothing but quotes of turns shown here: the turns are shown instead, with what was said around them."""
    said = {turn.id: turn.text for turn in desk.material.window}
    said |= {entry.id: entry.text for entry in entries if entry.kind == "turn" and not entry.reason}
    for place, record in quoting:
        holders = [exchanges.holder(quote.turn) for quote in record.quotes]
        shown = " ".join(" ".join(said.get(holder, "").split()) for holder in dict.fromkeys(holders))
        if all(words in shown for words in _QUOTE.findall(" ".join(record.text.split()))):
            entries[place] = entries[place]._replace(key=f"turn:{holders[-1]}")


def _quotes(record: Record) -> TypeGuard[Memory | Episode]:
    """Whether a record is made of quotes; a note that resolves a day says more than they do, unless they name it themselves."""
    if not record.quotes:
        return False
    if isinstance(record, Memory):
        return _QUOTED.match(record.text) is not None and _says_its_days(record.text)
    return isinstance(record, Episode) and 2 * sum(map(len, _QUOTE.findall(record.text))) > len(record.text)


def _says_its_days(text: str) -> bool:
    """Whether the quotes that a text ends with say all of its days: by number and month, not as "tomorrow"."""
    behind = _WORKED_OUT.search(text)
    if behind is None:
        return text.endswith("”")
    said = set(_PARTS.findall(" ".join(_QUOTE.findall(text)).lower()))
    return all(said.issuperset(_PARTS.findall(day.lower())[1:]) for day in behind[1].split(", "))


def _dated(desk: Desk, what: Record, text: str) -> bool:
    """Whether a text that begins like a quote, `Ana (14 March): …`, names its day itself."""
    named = _QUOTED.match(text)
    then = desk.here(what)
    this_year = then.year == local(desk.material.now, desk.material.profile.zone).year
    if named is None or not this_year:
        return False
    return written_day(then, year=False).split()[1:] == [named["day"], named["month"][:3]]


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


def loop_line(desk: Desk, section: SectionId, loop: Loop, *, heading: str = "", reason: str = "") -> Candidate:
    few = Quota("loops", desk.recipe.limits.loops)
    prefix = f"- ({loop.kind}{_on(desk, loop)}) "
    return desk.entry(section, loop, loop.text, prefix=prefix, heading=heading, alone=True, reason=reason, quota=few)


def _on(desk: Desk, loop: Loop) -> str:
    """The day on which a loop is due: its text says "tomorrow" as it was said, which is another day when it is shown."""
    if loop.due is None:
        return ""
    profile = desk.material.profile
    then, today = local(loop.due, profile.zone), local(desk.material.now, profile.zone)
    said = "was due" if then.date() < today.date() else "due"
    return f", {said} {written_day(then, profile.locale, year=then.year != today.year)}"


def fading_last(desk: Desk) -> Sequence[Loop]:
    """Loops in the given order, with those that have waited too long moved to the end, unless the message names their day."""
    fade, called = timedelta(days=desk.recipe.loops.fade_days), desk.material.called
    return sorted(desk.material.loops, key=lambda loop: loop.id not in called and desk.age(loop) > fade)


def card_ref(ref: str) -> str:
    """An entity or lane reference in brackets; never with an initial capital, which would look like a marker."""
    return re.sub(r"[\[\]\s]+", "_", ref)[:80].lower()
