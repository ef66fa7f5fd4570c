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
from hitherto.learn.readers.classifier import ClassifiedLine, Kind, classifier
from hitherto.learn.readers.clauses import TABLE, Clause, sentences
from hitherto.learn.readers.loose_ends import content
from hitherto.learn.readers.mentions import Mentions
from hitherto.text.languages import CODES, language
from hitherto.text.numbers import number_at
from hitherto.text.patterns import Cue
from hitherto.text.time.grammar import Tense
from hitherto.text.time.spans import TimeRange, ranges
from hitherto.types import Memory, Quote

__all__ = ["day", "days", "facts", "quoted", "tense_of"]

_TYPED: Final = TABLE.cues("typed")
_ENDED: Final = TABLE.cues("ended")
_CONTRARY: Final = {"likes": "dislikes", "dislikes": "likes"}
_LEVELS: Final = {"name": 3, "home": 2, "employer": 2, "birthday": 2, "diet": 2, "status": 2, "likes": 1, "dislikes": 1}
"""How important a typed fact is."""
_DANGER: Final = Cue(
    {code: dangers.pattern for code in CODES if (dangers := language(code).patterns.get("standing.danger"))}
)
_REACTION: Final = TABLE.cue("reaction")
_PRONOUN, _SOMEBODY, _SOMETHING, _YES, _OFFER, _PLAN, _HABIT, _FUTURE = map(
    TABLE.cue, ("pronoun", "somebody", "something", "yes", "offer", "plan", "habit", "promise")
)
_REPEATS: Final = TABLE.cue("repeats")
_FOR_DAYS: Final = TABLE.cue("for_days")
_NO_DATE: Final = TABLE.cue("no_date")
_WEEKDAY: Final = re.compile(r"\b(?:mon|tue|wed|thu|fri|sat|sun)", re.IGNORECASE)
_EXACT: Final = re.compile(r"\d|\b(?:next|last|this)\b", re.IGNORECASE)
_DONE, _NOW, _DUTY = map(TABLE.cue, ("past", "present", "duty"))
_CLOCK: Final = re.compile(
    r"^(?:(?:at|à|a las?|alle|às?|um|om|kl|gegen|vers|verso|в|к)\s)?\d{1,2}(?:[:.]\d\d)?\s?"
    r"(?:[ap]m|h|h?\d\d|uhr|uur|ore|час\w*|時|点)?半?$",
    re.IGNORECASE,
)
_NUMBERED: Final = re.compile(r"\d(?!\d{3})|\b(?:\w+th|first|second|third)\b", re.IGNORECASE)
_MONTH: Final = re.compile(
    r"\b(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec|ene|abr|ago|dic|mär|mai|okt|dez|juin|juil|fév|avr|ao[uû]t)|月",
    re.IGNORECASE,
)
_SOME_DAY: Final = re.compile(
    r"\b(?:the|an?|one|that|ein\w*|un[ao]?) (?:mon|tues|wednes|thurs|fri|satur|sun)day"
    r"|day (?:morning|evening|night|afternoon)s\b",
    re.IGNORECASE,
)
"""A day of a story, or of every week."""
_YEAR: Final = re.compile(r"\b((?:19|20)\d\d)\b")
LATELY: Final = 60
FAR: Final = 150
"""A day that lies more days behind and was named without its year is one that was misread."""
_LIGHT: Final = frozenset(
    ["it", "this", "that", "them", "there", "here", "so", "too", "ok", "now", "thing", "stuff", "one"]
)
WORDS: Final = 3
"""Fewer words say nothing by themselves, unless they answer a question or type a fact."""
WORTH: Final = 0.55
"""How sure it must be that words are worth a note, beside what is typed, asked for or a danger."""
TELLING: Final = 2
"""With fewer words that tell of anything, and no day, nothing is told."""
CLOSE: Final = timedelta(minutes=5)
LONGEST_BEFORE: Final = 180
HAPPENED: Final = 0.6
BEHIND: Final = 30
"""How many characters behind a day a word may stand that says whether the day lies ahead: "Thursday we went"."""
MUST: Final = 0.6
PERSONA_WORTH: Final = 0.7
PART_WORTH: Final = 0.4
NEWS: Final = timedelta(days=7)
"""How long what may not last is told as what is so. Nobody says when it no longer is, and no rule knows."""
_LASTING: Final[tuple[Kind, ...]] = (
    "confided",
    "diet",
    "family",
    "habit",
    "health",
    "home",
    "identity",
    "people",
    "pet",
    "possession",
    "request",
    "skill",
    "study",
    "taste",
    "work",
)
_PASSING: Final[tuple[Kind, ...]] = (
    "change",
    "dropped",
    "event",
    "feeling",
    "missed",
    "plan",
    "promise",
    "remind",
    "settled",
)
CLEARLY: Final = 0.15
"""By how much something lasting must be likelier than something passing so that it does not fade, unless it must be remembered
(`LASTS`)."""
LASTS: Final = 0.7


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
        related = clause.judged.worth >= PART_WORTH and mentions.relates(clause.line.turn.id, clause.words)
        if not (_worth(clause, related=related) or typed) or (clause.line.turn.id, clause.words) in said:
            continue
        said.add((clause.line.turn.id, clause.words))
        earlier = found[place - 1] if place else None
        for part in [replace(clause, words=typed_words(clause.words, typed))] if typed else _parts(clause, scene):
            whole = _replying(part, found[:place]) if _REACTION.search(part.words) else part
            note = _note(whole, earlier, scene=scene, mentions=mentions, typed=typed)
            if note is not None:
                notes.append(_ending(note, clause, known))
    return notes


