"""A user's memory as JSON lines, out and in. Every line is one log entry with its own number, so that what is read back is
what was written: exporting again gives the same bytes.

The first line is a header with the format's version and the user; the last counts the entries, so that a file that was
cut off is noticed before anything of it is stored.
"""

from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from hashlib import blake2b
from pathlib import Path
from typing import Any

from hitherto.errors import Conflict
from hitherto.store import exported, nouns
from hitherto.store.base import Log, LogEntry, UserStore
from hitherto.store.catalog import UserKey
from hitherto.store.codec import erased_name
from hitherto.store.exported import FORMAT

BATCH = 1_000


async def export(store: UserStore, *, key: UserKey) -> AsyncIterator[str]:
    """Lines without their line feeds: header, entries in order, footer."""
    yield nouns.dump({"hitherto": FORMAT, "user": key.user})
    after, count = 0, 0
    while entries := await _page(store, after=after):
        for entry in entries:
            yield _line(entry)
        after, count = entries[-1].seq, count + len(entries)
    yield nouns.dump({"entries": count})


async def load(store: UserStore, file: str | Path, *, stems: Callable[[str], Sequence[str]]) -> int:
    """Checks the whole file, then restores it in batches, indexed by `stems`; how many entries it has.

    Loading it again changes nothing, and what was forgotten here since the file was written stays away. A user who has a log of
    another origin keeps it: the two cannot be one, for their entries have the same numbers.
    """
    path = Path(file)
    held = await _held(store)
    count = 0
    for number, entry in exported.entries(path):
        _fits(entry, held, where=f"{path.name} line {number}")
        count += 1
    batch: list[LogEntry] = []
    for _, entry in exported.entries(path):
        if entry.seq not in held.entries and not held.forgot(entry):
            batch.append(_indexed(entry, stems))
        if len(batch) == BATCH:
            await store.restore(batch)
            batch = []
    if batch:
        await store.restore(batch)
    return count


@dataclass(frozen=True, slots=True)
class _Held:
    """What a user's log holds already: each entry by its number, as a digest, and where which id was erased."""

    entries: Mapping[int, bytes]
    erased: Mapping[str, int]
    head: int

    def forgot(self, entry: LogEntry) -> bool:
        return self.erased.get(erased_name(entry.id), 0) > entry.seq


async def _held(store: UserStore) -> _Held:
    entries: dict[int, bytes] = {}
    erased: dict[str, int] = {}
    after = 0
    while found := await _page(store, after=after):
        entries |= {entry.seq: _digest(entry) for entry in found}
        erased |= {entry.id: entry.seq for entry in found if entry.op == "erase"}
        after = found[-1].seq
    return _Held(entries=entries, erased=erased, head=after)


def _fits(entry: LogEntry, held: _Held, *, where: str) -> None:
    there = held.entries.get(entry.seq)
    if there == _digest(entry) or (there is None and (entry.seq > held.head or held.forgot(entry))):
        return
    raise Conflict(
        f"{where}: the user has a memory of their own, with another entry {entry.seq}; load it for a user who has none. "
        "Nothing was loaded"
    )


def _digest(entry: LogEntry) -> bytes:
    """An entry as it was written: not what ended it later, nor the words that it is found by."""
    turn = entry.turn and replace(entry.turn, retired=None)
    row = entry.row and replace(entry.row, retired=None, retired_at=None)
    return blake2b(_line(replace(entry, turn=turn, row=row)).encode(), digest_size=16).digest()


async def _page(store: UserStore, *, after: int) -> tuple[LogEntry, ...]:
    query = Log(after=after, limit=BATCH)
    return (await store.read(query))[query]


def _line(entry: LogEntry) -> str:
    values: dict[str, Any] = {"seq": entry.seq, "op": entry.op, "id": entry.id, "at": entry.at}
    if entry.turn:
        values["turn"] = asdict(entry.turn)
    if entry.row:
        values["row"] = asdict(entry.row)
    return nouns.dump(values)


def _indexed(entry: LogEntry, stems: Callable[[str], Sequence[str]]) -> LogEntry:
    """The entry with the words that it is found by; they are not part of the file."""
    if entry.turn:
        return replace(entry, stems=tuple(stems(entry.turn.text)))
    if entry.row and entry.row.noun in nouns.SEARCHABLE and entry.row.text:
        return replace(entry, stems=tuple(stems(entry.row.text)))
    return entry
