"""Who and what a message names: entities by name or alias, by a first name alone, or by a spelling that sounds alike, and
events by which it tells a time.

The store keeps the names of entities as marks, so a message asks for the few that it may mean, and the results are checked
against the message itself.
"""

import re
from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from typing import Final
from zoneinfo import ZoneInfo

from hitherto.recall.hits import Search, in_scope, shared
from hitherto.recall.query import Period
from hitherto.recall.vectors import top
from hitherto.store import records as nouns
from hitherto.store.protocol import Matches, RecordsByEntity, RecordsBySeq, TurnsBySeq, UserStore
from hitherto.text.analyser import STOPWORDS, asked_stems, stems
from hitherto.text.languages import ENGLISH, detect, language
from hitherto.text.names import may_be, slug
from hitherto.text.numbers import number_at
from hitherto.text.time.calendar import DAY
from hitherto.text.time.relative import UNITS, Beside, Unit
from hitherto.text.time.spans import TimeRange, ranges
from hitherto.types import Entity, Memory, Record, StoredTurn

LOOKED_UP: Final = 96
"""The most marks that one message asks for; names beyond them are found through what mentions them."""
LONGEST_NAME: Final = 3
NEAR: Final = frozenset({"project", "place", "org"})
"""What is looked up one hop away from a person."""

_WORD: Final = re.compile(r"[^\W_][\w'’-]*")
_MOST_TEXT: Final = 2_000
_HEARD: Final = 5
"""Shorter words sound like too many others."""


def marks(text: str) -> tuple[str, ...]:
    """The marks of entities that a text may name."""
    found: dict[str, None] = {}
    for name in _names(text):
        found[nouns.named(name)[0]] = None
        if " " not in name and len(name) >= _HEARD:
            found[nouns.heard(name)] = None
    return tuple(found)[:LOOKED_UP]


def meant(text: str, entities: Sequence[Entity]) -> tuple[str, ...]:
    """References of the entities that the text names, in order."""
    found: dict[str, None] = {}
    for name in _names(text) if entities else ():
        said = slug(name)
        for entity in entities:
            called = (entity.label, *entity.aliases)
            by_name = any(said in (slug(other), slug(other).partition("_")[0]) for other in called)
            by_sound = len(name) >= _HEARD and any(may_be(name, other, entity.type) for other in called)
            if entity.key is not None and (by_name or by_sound):
                found[entity.key] = None
    return tuple(found)


def one_hop(refs: Sequence[str], facts: Sequence[Memory]) -> tuple[str, ...]:
    """From the people among these to the projects, places and companies that their facts name."""
    people = {ref for ref in refs if ref.startswith("person:")}
    near = (
        ref
        for fact in facts
        if people & set(fact.entities)
        for ref in fact.entities
        if ref.partition(":")[0] in NEAR and ref not in refs
    )
    return tuple(dict.fromkeys(near))


def _names(text: str) -> Iterator[str]:
    """Runs of up to three words that begin and end with a word that can be part of a name."""
    said = [word.removesuffix("'s").removesuffix("’s") for word in _WORD.findall(text[:_MOST_TEXT])]
    telling = [word.lower() not in STOPWORDS for word in said]
    for place, begins in enumerate(telling):
        for size in range(1, LONGEST_NAME + 1):
            end = place + size
            if begins and end <= len(said) and telling[end - 1]:
                yield " ".join(said[place:end])


# --- events ---------------------------------------------------------------------------------------------------------------
#
# When something happened that a message names: "the race" of "the day after the race".
#
# The days are found in what was said of it: turns and notes that hold most of its words name a day themselves ("the race is on
# Sunday"), or tell of that day ("ran it today"). A day only adds to scores, so a wrong guess costs little. Messages that hang
# on no event, which is nearly all, cost no lookup. A language's file says how it puts such things, in `asking.beside`, with
# groups for the parts.