def _replying(clause: Clause, earlier: Sequence[Clause]) -> Clause:
    """What happened to somebody in danger, with the words of the other side to which it was said: "no peanuts, please"."""
    before = next((one for one in reversed(earlier) if one.line is not clause.line), None)
    if clause.question or clause.persona or before is None or not before.persona:
        return clause
    *_, said = sentences(before.words) or [before.words]
    if clause.line.turn.at - before.line.turn.at > CLOSE or len(said) > LONGEST_BEFORE:
        return clause
    return replace(clause, question=said, asker=before.line)


def _size(words: str) -> int:
    """How many words there are; of scripts without spaces, as many as that would be."""
    return max(len(words.split()), sum(letter > "\u2e7f" for letter in words) // 2)


def _parts(clause: Clause, scene: Scene) -> list[Clause]:
    """A clause whose days lie ahead is a note of its own, apart from what lasts beside it; otherwise one note is enough."""
    spoken = sentences(clause.words)
    ahead = [_ahead(one, clause, scene) for one in spoken]
    if len(spoken) < 2 or len(set(ahead)) < 2:
        return [clause]
    runs: list[str] = []
    for place, one in enumerate(spoken):
        joined = f"{runs[-1]} {one}" if runs else ""
        if runs and ahead[place] == ahead[place - 1] and joined in clause.words:
            runs[-1] = joined
        else:
            runs.append(one)
    if any(_size(run) <= WORDS for run in runs):
        return [clause]
    judged = classifier().judge([ClassifiedLine(text=run, persona=clause.persona) for run in runs])
    parts = [replace(clause, words=run, judged=one) for run, one in zip(runs, judged, strict=True)]
    return [part for part in parts if part.judged.worth >= PART_WORTH]


def _ahead(words: str, clause: Clause, scene: Scene) -> bool:
    at = clause.line.turn.at
    return any(time.end > at for time in days(words, at, scene.zone, tense=tense_of(clause)))


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


def _worth(clause: Clause, *, related: bool) -> bool:
    if clause.asks or clause.unmeant or clause.greets:
        return False
    if clause.persona:
        return clause.of_persona_itself and clause.judged.worth >= PERSONA_WORTH and not _FUTURE.search(clause.words)
    if any(pattern.search(clause.words) for many in _ENDED.values() for pattern in many):
        return True
    if clause.standing or (clause.judged.worth > 0.2 and _DANGER.search(clause.words)):
        return True
    if _DUTY.match(clause.words) and not any(letter.isdigit() for letter in clause.words):
        return clause.judged.must >= MUST
    if clause.question and _OFFER.search(clause.question) and _YES.match(clause.words):
        return False
    if len(clause.words.split()) < WORDS and not clause.question and clause.words.isascii():
        return False
    sure = clause.judged.worth >= WORTH or related
    if not sure and not (clause.notable and (clause.plain or clause.judged.must >= MUST)):
        return False
    return not clause.judged.is_("secret", 0.8)


def _note(
    clause: Clause, earlier: Clause | None, *, scene: Scene, mentions: Mentions, typed: _Typed | None
) -> FactNote | None:
    words = clause.words
    names = mentions.within(f"{clause.question} {words}")
    of: tuple[str, ...] = ()
    if not clause.question and (_SOMEBODY.match(words) or (not names and _PRONOUN.match(words))):
        of = mentions.meant(earlier.words) if earlier is not None and _goes_on(clause, earlier) else ()
        of = tuple(name for name in of if name not in names)
        if not (of or names) and (_SOMEBODY.match(words) or _size(words) < 6 or clause.judged.worth < 0.75):
            return None
        of = () if _SOMETHING.match(words) else of
    subject = clause.line.speaker or (scene.persona if clause.persona else scene.user)
    who = mentions.believed((*of, *names))
    plainly = not (who or clause.persona or scene.speakers)
    about = () if plainly else tuple(dict.fromkeys((subject, *who)))
    times = days(words, clause.line.turn.at, scene.zone, tense=tense_of(clause))
    alone = times or typed or clause.question or clause.judged.must >= MUST or _DANGER.search(words)
    if not alone and len(content(words)) < TELLING:
        return None
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
        valid_to=_until(times, clause.line.turn.at)
        if passing
        else None
        if danger
        else _as_news(clause, kept=typed is not None or mentions.relates(clause.line.turn.id, words)),
        attribute=_attribute(typed) if typed else "",
        value=typed.value if typed else "",
        sure=typed is not None,
    )


