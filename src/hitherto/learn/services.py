"""What the steps of background work are given besides the user's store."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from hitherto.learn.cost import Caps, Meter
from hitherto.learn.notes import Detail, PlainReader, Reader, SittingNotes
from hitherto.learn.people import Alike
from hitherto.store.protocol import StoredSnapshot, Vector

if TYPE_CHECKING:
    from hitherto.ingest.record import Indexer

Pace = Literal["live", "pause", "session"]
"""When a model reads: at every turn; when enough was said and the talk has paused; at a session's end."""

GIVES_UP = 6
"""After this many failed attempts in a row (some two minutes), rules do what a model could not."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Numbers:
    """The recipe's numbers that background work uses."""

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


Embed = Callable[[Sequence[str]], Sequence[Vector]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Vectors:
    """The embedder of searchable texts; one that works `at_once` has written its vectors while recording. Full text finds
    texts by `stems`.
    """

    embedder: str
    at_once: bool
    embed: Embed
    stems: Callable[[str], Sequence[str]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Receipts:
    """How snapshots age: what is left of one, and the blobs that it names."""

    thinned: Callable[[StoredSnapshot], StoredSnapshot]
    blobs: Callable[[StoredSnapshot], Sequence[str]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Closed:
    """What a reading said about a session that it ended; valid for exactly the session's turns up to `last`."""

    last: str
    notes: SittingNotes


@dataclass(frozen=True, slots=True, kw_only=True)
class Services:
    """Everything a step may use; no step reaches for anything else. Created for one visit to a user."""

    indexer: "Indexer"
    plain: PlainReader
    """The reader that needs no model; it does the work if there is no model, or if it keeps failing."""
    model: Reader | None = None
    alike: Alike
    pace: Pace = "pause"
    pause_seconds: float = 20.0
    meter: Meter = field(default_factory=lambda: Meter(Caps()))
    tenant: str = ""
    capped: str | None = None
    """Which cap on tokens was reached today."""
    numbers: Numbers = field(default_factory=Numbers)
    personas: Mapping[str, str] = field(default_factory=dict[str, str])
    """Display names of the personas, by id."""
    vectors: Vectors | None = None
    receipts: Receipts | None = None
    closed: dict[str, Closed] = field(default_factory=dict[str, Closed])
    """Sessions that a reading of this visit has ended, by id, until they are closed: one question serves both."""

    @property
    def paced(self) -> bool:
        """Whether reading costs something, so that it waits until it is worth it."""
        return self.model is not None and self.capped is None

    def reader(self, attempts: int) -> Reader:
        """The reader to use after so many failed attempts."""
        return self.model if self.model is not None and self.paced and attempts < GIVES_UP else self.plain

    def name_of(self, persona: str | None) -> str:
        """What a persona is called; one that was never defined is called by its id, in words."""
        if not persona:
            return "the assistant"
        return self.personas.get(persona) or re.sub(r"[\s_-]+", " ", persona).strip().title() or persona
