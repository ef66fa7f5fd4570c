"""The shapes of requests and answers. Answers are the library's own values; requests are checked here, and errors say what
is wrong.

The models of records are derived from the nouns themselves, so that a field is declared once.
"""

from collections.abc import Mapping, Sequence
from dataclasses import MISSING, fields
from dataclasses import Field as DataField
from datetime import datetime
from functools import cache
from typing import Annotated, Any, Generic, TypeVar, get_type_hints

from fastapi import Header, Query
from fastapi.responses import Response
from pydantic import (
    AwareDatetime,
    BaseModel,
    ConfigDict,
    Field,
    FiniteFloat,
    StringConstraints,
    create_model,
)
from typing_extensions import TypeAliasType

from hitherto import pages
from hitherto.errors import InvalidInput
from hitherto.ids import derived_id
from hitherto.pages import LARGEST
from hitherto.store.codec import adapter
from hitherto.store.records import NOUNS
from hitherto.types import HitKind, Json, Origin, Part, Record, RecordKind, Role, Stage, Turn

T = TypeVar("T")

MOST_LISTED = 1_000
MOST_TURNS = 1_000

Name = Annotated[str, StringConstraints(min_length=1, max_length=512, pattern=r"^[^\x00]+$")]
Text = Annotated[str, StringConstraints(min_length=1, max_length=1_000_000, pattern=r"^[^\x00]+$")]
Known = Annotated[int, Field(ge=0, le=LARGEST)]
Moment = AwareDatetime
Value = TypeAliasType("Value", "bool | int | FiniteFloat | Words | list[Value] | dict[Words, Value] | None")
Words = Annotated[str, StringConstraints(pattern=r"^[^\x00]*$")]
MaybeName = Name | None
MaybeWords = Words | None
MaybeMoment = Moment | None


class Strict(BaseModel):
    """A request; an unknown field is an error."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class NewTurn(Strict):
    """One message. With an `id`, recording it again changes nothing."""

    user: Name | None = Field(None, description="May be left out with a key that belongs to a user.")
    role: Role
    text: Annotated[str, StringConstraints(max_length=1_000_000, pattern=r"^[^\x00]*$")]
    id: Name | None = None
    at: Moment | None = None
    persona: Name | None = None
    lane: Name | None = None
    conversation: Name | None = None
    speaker: Name | None = None
    reply_to: Name | None = None
    parts: Annotated[tuple[Part, ...], Field(max_length=256)] | None = None
    origin: Origin | None = None
    snapshot: Name | None = None

    def turn(self, *, user: str, id: str | None) -> Turn:
        values: dict[str, Any] = {name: getattr(self, name) for name in type(self).model_fields}
        values |= {"user": user, "id": self.id or id}
        return Turn(**values)


class Recorded(BaseModel):
    """The ids of the turns, in the order given."""

    ids: list[str]


class Revision(Strict):
    text: Text


class ContextRequest(Strict):
    """What `context` takes: either `message`, or `turn` for one that is already recorded."""

    user: Name | None = Field(None, description="May be left out with a key that belongs to a user.")
    message: Text | None = None
    turn: Name | None = None
    persona: Name | None = None
    lane: Name | None = None
    recipe: Name | dict[Words, Value] | None = Field(None, description="A recipe's name, or a whole recipe.")
    at: Moment | None = None
    tokenizer: Name | None = None
    inputs: dict[Words, Words] | None = None
    known: Known | None = None
    keep: bool = Field(True, description="Without it no snapshot is kept, for a context that is only looked at.")


class SearchRequest(Strict):
    user: Name | None = Field(None, description="May be left out with a key that belongs to a user.")
    query: Text
    limit: Annotated[int, Field(ge=1, le=MOST_LISTED)] = 10
    kinds: Annotated[tuple[HitKind, ...], Field(min_length=1, max_length=4)] | None = None
    persona: Name | None = None
    lane: Name | None = None
    at: Moment | None = None
    explain: bool = False
    known: Known | None = None


class BacktestRequest(Strict):
    recipe: Name | dict[Words, Value]
    persona: Name | None = None
    lane: Name | None = None
    limit: Annotated[int, Field(ge=1, le=200)] = 50


class ForgetRequest(Strict):
    """Exactly one thing to forget."""

    turn: Name | None = None
    memory: Name | None = None
    entity: Name | None = None
    lane: Name | None = None
    persona: Name | None = None
    before: Moment | None = None
    origin: Origin | None = None
    conversation: Name | None = None
    speaker: Name | None = None
    everything: bool = False
    dry_run: bool = Field(False, description="Only say what would be forgotten.")


Days = Annotated[float, Field(gt=0, lt=100_000)]


class RetentionChange(Strict):
    """Days for each kind; null keeps it for good, kinds left out stay as they are."""

    turn: Days | None = None
    memory: Days | None = None
    episode: Days | None = None
    loop: Days | None = None
    thought: Days | None = None
    summary: Days | None = None
    snapshot: Days | None = None


class NewPersona(Strict):
    name: Name
    text: Text
    boundaries: Words = ""
    style: Words = ""
    extra: dict[Words, Value] = Field(default_factory=dict[str, Any])


class ProfileChange(Strict):
    """What the application knows about the user; fields left out stay as they are."""

    zone: Name = "UTC"
    name: Name | None = None
    locale: Name | None = None
    stage: Stage | None = None
    extra: dict[Words, Value] = Field(default_factory=dict[str, Any])


class StateChange(Strict):
    """Fields of the relationship's state; null removes a field, fields left out stay."""

    fields: dict[Words, Value]


