"""A recipe: what a context is made of, as data.

Every number on which products disagree is a field here and a line in a TOML file, none a
constant in code. A recipe may extend another: tables are merged, everything else is replaced.
"""

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from hashlib import blake2b
from typing import Annotated, Any, Final, Literal, Self, cast

from pydantic import BaseModel, ConfigDict, Field, model_validator

from hitherto.errors import near
from hitherto.plugins import PLACEHOLDER, PLACEHOLDERS
from hitherto.recipes.titles import HEADINGS, SECTION_IDS, UNTRIMMED, Heading, SectionId, Volatility
from hitherto.store.codec import dump

Tokens = Annotated[int, Field(ge=0)]
Amount = Annotated[int, Field(ge=1)]
Title = Annotated[str, Field(pattern=r"^[A-Z{][^\[\]\n]*$", max_length=80)]
Share = Annotated[float, Field(ge=0, le=1)]


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)


class Total(_Part):
    """The whole context. `cap` is never exceeded; the answer's `reserve` comes out of it."""

    target: Amount
    cap: Amount
    reserve: Tokens
    fill: Literal["cap", "target"] = "cap"
    """How far groups with more to show are filled beyond their own targets."""

    @model_validator(mode="after")
    def _ordered(self) -> Self:
        if self.target > self.cap:
            raise ValueError(f"target {self.target} is over cap {self.cap}")
        if self.reserve >= self.cap:
            raise ValueError(f"reserve {self.reserve} leaves nothing of cap {self.cap}")
        return self


class Group(_Part):
    """Sections that share a budget. Trimming stops at `floor`."""

    sections: tuple[SectionId, ...] = Field(min_length=1, strict=False)
    target: Tokens
    cap: Tokens
    floor: Tokens = 0

    @model_validator(mode="after")
    def _ordered(self) -> Self:
        if not self.floor <= self.target <= self.cap:
            raise ValueError(f"floor {self.floor}, target {self.target} and cap {self.cap} must rise in this order")
        return self


OwnName = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]{0,39}$")]
PLACED: Final = ("after", "before", "target", "cap", "floor")
"""What a table under `sections` may say about its place and budget, instead of order and groups."""
OWN_CAP: Final = 300
"""Tokens of a section without a budget of its own."""


class OwnSection(_Part):
    """A section of the application's own: a memory block whose lines come from a function, a template, or the call's
    `inputs`.

    `after` or `before` (a section's id), `target`, `cap` and `floor` give it a place in `order` and a group of its own;
    unless `trim` names it, it is the first of the last resort.
    """

    title: Title
    """The title in its markers."""
    source: str = ""
    """The function that yields its lines, by the name under which the application or a package declares it."""
    template: str = ""
    """Its text with placeholders such as `{name}` or `{input.plan}`; a line whose placeholder is empty is left out."""
    lead: str = ""
    """A line inside the block, before its items."""
    changes: Literal["fixed", "rarely", "session", "turn"] = "turn"
    """How often its text changes."""
    seconds: Annotated[float, Field(gt=0, le=10)] = 0.25
    """How long the function may take; after that, the context does without it."""
    items: Amount = 50
    """At most this many lines are considered."""

    @model_validator(mode="after")
    def _one_origin(self) -> Self:
        if self.source and self.template:
            raise ValueError("a section has a source or a template, not both")
        for root, _, part in PLACEHOLDER.findall(self.template):
            dotted = f"{root}." if part else root
            if dotted not in PLACEHOLDERS:
                raise ValueError(
                    f"the template's {{{root}{'.' + part if part else ''}}} is no placeholder{near(dotted, PLACEHOLDERS)}"
                )
        return self

    @property
    def heading(self) -> Heading:
        return Heading(self.title, Volatility[self.changes.upper()], lead=self.lead)

    @property
    def asked(self) -> frozenset[str]:
        """The inputs that its template names."""
        return frozenset(part for root, _, part in PLACEHOLDER.findall(self.template) if root == "input")


