"""What may come in. Every refusal names the value and says what to do; a batch with one bad value stores nothing."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import cast, get_args

from hitherto.clock import instant
from hitherto.errors import InvalidInput, near
from hitherto.types import HitKind, Origin, Role, Turn

MAX_TEXT = 1_000_000
MAX_NAME = 512
_ROLES: tuple[str, ...] = get_args(Role)
_ORIGINS: tuple[str, ...] = get_args(Origin)
_KINDS: tuple[HitKind, ...] = get_args(HitKind)
_ORIGIN_OF_ROLE: dict[str, Origin] = {
    "user": "user",
    "assistant": "assistant",
    "tool": "tool",
    "system": "application",
}


def name(value: str | None, *, what: str) -> str:
    """A user, persona, lane or id: any text of 1 to 512 characters that can be written as UTF-8."""
    if not isinstance(value, str) or not value:
        raise InvalidInput(f"{what} must be a text of at least one character, not {value!r}")
    if len(value) > MAX_NAME:
        raise InvalidInput(f"{what} has {len(value)} characters; at most {MAX_NAME} are allowed")
    _storable(value, what=what)
    return value


def optional_name(value: str | None, *, what: str) -> str | None:
    return None if value is None else name(value, what=what)


def one_of(value: str, allowed: Sequence[str], *, what: str) -> str:
    """One of a few values, or an error that lists them."""
    if value not in allowed:
        raise InvalidInput(f"{what}={value!r} is not one of {', '.join(allowed)}{near(str(value), allowed)}")
    return value


def kinds(given: Sequence[HitKind] | None) -> tuple[HitKind, ...]:
    """The kinds that a search finds; all of them where none is named."""
    for kind in given or ():
        one_of(kind, _KINDS, what="kinds")
    return tuple(given or _KINDS)


def text(value: str, *, what: str = "text", empty: bool = False) -> str:
    """A text that can be stored as it is: not empty, at most a million characters, no NUL, no lone surrogate."""
    if not isinstance(value, str):  # pyright: ignore[reportUnnecessaryIsInstance] -- callers are untyped too
        raise InvalidInput(f"{what} must be a text, not {type(value).__name__}")
    if not empty and not value.strip():
        raise InvalidInput(f"{what} is empty; a turn without words needs parts")
    if len(value) > MAX_TEXT:
        raise InvalidInput(f"{what} has {len(value):,} characters; at most {MAX_TEXT:,} are allowed: split it")
    _storable(value, what=what)
    return value


def turn(value: Turn, *, now: datetime) -> Turn:
    """The turn with its defaults filled in (all but its id), or InvalidInput."""
    name(value.user, what="user")
    one_of(value.role, _ROLES, what="role")
    if value.origin is not None:
        one_of(value.origin, _ORIGINS, what="origin")
    text(value.text, empty=bool(value.parts))
    for field in ("id", "persona", "lane", "conversation", "speaker", "reply_to", "snapshot"):
        optional_name(getattr(value, field), what=field)
    return replace(
        value,
        at=now if value.at is None else instant(value.at),
        origin=value.origin or _ORIGIN_OF_ROLE[value.role],
        parts=tuple(value.parts or ()),
    )


def listed(given: Turn | Iterable[Turn]) -> list[Turn]:
    """One or several turns as a list; untyped callers often pass a dict."""
    alone = not isinstance(given, Iterable) or isinstance(given, Mapping | str)
    several = cast("Iterable[object]", [given] if alone else given)
    found = list[Turn]()
    for one in several:
        if not isinstance(one, Turn):
            raise InvalidInput(f"record takes Turn(user=…, role=…, text=…) or several, not a {type(one).__name__}")
        found.append(one)
    return found


def turns(values: Sequence[Turn], *, now: datetime) -> tuple[Turn, ...]:
    return tuple(turn(value, now=now) for value in values)


def _storable(value: str, *, what: str) -> None:
    if "\x00" in value:
        raise InvalidInput(f"{what} holds a NUL character; remove it")
    try:
        value.encode()
    except UnicodeEncodeError as error:
        raise InvalidInput(
            f"{what} holds a lone surrogate at character {error.start}; it is not valid Unicode text"
        ) from error