_MOST: Final = 2
"""Events of one message whose day is looked for: each is a lookup of its own."""
_LONGEST: Final = 60
"""Characters that name an event; what stands behind them is another matter."""
_SOON: Final = 3.0
"""Days that "shortly after" and "just before" reach."""
_READ: Final = 16
"""Turns, and notes, that are read to find a day."""
_NEAR: Final = 0.4
"""What holds less of the event's words than this share of the best is about something else."""
_TOLD: Final = 0.8
_MENTIONED: Final = 0.3
"""What it counts that something is told of on a day, or only mentioned, beside a day that is named."""
_ALSO: Final = 0.7
"""A second day is meant as well if it counts nearly as much."""
_EXACT: Final = frozenset({"day", "part", "moment"})
_SENTENCE: Final = re.compile(r"(?<=[.!?…。！？])\s+|\n+")
_ASKS: Final = ("?", "？")


@dataclass(frozen=True, slots=True)
class Happening:
    """Something that happened, as a message names it, and what is asked for beside it."""

    text: str
    said: str
    """The event and what is asked for beside it, in the message's words."""
    beside: Beside

    def period(self, day: date) -> tuple[datetime, datetime]:
        """The span of wall-clock time that is meant if it happened on this day."""
        start = datetime.combine(day, time())
        first, last, _ = self.beside.of(start, start + DAY)
        return first, last


def events(text: str) -> list[Happening]:
    """What a message asks for beside events that are not dates; nothing for most."""
    spoken = language(detect(text[:_MOST_TEXT]) or ENGLISH)
    pattern = spoken.patterns.get("asking.beside")
    if pattern is None:
        return []
    found = list[Happening]()
    for match in pattern.finditer(text[:_MOST_TEXT]):
        said = match.groupdict()
        name = said["event"][:_LONGEST]
        sign = 1 if said.get("after") else -1 if said.get("before") else 0
        unit: Unit | None = next((one for one in UNITS if said.get(one)), None)
        number = _number(said.get("count"), spoken.tables.get("dates", {}).get("numbers", ""))
        if unit is None:
            beside = Beside("day", sign * _SOON)
        elif number is not None and sign:
            beside = Beside(unit, sign * number, counted=True)
        else:
            beside = Beside(unit, sign)
        found.append(Happening(name, match[0], beside))
    return found[:_MOST]


def _number(said: str | None, numbers: str) -> float | None:
    if not said:
        return None
    known = dict(zip(*[iter(numbers.split())] * 2, strict=True))
    if (value := known.get(said.lower())) is not None:
        return float(value)
    read = number_at(re.findall(r"\w+", said.lower()), 0, loose=True)
    return read[0] if read else None


def times(search: Search) -> tuple[list[TimeRange], list[Happening]]:
    """The periods that a message names, and the events that it names others by."""
    found = ranges(search.text, now=search.now, zone=search.zone)
    hung = [one for one in events(search.text) if not ranges(one.text, now=search.now, zone=search.zone)]
    # "The weekend" of "the weekend after the race" is not the last one.
    return [one for one in found if not any(one.text in event.said for event in hung)], hung


async def periods(
    store: UserStore, hung: Sequence[Happening], search: Search, *, languages: Collection[str], lanes: frozenset[str]
) -> list[TimeRange]:
    """What is meant beside these events, for those whose day is found."""
    found = list[TimeRange]()
    for event in hung:
        own, others = asked_stems(event.text, likely=languages)
        asked = tuple(dict.fromkeys((*own, *others)))
        if not asked:
            continue
        said = await _said(store, asked, search, lanes)
        for day in _days(said, frozenset(asked), zone=search.zone):
            start, end = event.period(day)
            there = ZoneInfo(search.zone)
            found.append(TimeRange(start.replace(tzinfo=there), end.replace(tzinfo=there), event.said, "range"))
    return found


