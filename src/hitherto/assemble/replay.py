"""Rebuilds past contexts from their snapshots, and tries another recipe over a recorded conversation."""

import json
import logging
from collections.abc import AsyncIterator, Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Final, Protocol

from hitherto.assemble import snapshot
from hitherto.assemble.material import Assembled, Material
from hitherto.errors import NotFound, StoreError
from hitherto.ids import erased_name
from hitherto.recipes.recipe import Recipe
from hitherto.store.protocol import (
    Answers,
    Blobs,
    Change,
    Head,
    Log,
    Scope,
    SnapshotsById,
    StoredSnapshot,
    TurnList,
    TurnsById,
    UserStore,
)
from hitherto.types import Context, StoredTurn

ALL: Final = 1_000_000
LOG = logging.getLogger("hitherto.snapshots")


async def replay(store: UserStore, snapshot_id: str) -> Context:
    """The context of a snapshot, without ranking again."""
    query = SnapshotsById(ids=(snapshot_id,))
    found = (await store.read(query))[query]
    if not found:
        raise NotFound(f"there is no snapshot {snapshot_id!r} of this user")
    needed = Blobs(hashes=snapshot.blob_names(found[0]))
    rebuilt = snapshot.rebuilt(found[0], (await store.read(needed))[needed])
    return replace(rebuilt.context, warnings=(*rebuilt.context.warnings, *rebuilt.notes))


def shown(snapshots: Iterable[StoredSnapshot]) -> list[StoredSnapshot]:
    """Snapshots in the form known to those who read them directly: with a row for each item."""
    bodies = ((one, json.dumps(snapshot.body_of(one), ensure_ascii=False, separators=(",", ":"))) for one in snapshots)
    return [replace(one, body=body) for one, body in bodies]


async def keep(store: UserStore, made: Assembled, recipe: Recipe, material: Material) -> None:
    """Takes and writes a context's snapshot; a failure is reported and does not affect the conversation."""
    try:
        await _keep(store, made, recipe, material)
    except StoreError as error:
        LOG.warning("snapshot %s was not written: %s", made.snapshot, error)


async def _keep(store: UserStore, made: Assembled, recipe: Recipe, material: Material) -> None:
    """What was forgotten after the context had read it is not written back: the log names it, after the entries that the
    context knew."""
    read = (material.window or material.today_turns or material.first_turns)[-1:]
    head, since = Head(), Log(after=made.known, limit=ALL)
    seen = TurnsById(ids=tuple(turn.id for turn in read), history=True)
    if (await store.read(head))[head] < made.known:
        return  # Any write, even an empty one, would bring back a user who was forgotten entirely.

    def decide(answers: Answers) -> Change:
        lately = {entry.id for entry in answers[since] if entry.op == "erase"}
        if answers[head] < made.known or not _are_there(read, answers[seen], lately):
            return Change()
        stored, blobs = snapshot.taken(made, recipe, material)
        if not lately:
            return Change(snapshots=(stored,), blobs=blobs)
        shown = {name for item in made.items for name in (item.id, *item.sources)}
        gone = {name for name in shown if erased_name(name) in lately}
        hidden = frozenset(snapshot.blobs_of(stored, gone))
        left = {name: text for name, text in blobs.items() if name not in hidden}
        return Change(snapshots=(snapshot.unnamed(stored, gone) or stored,), blobs=left)

    await store.write(decide, head, seen, since)


def _are_there(read: Sequence[StoredTurn], there: Iterable[StoredTurn], lately: Collection[str]) -> bool:
    """Whether this is the log that was read from, apart from later erasures. A user who was forgotten entirely may be back
    with as many entries, and even with the same ids."""
    known = {(turn.id, turn.seq, turn.text, turn.recorded_at) for turn in there}
    return all(
        (turn.id, turn.seq, turn.text, turn.recorded_at) in known or erased_name(turn.id) in lately for turn in read
    )


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
