"""What a recorded answer uses up. Building a context changes nothing; the answer that names its snapshot does:
the thoughts it was given count as used, and the memories it was given as accessed."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from datetime import datetime

from recollect.store import nouns
from recollect.store.base import Change, Note, RecordsById, SnapshotsById, StoredSnapshot, UserStore
from recollect.types import Thought

ACCESSED = "accessed:"
"""Prefix of the notes that say when a memory was last given to a model."""


Shown = Callable[[StoredSnapshot], Iterable[tuple[str, str]]]
"""Kind and id of what a context held, as its snapshot says."""


async def marks(store: UserStore, snapshots: Sequence[str], *, shown: Shown, now: datetime) -> Change:
    """The change that goes with the answers; an unknown snapshot marks nothing."""
    query = SnapshotsById(ids=tuple(dict.fromkeys(snapshots)))
    thoughts: dict[str, str] = {}
    accessed: set[str] = set()
    for taken in (await store.read(query))[query]:
        for kind, item in shown(taken):
            if kind == "thought":
                thoughts.setdefault(item, taken.id)
            elif kind == "memory":
                accessed.add(item)
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
