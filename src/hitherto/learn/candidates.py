"""What extraction proposes, by rules or by a model, before anything is decided or stored."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from hitherto.text.names import memory_key
from hitherto.text.time.spans import TimeRange
from hitherto.types import Category, EntityType, FactType, LoopKind, MemoryType, Outcome, Role

__all__ = ["Candidate", "Extraction", "LoopCandidate", "Owner", "Polarity", "Said", "Stems"]

Owner = Literal["user", "persona"]
Stems = Callable[[str], Sequence[str]]
Polarity = Literal["positive", "negative"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """One turn as extraction sees it, with the little context that makes it readable."""

    text: str
    role: Role
    now: datetime
    zone: str = "UTC"
    speaker: str | None = None
    persona: str = "the persona"
    previous: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """A statement that might become a memory.

    `entities` are references such as `person:john`, the first of them what the statement is about, `label` its
    display name. `attribute` and `value` say what is stated of it ("home", "Berlin"); `standing` marks a lasting
    request to the persona, `correction` a statement that sets something earlier right, `private` what was told to this
    persona alone.
    """

    text: str
    type: MemoryType = "PROFILE"
    category: Category = "BIOGRAPHY"
    entities: tuple[str, ...] = ()
    label: str = ""
    entity_type: EntityType = "person"
    fact_type: FactType = "fact"
    attribute: str = ""
    value: str = ""
    importance: int = 1
    confidence: float = 0.7
    polarity: Polarity = "positive"
    subject: Owner = "user"
    standing: bool = False
    correction: bool = False
    private: bool = False
    time: TimeRange | None = None

    @property
    def key(self) -> str:
        """The memory key: what this is a statement about."""
        entity = self.entities[0] if self.entities else f"person:{self.subject}"
        return memory_key(
            self.type,
            entity_type=self.entity_type,
            entity=entity,
            fact_type=self.fact_type,
            attribute=self.attribute,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class LoopCandidate:
    """Something left open: what, who owes it, when it should come back."""

    kind: LoopKind
    text: str
    owner: Owner
    due: datetime | None = None
    confidence: float = 0.7


@dataclass(frozen=True, slots=True, kw_only=True)
class Extraction:
    """All that one turn gave."""

    memories: tuple[Candidate, ...] = ()
    loops: tuple[LoopCandidate, ...] = ()
    outcome: Outcome | None = None
