"""How much of a prompt a provider's cache finds unchanged since the one before in the same conversation.

Kept in memory, a fixed number of conversations: it is a report about the prompts that were sent, not a part of anyone's
memory, and no context depends on it. Where several processes answer in turn, the last prompt may have been another's:
they exchange marks of its lines and messages, hashes without a text, and what is the same is counted in whole lines.
"""

from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import blake2b
from typing import Final

from hitherto.assemble.assembled import Assembled
from hitherto.assemble.diff import common
from hitherto.coordination.local import Coordination
from hitherto.late import later
from hitherto.tokens import MESSAGE, Tokenizer
from hitherto.types import Json

CONVERSATIONS: Final = 1_000
"""How many are compared at a time; the one that was silent longest is let go."""
MARK: Final = 8
"""Bytes of a mark."""

Conversation = tuple[str, str, str | None, str | None, str]
"""Tenant, user, persona, lane and tokenizer family."""


@dataclass(frozen=True, slots=True)
class _Sent:
    system: str
    messages: tuple[int, ...]
    """A hash of each: no more of them is kept."""
    told: bytes = b""
    """The marks that other processes were given of it."""


class Prefixes:
    """The last prompt of each conversation."""

    __slots__ = ("_beside", "_sent")

    def __init__(self, beside: Coordination) -> None:
        self._beside = beside
        self._sent: OrderedDict[Conversation, _Sent] = OrderedDict()

    async def kept(self, conversation: Conversation, made: Assembled, tokenizer: Tokenizer) -> int | None:
        """Tokens that are the same as last time, from the beginning on, counted when somebody asks. From now on this is the
        last time."""
        before = self._sent.pop(conversation, None)
        told = marks(made) if self._beside.shares else b""
        after = self._sent[conversation] = _Sent(made.system, tuple(map(_hashed, made.messages)), told)
        if len(self._sent) > CONVERSATIONS:
            self._sent.popitem(last=False)
        if self._beside.shares:
            elsewhere = await self._beside.exchange(repr(conversation), told)
            if elsewhere is not None and (before is None or elsewhere != before.told):
                lines, messages = read_marks(elsewhere)
                same = _same_lines(made.system, lines)
                whole = len(same) == len(made.system) and len(lines) == len(_lines(made.system))
                further = _same_messages(messages, read_marks(told)[1], made) if whole else 0
                return MESSAGE + tokenizer.count(same) + further
        return None if before is None else later(lambda: _same(before, after, made, tokenizer))


def _same(before: _Sent, after: _Sent, made: Assembled, tokenizer: Tokenizer) -> int:
    same = MESSAGE + tokenizer.count(after.system[: common(before.system, after.system)])
    return same + (_same_messages(before.messages, after.messages, made) if before.system == after.system else 0)


def marks(made: Assembled) -> bytes:
    """One mark for each line and each message, the number of lines before them."""
    lines = [_hash(line.encode("utf-8", "surrogatepass")) for line in _lines(made.system)]
    return len(lines).to_bytes(4, "big") + b"".join((*lines, *map(_digest, made.messages)))


def read_marks(body: bytes) -> tuple[tuple[bytes, ...], tuple[bytes, ...]]:
    """The marks of lines and of messages; whatever else is there counts as nothing in common."""
    count = int.from_bytes(body[:4], "big")
    found = tuple(body[start : start + MARK] for start in range(4, len(body), MARK))
    return found[:count], found[count:]


def _lines(system: str) -> list[str]:
    return system.splitlines(keepends=True)


def _same_lines(system: str, before: tuple[bytes, ...]) -> str:
    """The beginning of the text whose lines have these marks."""
    same: list[str] = []
    for line, mark in zip(_lines(system), before, strict=False):
        if _hash(line.encode("utf-8", "surrogatepass")) != mark:
            break
        same.append(line)
    return "".join(same)


def _same_messages(before: Sequence[object], after: Sequence[object], made: Assembled) -> int:
    """Tokens of the messages that are the same, from the first on."""
    same = 0
    for old, new, cost in zip(before, after, made.costs, strict=False):
        if old != new:
            break
        same += cost
    return same


def _hashed(message: dict[str, Json]) -> int:
    """Python's own hash, for this process alone. A message without tools is a role and a text."""
    return hash((message["role"], message["content"]) if len(message) == 2 else repr(message))


def _digest(message: dict[str, Json]) -> bytes:
    return _hash(repr(sorted(message.items())).encode("utf-8", "surrogatepass"))


def _hash(text: bytes) -> bytes:
    return blake2b(text, digest_size=MARK).digest()