def _goes_on(clause: Clause, earlier: Clause) -> bool:
    return earlier.line.speaker == clause.line.speaker and clause.line.turn.at - earlier.line.turn.at < CLOSE


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


def _as_news(clause: Clause, *, kept: bool) -> datetime | None:
    """When something ceases to be news: after the time that it is said to take, or because nothing says that it lasts. Its
    words are judged without the question that they answer."""
    lasting = _FOR_DAYS.search(clause.words)
    if lasting is not None and not _DONE.search(clause.words[: lasting.start()]):
        count, _ = number_at([lasting["x"].lower()], 0, loose=True) or (1, 0)
        return clause.line.turn.at + count * timedelta(days=7 if lasting["u"].lower() == "week" else 1)
    if kept or clause.standing or clause.confided or clause.plain:
        return None
    [judged] = classifier().judge([ClassifiedLine(text=clause.words, persona=clause.persona)])
    lasts = judged.must >= LASTS or judged.most(*_LASTING) >= judged.most(*_PASSING) + CLEARLY
    return None if lasts else clause.line.turn.at + NEWS


def _kind(clause: Clause, *, passing: bool) -> FactKind:
    event = clause.judged.is_("event", HAPPENED)
    if passing or event or (clause.judged.is_("event") and _DONE.search(clause.words)):
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
        said += f", {'asked' if clause.question.rstrip().endswith(('?', '？')) else 'told'} “{_short(clause.question)}”"
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
    """The days that words mean beside the one on which they were said, at most two. Each sentence has a tense of its own, and
    `tense` is that of the whole: a bare weekday counts only where one of them says whether it lies ahead or behind."""
    here = at.astimezone(ZoneInfo(zone)).date()
    found: list[TimeRange] = []
    if _REPEATS.search(words) or any(abs(int(year) - at.year) > 1 for year in _YEAR.findall(words)):
        return found
    for sentence in sentences(_NO_DATE.sub(" ", words)) or [words]:
        cues = _cues(sentence)
        for time in ranges(sentence, now=at, zone=zone, tense=tense or "near"):
            place, until = sentence.find(time.text), time.kind == "range" and time.start.year < 1001
            if _SOME_DAY.search(sentence[max(place - 12, 0) : place + len(time.text) + 10]):
                continue
            own = _leaning(cues, place) if cues else tense if tense == "future" else None
            own = "future" if until else own
            meant = _meant(time, at, zone, own)
            exact = meant.kind in ("day", "moment") and not _CLOCK.match(meant.text.strip())
            if not exact or (own is None and _WEEKDAY.search(meant.text) and not _EXACT.search(meant.text)):
                continue
            if -FAR < (meant.start - at).days < 366 and meant.start.astimezone(ZoneInfo(zone)).date() != here:
                found.append(meant)
    return found[:2]


