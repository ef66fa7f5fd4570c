"""Copies everything from one store to another, of whichever kind, while the first is in use.

Before anything is written, whatever the target already holds must be an earlier copy: two memories of one user have entries
with the same numbers and cannot be mixed. A user's log is then copied from where the target's ends, so that an interrupted
copy continues, and a repeated one catches up. Finally both logs are read side by side and must agree, entry by entry; a
user who wrote in the meantime is copied and compared again. What stands beside the log (cursors, notes, snapshots with
their texts) is copied with it. A lease is not: it belongs to a worker of the source. Vectors are copied for the named
embedders; the others are rebuilt by reindexing.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from hashlib import blake2b

from hitherto.clock import system_clock
from hitherto.errors import Conflict
from hitherto.store.catalog import SEALED, Catalog, UserKey
from hitherto.store.export import Held, held, page
from hitherto.store.protocol import (
    Answers,
    Blobs,
    Change,
    Counts,
    Cursors,
    Erasure,
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

BATCH = 1_000
_ATTEMPTS = 5
_HASH = re.compile(r'"([0-9a-f]{16,128})"')
"""How a snapshot's body refers to a blob."""

Progress = Callable[[int, int], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Copied:
    """What a copy did. `problems` names users whose memories do not agree in the end; if it is empty, everything was
    verified. `notes` names users that only the target has."""

    users: int
    entries: int
    documents: int
    problems: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


async def copy(
    source: Store,
    target: Store,
    *,
    embedders: Sequence[str] = (),
    batch: int = BATCH,
    progress: Progress | None = None,
) -> Copied:
    """Copies all users and documents and verifies them. Run it again to continue or to catch up. A target that holds
    anything but an earlier copy of a user or document is refused, and nothing is written."""
    keys = await source.catalog.users()
    there = set(await target.catalog.users())
    await _check_documents(source.catalog, target.catalog)
    for key in keys:
        if key in there:
            await _check_origin(source.user(key), target.user(key), key)
    documents = await _copy_documents(source.catalog, target.catalog)
    entries = 0
    problems: list[str] = []
    for done, key in enumerate(keys, start=1):
        more, problem = await _copy_user(source.user(key), target.user(key), embedders=embedders, batch=batch)
        entries += more
        if problem:
            problems.append(f"{_named(key)}: {problem}")
        if progress is not None:
            progress(done, len(keys))
    alone = sorted(there - set(keys) - set(await source.catalog.users()), key=str)
    notes = tuple(
        f"{_named(key)}: only in the target; if it was forgotten in the source, forget it in the target as well"
        for key in alone
    )
    return Copied(users=len(keys), entries=entries, documents=documents, problems=tuple(problems), notes=notes)


def _named(key: UserKey) -> str:
    return f"{key.user!r} of {key.tenant!r}"


async def _check_origin(source: UserStore, target: UserStore, key: UserKey) -> None:
    """Refuses a target whose log is not a prefix of the source's."""
    after = 0
    origin: Held | None = None
    while entries := await page(target, after=after):
        origin = origin or await held(source)
        for entry in entries:
            if not origin.held(entry):
                raise Conflict(
                    f"{_named(key)} has another memory in the target, with an entry {entry.seq} of its own; copy into a store"
                    " without this user, or forget them there first. Nothing was copied"
                )
        after = entries[-1].seq


async def _check_documents(source: Catalog, target: Catalog) -> None:
    for tenant, kind in await source.kinds():
        if kind == SEALED:
            continue
        for newest in await source.documents(tenant, kind):
            there = await target.versions(tenant, kind, newest.name)
            if there != (await source.versions(tenant, kind, newest.name))[: len(there)]:
                raise Conflict(
                    f"{kind} {newest.name!r} of {tenant!r} differs in the target; copy into an empty store. Nothing was copied"
                )


async def _copy_documents(source: Catalog, target: Catalog) -> int:
    """Copies all versions in order; existing ones are left alone."""
    count = 0
    for tenant, kind in await source.kinds():
        if kind == SEALED:
            continue
        for newest in await source.documents(tenant, kind):
            there = await target.versions(tenant, kind, newest.name)
            wanted = await source.versions(tenant, kind, newest.name)
            for document in wanted[len(there) :]:
                await target.put(
                    tenant,
                    kind,
                    document.name,
                    document.body,
                    at=document.recorded_at,
                    expected=document.version - 1,
                    about=document.about,
                )
                count += 1
    return count


async def _copy_user(
    source: UserStore, target: UserStore, *, embedders: Sequence[str], batch: int
) -> tuple[int, str | None]:
    """Returns the number of entries copied, and what does not agree in the end."""
    entries = 0
    for _ in range(_ATTEMPTS):
        before = await _head(source)
        entries += await _copy_log(source, target, batch=batch)
        for embedder in embedders:
            await _copy_vectors(source, target, embedder, batch=batch)
        await _copy_side_tables(source, target, batch=batch)
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


async def _copy_side_tables(source: UserStore, target: UserStore, *, batch: int) -> None:
    """Copies cursors, notes and snapshots with their texts. What the source has since removed, forgotten or aged out, is
    removed from the target."""
    snapshots, notes = SnapshotList(limit=1 << 31), Notes(prefix="")
    there, here = await source.read(Cursors(), notes, snapshots), await target.read(notes, snapshots)
    wanted = {snapshot.id: snapshot for snapshot in there[snapshots]}
    held = {snapshot.id: snapshot for snapshot in here[snapshots]}
    kept = {note.name for note in there[notes]}
    gone = Erasure(
        snapshots=tuple(name for name in held if name not in wanted),
        notes=tuple(note.name for note in here[notes] if note.name not in kept),
        blobs=await _stale(source, target, (*held.values(), *wanted.values()), batch=batch),
    )
    erase = None if gone == Erasure() else gone
    beside = Change(cursors=there[Cursors()], notes=there[notes], erase=erase, retired_at=erase and system_clock())
    await _write(target, beside)
    for snapshot in wanted.values():
        if held.get(snapshot.id) != snapshot:
            blobs = Blobs(hashes=_hashes([snapshot]))
            texts = (await source.read(blobs))[blobs]
            await _write(target, Change(snapshots=(snapshot,), blobs=dict(texts)))


async def _stale(
    source: UserStore, target: UserStore, snapshots: Sequence[StoredSnapshot], *, batch: int
) -> tuple[str, ...]:
    """Snapshot texts in the target that the source no longer has."""
    hashes = _hashes(snapshots)
    found: list[str] = []
    for start in range(0, len(hashes), batch):
        query = Blobs(hashes=hashes[start : start + batch])
        there = (await source.read(query))[query]
        found += [name for name in (await target.read(query))[query] if name not in there]
    return tuple(found)


def _hashes(snapshots: Sequence[StoredSnapshot]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(name for snapshot in snapshots for name in _HASH.findall(snapshot.body)))


async def _write(user: UserStore, change: Change) -> None:
    def decide(_: Answers) -> Change:
        return change

    await user.write(decide)


async def _difference(source: UserStore, target: UserStore, *, batch: int) -> str | None:
    """What does not agree, in words; None if everything does."""
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
    """A hash of every log entry, with what it wrote and the stems it is found by."""
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
