"""Moving everything from one store to another, whatever the two are, while the first is in use.

A user's log is copied from where the target's ends, so that a copy that was interrupted goes on, and one that is run
again catches up with what was written since. Then both logs are read side by side and must agree, entry by entry; a user
who wrote meanwhile is copied and compared again. What stands beside the log (cursors, notes, snapshots with their texts)
is copied with it. A lease is not: it belongs to a worker of the source. Vectors are copied for the embedders that are
named; others are made again by reindexing.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from hashlib import blake2b

from recollect.errors import Conflict
from recollect.store.base import (
    Answers,
    Blobs,
    Change,
    Counts,
    Cursors,
    Head,
    Log,
    Notes,
    SnapshotList,
    Store,
    StoredSnapshot,
    Traces,
    UserStore,
    Vector,
)
from recollect.store.catalog import Catalog

BATCH = 1_000
_ATTEMPTS = 5
_HASH = re.compile(r'"([0-9a-f]{16,128})"')
"""How a snapshot's body names a blob."""

Progress = Callable[[int, int], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Copied:
    """What a copy did. `problems` names users whose memories do not agree in the end; empty means that all was verified."""

    users: int
    entries: int
    documents: int
    problems: tuple[str, ...] = ()


async def copy(
    source: Store,
    target: Store,
    *,
    embedders: Sequence[str] = (),
    batch: int = BATCH,
    progress: Progress | None = None,
) -> Copied:
    """Copies all users and documents and verifies them. Run it again to continue or to catch up."""
    documents = await _copy_documents(source.catalog, target.catalog)
    keys = await source.catalog.users()
    entries = 0
    problems: list[str] = []
    for done, key in enumerate(keys, start=1):
        more, problem = await _copy_user(source.user(key), target.user(key), embedders=embedders, batch=batch)
        entries += more
        if problem:
            problems.append(f"{key.user!r} of {key.tenant!r}: {problem}")
        if progress is not None:
            progress(done, len(keys))
    return Copied(users=len(keys), entries=entries, documents=documents, problems=tuple(problems))


async def _copy_documents(source: Catalog, target: Catalog) -> int:
    """All versions in their order; those that are there already are left alone."""
    count = 0
    for tenant, kind in await source.kinds():
        for newest in await source.documents(tenant, kind):
            there = await target.versions(tenant, kind, newest.name)
            wanted = await source.versions(tenant, kind, newest.name)
            if there != wanted[: len(there)]:
                raise Conflict(f"{kind} {newest.name!r} of {tenant!r} differs in the target; copy into an empty store")
            for document in wanted[len(there) :]:
                await target.put(
                    tenant, kind, document.name, document.body, at=document.recorded_at, expected=document.version - 1
                )
                count += 1
    return count


async def _copy_user(
    source: UserStore, target: UserStore, *, embedders: Sequence[str], batch: int
) -> tuple[int, str | None]:
    """The number of entries copied, and what does not agree in the end."""
    entries = 0
    for _ in range(_ATTEMPTS):
        before = await _head(source)
        entries += await _copy_log(source, target, batch=batch)
        for embedder in embedders:
            await _copy_vectors(source, target, embedder, batch=batch)
        await _copy_beside(source, target)
        problem = await _difference(source, target, batch=batch)
        if problem is None or await _head(source) == before:
            return entries, problem
    return entries, "it is written to faster than it is copied; run the copy again when it is quieter"


async def _head(user: UserStore) -> int:
    return (await user.read(Head()))[Head()]


async def _copy_log(source: UserStore, target: UserStore, *, batch: int) -> int:
    after = await _head(target)
    count = 0
    while True:
        query = Log(after=after, limit=batch)
        entries = (await source.read(query))[query]
        if not entries:
            return count
        await target.restore(entries)
        count += len(entries)
        after = entries[-1].seq


async def _copy_vectors(source: UserStore, target: UserStore, embedder: str, *, batch: int) -> None:
    newest = await _newest_trace(target, embedder, batch=batch)
    while True:
        query = Traces(embedder=embedder, after=newest, limit=batch)
        traces = (await source.read(query))[query]
        if not traces:
            return
        vectors = tuple((trace.seq, Vector(embedder=embedder, data=trace.vector)) for trace in traces)
        await _write(target, Change(vectors=vectors))
        newest = traces[-1].seq


async def _newest_trace(user: UserStore, embedder: str, *, batch: int) -> int:
    newest = 0
    while True:
        query = Traces(embedder=embedder, after=newest, limit=batch)
        traces = (await user.read(query))[query]
        if not traces:
            return newest
        newest = traces[-1].seq


async def _copy_beside(source: UserStore, target: UserStore) -> None:
    """Cursors, notes and snapshots: few and small, so they are simply written again."""
    snapshots = SnapshotList(limit=1 << 31)
    notes = Notes(prefix="")
    answers = await source.read(Cursors(), notes, snapshots)
    await _write(target, Change(cursors=answers[Cursors()], notes=answers[notes]))
    for snapshot in answers[snapshots]:
        blobs = await _blobs(source, snapshot)
        await _write(target, Change(snapshots=(snapshot,), blobs=blobs))


async def _blobs(source: UserStore, snapshot: StoredSnapshot) -> dict[str, str]:
    query = Blobs(hashes=tuple(dict.fromkeys(_HASH.findall(snapshot.body))))
    return dict((await source.read(query))[query])


async def _write(user: UserStore, change: Change) -> None:
    def decide(_: Answers) -> Change:
        return change

    await user.write(decide)


async def _difference(source: UserStore, target: UserStore, *, batch: int) -> str | None:
    """What does not agree, in words; None when everything does."""
    there, here = (await source.read(Counts(), Head())), (await target.read(Counts(), Head()))
    if there[Head()] != here[Head()]:
        return f"the log ends at {there[Head()]} in the source and at {here[Head()]} in the target"
    for name in ("turns", "records", "snapshots"):
        if getattr(there[Counts()], name) != getattr(here[Counts()], name):
            return f"the numbers of {name} differ"
    if await _digest(source, batch=batch) != await _digest(target, batch=batch):
        return "the logs differ"
    return None


async def _digest(user: UserStore, *, batch: int) -> str:
    """A hash of every entry of the log, with what it wrote and how it is found."""
    digest = blake2b(digest_size=32)
    after = 0
    while True:
        query = Log(after=after, limit=batch)
        entries = (await user.read(query))[query]
        if not entries:
            return digest.hexdigest()
        for entry in entries:
            digest.update(repr(entry).encode("utf-8", "surrogatepass"))
        after = entries[-1].seq
