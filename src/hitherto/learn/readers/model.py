"""The reader that asks a model: one question for a passage, one for the end of a session that was read before.

What comes back is a list of notes in short names. Numbers become ids and turns here, and what cannot be meant is dropped and
counted; whether anything was said at all is checked where notes are decided on.
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, cast, get_args

from hitherto.learn.notes import (
    Cost,
    FactKind,
    FactNote,
    FactOp,
    LaneSection,
    LoopNote,
    LoopOp,
    Method,
    Owner,
    Passage,
    PersonNote,
    Reading,
    Scene,
    SentenceNote,
    Sitting,
    SittingNotes,
    ThoughtNote,
)
from hitherto.learn.readers import prompt
from hitherto.learn.readers.asking import Asker, ModelFailed
from hitherto.learn.verify import folded, moment
from hitherto.text.names import slug
from hitherto.types import EntityType, LoopKind, Outcome, Quote

MOST: Final = 120
"""How many notes of one answer are looked at."""
LONGEST: Final = 600
"""Characters of one note's text: a rolling summary may come in one."""
_QUOTE: Final = re.compile(r"^\s*(?:line\s*|#)?(\d{1,4})\s*[.:)\-]*\s+(.*)$", re.IGNORECASE | re.DOTALL)
_KNOWN: Final = re.compile(r"^\s*\[?([mlr]\d{1,4})\]?\b")
_USERS: Final = frozenset(("user", "the_user"))


@dataclass(frozen=True, slots=True)
class ModelReader:
    asker: Asker

    @property
    def method(self) -> Method:
        return "model"

    async def read(self, passage: Passage) -> Reading:
        instructions, question = prompt.reading(passage)
        answer, cost = await self._ask(instructions, question)
        found = _Answer(answer, prompt.of_passage(passage), passage.scene)
        closing = found.sitting(cost=None) if passage.sitting is not None else None
        return Reading(
            facts=tuple(found.facts()),
            loops=tuple(found.loops()),
            people=tuple(found.people()),
            rolling=tuple(found.sentences("now")),
            sitting=closing if closing is not None and (closing.summary or closing.mattered) else None,
            method="model",
            dropped=found.dropped,
            cost=cost,
        )

    async def close(self, sitting: Sitting) -> SittingNotes:
        instructions, question = prompt.closing(sitting)
        answer, cost = await self._ask(instructions, question)
        return _Answer(answer, prompt.of_sitting(sitting), sitting.scene).sitting(cost=cost)

    async def _ask(self, instructions: str, question: str) -> tuple[list[Mapping[str, Any]], Cost]:
        answer, cost = await self.asker.ask(question, instructions=instructions, schema=prompt.SCHEMA)
        notes = answer.get("notes")
        if not isinstance(notes, list):
            raise ModelFailed("the model's answer holds no list of notes")
        listed = cast("list[object]", notes)[:MOST]
        return [cast("Mapping[str, Any]", one) for one in listed if isinstance(one, dict)], cost


