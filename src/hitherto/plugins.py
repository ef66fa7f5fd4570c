"""Parts that an application supplies through entry points: embedders, rerankers, tokenizers, sections and readers that
settings and recipes can name.

A package declares them under `hitherto.embedders`, `hitherto.rerankers`, `hitherto.tokenizers`, `hitherto.sections` or
`hitherto.readers`. The value is a function that makes the part; it is given the text after the first colon of the name
(`mine:large` calls it with "large", `mine` with ""). `hitherto.testing` has checks for such parts.
"""

import re
from collections.abc import AsyncIterable, Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from difflib import get_close_matches
from importlib.metadata import EntryPoint, entry_points
from typing import Any, Final, Literal, Protocol, TypeAlias, TypeVar, cast

from hitherto.errors import InvalidInput
from hitherto.types import Loop, Persona, Profile, Recalled, State, StoredTurn

Kind = Literal["embedder", "reranker", "tokenizer", "section", "reader"]
T = TypeVar("T")


def plugin(kind: Kind, name: str) -> object | None:
    """Makes the part of that name; None if no installed package declares it."""
    key, _, rest = name.partition(":")
    found = next((one for one in _declared(kind) if one.name == key), None)
    if found is None:
        return None
    make = cast(Callable[[str], Any], found.load())
    try:
        part = make(rest)
    except (ValueError, TypeError, LookupError) as error:
        raise InvalidInput(f"the {kind} {name!r} cannot be made: {type(error).__name__}: {error}") from error
    return fitting(kind, part)


def unknown(kind: Kind, name: str, known: Iterable[str]) -> InvalidInput:
    """The error for an unknown name: the nearest known one, and all of them."""
    names = sorted({*known, *(one.name for one in _declared(kind))})
    near = get_close_matches(name, names, n=1, cutoff=0.4)
    hint = f" Did you mean {near[0]!r}?" if near else ""
    article = "an" if kind[0] in "aeiou" else "a"
    there = f"There are: {', '.join(names)}." if names else f"No installed package declares one under hitherto.{kind}s."
    return InvalidInput(f"{name!r} is not {article} {kind} that is installed.{hint} {there}")


MEMBERS: Final[Mapping[Kind, tuple[str, ...]]] = {
    "embedder": ("name", "version", "dimension", "at_once", "trust", "embed"),
    "reranker": ("judge",),
    "tokenizer": ("encode_ordinary",),
    "section": ("__call__",),
    "reader": ("method", "read", "close"),
}


def fitting(kind: Kind, part: T) -> T:
    """Returns the part if it has the members of its kind; otherwise raises an error that names the missing ones."""
    if isinstance(part, type):
        raise InvalidInput(f"{part.__name__} is a class; pass an object of it: {kind}={part.__name__}()")
    missing = [name for name in MEMBERS[kind] if not hasattr(part, name)]
    if missing == ["__call__"]:
        raise InvalidInput(f"{part!r} is no {kind}: it must be a function (docs/howto/section.md)")
    if missing:
        raise InvalidInput(
            f"{type(part).__name__} is no {kind}: it has no {', '.join(missing)} (docs/howto/parts.md lists the members)"
        )
    return part


def _declared(kind: Kind) -> Iterable[EntryPoint]:
    return entry_points(group=f"hitherto.{kind}s")


# --- sections ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class Moment:
    """What a section is given: whose context is being made, for which message, and what was gathered for it."""

    tenant: str
    user: str
    persona: Persona
    lane: str | None
    message: str
    now: datetime
    """The moment the context is for; a backtest moves it into the past."""
    profile: Profile
    state: State | None = None
    window: tuple[StoredTurn, ...] = ()
    """The turns before the message, oldest first."""
    loops: tuple[Loop, ...] = ()
    recalled: tuple[Recalled, ...] = ()
    """What recall found, best first."""
    inputs: Mapping[str, str] = field(default_factory=dict[str, str])
    """The texts given with the call."""


@dataclass(frozen=True, slots=True)
class SectionItem:
    """One line of a section, best first. `sources` are the ids of the turns and memories it rests on: forgetting one of
    them removes this text from every snapshot that showed it. `id` names the line in receipts."""

    text: str
    id: str = ""
    sources: tuple[str, ...] = ()
    score: float = 0.0
    heading: str = ""
    """A heading shown above this line and others with the same heading."""
    bullet: bool = True
    divisible: bool = False
    """Whether showing part of the line is better than leaving it out."""


SectionLines: TypeAlias = Iterable[str | SectionItem]


class Section(Protocol):
    """A function, plain or async, that returns or yields the lines of a section. A plain function runs in a thread."""

    def __call__(
        self, moment: Moment, /
    ) -> SectionLines | Awaitable[SectionLines] | AsyncIterable[str | SectionItem]: ...


PLACEHOLDER: Final = re.compile(r"\{([a-z]+)(\.?)([\w-]*)\}")
PLACEHOLDERS: Final = (
    "user", "name", "persona", "lane", "date", "time", "weekday", "input.", "state.", "profile.",
)  # fmt: skip
"""What a section's template may name; the part after the dot is an input, a field of the state or a field of the profile."""