class History(_Part):
    """The turns before the message. Their tokens are those of the group that holds the section `working`."""

    delivery: Literal["messages", "transcript", "moments"]
    """As chat messages, as a block in the system text, or as the last session's key moments (between two
    calls).
    """
    window: Amount
    """At most this many turns."""
    wanted: Tokens
    """This many of the newest turns may exceed the group's target, up to its cap, before any other section exceeds its own."""
    minimum: Tokens
    """This many of the newest turns are never dropped, only shortened."""
    keep_first: Tokens
    """This many of the session's first turns are never dropped either."""
    middle: Tokens
    """Tokens for a summary of the turns left out between the first and the newest; 0 for none."""
    turn: Amount
    """An older turn is shortened to this before another is dropped."""
    least: Amount
    """What a turn is shortened to before sections outside the trim order are touched."""
    quoted: Amount
    """A quoted reply is shortened to this."""
    returning: Tokens = 0
    """For a user who returns after the last session has ended: this many of its final turns are shown."""
    step: Tokens = 0
    """Old turns are dropped this many at a time, so that the window begins at the same turn for a while, and
    summaries and lasting memories are read as they were when the newest step began; 0 drops one by one.
    """


class Situation(_Part):
    """Lines of the situation. With `deferred`, times are `{now}` and `{since}`, filled at delivery."""

    lines: tuple[Literal["time", "date", "zone", "daypart", "since", "name", "stage", "last_session"], ...] = Field(
        strict=False
    )
    deferred: bool = False


class Limits(_Part):
    """How many items a section shows."""

    long_term: Annotated[int, Field(ge=10, le=30)]
    memories: Amount
    foundation: Amount
    card_facts: Amount
    loops: Amount
    thoughts: Amount
    requests: Amount
    moments: Amount
    today_turns: Tokens
    other_lanes: Tokens


class LastTime(_Part):
    """How much of the last session is shown: its first sentences, and with `detail` what mattered,
    commitments, people.
    """

    sentences: Amount
    detail: bool


class LongTerm(_Part):
    """What the block of long-term memory shows. With `exchanges`: facts, grouped by whom they are about, followed by what
    was said, each answer with its question, in time order under its day.
    """

    form: Literal["items", "exchanges"] = "items"
    """Lines by score, or exchanges in order of time."""
    turns: Amount = 24
    """How many earlier turns are candidates."""


class Blend(_Part):
    """Weights of a candidate's score; recency halves every `half_life_days`."""

    similarity: Share
    recency: Share
    frequency: Share
    importance: Share
    half_life_days: Annotated[float, Field(gt=0)]
    recent_days: Annotated[float, Field(ge=0)]
    recent_boost: Annotated[float, Field(ge=1)]
    """Memories younger than `recent_days` count this much more."""


class Recall(_Part):
    """How memories are found."""

    first: Literal["dense", "lexical"]
    candidates: Amount
    top_k: Amount
    threshold: Share
    blend: Blend
    card_importance: Annotated[int, Field(ge=0, le=3)]
    other_lanes: Literal["never", "named", "named_or_confident", "always"]
    confidence: Share
    """How sure recall must be of another lane's memory to count as confident."""


class Loops(_Part):
    """Open loops. `limits.loops` says how many are shown; those older than `fade_days` come last."""

    fade_days: Annotated[float, Field(gt=0)]


class Sessions(_Part):
    gap_minutes: Annotated[float, Field(gt=0)]
    chain_hours: Annotated[float, Field(gt=0)]
    returning_hours: Annotated[float, Field(gt=0)]


class Compaction(_Part):
    messages: Amount
    tokens: Amount
    hours: Annotated[float, Field(gt=0)]
    keep: Amount


class Summaries(_Part):
    rolling_every: Amount
    rolling_chars: Amount
    spine_messages: Amount
    chunk_tokens: Amount
    detail: Literal["brief", "normal", "full"]


