"""What a recorded answer uses up. Building a context changes nothing; the answer that names its snapshot does:
the thoughts it was given count as used, and the memories it was given as accessed."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

from hitherto.assemble import snapshot
from hitherto.store import records as nouns
from hitherto.store.protocol import Change, Note, RecordsById, SnapshotsById, UserStore
from hitherto.types import Thought

ACCESSED = "accessed:"
"""Prefix of the notes that say when a memory was last given to a model."""


async def marks(store: UserStore, snapshots: Sequence[str], *, now: datetime) -> Change:
    """The change that goes with the answers; an unknown snapshot marks nothing."""
    query = SnapshotsById(ids=tuple(dict.fromkeys(snapshots)))
    thoughts: dict[str, str] = {}
    accessed: set[str] = set()
    for taken in (await store.read(query))[query]:
        for kind, name in snapshot.given(taken):
            if kind == "thought":
                thoughts.setdefault(name, taken.id)
            elif kind == "memory":
                accessed.add(name)
    spent = RecordsById(ids=tuple(thoughts))
    rows = (await store.read(spent))[spent] if thoughts else ()
    return Change(
        records=tuple(
            nouns.draft(replace(thought, used_in=thoughts[thought.id]), now=now)
            for thought in nouns.records(rows, Thought)
            if thought.used_in is None
        ),
        notes=tuple(Note(name=ACCESSED + memory, body=now.isoformat()) for memory in sorted(accessed)),
    )
