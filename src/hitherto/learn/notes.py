"""Notes: what a reader, a model or rules, hands over after reading a conversation. Values only.

A reader is shown a *passage*: who speaks, what is known, and the lines since the last reading. It hands over a *reading*:
facts as operations on known memories, loops that opened or closed, people, and the rolling summary anew. At the end of a
session a *sitting* gives its summary, the day's and what changed in its lane. Every note names words that were said; what
becomes of a note is not the reader's to decide (`decide`).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Final, Literal, Protocol

from hitherto.types import Entity, EntityType, Loop, LoopKind, Memory, Outcome, Quote, StoredTurn, Summary

FactOp = Literal["new", "same", "sharper", "changed", "over", "wrong"]
LoopOp = Literal["open", "same", "moved", "done", "missed", "dropped"]
FactKind = Literal["fact", "preference", "relationship", "habit", "friction", "event"]
Owner = Literal["user", "persona"]
Method = Literal["rules", "model"]
Detail = Literal["brief", "normal", "full"]
LaneSection = Literal["goals", "decisions", "facts", "outcomes", "pending"]

LANE_TITLES: Final[dict[LaneSection, str]] = {
    "goals": "Goals and open questions",
    "decisions": "Decisions",
    "facts": "Facts",
    "outcomes": "Outcomes",
    "pending": "Pending actions",
}


# --- what a reader is shown -------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """One turn as a reader sees it: `text` is what may be shown of it (secrets masked, orders of others left out, long
    ones shortened, tool calls and pictures described), `speaker` the name of whoever says it."""

    turn: StoredTurn
    speaker: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Scene:
    """Who talks, where and when. `user` is the user's name ("the user" if nobody has said it), `speakers` those of a group;
    `people` are the known persons, animals, organisations, places and projects with their aliases, those first whom the lines
    name (`named`, by reference)."""

    user: str
    persona: str
    zone: str
    now: datetime
    speakers: tuple[str, ...] = ()
    people: tuple[Entity, ...] = ()
    named: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True, kw_only=True)
class Sitting:
    """A session that is over, or the older lines of a lane that leave for its summary. `day` is the day's summary so far,
    `lane` the lane's, `noted` and `loops` what was noted from these lines."""

    scene: Scene
    lines: tuple[Line, ...]
    day: Summary | None = None
    lane: Summary | None = None
    noted: tuple[Memory, ...] = ()
    loops: tuple[Loop, ...] = ()
    detail: Detail = "normal"


@dataclass(frozen=True, slots=True, kw_only=True)
class Passage:
    """Lines of one persona and lane in their order: `new` are to be read, `before` makes them readable.

    `memories` (known, live, relevant or always given) and `loops` (open with this persona) are what notes refer to by id;
    `past` are the memories whose own day has passed, `cut` says that more is known than is listed. With a `sitting`, these
    lines end a session, and a reader may answer for both at once."""

    scene: Scene
    before: tuple[Line, ...]
    new: tuple[Line, ...]
    memories: tuple[Memory, ...] = ()
    loops: tuple[Loop, ...] = ()
    rolling: Summary | None = None
    past: frozenset[str] = frozenset()
    cut: bool = False
    characters: int = 600
    """How long the rolling summary may be; 0 when none is wanted."""
    sitting: Sitting | None = None

    @property
    def lines(self) -> tuple[Line, ...]:
        return (*self.before, *self.new)