class Recipe(_Part):
    """What a context is made of."""

    name: str = Field(min_length=1, max_length=80)
    description: str = ""
    tokenizer: str | None = None
    secrets: Literal["masked", "session"] = "masked"
    """Passwords, keys and the like are masked, or with `session` told again in the session in which they were said."""
    total: Total
    arrange: Literal["listed", "volatility"] = "listed"
    order: tuple[SectionId, ...] = Field(min_length=1, strict=False)
    tail: tuple[SectionId, ...] = Field(default=(), strict=False)
    """Shown after the history, just before the message, because it changes with every turn."""
    trim: tuple[SectionId, ...] = Field(strict=False)
    """What is trimmed if the total is over, first to last."""
    last_resort: tuple[SectionId, ...] = Field(strict=False)
    """What is dropped, first to last, only if no context could be built otherwise."""
    groups: dict[str, Group]
    titles: dict[SectionId, Title] = Field(default_factory=dict[SectionId, str])
    """Titles other than the usual ones."""
    leads: dict[SectionId, str] = Field(default_factory=dict[SectionId, str])
    """A line above a block's opening marker, such as a Markdown heading."""
    sections: dict[OwnName, OwnSection] = Field(default_factory=dict[str, OwnSection])
    """Sections of the application's own, by name."""
    history: History
    situation: Situation
    last_time: LastTime
    long_term: LongTerm = LongTerm()
    """What the block of long-term memory shows."""
    limits: Limits
    recall: Recall
    loops: Loops
    sessions: Sessions
    compaction: Compaction
    summaries: Summaries

    @model_validator(mode="before")
    @classmethod
    def _placed(cls, fields: Any) -> Any:
        return placed(cast("dict[str, Any]", fields)) if isinstance(fields, dict) else fields

    @model_validator(mode="after")
    def _complete(self) -> Self:
        self._check_own()
        self._check_names()
        self._check_trims()
        self._check_groups()
        if early := [s for s in self.order[: self.order.index("notice")] if not self.heading(s).trusted]:
            raise ValueError(f"the memory block {early[0]!r} comes before the notice")
        if unfit := [s for s in self.tail if self.heading(s).trusted or s == "working"]:
            raise ValueError(f"tail names {unfit[0]!r}; only memory blocks may follow the history")
        if self.history.step and (self.history.keep_first or self.history.middle):
            raise ValueError(
                "a window that moves in steps keeps no first turns: history.keep_first and middle must be 0"
            )
        return self

    def heading(self, section: SectionId) -> Heading:
        """How a section is shown, including one of the recipe's own."""
        own = self.sections.get(section)
        return HEADINGS[section] if own is None else own.heading

    def _check_own(self) -> None:
        known = (*SECTION_IDS, *self.sections)
        titles = {heading.title for heading in HEADINGS.values()} | {*self.titles.values()}
        for name, own in self.sections.items():
            if own.title in titles:
                raise ValueError(f"sections.{name}: the title {own.title!r} is another section's")
            titles.add(own.title)
        lists = {name: getattr(self, name) for name in ("order", "tail", "trim", "last_resort", "titles", "leads")}
        lists |= {f"groups.{name}.sections": group.sections for name, group in self.groups.items()}
        for place, named in lists.items():
            if wrong := [s for s in named if s not in known]:
                raise ValueError(f"{place} names {wrong[0]!r}, which is no section{near(wrong[0], known)}")

    def _check_names(self) -> None:
        named = (("order", self.order), ("tail", self.tail), ("trim", self.trim), ("last_resort", self.last_resort))
        for name, ids in named:
            if again := _repeated(ids):
                raise ValueError(f"{name} names {again!r} twice")
            if unknown := [s for s in ids if s not in self.order]:
                raise ValueError(f"{name} names {unknown[0]!r}, which is not in order")
        missing = [s for s in ("persona", "notice", "situation", "working") if s not in self.order]
        if missing:
            raise ValueError(f"order must name {missing[0]!r}")

    def _check_trims(self) -> None:
        trimmed = (*self.trim, *self.last_resort)
        if again := _repeated(trimmed):
            raise ValueError(f"{again!r} is both in trim and in last_resort")
        if fixed := UNTRIMMED.intersection(trimmed):
            raise ValueError(f"{min(fixed)!r} is never trimmed, so neither trim nor last_resort may name it")
        if forgotten := [s for s in self.order if s not in UNTRIMMED and s not in trimmed]:
            raise ValueError(f"{forgotten[0]!r} is in order but neither in trim nor in last_resort")

    def _check_groups(self) -> None:
        grouped: list[SectionId] = [s for group in self.groups.values() for s in group.sections]
        if again := _repeated(grouped):
            raise ValueError(f"{again!r} is in two groups")
        if loose := [s for s in self.order if s != "notice" and s not in grouped]:
            raise ValueError(f"{loose[0]!r} is in order but in no group")
        if idle := [s for s in grouped if s not in self.order]:
            raise ValueError(f"{idle[0]!r} is in a group but not in order")

    def model_copy(self, *, update: Mapping[str, Any] | None = None, deep: bool = False) -> Self:
        """A copy, whose hash and the like are worked out from its own fields."""
        copied = super().model_copy(update=update, deep=deep)
        for name, member in vars(Recipe).items():
            if isinstance(member, cached_property):
                vars(copied).pop(name, None)
        return copied

    @cached_property
    def canonical(self) -> str:
        """Its JSON, the same for the same recipe, whatever file it was read from."""
        fields = self.model_dump(mode="json", exclude=None if self.sections else {"sections"})
        return dump(fields)

    @cached_property
    def hash(self) -> str:
        return blake2b(self.canonical.encode(), digest_size=16).hexdigest()

    @cached_property
    def arranged(self) -> tuple[SectionId, ...]:
        """Sections in the order in which they are shown; those of the tail come last, in the tail's order."""
        front: list[SectionId] = [s for s in self.order if s not in self.tail]
        if self.arrange == "volatility":
            front.sort(key=lambda s: self.heading(s).volatility)
        return (*front, *self.tail)

    @cached_property
    def group_of(self) -> dict[SectionId, str]:
        return {s: name for name, group in self.groups.items() for s in group.sections}

    @cached_property
    def precious(self) -> dict[SectionId, int]:
        """0 for what is never trimmed, then the higher the earlier a section is trimmed."""
        kept = (*self.trim, *self.last_resort)[::-1]
        return {s: kept.index(s) + 1 if s in kept else 0 for s in self.order}

    @property
    def history_group(self) -> Group:
        return self.groups[self.group_of["working"]]


