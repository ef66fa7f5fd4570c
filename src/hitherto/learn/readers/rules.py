"""The reader that needs no model: patterns over each new line, and extracts of what was said."""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from hitherto.learn import summarising
from hitherto.learn.candidates import Candidate, Said
from hitherto.learn.closing import OpenLoop, closing
from hitherto.learn.notes import (
    LANE_TITLES,
    FactKind,
    FactNote,
    Line,
    LoopNote,
    LoopOp,
    Method,
    Passage,
    PersonNote,
    Reading,
    SentenceNote,
    Sitting,
    SittingNotes,
)
from hitherto.learn.rules.extracting import extract
from hitherto.learn.rules.sentences import dated
from hitherto.learn.salience import Line as Spoken
from hitherto.learn.supersede import Statement, relation
from hitherto.text.names import slug
from hitherto.types import EntityType, Json, Loop, Quote, Support

_ENDS: dict[str, LoopOp] = {"done": "done", "not_done": "missed", "dropped": "dropped"}
_QUOTED = 240


@dataclass(frozen=True, slots=True)
class RuleReader:
    stems: Callable[[str], Sequence[str]]

    @property
    def method(self) -> Method:
        return "rules"

    def small_talk(self, lines: Sequence[Line]) -> bool:
        """Whether these lines hold nothing: short ones without a name, a number or a question, in which rules find nothing."""
        return all(_idle(line) for line in lines)

    async def read(self, passage: Passage) -> Reading:
        facts: list[FactNote] = []
        loops: list[LoopNote] = []
        people: dict[str, PersonNote] = {}
        before = passage.before[-1] if passage.before else None
        for line in passage.new:
            found = extract(_said(line, before, passage))
            facts += [self._fact(one, line, passage) for one in found.memories]
            for one in found.memories:
                if one.label and one.label.casefold() not in people:
                    people[one.label.casefold()] = PersonNote(name=one.label, kind=_kind(one))
            loops += self._closed(passage.loops, line, before)
            loops += [
                LoopNote(
                    text=dated(one.text, at=line.turn.at, zone=passage.scene.zone, tense="future"),
                    kind=one.kind,
                    owner=one.owner,
                    due=one.due,
                    quotes=_quote(line, one.text),
                )
                for one in found.loops
            ]
            before = line
        rolling = self._rolling(passage) if passage.characters else ()
        return Reading(facts=tuple(facts), loops=tuple(loops), people=tuple(people.values()), rolling=rolling)

    def _fact(self, one: Candidate, line: Line, passage: Passage) -> FactNote:
        """A typed fact; one that ends what is known under its key names it."""
        note = _fact(one, line)
        new = Statement(text=one.text, attribute=one.attribute, value=one.value)
        for old in passage.memories:
            said = Statement(text=old.text, attribute=old.attribute, value=old.value)
            if old.key == one.key and relation(new, said, stems=self.stems) == "replaces":
                return replace(note, op="changed", ref=old.id)
        return note

    def _closed(self, loops: Sequence[Loop], line: Line, before: Line | None) -> Iterator[LoopNote]:
        """Who owes a loop closes it; a question is answered by the other side."""
        side = "user" if line.turn.role == "user" else "persona"
        for loop in loops:
            if loop.owner != side or line.turn.id in loop.sources or line.turn.at < loop.at:
                continue
            asked = before is not None and before.turn.id in loop.sources
            how = closing(OpenLoop(kind=loop.kind, text=loop.text, asked=asked), line.text, stems=self.stems)
            if how in _ENDS:
                yield LoopNote(op=_ENDS[how], ref=loop.id, quotes=_quote(line, ""))

    def _rolling(self, passage: Passage) -> tuple[SentenceNote, ...]:
        previous = passage.rolling.sentences if passage.rolling else ()
        digest = summarising.rolling(_spoken(passage.new, passage.scene.zone), previous=previous, stems=self.stems)
        return _sentences(digest.sentences, passage.lines, previous)

    async def close(self, sitting: Sitting) -> SittingNotes:
        spoken = _spoken(sitting.lines, sitting.scene.zone)
        if not spoken:
            return SittingNotes()
        digest = summarising.session(spoken, stems=self.stems)
        of_day = summarising.daily(spoken, stems=self.stems)
        sections = summarising.lane(spoken, stems=self.stems)
        mattered = _named(digest.detail.get("what_mattered"), digest.sentences)
        told = tuple(one for one in digest.sentences if one.text in digest.text)
        return SittingNotes(
            summary=_sentences(told or digest.sentences[:2], sitting.lines),
            mattered=_sentences(mattered, sitting.lines),
            tone=digest.tone,
            outcome=digest.outcome,
            topics=digest.topics,
            moments=_sentences(_named(of_day.detail.get("key_moments"), of_day.sentences), sitting.lines),
            lane={name: _sentences(sections[name], sitting.lines) for name in LANE_TITLES},
        )


