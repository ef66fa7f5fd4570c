"""Calls on any platform: one about to begin, and one that has ended."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final, Literal

from hitherto.types import Part, Role, Turn

Platform = Literal["elevenlabs", "vapi", "retell"]

LONGEST: Final = timedelta(days=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Ringing:
    """A call that is about to begin: who calls, and which agent will answer."""

    platform: Platform
    caller: str | None
    called: str | None = None
    agent: str | None = None
    call: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Utterance:
    """One thing that was said or done in a call, `offset` after its beginning."""

    role: Role
    text: str
    offset: timedelta
    parts: tuple[Part, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """A call that has ended. `person` is the number or id of the human at the other end, whoever called."""

    platform: Platform
    id: str
    person: str | None
    agent: str | None
    began: datetime
    ended: datetime
    said: tuple[Utterance, ...]
    summary: str | None = None

    @property
    def key(self) -> str:
        """The name under which this call is noted as done; a repeated delivery has the same one."""
        return f"{self.platform}:{self.id}"


def offset(seconds: float | None) -> timedelta:
    """How far into a call something was, limited to what a call can last."""
    return timedelta(seconds=min(max(seconds or 0.0, 0.0), LONGEST.total_seconds()))


def turns(call: Call, *, user: str, persona: str | None = None, lane: str | None = None) -> tuple[Turn, ...]:
    """The call as turns with their times. Delivered again, by this event or a later one, they have the same ids."""
    return tuple(
        Turn(
            user,
            one.role,
            one.text,
            id=f"{call.key}:{place}",
            at=call.began + one.offset,
            persona=persona,
            lane=lane,
            conversation=call.key,
            parts=one.parts or None,
        )
        for place, one in enumerate(call.said)
    )
