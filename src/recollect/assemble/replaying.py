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
from recollect.store.base import (
    Answers,
    Blobs,
    Change,
    Erased,
    Head,
    Log,
    Query,
    RecordsById,
    Scope,
    SnapshotsById,
    TurnList,
    TurnsById,
    UserStore,
)
from recollect.store.codec import erased_name
from recollect.types import Context, StoredTurn

ALL = 1_000_000
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
    try:
        await _keep(store, made, recipe, material)
    except StoreError as error:
        LOG.warning("snapshot %s was not written: %s", made.snapshot, error)


async def _keep(store: UserStore, made: Assembled, recipe: Recipe, material: Material) -> None:
    """What was forgotten after the context had read it is not written back. An id that was erased once may have been
    learnt again before: then a version is there that the context could know. And a turn may have been over its time before:
    then what was learnt from it is shown, and was not forgotten."""
    read = _one_read(material)
    head, seen = Head(), TurnsById(ids=tuple(turn.id for turn in read), history=True)
    erased = Erased(ids=tuple({name for item in made.items for name in (item.id, *item.sources)} | {*seen.ids}))

    def is_somebody_else(answers: Answers) -> bool:
        """Whether the whole user was forgotten, and may be back: then the log is shorter, or what was read never in it."""
        there = {(turn.seq, turn.text, turn.recorded_at) for turn in answers[seen]}
        return answers[head] < made.known or any(
            turn.id not in answers[erased] and (turn.seq, turn.text, turn.recorded_at) not in there for turn in read
        )

    before = await store.read(head, seen, erased)
    if is_somebody_else(before):
        return
    suspected = tuple(before[erased])
    turns, records = TurnsById(ids=suspected, history=True), RecordsById(ids=suspected, history=True)
    since = Log(after=made.known, limit=ALL)

    def decide(answers: Answers) -> Change:
        if is_somebody_else(answers):
            return Change()
        gone = answers[erased]
        if suspected:
            lately = {entry.id for entry in answers[since] if entry.op == "erase"}
            there = {one.id for one in (*answers[turns], *answers[records]) if one.seq <= made.known}
            gone = {name for name in gone - there if erased_name(name) in lately}
        stored, blobs = snapshot.taken(made, recipe, material)
        hidden = frozenset(snapshot.blobs_of(stored, gone) if gone else ())
        stored = (snapshot.unnamed(stored, gone) if gone else None) or stored
        return Change(snapshots=(stored,), blobs={name: text for name, text in blobs.items() if name not in hidden})

    closer: tuple[Query[object], ...] = (turns, records, since) if suspected else ()
    await store.write(decide, head, seen, erased, *closer)


def _one_read(material: Material) -> tuple[StoredTurn, ...]:
    """One turn that the context has read, if it has any."""
    return (material.window or material.today_turns or material.first_turns)[-1:]


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
