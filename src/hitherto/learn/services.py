"""What the steps of the work are given besides the user's store."""

import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Literal, Protocol

from hitherto.ingest.record import Indexer
from hitherto.learn.candidates import Candidate, LoopCandidate
from hitherto.learn.summarising import Digest
from hitherto.safety.quarantine import Verdicts
from hitherto.store.protocol import StoredSnapshot, Vector
from hitherto.types import (
    Entity,
    EntityType,
    Loop,
    Memory,
    Outcome,
    StoredTurn,
    Summary,
    SummaryKind,
)

_VERDICTS = Verdicts()

Detail = Literal["brief", "normal", "full"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Passage:
    """Turns of one persona and lane in their order, of which those in `fresh` are to be read; the others give context."""

    turns: tuple[StoredTurn, ...]
    fresh: frozenset[str]
    persona: str
    zone: str
    now: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """What one turn gave: who says so is known by the turn."""

    turn: StoredTurn
    memories: tuple[Candidate, ...] = ()
    loops: tuple[LoopCandidate, ...] = ()
    outcome: Outcome | None = None


class Extractor(Protocol):
    """Reads passages; by rules or by a model."""

    @property
    def method(self) -> str: ...

    async def __call__(self, passages: Sequence[Passage]) -> Sequence[Finding]: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """One summary to write: of these turns, carrying on from an earlier version, in at most so many characters."""

    kind: SummaryKind
    turns: tuple[StoredTurn, ...]
    previous: Summary | None = None
    memories: tuple[Memory, ...] = ()
    loops: tuple[Loop, ...] = ()
    persona: str = "the assistant"
    zone: str = "UTC"
    characters: int = 600
    detail: Detail = "normal"


Summariser = Callable[[Task], Awaitable[Digest]]

Alike = Callable[[str, EntityType, Sequence[Entity]], Entity | None]
"""Which known entity a name means, if any."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Numbers:
    """The recipe's numbers that the work goes by."""

    rolling_every: int = 4
    rolling_chars: int = 600
    spine_messages: int = 20
    gap_minutes: float = 30
    compact_messages: int = 30
    compact_tokens: int = 2500
    compact_hours: float = 24
    compact_keep: int = 10
    fade_days: float = 7
    detail: Detail = "normal"


GIVES_UP = 6
"""After so many failed attempts in a row (some two minutes), rules do what a model could not."""

Embed = Callable[[Sequence[str]], Sequence[Vector]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Vectors:
    """The embedder of searchable texts; one that works `at_once` has written its vectors while recording."""

    embedder: str
    at_once: bool
    embed: Embed


@dataclass(frozen=True, slots=True, kw_only=True)
class Receipts:
    """How snapshots grow old: what is left of one, and the blobs that it names."""

    thinned: Callable[[StoredSnapshot], StoredSnapshot]
    blobs: Callable[[StoredSnapshot], Sequence[str]]


def _without_orders(turns: Sequence[StoredTurn]) -> tuple[StoredTurn, ...]:
    """A summary is durable memory: what may not become a memory may not get into one by that way either."""
    verdicts = _VERDICTS.give_orders([(turn.text, turn.origin) for turn in turns])
    return tuple(replace(turn, text="") if orders else turn for turn, orders in zip(turns, verdicts, strict=True))


@dataclass(frozen=True, slots=True, kw_only=True)
class Services:
    """Everything a step may use; no step reaches for anything else."""

    indexer: Indexer
    extractor: Extractor
    summariser: Summariser
    alike: Alike
    plain_extractor: Extractor
    plain_summariser: Summariser
    """What needs no model, for when the other ones keep failing."""
    numbers: Numbers = field(default_factory=Numbers)
    similarity: Callable[[str, str], float] | None = None
    personas: Mapping[str, str] = field(default_factory=dict[str, str])
    """Display names of the personas, by id."""
    vectors: Vectors | None = None
    receipts: Receipts | None = None

    def reading(self, attempts: int) -> Extractor:
        """What reads turns, after so many failed attempts."""
        return self.extractor if attempts < GIVES_UP else self.plain_extractor

    def summarising(self, attempts: int) -> Summariser:
        """What summarises, after so many failed attempts; it is not shown the words of turns that give orders."""
        chosen = self.summariser if attempts < GIVES_UP else self.plain_summariser

        async def without_orders(task: Task) -> Digest:
            return await chosen(replace(task, turns=_without_orders(task.turns)))

        return without_orders

    def name_of(self, persona: str | None) -> str:
        """How a persona is called; one that was never defined by its id in words."""
        if not persona:
            return "the assistant"
        return self.personas.get(persona) or re.sub(r"[\s_-]+", " ", persona).strip().title() or persona
