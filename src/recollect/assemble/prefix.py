"""How much of a prompt a provider's cache finds unchanged since the one before in the same conversation.

Kept in memory, a fixed number of conversations: it is a report about the prompts that this process sent, not a part of
anyone's memory, and no context depends on it.
"""

from collections import OrderedDict
from dataclasses import dataclass
from hashlib import blake2b
from typing import Final

from recollect.assemble.assembled import Assembled
from recollect.assemble.diff import common
from recollect.tokens import MESSAGE, Tokenizer
from recollect.types import Json

CONVERSATIONS: Final = 1_000
"""How many are compared at a time; the one that was silent longest is let go."""

Conversation = tuple[str, str, str | None, str | None, str]
"""Tenant, user, persona, lane and tokenizer family."""


@dataclass(frozen=True, slots=True)
class _Sent:
    system: str
    messages: tuple[bytes, ...]


class Prefixes:
    """The last prompt of each conversation."""

    __slots__ = ("_sent",)

    def __init__(self) -> None:
        self._sent: OrderedDict[Conversation, _Sent] = OrderedDict()

    def kept(self, conversation: Conversation, made: Assembled, tokenizer: Tokenizer) -> int | None:
        """Tokens that are the same as last time, from the beginning on; from now on this is the last time."""
        before = self._sent.pop(conversation, None)
        after = _Sent(made.system, tuple(map(_digest, made.messages)))
        self._sent[conversation] = after
        if len(self._sent) > CONVERSATIONS:
            self._sent.popitem(last=False)
        if before is None:
            return None
        same = MESSAGE + tokenizer.count(made.system[: common(before.system, made.system)])
        if before.system == made.system:
            for old, new, cost in zip(before.messages, after.messages, made.costs, strict=False):
                if old != new:
                    break
                same += cost
        return same


def _digest(message: dict[str, Json]) -> bytes:
    return blake2b(repr(sorted(message.items())).encode("utf-8", "surrogatepass"), digest_size=16).digest()
