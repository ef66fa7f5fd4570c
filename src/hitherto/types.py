"""The nouns of the glossary, as frozen values.

Two families. A `Turn` is what the application gives; a `StoredTurn` is one version of it in the user's log. Everything
else that is remembered is a `Record`: a version of a memory, an episode, a loop and so on. Versions are never changed:
`seq` is the log entry that wrote a version, `retired` the entry that ended it (None while it is live), so the state at
any entry can be read again. `recorded_at` and `retired_at` are the same two moments by the clock, for people;
`valid_from` and `valid_to` say when the content was true.
"""

from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass, field
from datetime import date, datetime
from typing import ClassVar, Literal

from typing_extensions import TypeAliasType

Json = TypeAliasType("Json", "bool | int | float | str | list[Json] | dict[str, Json] | None")

Role = Literal["user", "assistant", "tool", "system"]
Origin = Literal["user", "assistant", "tool", "import", "application"]
HitKind = Literal["turn", "memory", "episode", "summary"]
RecordKind = Literal[
    "memory",
    "episode",
    "loop",
    "thought",
    "summary",
    "state",
    "session",
    "entity",
    "profile",
    "slot",
    "progress",
]
MemoryType = Literal["PROFILE", "PEOPLE", "PROJECT"]
Category = Literal["PERSON", "PLACE", "EVENT", "PREFERENCE", "BIOGRAPHY"]
EntityType = Literal["person", "animal", "org", "place", "project"]
FactType = Literal["fact", "preference", "relationship", "friction", "habit"]
MemorySource = Literal["shadow_extraction", "seeded_profile", "curated_fold", "application"]
Status = Literal["ACTIVE", "ARCHIVED", "QUARANTINED"]
LoopKind = Literal["promise", "question", "commitment", "habit", "friction", "topic"]
LoopStatus = Literal["open", "done", "not_done", "dropped", "expired"]
SummaryKind = Literal["rolling", "session", "daily", "lane", "chat", "spine"]
Outcome = Literal["SUCCESS", "PARTIAL", "INTERRUPTED"]
Stage = Literal["NEW", "DEVELOPING", "COMFORTABLE", "TRUSTED"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCall:
    """A tool call of the assistant; `args` is the JSON text as the model wrote it."""

    id: str
    name: str
    args: str
    kind: Literal["tool_call"] = "tool_call"


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolReturn:
    """What a tool answered to the call of that id."""

    id: str
    name: str
    content: str
    kind: Literal["tool_return"] = "tool_return"


@dataclass(frozen=True, slots=True, kw_only=True)
class Thinking:
    """A model's reasoning; kept in the log, counted, and left out of finished turns."""

    text: str
    kind: Literal["thinking"] = "thinking"


@dataclass(frozen=True, slots=True, kw_only=True)
class Media:
    """A reference to an image, sound or document, with the words that stand for it in a text prompt."""

    media_type: str
    url: str
    caption: str = ""
    kind: Literal["media"] = "media"


Part = ToolCall | ToolReturn | Thinking | Media


@dataclass(frozen=True, slots=True)
class Turn:
    """One message, as the application gives it. With an `id`, recording it again changes nothing."""

    user: str
    role: Role
    text: str
    _: KW_ONLY
    id: str | None = None
    at: datetime | None = None
    persona: str | None = None
    lane: str | None = None
    conversation: str | None = None
    speaker: str | None = None
    reply_to: str | None = None
    parts: tuple[Part, ...] | None = None
    origin: Origin | None = None
    snapshot: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredTurn:
    """One version of a turn in the user's log.

    `place` is where it stands in the conversation (the entry of its first version); `position` counts within the session
    from 1, `number` counts the persona's messages over all sessions. `tokens` was counted by the tokenizer `family`
    when it was written and covers the text and its parts.
    """

    seq: int
    place: int
    id: str
    version: int
    role: Role
    text: str
    at: datetime
    recorded_at: datetime
    retired: int | None
    persona: str | None
    lane: str | None
    conversation: str | None
    speaker: str | None
    reply_to: str | None
    origin: Origin
    parts: tuple[Part, ...]
    snapshot: str | None
    session: str
    position: int
    number: int
    tokens: int
    family: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Quote:
    """A turn's own words: the reason something is remembered."""

    turn: str
    words: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """What every remembered thing has; `noun` says what it is.

    `key` names what at most one live version may say; `sources` are turn ids, `quotes` the words in them that say it."""

    noun: ClassVar[RecordKind]

    id: str
    text: str = ""
    persona: str | None = None
    lane: str | None = None
    key: str | None = None
    status: str = "ACTIVE"
    origin: Origin = "application"
    sources: tuple[str, ...] = ()
    entities: tuple[str, ...] = ()
    at: datetime
    due: datetime | None = None
    valid_from: datetime | None = None
    valid_to: datetime | None = None
    tokens: int = 0
    family: str = ""
    seq: int = 0
    version: int = 0
    recorded_at: datetime | None = None
    retired: int | None = None
    retired_at: datetime | None = None
    quotes: tuple[Quote, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Memory(Record):
    """A durable fact. `subject` says whom it is about; `mentions` counts how often it was said."""

    noun: ClassVar[RecordKind] = "memory"

    type: MemoryType = "PROFILE"
    category: Category | None = None
    entity_label: str | None = None
    entity_type: EntityType | None = None
    fact_type: FactType = "fact"
    attribute: str = ""
    value: str = ""
    importance: int = 1
    pinned: bool = False
    confidence: float = 1.0
    source: MemorySource = "application"
    subject: Literal["user", "persona"] = "user"
    standing: bool = False
    mentions: int = 1
    accessed_at: datetime | None = None
    """When an answer last rested on it, as a list of memories tells it."""
    reason: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Episode(Record):
    """A durable summary of something that happened."""

    noun: ClassVar[RecordKind] = "episode"

    session: str | None = None
    outcome: Outcome | None = None
    """How it ended, if the conversation says so."""
    tone: str = ""
    topics: tuple[str, ...] = ()
    importance: int = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Loop(Record):
    """Anything left open. `due` is when it should surface; `status` is open until it is closed."""

    noun: ClassVar[RecordKind] = "loop"

    status: str = "open"
    kind: LoopKind = "topic"
    owner: Literal["user", "persona"] = "user"
    closed_by: str | None = None
    memory: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Thought(Record):
    """Part of the persona's inner life, shown until it expires (`due`) or has been used."""

    noun: ClassVar[RecordKind] = "thought"

    used_in: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Support:
    """A sentence of a summary, the turns it rests on, and the words in them that say it."""

    text: str
    sources: tuple[str, ...]
    quotes: tuple[Quote, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Summary(Record):
    """What happened, shorter. `first` and `last` are the log entries it covers; `detail` is its structure by kind."""

    noun: ClassVar[RecordKind] = "summary"

    kind: SummaryKind = "rolling"
    day: date | None = None
    session: str | None = None
    detail: Mapping[str, Json] = field(default_factory=dict[str, Json])
    sentences: tuple[Support, ...] = ()
    first: int = 0
    last: int = 0
    messages: int = 0
    method: Literal["rules", "model", "application"] = "application"


@dataclass(frozen=True, slots=True, kw_only=True)
class State(Record):
    """The relationship's state with one persona; the application defines the fields."""

    noun: ClassVar[RecordKind] = "state"

    fields: Mapping[str, Json] = field(default_factory=dict[str, Json])


@dataclass(frozen=True, slots=True, kw_only=True)
class Session(Record):
    """Turns of one persona with no gap of 30 minutes. `at` is when it began; a new one may continue an earlier one."""

    noun: ClassVar[RecordKind] = "session"

    status: str = "open"
    continues: str | None = None
    ended_at: datetime | None = None
    last_activity: datetime | None = None
    turn_count: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Entity(Record):
    """Someone or something that is talked about. `key` is its reference, such as `person:john_doe`."""

    noun: ClassVar[RecordKind] = "entity"

    label: str = ""
    type: EntityType = "person"
    aliases: tuple[str, ...] = ()
    merged_into: str | None = None
    apart_from: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Profile(Record):
    """What the application says about the user; days and times of day are in `zone`."""

    noun: ClassVar[RecordKind] = "profile"

    zone: str = "UTC"
    name: str | None = None
    locale: str | None = None
    stage: Stage | None = None
    extra: Mapping[str, Json] = field(default_factory=dict[str, Json])


@dataclass(frozen=True, slots=True, kw_only=True)
class Slot(Record):
    """A value that the assistant asked for in a lane and is still waiting for; `expects` is its type."""

    noun: ClassVar[RecordKind] = "slot"

    name: str = ""
    expects: Literal["yes_no", "number", "date", "email", "phone", "choice", "text"] = "text"
    choices: tuple[str, ...] = ()
    anchor: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress(Record):
    """Bookkeeping of the background work for one persona, such as when the curator last ran."""

    noun: ClassVar[RecordKind] = "progress"

    fields: Mapping[str, Json] = field(default_factory=dict[str, Json])


@dataclass(frozen=True, slots=True, kw_only=True)
class Persona:
    """Who answers. A persona that was never defined is a minimal default."""

    id: str | None
    name: str
    text: str
    boundaries: str = ""
    style: str = ""
    version: int = 0
    extra: Mapping[str, Json] = field(default_factory=dict[str, Json])


@dataclass(frozen=True, slots=True, kw_only=True)
class Recalled:
    """A turn or record that recall hands to the assembly. `reason` is empty, or says why it must stay out."""

    what: StoredTurn | Record
    score: float
    parts: Mapping[str, float]
    reason: str = ""
    excerpt: str = ""
    """The passage that answers, if the text is too long to show whole."""
    before: StoredTurn | None = None
    """The question that precedes this turn."""
    after: StoredTurn | None = None
    """What was said in reply, if this turn ends with a question."""
    asked: tuple[str, ...] = ()
    """The stems asked for; a long answer is cut around them."""

    @property
    def text(self) -> str:
        return self.excerpt or self.what.text


@dataclass(frozen=True, slots=True, kw_only=True)
class Card:
    """What is known about one entity, best facts first."""

    ref: str
    label: str
    facts: tuple[Memory, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Hit:
    """One result of a search; `parts` says how the score came about."""

    id: str
    kind: HitKind
    text: str
    score: float
    parts: Mapping[str, float]
    sources: tuple[str, ...]
    at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """One candidate of a context: in or out, and why."""

    section: str
    kind: str
    id: str
    text: str
    tokens: int
    score: float = 0.0
    parts: Mapping[str, float] = field(default_factory=dict[str, float])
    sources: tuple[str, ...] = ()
    included: bool = True
    reason: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Context:
    """What the model should see. `history` is the turns before the message; `messages` ends with the message itself."""

    system: str
    history: list[dict[str, Json]]
    messages: list[dict[str, Json]]
    tokens: int
    items: list[Item]
    snapshot: str
    prefix_hash: str
    recipe: str
    at: datetime
    known: int
    sections: tuple["SectionUse", ...] = ()
    log: Mapping[str, Json] = field(default_factory=dict[str, Json])
    warnings: tuple[str, ...] = ()
    breakpoints: tuple[int, ...] = ()
    """Where a provider may be told to end a cached prefix: 0 is after the system text, n after the n-th message. Empty for
    recipes whose beginning changes with every turn."""
    kept: int | None = None
    """Leading tokens that are identical to those of this conversation's previous context, as far as this process assembled
    it: what a provider's prompt cache can reuse. None for the first context."""

    def marked(self) -> list[dict[str, Json]]:
        """The whole prompt as chat messages, system text first; each stable prefix ends in a mark (`cache_control`, as
        Anthropic, OpenRouter and LiteLLM read it). Send other providers the plain messages."""
        prompt: list[dict[str, Json]] = [{"role": "system", "content": self.system}, *self.messages]
        for end in self.breakpoints:
            place = next(place for place in range(end, -1, -1) if prompt[place].get("content") or place == 0)
            ending: dict[str, Json] = {
                "type": "text",
                "text": prompt[place]["content"],
                "cache_control": {"type": "ephemeral"},
            }
            prompt[place] = {**prompt[place], "content": [ending]}
        return prompt


@dataclass(frozen=True, slots=True, kw_only=True)
class SectionUse:
    """How much of its budget a group of sections used in a context."""

    group: str
    sections: tuple[str, ...]
    tokens: int
    target: int
    cap: int
