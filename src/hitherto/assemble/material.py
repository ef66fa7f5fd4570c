"""What the assembly works on: everything gathered for one context, as plain values. Building one from these is pure."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from hitherto.types import (
    Card,
    Loop,
    Memory,
    Persona,
    Profile,
    Recalled,
    State,
    StoredTurn,
    Summary,
    Thought,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Material:
    """Sources for every section a recipe may name. `window` is oldest first and never holds the current message."""

    user: str
    now: datetime
    known: int
    persona: Persona
    profile: Profile
    message: str
    message_id: str | None = None
    message_turn: StoredTurn | None = None
    lane: str | None = None
    quoted: StoredTurn | None = None
    anchor: StoredTurn | None = None
    session: str | None = None
    """The session that a message of now belongs to; None where it opens a new one."""
    slot: str | None = None
    """The pending slot that the message is a value for."""
    window: tuple[StoredTurn, ...] = ()
    first_turns: tuple[StoredTurn, ...] = ()
    """The first turns of the session, for recipes that keep them when the window no longer reaches back to them."""
    last_interaction: datetime | None = None
    state: State | None = None
    today: Summary | None = None
    today_turns: tuple[StoredTurn, ...] = ()
    last_time: Summary | None = None
    rolling: Summary | None = None
    lane_summary: Summary | None = None
    other_lanes: tuple[Summary, ...] = ()
    spine: Summary | None = None
    loops: tuple[Loop, ...] = ()
    """Open loops in the order in which they should surface."""
    thoughts: tuple[Thought, ...] = ()
    foundation: tuple[Memory, ...] = ()
    cards: tuple[Card, ...] = ()
    recalled: tuple[Recalled, ...] = ()
    """Memories, episodes and turns, best first, with those that must stay out and why."""
    requests: tuple[Memory, ...] = ()
    """Standing requests of the user."""
    inputs: Mapping[str, str] = field(default_factory=dict[str, str])
    """Section texts given with the call (task_state, augmentations, boundaries, policy …)."""
    problems: tuple[str, ...] = ()
    """What could not be gathered, in words."""