async def _said(
    store: UserStore, asked: tuple[str, ...], search: Search, lanes: frozenset[str]
) -> list[tuple[float, StoredTurn | Record]]:
    """What holds most of these words, each with how much beside the best."""
    turns, records = Matches(stems=asked, target="turn"), Matches(stems=asked, target="record")
    matched = await store.read(turns, records)
    worth = dict[int, float]()
    for query in (turns, records):
        found = matched[query]
        best = top(found.scores, found.seqs, limit=_READ)
        near = (float(found.scores[best[0]]) if len(best) else 0.0) or 1.0
        worth |= {
            int(found.seqs[at]): share for at in best.tolist() if (share := float(found.scores[at]) / near) >= _NEAR
        }
    by_turn = TurnsBySeq(seqs=tuple(worth), known=search.known)
    by_record = RecordsBySeq(seqs=tuple(worth), known=search.known)
    read = await store.read(by_turn, by_record)
    said = [turn for turn in read[by_turn] if in_scope(turn, search, lanes)]
    known = [record for record in map(nouns.record, read[by_record]) if shared(record, search)]
    return [(worth[one.seq], one) for one in (*said, *known)]


SEASON: Final = 100
"""Days of a period by which what tells of one of them is found; a longer one says hardly anything."""
TOLD_OF: Final = 100
"""How many memories, and episodes, that tell of a period are read."""


def named_days(periods: Sequence[Period], *, zone: str) -> frozenset[date]:
    """The days of periods that are short enough to mean any."""
    there = ZoneInfo(zone)
    spans = [(one.start.astimezone(there), one.end.astimezone(there)) for one in periods]
    inside = ((start.date(), max(start, end - timedelta(microseconds=1)).date()) for start, end in spans)
    return frozenset(day for first, last in inside for day in nouns.between(first, last, most=SEASON))


async def told_of(store: UserStore, periods: Sequence[Period], search: Search) -> frozenset[int]:
    """Entries of memories and episodes that tell of a day in these periods, whenever they were said."""
    meant = named_days(periods, zone=search.zone)
    if not meant or not search.sides:
        return frozenset()
    # Marks are in UTC, where a day may be the one before or after.
    near = sorted({day + shift * DAY for day in meant for shift in (-1, 0, 1)})
    asked = [
        RecordsByEntity(
            noun=noun,
            refs=tuple(map(nouns.on, near)),
            persona=search.persona,
            shared=True,
            statuses=("ACTIVE",),
            limit=TOLD_OF,
            known=search.known,
        )
        for noun in search.sides
        if noun != "summary"
    ]
    read = await store.read(*asked)
    told = [record for query in asked for record in map(nouns.record, read[query])]
    return frozenset(one.seq for one in told if not meant.isdisjoint(nouns.days(one, zone=search.zone)))


def _days(said: Sequence[tuple[float, StoredTurn | Record]], asked: Collection[str], *, zone: str) -> list[date]:
    """The day, or the two days, that most of what was said of something speaks for."""
    votes = defaultdict[date, float](float)
    for worth, one in said:
        best = dict[date, float]()
        for day, weight in _votes(one, asked, zone=zone):
            best[day] = max(best.get(day, 0.0), weight)
        for day, weight in best.items():
            votes[day] += worth * weight
    order = sorted(votes, key=lambda day: (-votes[day], day))
    return [day for day in order[:2] if votes[day] >= _ALSO * votes[order[0]]]


def _votes(one: StoredTurn | Record, asked: Collection[str], *, zone: str) -> Iterator[tuple[date, float]]:
    there = ZoneInfo(zone)
    for sentence in _SENTENCE.split(one.text):
        if sentence.rstrip().endswith(_ASKS) or not set(asked).intersection(stems(sentence)):
            continue
        exact = [found for found in ranges(sentence, now=one.at, zone=zone) if found.kind in _EXACT]
        if exact:
            yield exact[0].start.astimezone(there).date(), 1.0
        elif isinstance(one, StoredTurn):
            yield one.at.astimezone(there).date(), _TOLD if _past(sentence) else _MENTIONED


def _past(sentence: str) -> bool:
    """Whether a sentence tells of something that has happened."""
    spoken = language(detect(sentence) or ENGLISH)
    words = re.findall(r"\w+", sentence.lower())
    ended = spoken.code == ENGLISH and any(len(word) > 4 and word.endswith("ed") for word in words)
    return ended or not spoken.words["telling.past"].isdisjoint(words)
