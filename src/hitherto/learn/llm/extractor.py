"""Extraction by a model. It proposes; what no turn supports is dropped here, and everything else still has to pass the
same decision as what rules find."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Annotated, Literal
from zoneinfo import ZoneInfo

from pydantic import BaseModel, Field

from hitherto.learn.candidates import Candidate, LoopCandidate, Owner, Stems
from hitherto.learn.llm import prompt
from hitherto.learn.llm.asking import Asker
from hitherto.learn.llm.support import Said, harmless, supported
from hitherto.learn.rules.loops import outcome
from hitherto.learn.services import Finding, Passage
from hitherto.text.names import entity_ref, slug
from hitherto.text.time.spans import due
from hitherto.types import Category, EntityType, FactType, LoopKind, MemoryType, StoredTurn

AT_ONCE = 12
"""How many fresh turns one question is about."""

Line = Annotated[int, Field(ge=1, le=10_000)]
Short = Annotated[str, Field(max_length=300)]


class Fact(BaseModel):
    line: Line
    text: Short
    about: Literal["user", "persona", "other"] = "user"
    name: Short = ""
    entity_type: EntityType = "person"
    category: Category = "BIOGRAPHY"
    fact_type: FactType = "fact"
    attribute: Short = ""
    value: Short = ""
    importance: Annotated[int, Field(ge=0, le=3)] = 1
    confidence: Annotated[float, Field(ge=0, le=1)] = 0.8
    standing: bool = False


class Opened(BaseModel):
    line: Line
    kind: LoopKind
    text: Short
    owner: Owner = "user"
    due: Short = ""


class Found(BaseModel):
    facts: Annotated[list[Fact], Field(max_length=40)] = []
    loops: Annotated[list[Opened], Field(max_length=20)] = []


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelExtractor:
    asker: Asker
    stems: Stems
    method: str = "model"

    async def __call__(self, passages: Sequence[Passage]) -> list[Finding]:
        return [finding for passage in passages for piece in _pieces(passage) for finding in await self._read(piece)]

    async def _read(self, passage: Passage) -> list[Finding]:
        said = [_said(turn, passage) for turn in passage.turns]
        fresh = [turn.id in passage.fresh for turn in passage.turns]
        found = await self.asker.ask(prompt.block(said, fresh=fresh), instructions=prompt.EXTRACTING, answer=Found)
        return [
            Finding(
                turn=turn,
                memories=tuple(self._facts(found, place, passage, said)),
                loops=tuple(self._loops(found, place, passage, said)),
                outcome=outcome(turn.text),
            )
            for place, turn in enumerate(passage.turns)
            if turn.id in passage.fresh
        ]

    def _facts(self, found: Found, place: int, passage: Passage, said: Sequence[Said]) -> Iterator[Candidate]:
        for fact in found.facts:
            if fact.line == place + 1 and self._holds(fact.text, place, passage, said):
                yield _candidate(fact, passage.turns[place])

    def _loops(self, found: Found, place: int, passage: Passage, said: Sequence[Said]) -> Iterator[LoopCandidate]:
        turn = passage.turns[place]
        for loop in found.loops:
            if loop.line == place + 1 and self._holds(loop.text, place, passage, said):
                at = _moment(loop.due, zone=passage.zone) or due(turn.text, now=turn.at, zone=passage.zone)
                yield LoopCandidate(kind=loop.kind, text=loop.text.strip(), owner=loop.owner, due=at, confidence=0.8)

    def _holds(self, text: str, place: int, passage: Passage, said: Sequence[Said]) -> bool:
        """Whether the turn says it, read in the light of the one before ("yes" to a question)."""
        return harmless(text) and supported(
            text, said[max(0, place - 1) : place + 1], stems=self.stems, zone=passage.zone
        )


def _pieces(passage: Passage) -> Iterator[Passage]:
    """The passage in parts of so many fresh turns, each with a little of what came before."""
    places = [place for place, turn in enumerate(passage.turns) if turn.id in passage.fresh]
    for start in range(0, len(places), AT_ONCE):
        part = places[start : start + AT_ONCE]
        turns = passage.turns[max(0, part[0] - 2) : part[-1] + 1]
        yield Passage(
            turns=turns,
            fresh=frozenset(passage.turns[place].id for place in part),
            persona=passage.persona,
            zone=passage.zone,
            now=passage.now,
        )


def _said(turn: StoredTurn, passage: Passage) -> Said:
    speaker = turn.speaker or ("User" if turn.role == "user" else passage.persona)
    return Said(text=turn.text, at=turn.at, sources=(turn.id,), speaker=speaker)


def _candidate(fact: Fact, turn: StoredTurn) -> Candidate:
    other = fact.about == "other" and bool(slug(fact.name))
    kinds: dict[EntityType, MemoryType] = {"person": "PEOPLE", "project": "PROJECT"}
    subject: Owner = "persona" if turn.role == "assistant" and fact.about == "persona" else "user"
    about = entity_ref(fact.entity_type, fact.name) if other else f"person:{subject}"
    return Candidate(
        text=fact.text.strip(),
        type=kinds.get(fact.entity_type, "PROFILE") if other else "PROFILE",
        category="PERSON" if other and fact.entity_type == "person" else fact.category,
        entities=(about, "person:user") if other and subject == "user" else (about,),
        label=fact.name.strip() if other else "",
        entity_type=fact.entity_type if other else "person",
        fact_type=fact.fact_type,
        attribute=slug(fact.attribute or fact.text)[:80],
        value=fact.value.strip(),
        importance=fact.importance,
        confidence=fact.confidence,
        subject=subject,
        standing=fact.standing and turn.role == "user",
    )


def _moment(text: str, *, zone: str) -> datetime | None:
    try:
        found = datetime.fromisoformat(text.strip())
    except ValueError:
        return None
    if found.tzinfo is None:
        found = found.replace(tzinfo=ZoneInfo(zone))
    return found.astimezone(UTC) if 2000 < found.year < 2200 else None