def _idle(line: Line) -> bool:
    text = line.text.strip()
    if not text:
        return True
    if len(text) > 40 or re.search(r"\d|\?|\bmy\b|\b[A-Z][a-z]+\b(?<!^)", text[1:]):
        return False
    found = extract(Said(text=text, role=line.turn.role, now=line.turn.at))
    return not found.memories and not found.loops


def _said(line: Line, before: Line | None, passage: Passage) -> Said:
    return Said(
        text=line.text,
        role=line.turn.role,
        now=line.turn.at,
        zone=passage.scene.zone,
        speaker=line.turn.speaker,
        persona=passage.scene.persona,
        previous=before.text if before else "",
    )


def _fact(one: Candidate, line: Line) -> FactNote:
    kinds: dict[str, FactKind] = {
        "preference": "preference", "relationship": "relationship", "habit": "habit", "friction": "friction",
    }  # fmt: skip
    return FactNote(
        text=one.text,
        about=(one.label,) if one.label and one.type != "PROFILE" else ("user", *filter(None, (one.label,))),
        subject=one.subject,
        kind="event" if one.category == "EVENT" else kinds.get(one.fact_type, "fact"),
        importance=one.importance,
        private=one.private,
        standing=one.standing,
        quotes=_quote(line, one.value),
        valid_from=one.time.start if one.time and one.category != "EVENT" else None,
        attribute=one.attribute,
        value=one.value,
        sure=True,
    )


def _kind(one: Candidate) -> EntityType:
    refs = {ref.partition(":")[2]: ref.partition(":")[0] for ref in one.entities}
    kinds: dict[str, EntityType] = {"org": "org", "place": "place", "project": "project"}
    return kinds.get(refs.get(slug(one.label), "person"), "person")


def _quote(line: Line, value: str) -> tuple[Quote, ...]:
    """The sentence of a line that holds the value, or the line's beginning."""
    for sentence in re.split(r"(?<=[.!?])\s+|\n", line.text):
        if value and value.casefold() in sentence.casefold():
            return (Quote(turn=line.turn.id, words=sentence.strip()[:_QUOTED]),)
    words = line.text if len(line.text) <= _QUOTED else line.text[:_QUOTED].rpartition(" ")[0]
    return (Quote(turn=line.turn.id, words=words.strip()),)


def _spoken(lines: Sequence[Line], zone: str) -> list[Spoken]:
    return [
        Spoken(id=line.turn.id, speaker=_speaker(line), role=line.turn.role, text=line.text, at=line.turn.at, zone=zone)
        for line in lines
        if line.text.strip()
    ]


def _speaker(line: Line) -> str:
    return "User" if line.turn.role == "user" and line.speaker == "the user" else line.speaker


def _named(texts: Json, sentences: Sequence[Support]) -> list[Support]:
    resting = {one.text: one for one in sentences}
    named = [str(text) for text in texts] if isinstance(texts, list) else []
    return [resting[text] for text in named if text in resting]


def _sentences(
    supports: Sequence[Support], lines: Sequence[Line], previous: Sequence[Support] = ()
) -> tuple[SentenceNote, ...]:
    by_turn = {line.turn.id: line for line in lines}
    before = {one.text: one.quotes for one in previous}
    made: list[SentenceNote] = []
    for one in supports:
        found = [by_turn[source] for source in one.sources if source in by_turn]
        quotes = tuple(quote for line in found for quote in _quote(line, one.text.partition(": ")[2] or one.text))
        if quotes or before.get(one.text):
            made.append(SentenceNote(text=one.text, quotes=quotes or before[one.text]))
    return tuple(made)