class _Answer:
    """The notes of one answer, with the numbers of its question."""

    def __init__(self, notes: Sequence[Mapping[str, Any]], numbers: prompt.Numbers, scene: Scene) -> None:
        self._notes, self._numbers, self._scene = notes, numbers, scene
        self.dropped: Counter[str] = Counter()

    def facts(self) -> Iterator[FactNote]:
        for note in self._of("fact"):
            op = _one_of(_text(note, "op") or "new", FactOp, "new")
            ref = self._ref(note, self._numbers.memories)
            text = _text(note, "text")
            if ref is None and (op in ("same", "over") or not text):
                self.dropped["unknown"] += 1
                continue
            names = _names(_text(note, "who"))
            quotes = self._quotes(note)
            lines = {line.turn.id: line.turn for line in self._numbers.lines.values()}
            of_persona = slug(self._scene.persona) in {slug(name) for name in names}
            told = [lines[quote.turn].role for quote in quotes if quote.turn in lines]
            until = moment(_text(note, "due"), zone=self._scene.zone, hour=23)
            flag = _text(note, "flag").lower()
            yield FactNote(
                op=op if ref is not None or op == "new" else "new",
                ref=ref,
                text=text,
                about=tuple(names),
                subject="persona" if of_persona and "user" not in told else "user",
                kind=_one_of(_text(note, "kind"), FactKind, "fact"),
                importance=_level(note.get("imp")),
                private="private" in flag,
                standing="standing" in flag,
                quotes=quotes,
                valid_to=until if until is not None and "until" in flag else None,
            )

    def loops(self) -> Iterator[LoopNote]:
        for note in self._of("loop"):
            ref = self._ref(note, self._numbers.loops)
            text = _text(note, "text")
            op = _one_of(_text(note, "op") or ("open" if ref is None else "same"), LoopOp, "open")
            if ref is None and (op != "open" or not text):
                self.dropped["unknown"] += 1
                continue
            yield LoopNote(
                op=op,
                ref=ref,
                text=text,
                kind=_one_of(_text(note, "kind"), LoopKind, "topic"),
                owner=self._owner(_text(note, "who")),
                due=moment(_text(note, "due"), zone=self._scene.zone),
                private="private" in _text(note, "flag").lower(),
                quotes=self._quotes(note),
            )

    def people(self) -> Iterator[PersonNote]:
        for note in self._of("person"):
            names = _names(_text(note, "who"))
            if names:
                yield PersonNote(
                    name=names[0][:80],
                    kind=_one_of(_text(note, "kind"), EntityType, "person"),
                    what=_text(note, "text")[:200],
                    aliases=tuple(name[:80] for name in names[1:8]),
                    not_same_as=tuple(_names(_text(note, "ref"))),
                    quotes=self._quotes(note),
                )

    def sentences(self, kind: str) -> Iterator[SentenceNote]:
        for note in self._of(kind):
            if _text(note, "text"):
                yield SentenceNote(text=_text(note, "text"), quotes=self._quotes(note))

    def sitting(self, *, cost: Cost | None) -> SittingNotes:
        lane: dict[LaneSection, list[SentenceNote]] = {}
        for note in self._of("lane"):
            section = _one_of(_text(note, "kind"), LaneSection, "decisions")
            lane.setdefault(section, []).append(SentenceNote(text=_text(note, "text"), quotes=self._quotes(note)))
        nothing: Mapping[str, Any] = {}
        tone = next(self._of("tone"), nothing)
        ended = _text(tone, "kind").upper()
        outcomes: Mapping[str, Outcome] = {word: word for word in get_args(Outcome)}
        refs = ((self._ref(note, self._numbers.loops), _text(note, "text")) for note in self._of("thought"))
        return SittingNotes(
            summary=tuple(self.sentences("sum"))[:3],
            mattered=tuple(self.sentences("point"))[:8],
            tone=_text(tone, "text")[:40],
            outcome=outcomes.get(ended),
            day=tuple(self.sentences("day"))[:3],
            lane={name: tuple(entries) for name, entries in lane.items()},
            thoughts=tuple(ThoughtNote(ref=ref or "", text=text) for ref, text in refs if text)[:2],
            method="model",
            dropped=self.dropped,
            cost=cost,
        )

    def _of(self, kind: str) -> Iterator[Mapping[str, Any]]:
        return (note for note in self._notes if _text(note, "k").lower() == kind)

    def _ref(self, note: Mapping[str, Any], known: Mapping[str, Any]) -> str | None:
        found = _KNOWN.match(_text(note, "ref").lower())
        one = known.get(found[1]) if found else None
        return None if one is None else str(one.id)

    def _quotes(self, note: Mapping[str, Any]) -> tuple[Quote, ...]:
        given = note.get("q")
        texts = cast("list[object]", given) if isinstance(given, list) else [given] if isinstance(given, str) else []
        return tuple(quote for text in texts[:6] if isinstance(text, str) for quote in self._quoted(text))

    def _quoted(self, text: str) -> Iterator[Quote]:
        """The words of a line, or those that a known note rests on."""
        known = _KNOWN.match(text)
        if known:
            for where in (self._numbers.memories, self._numbers.loops, self._numbers.sentences):
                if known[1] in where:
                    yield from where[known[1]].quotes
            return
        found = _QUOTE.match(text)
        line = self._numbers.lines.get(int(found[1])) if found else None
        if found and line is not None:
            yield Quote(turn=line.turn.id, words=found[2].strip()[:300])
        elif self._numbers.lines and folded(text):
            yield Quote(turn="", words=text.strip()[:300])

    def _owner(self, who: str) -> Owner:
        return "persona" if slug(who.split(";", maxsplit=1)[0]) in (slug(self._scene.persona), "persona") else "user"


def _text(note: Mapping[str, Any], name: str) -> str:
    value = note.get(name)
    return " ".join(value.split())[:LONGEST] if isinstance(value, str) else ""


def _names(text: str) -> list[str]:
    return [name for part in re.split(r"[;,|]", text) if (name := part.strip(" .\"'")) and slug(name) not in _USERS]


def _level(value: object) -> int:
    try:
        return min(max(int(str(value)), 0), 3) if value is not None else 1
    except ValueError:
        return 1


def _one_of(word: str, options: Any, default: Any) -> Any:
    return word if word in get_args(options) else default
