"""How good a user's memory is, in shares that can be monitored: duplicated, unsupported, stale, held back, secret."""

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import combinations

from hitherto.safety.secrets import find_secrets
from hitherto.store import records as nouns
from hitherto.store.protocol import RecordList, TurnsById, UserStore
from hitherto.types import Memory, Summary

Stems = Callable[[str], Sequence[str]]

NEAR = 0.8
"""Two memories are nearly the same if they share this share of their words."""
MOST = 10_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Share:
    """How many of how many, and the ids of the first few to look at."""

    count: int
    of: int
    examples: tuple[str, ...] = ()

    @property
    def rate(self) -> float:
        return self.count / self.of if self.of else 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Audit:
    """Shares of the live memories; `quarantined` is a share of all that were ever proposed, `secret` of memories and
    summaries."""

    memories: int
    duplicate: Share
    near_duplicate: Share
    unsupported: Share
    stale: Share
    quarantined: Share
    secret: Share


async def audit(store: UserStore, *, stems: Stems, now: datetime) -> Audit:
    """Reads a user's whole memory and judges it."""
    listed, summed = RecordList(noun="memory", limit=MOST), RecordList(noun="summary", limit=MOST)
    answers = await store.read(listed, summed)
    memories, summaries = nouns.records(answers[listed], Memory), nouns.records(answers[summed], Summary)
    sources = TurnsById(ids=tuple(dict.fromkeys(source for memory in memories for source in memory.sources)))
    turns = {turn.id for turn in (await store.read(sources))[sources]}
    return judged(memories, summaries, turns=turns, stems=stems, now=now)


def judged(
    memories: Sequence[Memory], summaries: Sequence[Summary], *, turns: Collection[str], stems: Stems, now: datetime
) -> Audit:
    active = [memory for memory in memories if memory.status == "ACTIVE"]
    true = [memory for memory in active if memory.valid_to is None or memory.valid_to > now]
    same, near = _alike(true, stems)
    said = [(record.id, record.text) for record in (*active, *summaries)]
    return Audit(
        memories=len(active),
        duplicate=_share(same, len(true)),
        near_duplicate=_share(near, len(true)),
        unsupported=_share([m.id for m in active if _unsupported(m, turns)], len(active)),
        stale=_share([m.id for m in active if m not in true], len(active)),
        quarantined=_share([m.id for m in memories if m.status == "QUARANTINED"], len(memories)),
        secret=_share([name for name, text in said if find_secrets(text)], len(said)),
    )


def _alike(memories: Sequence[Memory], stems: Stems) -> tuple[list[str], list[str]]:
    """Ids of memories that repeat an earlier one in the same scope, exactly or nearly."""
    same: set[str] = set()
    near: set[str] = set()
    for one, other, shared in _pairs(memories, stems):
        (same if shared == 1.0 else near).add(max((one, other), key=lambda m: (m.at, m.seq)).id)
    return sorted(same), sorted(near - same)


def _pairs(memories: Sequence[Memory], stems: Stems) -> Iterator[tuple[Memory, Memory, float]]:
    """Pairs that can say the same: about the same entity, visible to the same readers."""
    places: dict[tuple[str, str | None, str], list[tuple[Memory, frozenset[str]]]] = {}
    for memory in memories:
        place = (memory.entities[0] if memory.entities else "", memory.persona, memory.subject)
        places.setdefault(place, []).append((memory, frozenset(stems(memory.text))))
    for members in places.values():
        for (one, words), (other, others) in combinations(members, 2):
            shared = len(words & others) / len(words | others) if words | others else 0.0
            if shared >= NEAR:
                yield one, other, shared


def _unsupported(memory: Memory, turns: Collection[str]) -> bool:
    """What was learnt from turns that are all gone; what a person or the application wrote needs none."""
    return memory.source in ("shadow_extraction", "curated_fold") and not any(s in turns for s in memory.sources)


def _share(ids: Sequence[str], of: int) -> Share:
    return Share(count=len(ids), of=of, examples=tuple(ids[:5]))
