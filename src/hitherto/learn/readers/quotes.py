"""Notes that are quotes: a memory is what was said, with who said it and when, and the day that its words mean.

Nothing is reworded, so nothing can be said wrongly. A fact is typed only where an expression is sure of it.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Final
from zoneinfo import ZoneInfo

from hitherto.learn.notes import FactKind, FactNote, Scene
from hitherto.learn.readers.clauses import TABLE, Clause
from hitherto.learn.readers.mentions import Mentions
from hitherto.text.time.grammar import Tense
from hitherto.text.time.spans import TimeRange, ranges
from hitherto.types import Memory, Quote

__all__ = ["day", "days", "facts", "quoted", "tense_of"]

_TYPED: Final = {name: tuple(TABLE.compiled(one) for one in many) for name, many in TABLE.content["typed"].items()}
_ENDED: Final = {name: tuple(TABLE.compiled(one) for one in many) for name, many in TABLE.content["ended"].items()}
_CONTRARY: Final = {"likes": "dislikes", "dislikes": "likes"}
_LEVELS: Final = {"name": 3, "home": 2, "employer": 2, "birthday": 2, "diet": 2, "status": 2, "likes": 1, "dislikes": 1}
"""How important a typed fact is."""
_DANGER: Final = TABLE.compiled(TABLE.content["danger"]["any"])
_PRONOUN, _YES, _OFFER, _GREETING, _PLAN, _HABIT, _FUTURE = map(
    TABLE.pattern, ("pronoun", "yes", "offer", "greeting", "plan", "habit", "promise")
)
_REPEATS: Final = TABLE.pattern("repeats")
_NO_DATE: Final = TABLE.pattern("no_date")
_WEEKDAY: Final = re.compile(r"\b(?:mon|tue|wed|thu|fri|sat|sun)", re.IGNORECASE)
_EXACT: Final = re.compile(r"\d|\b(?:next|last|this)\b", re.IGNORECASE)
_DONE, _DUTY = map(TABLE.pattern, ("past", "duty"))
_CLOCK: Final = re.compile(r"^(?:at )?\d{1,2}(?::\d\d)?\s?(?:am|pm)?$", re.IGNORECASE)
_LIGHT: Final = frozenset(
    ["it", "this", "that", "them", "there", "here", "so", "too", "ok", "now", "thing", "stuff", "one"]
)
WORDS: Final = 3
"""Fewer words say nothing by themselves, unless they answer a question or type a fact."""
MUST: Final = 0.6
PERSONA_WORTH: Final = 0.6


@dataclass(frozen=True, slots=True, kw_only=True)
class _Typed:
    attribute: str
    value: str


def facts(found: Sequence[Clause], scene: Scene, mentions: Mentions, known: Sequence[Memory]) -> list[FactNote]:
    """The clauses that are worth a note, each as one."""
    notes: list[FactNote] = []
    said: set[tuple[str, str]] = set()
    for place, clause in enumerate(found):
        typed = None if clause.persona or clause.unmeant or clause.asks else _typed(clause.words)
        if not (_worth(clause) or typed) or (clause.line.turn.id, clause.words) in said:
            continue
        said.add((clause.line.turn.id, clause.words))
        note = _note(clause, _earlier(found, place), scene=scene, mentions=mentions, typed=typed)
        if note is not None:
            notes.append(_ending(note, clause, known))
    return notes


def _ending(note: FactNote, clause: Clause, known: Sequence[Memory]) -> FactNote:
    """The note with what it ends, where an expression is sure of that: the contrary of a taste, an end that is said."""
    if clause.persona or clause.unmeant or clause.asks:
        return note
    own = [memory for memory in known if memory.subject == "user" and memory.attribute and not memory.pinned]
    about = note.about[0] if note.about and clause.line.turn.speaker else None
    for old in own:
        if about is not None and not old.text.startswith(about):
            continue
        contrary = _CONTRARY.get(note.attribute.partition(" ")[0]) == old.attribute.partition("_")[0]
        if contrary and note.value.casefold() == old.value.casefold():
            return replace(note, op="changed", ref=old.id)
        if note.sure and note.attribute:
            continue
        if any(pattern.search(clause.words) for pattern in _ENDED.get(old.attribute, ())):
            return replace(note, op="changed", ref=old.id)
    return note


def _worth(clause: Clause) -> bool:
    if clause.asks or clause.unmeant or _GREETING.match(clause.words):
        return False
    if clause.persona:
        return clause.of_persona_itself and clause.judged.worth >= PERSONA_WORTH and not _FUTURE.search(clause.words)
    if clause.standing or (clause.judged.worth > 0.2 and _DANGER.search(clause.words)):
        return True
    if _DUTY.match(clause.words) and not any(letter.isdigit() for letter in clause.words):
        return clause.judged.must >= MUST
    if clause.question and _OFFER.search(clause.question) and _YES.match(clause.words):
        return False
    if len(clause.words.split()) < WORDS and not clause.question and clause.words.isascii():
        return False
    return clause.notable and not clause.judged.is_("secret", 0.8)


def _earlier(found: Sequence[Clause], place: int) -> Clause | None:
    """The same speaker's clause before this one, or what the other side said."""
    return found[place - 1] if place else None


