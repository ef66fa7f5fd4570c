"""Finding what answers a message: full text over turns and records of the user, read in two short batches.

The message is asked in the light of its anchor: "yes" alone finds nothing, with the question it answers it does.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from recollect.store import nouns
from recollect.store.base import (
    ANY,
    Match,
    Matches,
    RecordsBySeq,
    Scope,
    TurnsBySeq,
    UserStore,
    Vector,
)
from recollect.text.analyse import stems
from recollect.types import Hit, HitKind, Recalled, Record, RecordKind, StoredTurn

CANDIDATES = 50
ANCHOR_WORDS = 6
"""A message with fewer stems than this borrows those of its anchor."""
SIDES: tuple[RecordKind, ...] = ("memory", "episode", "summary")


@dataclass(frozen=True, slots=True, kw_only=True)
class Search:
    """A question to a user's memory. `anchor` is the text that a short message answers."""

    text: str
    anchor: str | None = None
    limit: int
    kinds: tuple[HitKind, ...] = ("turn", "memory", "episode", "summary")
    persona: Scope = ANY
    lane: Scope = ANY
    now: datetime
    zone: str = "UTC"
    known: int | None = None
    skip: frozenset[str] = frozenset()
    speaker: str | None = None


class Recaller:
    """Recall over any store."""

    async def recall(self, store: UserStore, search: Search) -> list[Recalled]:
        """The best candidates, best first, in each kind."""
        asked = terms(search.text, search.anchor)
        sides = tuple(noun for noun in SIDES if noun in search.kinds)
        turns = Matches(
            stems=asked,
            target="turn",
            persona=search.persona,
            lane=search.lane,
            limit=CANDIDATES if "turn" in search.kinds else 0,
            known=search.known,
        )
        records = Matches(
            stems=asked,
            target="record",
            nouns=sides,
            persona=search.persona,
            limit=CANDIDATES if sides else 0,
            known=search.known,
        )
        if not asked:
            return []
        found = await store.read(turns, records)
        scored = scores(found[turns]) | scores(found[records])
        turn_rows = TurnsBySeq(seqs=tuple(match.seq for match in found[turns]), known=search.known)
        record_rows = RecordsBySeq(seqs=tuple(match.seq for match in found[records]), known=search.known)
        texts = await store.read(turn_rows, record_rows)
        what: list[StoredTurn | Record] = [*texts[turn_rows], *map(nouns.record, texts[record_rows])]
        ranked = sorted(what, key=lambda found: (-scored[found.seq], found.seq))
        return [
            Recalled(what=found, score=scored[found.seq], parts={"lexical": scored[found.seq]})
            for found in ranked
            if found.id not in search.skip
        ]

    async def search(self, store: UserStore, search: Search) -> list[Hit]:
        return [hit(recalled) for recalled in (await self.recall(store, search))[: search.limit]]

    def vectors(self, texts: Sequence[str]) -> list[Vector]:
        raise AssertionError("there is no embedder")

    writes_at_once = False


def terms(text: str, anchor: str | None) -> tuple[str, ...]:
    """The stems to look for, each once, in order."""
    own = stems(text)
    borrowed: Iterable[str] = stems(anchor) if anchor and len(own) < ANCHOR_WORDS else ()
    return tuple(dict.fromkeys([*own, *borrowed]))


def scores(matches: Sequence[Match]) -> Mapping[int, float]:
    return {match.seq: match.score for match in matches}


def hit(recalled: Recalled) -> Hit:
    found = recalled.what
    if isinstance(found, StoredTurn):
        kind: HitKind = "turn"
        sources: tuple[str, ...] = (found.id,)
    else:
        kind = "memory" if found.noun == "memory" else "episode" if found.noun == "episode" else "summary"
        sources = found.sources
    return Hit(
        id=found.id,
        kind=kind,
        text=found.text,
        score=recalled.score,
        parts=recalled.parts,
        sources=sources,
        at=found.at,
    )
