"""Rejecting what was learnt: one step, and it does not come back from the same turns.

A rejected memory is archived under that reason with its quotes and turns; a note that rests on them is left out from then on. A
rejected loop is dropped, and what was thought about it goes."""

from hitherto.errors import InvalidInput, NotFound
from hitherto.ingest import edit
from hitherto.learn.decide import REJECTED
from hitherto.learn.thoughts import let_go
from hitherto.store import records as nouns
from hitherto.store.protocol import RecordsById
from hitherto.types import Loop, Record


async def reject(desk: edit.Desk, id: str) -> Record:
    query = RecordsById(ids=(id,))
    found = nouns.all_records((await desk.store.read(query))[query])
    if not found:
        raise NotFound(f"there is no record {id!r} of this user")
    [record] = found
    if record.noun == "memory":
        return await edit.update(desk, id, {"status": "ARCHIVED", "reason": REJECTED, "pinned": False})
    if record.noun != "loop":
        raise InvalidInput(f"{id!r} is a {record.noun}; memories and loops can be rejected")
    loop = await edit.update(desk, id, {"status": "dropped"})
    assert isinstance(loop, Loop), "it was one"
    await let_go(desk.store, loop, now=desk.now)
    return loop