def _note(
    clause: Clause, earlier: Clause | None, *, scene: Scene, mentions: Mentions, typed: _Typed | None
) -> FactNote | None:
    words = typed_words(clause.words, typed)
    names = mentions.within(f"{clause.question} {words}")
    of: tuple[str, ...] = ()
    if not names and _PRONOUN.match(words) and not clause.question:
        of = mentions.within(earlier.words)[-1:] if earlier is not None else ()
        if not of and (len(words.split()) < 6 or clause.judged.worth < 0.75):
            return None
    subject = clause.line.speaker or (scene.persona if clause.persona else scene.user)
    who = mentions.believed((*names, *of))
    plainly = not (who or clause.persona or scene.speakers)
    about = () if plainly else tuple(dict.fromkeys((subject, *who)))
    times = days(words, clause.line.turn.at, scene.zone, tense=tense_of(clause))
    quotes = [Quote(turn=clause.line.turn.id, words=words)]
    if clause.question and clause.asker is not None:
        quotes.insert(0, Quote(turn=clause.asker.turn.id, words=clause.question))
    danger = _DANGER.search(words) is not None and not clause.persona
    ahead = any(time.end > clause.line.turn.at for time in times)
    passing = ahead and not (danger or clause.standing or typed or _REPEATS.search(words))
    return FactNote(
        text=quoted(clause, words, scene=scene, of=of[:1], times=times),
        about=about,
        subject="persona" if clause.persona else "user",
        kind=_kind(clause, passing=passing),
        importance=_importance(clause, typed, danger=danger),
        private=clause.confided,
        standing=danger or clause.standing,
        quotes=tuple(quotes),
        valid_to=_until(times, clause.line.turn.at) if passing else None,
        attribute=_attribute(typed) if typed else "",
        value=typed.value if typed else "",
        sure=typed is not None,
    )


def _attribute(typed: _Typed) -> str:
    """A person has many tastes, so each is named."""
    return f"{typed.attribute} {typed.value}" if typed.attribute in _CONTRARY else typed.attribute


def _importance(clause: Clause, typed: _Typed | None, *, danger: bool) -> int:
    if danger or clause.standing:
        return 3
    if typed is not None:
        return _LEVELS[typed.attribute]
    return 2 if clause.judged.must >= MUST else 1


def _until(times: Sequence[TimeRange], at: datetime) -> datetime | None:
    """A plan is news until its last day is over; from then on it is only what was planned."""
    end = max(time.end for time in times)
    return end + timedelta(hours=6) if end > at else None


def _kind(clause: Clause, *, passing: bool) -> FactKind:
    if passing or clause.judged.is_("event"):
        return "event"
    if clause.judged.is_("taste"):
        return "preference"
    if clause.judged.is_("habit") and _HABIT.search(clause.words):
        return "habit"
    return "fact"