def _meant(time: TimeRange, at: datetime, zone: str, tense: Tense | None) -> TimeRange:
    """A time in the tense of the words beside it. A day that is named by its number, where nothing tells the tense, is of a
    month the nearest one, otherwise one to come; "until" a day is that day."""
    numbered = _NUMBERED.search(time.text) is not None
    nearest: Tense = "near" if not numbered or _MONTH.search(time.text) else "future"
    again = ranges(time.text, now=at, zone=zone, tense=tense or nearest)
    if tense is None and len(again) == 1 and (at - again[0].start).days > LATELY:
        again = ranges(time.text, now=at, zone=zone, tense="future")
    meant = again[0] if len(again) == 1 else time
    if meant.kind == "range" and meant.start.year < 1001:
        return TimeRange(meant.end - timedelta(seconds=1), meant.end, meant.text, "day")
    return meant


def _cues(words: str) -> list[tuple[int, Tense | None]]:
    """The words that say whether something lies ahead or behind, and those that say neither, by their place."""
    tenses: tuple[tuple[Cue, Tense | None], ...] = (
        (_FUTURE, "future"),
        (_PLAN, "future"),
        (_DONE, "past"),
        (_NOW, None),
    )
    found: list[tuple[int, Tense | None]] = []
    for cue, tense in tenses:
        found.extend((one.start(), tense) for one in cue.finditer(words) if tense or _elsewhere(one.start(), found))
    return sorted(found, key=lambda one: one[0])


def _elsewhere(place: int, found: Sequence[tuple[int, Tense | None]]) -> bool:
    """Whether no cue that tells a tense begins there: "wants" does not, "wants me to" does."""
    return all(start != place for start, _ in found)


def _leaning(cues: Sequence[tuple[int, Tense | None]], place: int) -> Tense | None:
    """The tense of the last cue before a place, or of the first one not far behind it."""
    before: list[Tense | None] = [tense for start, tense in cues if start < place]
    if before:
        return before[-1]
    start, tense = cues[0]
    return tense if start - place < BEHIND else None


def tense_of(clause: Clause) -> Tense | None:
    """Whether its days lie ahead or behind, where the clause says so or is judged to."""
    ahead = _FUTURE.search(clause.words) is not None or _PLAN.search(clause.words) is not None
    behind = _DONE.search(clause.words) is not None
    if ahead == behind:
        leaning = clause.judged.most("plan", "promise", "remind") - clause.judged.most("settled", "missed", "event")
        return "future" if leaning > 0.15 else "past" if leaning < -0.25 and not ahead else None
    return "future" if ahead else "past"