class NewLink(Strict):
    user: Name
    channel: Name
    external_id: Name


class BackupRequest(Strict):
    name: Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$")]


class Done(BaseModel):
    """How many things a call affected."""

    count: int


class Versions(BaseModel, Generic[T]):
    """Every version of one record, oldest first."""

    kind: RecordKind
    versions: list[T]


class Snapshot(BaseModel):
    """A snapshot: what went into a context, and why."""

    id: str
    at: datetime
    known: int
    full: bool
    body: Json


_KEPT = frozenset({"id", "seq", "version", "recorded_at", "retired", "retired_at", "tokens", "family"})


def _settable(noun: RecordKind) -> dict[str, tuple[Any, DataField[Any]]]:
    cls = NOUNS[noun]
    hints = get_type_hints(cls, include_extras=True)
    return {f.name: (_checked(hints[f.name]), f) for f in fields(cls) if f.name not in _KEPT}


def _checked(hint: Any) -> Any:
    """The field's type in requests: no NUL in texts, times with a zone."""
    if hint is str:
        return Words
    if hint == str | None:
        return MaybeWords
    if hint == datetime | None or hint is datetime:
        return MaybeMoment
    return hint


@cache
def addition(noun: RecordKind) -> type[Strict]:
    """The fields of a request that adds a record of this noun."""
    made: dict[str, Any] = {}
    for name, (hint, field) in _settable(noun).items():
        if field.default_factory is not MISSING:
            made[name] = (hint, Field(default_factory=field.default_factory))
        else:
            made[name] = (hint, None if field.default is MISSING else field.default)
    if noun in ("memory", "episode", "loop", "thought", "summary"):
        made["text"] = (Text, ...)
    made["id"] = (MaybeName, Field(None, description="An id of your own; adding it again changes nothing."))
    return create_model(f"New{NOUNS[noun].__name__}", __base__=Strict, **made)


@cache
def change(noun: RecordKind) -> type[Strict]:
    """The fields of a request that changes one: any of its fields."""
    made: dict[str, Any] = {name: (hint | None, None) for name, (hint, _) in _settable(noun).items()}
    return create_model(f"{NOUNS[noun].__name__}Change", __base__=Strict, **made)


def given(request: Strict) -> dict[str, Any]:
    """The fields that a request names, without defaults."""
    return {name: getattr(request, name) for name in request.model_fields_set}


def free(fields: Mapping[str, Json], *taken: str) -> dict[str, Json]:
    """Fields with names of the caller's choosing, none of which may be an argument of the call they go to."""
    if clash := fields.keys() & {*taken, "self"}:
        raise InvalidInput(f"{min(clash)!r} cannot be the name of a field here")
    return dict(fields)


def reply(value: object, kind: Any, *, status: int = 200) -> Response:
    """A value of that type as the answer. Pydantic writes it directly, which is several times faster than converting it to
    dictionaries first."""
    return Response(adapter(kind).dump_json(value), status_code=status, media_type="application/json")


# `Idempotency-Key`: the id of what a request creates is derived from the key, so that sending it again creates nothing new.
#
# This holds across processes and restarts without a table of past answers, which would keep forgotten content.

IdempotencyKey = Annotated[
    Annotated[str, StringConstraints(min_length=1, max_length=255)] | None,
    Header(description="Any text of your own; the same request with the same key is done once."),
]


def derived(key: str | None, *parts: str) -> str | None:
    """The id derived from a key; None without a key, so that a new id is made."""
    return None if key is None else derived_id("idempotency", key, *parts)


# Paged lists. A cursor names the last element returned, so that later additions do not shift the pages.

Limit = Annotated[int, Query(ge=1, le=MOST_LISTED, description="How many to give at most.")]
Cursor = Annotated[str | None, Query(max_length=1_024, description="`next` of the piece before.")]
DEFAULT_LIMIT = 100


def next_cursor(records: Sequence[Record], *, limit: int) -> str | None:
    """The cursor after these records; None if there are no more."""
    return pages.of_place(records[-1].at, records[-1].seq) if len(records) >= limit else None
