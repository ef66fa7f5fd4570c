"""The past again: a context rebuilt from its snapshot, and another recipe tried over a recorded conversation."""

import logging
from collections.abc import AsyncIterator
from dataclasses import dataclass, replace
from typing import Protocol

from recollect.assemble import snapshot
from recollect.assemble.assembled import Assembled
from recollect.assemble.material import Material
from recollect.assemble.recipe import Recipe
from recollect.errors import NotFound, StoreError
from recollect.store.base import Answers, Blobs, Change, Scope, SnapshotsById, TurnList, UserStore
from recollect.types import Context, StoredTurn

LOG = logging.getLogger("recollect.snapshots")


async def replay(store: UserStore, snapshot_id: str) -> Context:
    """The context of a snapshot, without ranking again."""
    query = SnapshotsById(ids=(snapshot_id,))
    found = (await store.read(query))[query]
    if not found:
        raise NotFound(f"there is no snapshot {snapshot_id!r} of this user")
    needed = Blobs(hashes=snapshot.blob_names(found[0]))
    rebuilt = snapshot.rebuilt(found[0], (await store.read(needed))[needed])
    return replace(rebuilt.context, warnings=(*rebuilt.context.warnings, *rebuilt.notes))


async def keep(store: UserStore, made: Assembled, recipe: Recipe, material: Material) -> None:
    """Takes and writes a context's snapshot; one that cannot be written is reported and costs no conversation."""

    def decide(_: Answers) -> Change:
        stored, blobs = snapshot.taken(made, recipe, material)
        return Change(snapshots=(stored,), blobs=blobs)

    try:
        await store.write(decide)
    except StoreError as error:
        LOG.warning("snapshot %s was not written: %s", made.snapshot, error)


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """One turn of a backtest: the context it would have had."""

    turn: StoredTurn
    context: Context


class Builder(Protocol):
    """How a backtest builds contexts: the engine's `context`."""

    async def __call__(self, turn: StoredTurn, recipe: Recipe) -> Context: ...


async def backtest(
    store: UserStore, build: Builder, *, recipe: Recipe, persona: Scope, lane: Scope, limit: int
) -> AsyncIterator[Trial]:
    """A trial for each of the user's own turns, oldest first, each knowing only what was known then."""
    after, left = 0, limit
    while left > 0:
        query = TurnList(after=after, limit=min(left, 200), persona=persona, lane=lane)
        turns = (await store.read(query))[query]
        if not turns:
            return
        for turn in turns:
            if turn.role == "user":
                yield Trial(turn=turn, context=await build(turn, recipe))
        after, left = turns[-1].place, left - len(turns)
