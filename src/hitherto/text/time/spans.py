"""The times that a text mentions, in the user's own time zone.

These are rules over words, because a parser that guesses reads "I may go" as a date, and because recall asks about every
message: most contain no time word at all and leave at the first check. A time in a message is a hint that boosts, never a
filter that hides, so a wrong "Monday" costs little and a slow one costs every turn.

All arithmetic uses the wall clock of the user's zone (a day is not always 24 hours) and becomes aware at the very end;
spans counted in hours and minutes from now are computed on the time line.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from typing import Final
from zoneinfo import ZoneInfo

from hitherto.text.languages import ENGLISH, Language, detect, language
from hitherto.text.time.grammar import FoundTime, Grain, Tense, find
from hitherto.text.time.phrases import to_english

__all__ = ["TimeRange", "due", "ranges"]

_SHORT: Final = 30
"""A text this short may be in another language than it seems, so it is read in the others as well."""


@dataclass(frozen=True, slots=True)
class TimeRange:
    """Half-open `[start, end)`, aware; a moment has `start == end`. `text` is what was said, `kind` how exact it is."""

    start: datetime
    end: datetime
    text: str
    kind: Grain


def ranges(text: str, *, now: datetime, zone: str, tense: Tense | None = None) -> list[TimeRange]:
    """The times a text names, in text order. A bare "Monday" follows the tense, by default the text's own."""
    found = _found(text, now=now, zone=zone, tense=tense)
    return [_aware(one, now=now, zone=zone) for one in found]


def due(text: str, *, now: datetime, zone: str) -> datetime | None:
    """When something promised in the text should resurface: the start of the first future time.

    A whole day is due in its morning (09:00 by the user's clock), a week or longer on its first morning.
    """
    for found in _found(text, now=now, zone=zone, tense="future"):
        at = found.start
        if found.before:
            at = found.end
        if found.grain in {"day", "week", "month", "year", "range"} and at.hour == 0 and at.minute == 0:
            at = at + timedelta(hours=9) if not found.before else at
        moment = _localised(at, zone)
        if moment > now.astimezone(UTC) - timedelta(minutes=1):
            return moment
        later_today = _localised(found.end, zone)
        if found.grain != "moment" and later_today > now.astimezone(UTC):
            return now.astimezone(ZoneInfo(zone))
    return None


def _found(text: str, *, now: datetime, zone: str, tense: Tense | None) -> Sequence[FoundTime]:
    if now.tzinfo is None:
        raise ValueError(f"now must be aware, got {now!r}")
    return _read(text, now.astimezone(ZoneInfo(zone)).replace(tzinfo=None), tense)


@lru_cache(maxsize=4_096)
def _read(text: str, local: datetime, tense: Tense | None) -> Sequence[FoundTime]:
    """What the grammar reads in a text, or in its time phrases translated into English, with the text's own words. The work on
    a turn asks of the same words several times."""
    code = detect(text)
    spoken = language(code or ENGLISH)
    found = list[FoundTime]()
    if spoken.code == ENGLISH or len(text) <= _SHORT:
        found = find(text, now=local, tense=tense or _tense(text, spoken))
        if (code == ENGLISH and found) or (code and len(text) > _SHORT):
            return found
    translated = to_english(text, code) if spoken.code != ENGLISH else None
    if translated is None and (not code or len(text) <= _SHORT):
        translated = to_english(text, "")
    if translated is None:
        return found
    read = find(translated.english, now=local, tense=tense or _tense(text, spoken))
    others = [replace(one, text=translated.original(text, one.at, one.at + len(one.text))) for one in read]
    more = sum(len(one.text) for one in others) - sum(len(one.text) for one in found)
    return others if more > 0 or (code and not more) else found


def _tense(text: str, spoken: Language) -> Tense:
    future, past = spoken.words["telling.future"], spoken.words["telling.past"]
    if spoken.script not in {"latin", "cyrillic"}:
        return (
            "future"
            if any(word in text for word in future)
            else "past"
            if any(word in text for word in past)
            else "near"
        )
    words = set(text.lower().replace("’", "'").replace("'ll", " 'll").split())
    if spoken.code != ENGLISH:
        words = {word.strip(".,!?¿¡;:…") for word in words}
    if words & future:
        return "future"
    ended = spoken.code == ENGLISH and any(word.rstrip(".,!?").endswith("ed") and len(word) > 4 for word in words)
    return "past" if words & past or ended else "near"


def _aware(found: FoundTime, *, now: datetime, zone: str) -> TimeRange:
    if found.elapsed is not None:
        moment = (now.astimezone(UTC) + found.elapsed).astimezone(ZoneInfo(zone))
        return TimeRange(moment, moment, found.text, found.grain)
    return TimeRange(_localised(found.start, zone), _localised(found.end, zone), found.text, found.grain)


def _localised(wall: datetime, zone: str) -> datetime:
    """The moment the wall clock shows; a time skipped by the change to summer time moves forward by the gap."""
    there = ZoneInfo(zone)
    return wall.replace(tzinfo=there).astimezone(UTC).astimezone(there)
