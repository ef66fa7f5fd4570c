"""What differs between two contexts: items that came, went or changed, tokens, and how much of the beginning stayed.

How much of a prompt a provider's cache finds unchanged since the previous one is kept in memory, for a fixed number of
conversations: it is a report about prompts that were sent, not part of anyone's memory, and no context depends on it. If
several processes answer in turn, the previous prompt may have been another's: they exchange hashes of its lines and
messages, never text, and equality is counted in whole lines.
"""

from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from typing import Final

from hitherto.assemble.material import Assembled
from hitherto.coordination.local import Coordination
from hitherto.tokens import MESSAGE, Tokenizer
from hitherto.types import Context, Item, Json


@dataclass(frozen=True, slots=True)
class Changed:
    """The same item, shown in both contexts but not in the same words or place."""

    before: Item
    after: Item


@dataclass(frozen=True, slots=True)
class Difference:
    """From context `a` to context `b`. `sections` are token differences, for sections that differ."""

    added: tuple[Item, ...]
    removed: tuple[Item, ...]
    changed: tuple[Changed, ...]
    sections: Mapping[str, int]
    tokens: int
    same_bytes: bool
    same_prefix: bool


def diff(a: Context, b: Context) -> Difference:
    """How to get from the first context to the second."""
    before, after = _shown(a), _shown(b)
    sections = _by_section(b)
    for section, tokens in _by_section(a).items():
        sections[section] = sections.get(section, 0) - tokens
    return Difference(
        added=tuple(item for key, item in after.items() if key not in before),
        removed=tuple(item for key, item in before.items() if key not in after),
        changed=tuple(
            Changed(item, after[key])
            for key, item in before.items()
            if key in after and (item.section, item.text) != (after[key].section, after[key].text)
        ),
        sections={section: tokens for section, tokens in sorted(sections.items()) if tokens},
        tokens=b.tokens - a.tokens,
        same_bytes=a.system == b.system and a.messages == b.messages,
        same_prefix=a.prefix_hash == b.prefix_hash,
    )


def kept_tokens(before: Context, after: Context, tokenizer: Tokenizer) -> int:
    """Tokens at the beginning of a prompt that a provider's cache finds unchanged since the previous one."""
    if before.system != after.system:
        return MESSAGE + tokenizer.count(after.system[: common(before.system, after.system)])
    kept = MESSAGE + tokenizer.count(after.system)
    for old, new in zip(before.messages, after.messages, strict=False):
        if old != new:
            break
        kept += MESSAGE + tokenizer.count(str(new.get("content") or "") + str(new.get("tool_calls") or ""))
    return kept


def _shown(context: Context) -> dict[tuple[str, str, int], Item]:
    """Included items by kind and id; several lines of one source are numbered."""
    seen: dict[tuple[str, str], int] = {}
    found: dict[tuple[str, str, int], Item] = {}
    for item in context.items:
        if item.included:
            number = seen[item.kind, item.id] = seen.get((item.kind, item.id), 0) + 1
            found[item.kind, item.id, number] = item
    return found


def _by_section(context: Context) -> dict[str, int]:
    tokens: dict[str, int] = {}
    for item in context.items:
        if item.included:
            tokens[item.section] = tokens.get(item.section, 0) + item.tokens
    return tokens


def common(a: str, b: str) -> int:
    """The length of the common prefix of two texts."""
    low, high = 0, min(len(a), len(b))
    while low < high:
        middle = (low + high + 1) // 2
        if a[:middle] == b[:middle]:
            low = middle
        else:
            high = middle - 1
    return low


CONVERSATIONS: Final = 1_000
"""How many conversations are compared; the one that was silent longest is dropped."""
MARK: Final = 8
"""Bytes of a mark."""

Conversation = tuple[str, str, str | None, str | None, str]
"""Tenant, user, persona, lane and tokenizer family."""


@dataclass(frozen=True, slots=True)
class _Sent:
    system: str
    messages: tuple[int, ...]
    """A hash of each; nothing else of them is kept."""
    told: bytes = b""
    """The marks that other processes hold of it."""


class Prefixes:
    """The last prompt of each conversation."""

    __slots__ = ("_beside", "_sent")

    def __init__(self, beside: Coordination) -> None:
        self._beside = beside
        self._sent: OrderedDict[Conversation, _Sent] = OrderedDict()

    async def kept(self, conversation: Conversation, made: Assembled, tokenizer: Tokenizer) -> int | None:
        """Leading tokens that are the same as in the previous prompt; remembers this one as the new previous."""
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
        return None if before is None else _same(before, after, made, tokenizer)


def _same(before: _Sent, after: _Sent, made: Assembled, tokenizer: Tokenizer) -> int:
    same = MESSAGE + tokenizer.count(after.system[: common(before.system, after.system)])
    return same + (_same_messages(before.messages, after.messages, made) if before.system == after.system else 0)


def marks(made: Assembled) -> bytes:
    """One mark for each line and each message, preceded by the number of lines."""
    lines = [_hash(line.encode("utf-8", "surrogatepass")) for line in _lines(made.system)]
    return len(lines).to_bytes(4, "big") + b"".join((*lines, *map(_digest, made.messages)))


def read_marks(body: bytes) -> tuple[tuple[bytes, ...], tuple[bytes, ...]]:
    """The marks of lines and of messages; anything unreadable has nothing in common."""
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
    """Tokens of the leading messages that are the same."""
    same = 0
    for old, new, cost in zip(before, after, made.costs, strict=False):
        if old != new:
            break
        same += cost
    return same


def _hashed(message: dict[str, Json]) -> int:
    """Python's own hash, valid in this process only. A message without tools is a role and a text."""
    return hash((message["role"], message["content"]) if len(message) == 2 else repr(message))


def _digest(message: dict[str, Json]) -> bytes:
    return _hash(repr(sorted(message.items())).encode("utf-8", "surrogatepass"))


def _hash(text: bytes) -> bytes:
    return blake2b(text, digest_size=MARK).digest()
