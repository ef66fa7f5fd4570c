"""Where the work goes on in a memory that was loaded.

An export holds what was learnt, not how far the work had read. It had read every turn up to the last one that something learnt
rests on, for turns are read in their order; read again, they would close and end what was opened and corrected since, and
ask a model to read a whole life once more.
"""

from hitherto.learn import extract, loops
from hitherto.store import records as nouns
from hitherto.store.protocol import Answers, Change, Cursor, Cursors, Log, Row, UserStore
from hitherto.types import Memory

PAGE = 1_000


async def resume(store: UserStore) -> None:
    """Sets the cursors of reading, unless the work has begun on this memory."""
    turns: dict[str, tuple[int, int]] = {}
    sources: dict[str, tuple[str, ...]] = {}
    position = place = 0
    query = Log(limit=PAGE)
    while entries := (await store.read(query))[query]:
        for entry in entries:
            if entry.turn is not None:
                turns[entry.id] = (entry.seq, entry.turn.place)
            elif entry.row is not None and _was_learnt(entry.row):
                # A later version may be somebody's correction: it says nothing of the turns that were known before.
                for turn in set(entry.row.sources).difference(sources.get(entry.id, ())) & turns.keys():
                    position, place = max(position, turns[turn][0]), max(place, turns[turn][1])
                sources[entry.id] = entry.row.sources
        query = Log(after=entries[-1].seq, limit=PAGE)
    begun = Cursors()

    def decide(answers: Answers) -> Change:
        known = {cursor.step for cursor in answers[begun]}
        resumed = (Cursor(step=extract.NAME, position=position), Cursor(step=loops.NAME, position=place))
        return Change(cursors=tuple(cursor for cursor in resumed if cursor.position and cursor.step not in known))

    await store.write(decide, begun)


def _was_learnt(row: Row) -> bool:
    memory = nouns.record(row) if row.noun == "memory" else None
    return isinstance(memory, Memory) and memory.source == "shadow_extraction"