def placed(fields: Mapping[str, Any]) -> dict[str, Any]:
    """A recipe's fields in which every section of its own stands in `order`, in `last_resort` and in a group, as its table
    says, or as usual."""
    made = dict(fields)
    own: object = made.get("sections")
    tables = cast("dict[str, dict[str, Any]]", own) if isinstance(own, dict) else {}
    if not all(isinstance(table, dict) for table in cast("dict[str, object]", tables).values()):
        return made
    if taken := [name for name in tables if name in SECTION_IDS]:
        raise ValueError(
            f"sections.{taken[0]}: {taken[0]!r} comes with Hitherto; the tokens of such a section stand under [groups.…],"
            f' its title under [titles], and without = ["{taken[0]}"] leaves it out; choose another name for one of yours'
        )
    if tables:
        made["sections"] = {name: {k: v for k, v in table.items() if k not in PLACED} for name, table in tables.items()}
    for name, table in tables.items():
        _place(made, name, {key: table[key] for key in PLACED if key in table})
    return made


def _place(made: dict[str, Any], name: str, told: Mapping[str, Any]) -> None:
    order = [*made.get("order", ())]
    if name not in order:
        beside = told.get("after", told.get("before"))
        if beside is not None and beside not in order:
            raise ValueError(
                f"sections.{name} stands beside {beside!r}, which is not in order{near(str(beside), order)}"
            )
        if beside is None:
            beside = "style" if "style" in order else None
        at = len(order) if beside is None else order.index(beside) + ("after" in told)
        made["order"] = [*order[:at], name, *order[at:]]
    if name not in (*made.get("trim", ()), *made.get("last_resort", ())):
        made["last_resort"] = [name, *made.get("last_resort", ())]
    groups: dict[str, Any] = made.get("groups") or {}
    if not any(name in _sections_of(group) for group in groups.values()):
        cap = told.get("cap", told.get("target", OWN_CAP))
        budget = {"sections": [name], "target": told.get("target", cap), "cap": cap, "floor": told.get("floor", 0)}
        made["groups"] = {**groups, name: budget}


def _sections_of(group: object) -> Iterable[object]:
    if isinstance(group, Group):
        return group.sections
    return cast("dict[str, Any]", group).get("sections", ()) if isinstance(group, dict) else ()


def _repeated(ids: Sequence[SectionId]) -> SectionId | None:
    seen: set[SectionId] = set()
    for s in ids:
        if s in seen:
            return s
        seen.add(s)
    return None
