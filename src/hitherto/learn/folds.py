"""Several plain facts about one entity said in one memory, and taken apart again when one of them changes. Pure.

The facts themselves are archived, not lost: each knows its fold by its reason. A fact that is said again, refined or ended
comes out of its fold first, so that a fold never states what is no longer true.
"""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

from hitherto.ids import derived_id
from hitherto.types import Memory

FOLD = 3
"""How many facts of one entity are folded into one."""
MOST_CHARACTERS = 400
_INTO = "folded into "


def fold_of(memory: Memory) -> str | None:
    """The fold that states an archived fact, if any."""
    folded = memory.status == "ARCHIVED" and memory.reason is not None and memory.reason.startswith(_INTO)
    return (memory.reason or "").removeprefix(_INTO) if folded else None


def folded(memories: Sequence[Memory], *, now: datetime) -> list[Memory]:
    """The folds to write, and the facts they archive."""
    changed: list[Memory] = []
    for group in _groups(memories):
        fold = _fold(group, now=now)
        changed.append(fold)
        changed += [replace(m, status="ARCHIVED", reason=_INTO + fold.id) for m in group]
    return changed


def taken_out(memory: Memory, fold: Memory | None) -> list[Memory]:
    """A folded fact by itself again, and its fold without it."""
    alone = replace(memory, status="ACTIVE", reason=None)
    if fold is None or fold.status != "ACTIVE":
        return [alone]
    rest = " ".join(fold.text.replace(_said(memory), "").split())
    return [alone, replace(fold, text=rest) if rest else replace(fold, status="ARCHIVED", reason="taken apart")]


def _groups(memories: Sequence[Memory]) -> list[list[Memory]]:
    places: dict[tuple[str, ...], list[Memory]] = {}
    for memory in sorted(memories, key=lambda m: (m.at, m.seq)):
        if _plain(memory):
            places.setdefault(_place(memory), []).append(memory)
    return [group for members in places.values() for group in _pieces(members) if len(group) >= FOLD]


def _plain(memory: Memory) -> bool:
    if memory.pinned or memory.standing or memory.importance >= 3 or memory.valid_to is not None:
        return False
    return (
        bool(memory.entities and memory.value) and memory.source == "shadow_extraction" and memory.category != "EVENT"
    )


def _place(memory: Memory) -> tuple[str, ...]:
    """What facts must share to be told together; about the user there are many, so theirs also share their topic."""
    about = memory.attribute.partition("_")[0] if memory.entities[0] == "person:user" else ""
    return (memory.entities[0], memory.persona or "", memory.subject, memory.fact_type, about)


def _pieces(group: Sequence[Memory]) -> list[list[Memory]]:
    """The group in pieces that are short enough to be one memory each."""
    pieces: list[list[Memory]] = [[]]
    for memory in group:
        if sum(len(_said(m)) + 1 for m in (*pieces[-1], memory)) > MOST_CHARACTERS:
            pieces.append([])
        pieces[-1].append(memory)
    return pieces


def _said(memory: Memory) -> str:
    """As a sentence; a quote ends as it does."""
    return memory.text if memory.text.endswith(("”", ")")) else memory.text.rstrip(".") + "."


def _fold(group: Sequence[Memory], *, now: datetime) -> Memory:
    return replace(
        group[-1],
        id=derived_id("fold", *(memory.id for memory in group)),
        version=0,
        seq=0,
        text=" ".join(map(_said, group)),
        key=None,
        attribute="",
        value="",
        sources=tuple(dict.fromkeys(source for memory in group for source in memory.sources)),
        entities=tuple(dict.fromkeys(ref for memory in group for ref in memory.entities)),
        importance=max(memory.importance for memory in group),
        mentions=sum(memory.mentions for memory in group),
        confidence=min(memory.confidence for memory in group),
        source="curated_fold",
        at=now,
        reason=None,
    )
