"""What differs between two contexts: items that came, went or changed, tokens, and what stayed in front."""

from collections.abc import Mapping
from dataclasses import dataclass

from hitherto.tokens import MESSAGE, Tokenizer
from hitherto.types import Context, Item


@dataclass(frozen=True, slots=True)
class Changed:
    """The same item, shown in both contexts but not in the same words or place."""

    before: Item
    after: Item


@dataclass(frozen=True, slots=True)
class Difference:
    """From context `a` to context `b`. `sections` are token differences, only of sections that differ."""

    added: tuple[Item, ...]
    removed: tuple[Item, ...]
    changed: tuple[Changed, ...]
    sections: Mapping[str, int]
    tokens: int
    same_bytes: bool
    same_prefix: bool


def diff(a: Context, b: Context) -> Difference:
    """What one would have to do to the first context to get the second."""
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
    """Tokens at the beginning of a prompt that a provider's cache finds unchanged since the one before."""
    if before.system != after.system:
        return MESSAGE + tokenizer.count(after.system[: common(before.system, after.system)])
    kept = MESSAGE + tokenizer.count(after.system)
    for old, new in zip(before.messages, after.messages, strict=False):
        if old != new:
            break
        kept += MESSAGE + tokenizer.count(str(new.get("content") or "") + str(new.get("tool_calls") or ""))
    return kept


def _shown(context: Context) -> dict[tuple[str, str, int], Item]:
    """Included items by kind and id; a source that gives several lines is told apart by counting."""
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
    """Characters that two texts begin with alike."""
    low, high = 0, min(len(a), len(b))
    while low < high:
        middle = (low + high + 1) // 2
        if a[:middle] == b[:middle]:
            low = middle
        else:
            high = middle - 1
    return low