def _typed(words: str) -> _Typed | None:
    """The one typed fact of a clause, where an expression is sure of it."""
    for attribute, patterns in _TYPED.items():
        for pattern in patterns:
            found = pattern.search(words)
            if found is not None:
                value = re.split(
                    r"\s(?:and|but|with|since|because|n|y|und|et|e|con|mit|avec|com|last|this|next|for|now|too|again|atm|rn|these|right|over)\s|\s[-–—]\s",
                    found["x"],
                )[0]
                value = re.sub(r"\s(?:now|too|again|atm|rn|last \w+|this \w+)$", "", value.strip(" .,'’\""))
                if len(value) > 1 and value.casefold() not in _LIGHT:
                    return _Typed(attribute=attribute, value=value)
    return None


def typed_words(words: str, typed: _Typed | None) -> str:
    """A typed fact is quoted with its own sentence alone, because it may end while what stood beside it goes on."""
    if typed is None:
        return words
    pieces = re.split(r"(?<=[.!?;])\s+", words)
    return next((piece for piece in pieces if typed.value in piece and _typed(piece) == typed), words)


def quoted(clause: Clause, words: str, *, scene: Scene, of: Sequence[str] = (), times: Sequence[TimeRange] = ()) -> str:
    """What was said, with who and when: `Dani (14 April): “cashews put me in hospital once”`."""
    at = clause.line.turn.at.astimezone(ZoneInfo(scene.zone))
    who = clause.line.speaker or (scene.persona if clause.persona else scene.user)
    said = f"{who[:1].upper()}{who[1:]} ({at.day} {at:%B})"
    if clause.question:
        said += f", asked “{_short(clause.question)}”"
    if of:
        said += f", of {of[0]}"
    meant = [day(time, at) for time in times]
    return f"{said}: “{words.strip()}”" + (f" ({', '.join(dict.fromkeys(meant))})" if meant else "")


def _short(question: str) -> str:
    return question.strip().replace("“", "'").replace("”", "'")


def day(time: TimeRange, at: datetime) -> str:
    """A day as people write it, with its year where that is another."""
    start = time.start.astimezone(at.tzinfo)
    shown = f"{start:%A} {start.day} {start:%B}"
    return shown if start.year == at.year else f"{shown} {start.year}"


def days(words: str, at: datetime, zone: str, *, tense: Tense | None) -> list[TimeRange]:
    """The days that words mean beside the one on which they were said, at most two. A bare weekday counts only where the
    words say whether it lies ahead or behind."""
    here = at.astimezone(ZoneInfo(zone)).date()
    found: list[TimeRange] = []
    if _REPEATS.search(words):
        return found
    for time in ranges(_NO_DATE.sub(" ", words), now=at, zone=zone, tense=tense):
        until = time.kind == "range" and time.start.year < 1001
        meant = TimeRange(time.end - timedelta(seconds=1), time.end, time.text, "day") if until else time
        exact = meant.kind in ("day", "moment") and not _CLOCK.match(time.text.strip())
        if not exact or (tense is None and _WEEKDAY.search(time.text) and not _EXACT.search(time.text)):
            continue
        if abs((meant.start - at).days) < 366 and meant.start.astimezone(ZoneInfo(zone)).date() != here:
            found.append(meant)
    return found[:2]


def tense_of(clause: Clause) -> Tense | None:
    """Whether its days lie ahead or behind, where the clause says so."""
    ahead = _FUTURE.search(clause.words) is not None or _PLAN.search(clause.words) is not None
    behind = _DONE.search(clause.words) is not None
    if ahead == behind:
        leaning = clause.judged.most("plan", "promise", "remind") - clause.judged.most("settled", "missed", "event")
        return "future" if leaning > 0.15 else "past" if leaning < -0.25 and not ahead else None
    return "future" if ahead else "past"