# --- what it hands over -----------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class FactNote:
    """A fact, as an operation on what is known.

    new: was not known. same: `ref` was said again. sharper: `ref` is known more exactly now, `text` says it anew.
    changed: `ref` is no longer so, `text` says what is. over: `ref` is no longer so and nothing takes its place.
    wrong: `ref` never was so (with a `text`: what is so instead).
    `ref` is a memory's id, `also` are others that end with it. `text` is a whole sentence with its subject's name, or, of
    rules, what was said, with who and when.
    `about` names whom and what it is about, the first of them its subject; empty means the user. `subject` is "persona" for
    what the persona tells of its own life. `quotes` are the words that say it, of a confirmed fact those of both lines.
    `attribute` and `value` type a fact of which a person has one at a time ("home", "Leeds"); only where they are `sure`
    may they end an earlier one without naming it.
    """

    op: FactOp = "new"
    ref: str | None = None
    also: tuple[str, ...] = ()
    text: str = ""
    about: tuple[str, ...] = ()
    subject: Owner = "user"
    kind: FactKind = "fact"
    importance: int = 1
    private: bool = False
    standing: bool = False
    """A lasting request to the persona, or a danger that must never be forgotten: always given."""
    quotes: tuple[Quote, ...] = ()
    valid_from: datetime | None = None
    valid_to: datetime | None = None
    attribute: str = ""
    value: str = ""
    sure: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class LoopNote:
    """Something left open, or what became of it. With op "open" and "moved", `text` and `due` say it (anew); the others need
    `ref`, a loop's id. `owner` is who has to act."""

    op: LoopOp = "open"
    ref: str | None = None
    text: str = ""
    kind: LoopKind = "topic"
    owner: Owner = "user"
    due: datetime | None = None
    private: bool = False
    quotes: tuple[Quote, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class PersonNote:
    """Someone or something with a name: what they are to the user (`what`, "Ana's niece"), other spellings and names, and whom
    they must not be taken for. A later word on a person replaces the earlier."""

    name: str
    kind: EntityType = "person"
    what: str = ""
    aliases: tuple[str, ...] = ()
    not_same_as: tuple[str, ...] = ()
    quotes: tuple[Quote, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class SentenceNote:
    """A sentence of a summary that stands alone, with the words it rests on, which may be of earlier turns."""

    text: str
    quotes: tuple[Quote, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ThoughtNote:
    """What the persona thinks about an open loop, in its own voice; without a `ref`, about the one it speaks of."""

    ref: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SittingNotes:
    """What a session was: one to three sentences, what mattered, its tone and outcome where something says so; the day so far
    (empty: as before, and this session) with its key moments; what is new in the lane's sections."""

    summary: tuple[SentenceNote, ...] = ()
    mattered: tuple[SentenceNote, ...] = ()
    tone: str = ""
    outcome: Outcome | None = None
    topics: tuple[str, ...] = ()
    day: tuple[SentenceNote, ...] = ()
    moments: tuple[SentenceNote, ...] = ()
    lane: Mapping[LaneSection, tuple[SentenceNote, ...]] = field(
        default_factory=dict[LaneSection, tuple[SentenceNote, ...]]
    )
    thoughts: tuple[ThoughtNote, ...] = ()
    method: Method = "rules"
    dropped: Mapping[str, int] = field(default_factory=dict[str, int])
    cost: "Cost | None" = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """All that one passage gave; `dropped` counts, by reason, what its reader itself could not use."""

    facts: tuple[FactNote, ...] = ()
    loops: tuple[LoopNote, ...] = ()
    people: tuple[PersonNote, ...] = ()
    rolling: tuple[SentenceNote, ...] = ()
    sitting: SittingNotes | None = None
    method: Method = "rules"
    dropped: Mapping[str, int] = field(default_factory=dict[str, int])
    cost: "Cost | None" = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Read:
    """A passage of these turns, and what its reader handed over."""

    passage: Passage
    reading: Reading
    turns: tuple[StoredTurn, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Cost:
    """What a reading cost: questions to a model, tokens asked and answered."""

    calls: int = 0
    asked: int = 0
    answered: int = 0


class Reader(Protocol):
    """Reads passages and closes sessions; a model or rules."""

    @property
    def method(self) -> Method: ...

    async def read(self, passage: Passage) -> Reading: ...

    async def close(self, sitting: Sitting) -> SittingNotes: ...


class PlainReader(Reader, Protocol):
    """A reader that needs no model, and can say of lines whether reading them is worth anything at all."""

    def small_talk(self, lines: Sequence[Line]) -> bool: ...


# --- what both know of loops ------------------------------------------------------------------------------------------

LATE: Final = timedelta(hours=36)
"""After so long a reader is told that a loop's day has passed."""


def overdue(loop: Loop, now: datetime) -> bool:
    """Whether a loop's day has passed, so that a reader may let it go without a word."""
    return loop.due is not None and loop.kind != "habit" and now - loop.due > LATE
