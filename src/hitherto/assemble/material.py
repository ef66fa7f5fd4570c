"""What assembly works on and what it returns, as plain values: everything gathered for one context, and the context's parts
before it has a snapshot. Building the one from the other is pure.
"""

import json
from collections.abc import Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, field
from datetime import datetime
from hashlib import blake2b
from typing import Final, NamedTuple

from hitherto.clock import micros
from hitherto.plugins import SectionItem
from hitherto.types import (
    Card,
    Context,
    Item,
    Json,
    Loop,
    Memory,
    Persona,
    Profile,
    Recalled,
    SectionUse,
    State,
    StoredTurn,
    Summary,
    Thought,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Material:
    """Sources for every section a recipe may name. `window` is oldest first and never contains the current message."""

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
    """The session that a message arriving now belongs to; None if it opens a new one."""
    slot: str | None = None
    """The pending slot that the message is a value for."""
    window: tuple[StoredTurn, ...] = ()
    certain: frozenset[str] = frozenset()
    """The turns of the window that the history shows in any case."""
    first_turns: tuple[StoredTurn, ...] = ()
    """The first turns of the session, for recipes that keep them after the window has moved on."""
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
    called: frozenset[str] = frozenset()
    """Loops whose day the message names."""
    thoughts: tuple[Thought, ...] = ()
    foundation: tuple[Memory, ...] = ()
    cards: tuple[Card, ...] = ()
    recalled: tuple[Recalled, ...] = ()
    """Memories, episodes and turns, best first, including those that must stay out, with the reason."""
    requests: tuple[Memory, ...] = ()
    """Standing requests of the user."""
    inputs: Mapping[str, str] = field(default_factory=dict[str, str])
    """Section texts given with the call (task_state, augmentations, boundaries, policy …)."""
    own: Mapping[str, tuple[SectionItem, ...]] = field(default_factory=dict[str, tuple[SectionItem, ...]])
    """Lines of the recipe's own sections, by their names."""
    problems: tuple[str, ...] = ()
    """What could not be gathered, in words."""


OVER_BUDGET: Final = "over budget"
SHORTENED: Final = "shortened"


class Piece(NamedTuple):
    """A stretch of text in a prompt: an item's, by its number, or (None) the renderer's own."""

    text: str
    item: int | None = None


def result_hash(system: str, messages: Sequence[Mapping[str, Json]]) -> str:
    """A hash of what the model sees."""
    sent = json.dumps([system, *messages], separators=(",", ":"))
    return blake2b(sent.encode(), digest_size=16).hexdigest()


@dataclass(frozen=True, slots=True, kw_only=True)
class Assembled:
    """A context and how it was made. `pieces` joined are the system text,
    `tail` joined the message that follows the history; `carriers` names the item of each message, None for the tail.
    """

    system: str
    history: tuple[dict[str, Json], ...]
    messages: tuple[dict[str, Json], ...]
    tokens: int
    items: tuple[Item, ...]
    sections: tuple[SectionUse, ...]
    prefix_hash: str
    result: str
    """A hash of what the model sees."""
    log: Mapping[str, Json]
    warnings: tuple[str, ...]
    recipe: str
    recipe_hash: str
    family: str
    user: str
    at: datetime
    known: int
    pieces: tuple[Piece, ...]
    tail: tuple[Piece, ...]
    carriers: tuple[int | None, ...]
    costs: tuple[int, ...]
    """Tokens of each message."""
    breakpoints: tuple[int, ...]

    @property
    def snapshot(self) -> str:
        """The id of its snapshot: the same for the same context of the same user at the same moment, wherever it is
        assembled."""
        digest = blake2b(digest_size=16)
        moment = (str(micros(self.at)), str(self.known))
        for part in (self.user, *moment, self.recipe_hash, self.family, self.result):
            digest.update(part.encode("utf-8", "surrogatepass") + b"\0")
        return f"snap_{digest.hexdigest()}"

    def context(self, *, kept: int | None = None) -> Context:
        """The caller's own copy: its messages may be changed freely while the snapshot is still being written."""
        messages = [deepcopy(message) if "tool_calls" in message else message.copy() for message in self.messages]
        return Context(
            system=self.system,
            history=messages[: len(self.history)],
            messages=messages,
            tokens=self.tokens,
            items=list(self.items),
            snapshot=self.snapshot,
            prefix_hash=self.prefix_hash,
            recipe=self.recipe,
            at=self.at,
            known=self.known,
            sections=self.sections,
            log=self.log,
            warnings=self.warnings,
            breakpoints=self.breakpoints,
            kept=kept,
        )
