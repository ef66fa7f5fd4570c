"""What the assembly hands back: the context's parts, before it has a snapshot."""

import json
from collections.abc import Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass
from datetime import datetime
from hashlib import blake2b
from typing import NamedTuple

from hitherto.clock import micros
from hitherto.late import late, later
from hitherto.types import Context, Item, Json, SectionUse


class Piece(NamedTuple):
    """A stretch of text in a prompt: an item's, by its number, or (None) the renderer's own."""

    text: str
    item: int | None = None


def result_hash(system: str, messages: Sequence[Mapping[str, Json]]) -> str:
    """A hash of what the model sees."""
    sent = json.dumps([system, *messages], separators=(",", ":"))
    return blake2b(sent.encode(), digest_size=16).hexdigest()


@late("items", "sections", "prefix_hash", "result")
@dataclass(frozen=True, slots=True, kw_only=True)
class Assembled:
    """A context and how it was made; its receipt is made when somebody looks at it. `pieces` joined are the system text,
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
        """Its snapshot's id: the same for the same context of the same user at the same moment, wherever it is made."""
        digest = blake2b(digest_size=16)
        moment = (str(micros(self.at)), str(self.known))
        for part in (self.user, *moment, self.recipe_hash, self.family, self.result):
            digest.update(part.encode("utf-8", "surrogatepass") + b"\0")
        return f"snap_{digest.hexdigest()}"

    def context(self, *, kept: int | None = None) -> Context:
        """What the caller gets: messages of its own, to change as it likes, while the snapshot is still being written."""
        messages = [deepcopy(message) if "tool_calls" in message else message.copy() for message in self.messages]
        return Context(
            system=self.system,
            history=messages[: len(self.history)],
            messages=messages,
            tokens=self.tokens,
            items=later(lambda: list(self.items)),
            snapshot=later(lambda: self.snapshot),
            prefix_hash=later(lambda: self.prefix_hash),
            recipe=self.recipe,
            at=self.at,
            known=self.known,
            sections=later(lambda: self.sections),
            log=self.log,
            warnings=self.warnings,
            breakpoints=self.breakpoints,
            kept=kept,
        )
