"""A user's memory as JSON lines, out and in. Every line is one log entry with its own number, so that what is read back is
exactly what was written, and exporting it again gives the same bytes.

The first line is a header with the format's version and the user. The last counts the entries, so that a truncated file is
noticed before anything of it is stored.
"""

import json
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from hashlib import blake2b
from pathlib import Path
from types import NoneType
from typing import Any, Final, cast, get_args, get_type_hints

from hitherto.clock import END, EPOCH
from hitherto.errors import Conflict, InvalidInput
from hitherto.ids import FIRST_NAME, erased_name
from hitherto.store import records as nouns
from hitherto.store.catalog import UserKey
from hitherto.store.codec import dump, made, one_of, string, time, whole
from hitherto.store.protocol import AGAIN, Answers, Change, Cursor, Cursors, Log, LogEntry, Row, UserStore
from hitherto.types import Json, Record, StoredTurn

BATCH = 1_000


async def export(store: UserStore, *, key: UserKey) -> AsyncIterator[str]:
    """Yields lines without their line feeds: header, entries in order, footer."""
    waiting = [_waiting(cursor) for cursor in (await store.read(Cursors()))[Cursors()] if cursor.body.get(AGAIN)]
    yield dump({"hitherto": FORMAT, "user": key.user, **({"waiting": waiting} if waiting else {})})
    after, count = 0, 0
    while entries := await page(store, after=after):
        for entry in entries:
            yield _line(entry)
        after, count = entries[-1].seq, count + len(entries)
    yield dump({"entries": count})


async def load(store: UserStore, file: str | Path, *, stems: Callable[[str], Sequence[str]]) -> int:
    """Checks the whole file, then restores it in batches, indexed by `stems`; returns the number of entries.

    Loading it again changes nothing, and what was forgotten here since the file was written stays forgotten. A user whose
    log has another origin keeps it: the two cannot be merged, because their entries have the same numbers.
    """
    path = Path(file)
    there = await held(store)
    waiting, stand = _cursors(path), Cursors()
    count = 0
    for number, entry in entries(path):
        _fits(entry, there, where=f"{path.name} line {number}")
        count += 1
    batch: list[LogEntry] = []
    for _, entry in entries(path):
        if entry.seq not in there.entries and not there.forgot(entry):
            batch.append(_indexed(entry, stems))
        if len(batch) == BATCH:
            await store.restore(batch)
            batch = []
    if batch:
        await store.restore(batch)

    def wait(answers: Answers) -> Change:
        known = {cursor.step for cursor in answers[stand]}
        return Change(cursors=tuple(cursor for cursor in waiting if cursor.step not in known))

    if waiting:
        await store.write(wait, stand)
    return count


def _waiting(cursor: Cursor) -> dict[str, Json]:
    """What a step has to do again since something was forgotten, which the log does not tell."""
    lists: dict[str, Json] = {name: ids for name, ids in cursor.body.items() if isinstance(ids, list)}
    return {"step": cursor.step, "position": cursor.position, **lists}


def _cursors(path: Path) -> list[Cursor]:
    found = _header(path).get("waiting", [])
    try:
        return [_cursor(one) for one in cast(list[dict[str, Any]], found)]
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise InvalidInput(
            f"{path.name} line 1: waiting is not a list of steps ({error!r}); nothing was loaded"
        ) from error


def _cursor(values: dict[str, Any]) -> Cursor:
    lists: dict[str, Json] = {
        name: [string(one) for one in ids] for name, ids in values.items() if name not in ("step", "position")
    }
    return Cursor(step=string(values["step"]), position=whole(values["position"]), body=lists)


@dataclass(frozen=True, slots=True)
class Held:
    """What a user's log already holds: the digest of each entry by number, and where each id was erased."""

    entries: Mapping[int, bytes]
    erased: Mapping[str, int]
    head: int

    def forgot(self, entry: LogEntry) -> bool:
        return self.erased.get(erased_name(entry.id), 0) > entry.seq

    def held(self, entry: LogEntry) -> bool:
        """Whether an entry of an earlier copy belongs to this log: it is still there, or was erased since."""
        there = self.entries.get(entry.seq)
        return there == _digest(entry) or (there is None and self.forgot(entry))


async def held(store: UserStore) -> Held:
    """Reads a user's whole log and keeps digests of it."""
    entries: dict[int, bytes] = {}
    erased: dict[str, int] = {}
    after = 0
    while found := await page(store, after=after):
        entries |= {entry.seq: _digest(entry) for entry in found}
        erased |= {entry.id: entry.seq for entry in found if entry.op == "erase"}
        after = found[-1].seq
    return Held(entries=entries, erased=erased, head=after)


def _fits(entry: LogEntry, log: Held, *, where: str) -> None:
    there = log.entries.get(entry.seq)
    if there == _digest(entry) or (there is None and (entry.seq > log.head or log.forgot(entry))):
        return
    raise Conflict(
        f"{where}: the user has a memory of their own, with another entry {entry.seq}; load it for a user who has none. "
        "Nothing was loaded"
    )


def _digest(entry: LogEntry) -> bytes:
    """An entry as it was written, without what ended it later or the stems it is found by."""
    turn = entry.turn and replace(entry.turn, retired=None)
    row = entry.row and replace(entry.row, retired=None, retired_at=None)
    return blake2b(_line(replace(entry, turn=turn, row=row)).encode(), digest_size=16).digest()


async def page(store: UserStore, *, after: int) -> tuple[LogEntry, ...]:
    query = Log(after=after, limit=BATCH)
    return (await store.read(query))[query]


def _line(entry: LogEntry) -> str:
    values: dict[str, Any] = {"seq": entry.seq, "op": entry.op, "id": entry.id, "at": entry.at}
    if entry.turn:
        values["turn"] = asdict(entry.turn)
    if entry.row:
        values["row"] = asdict(entry.row)
    return dump(values)


def _indexed(entry: LogEntry, stems: Callable[[str], Sequence[str]]) -> LogEntry:
    """The entry with the stems it is found by, which are not part of the file."""
    if entry.turn:
        return replace(entry, stems=tuple(stems(entry.turn.text)))
    if entry.row and entry.row.noun in nouns.SEARCHABLE and entry.row.text:
        return replace(entry, stems=tuple(stems(entry.row.text)))
    return entry


# The lines of an export are checked as untrusted input: whatever could not be read back is refused here, with its line
# number, before anything of the file is stored.

FORMAT: Final = 1
_PLAIN: Final[Mapping[Any, Any]] = {str: str, int: int, bool: bool, float: int | float}
_OPS: Final = ("turn", "record", "retire", "erase")


def user_of(path: Path) -> str | None:
    """The user whose memory the file holds, from its first line."""
    found = _header(path).get("user")
    return found if isinstance(found, str) else None


def entries(path: Path) -> Iterator[tuple[int, LogEntry]]:
    """The file's entries with their line numbers."""
    _header(path)
    last, count, footer = 0, 0, None
    for number, values in _lines(path):
        where = f"{path.name} line {number}"
        if number == 1:
            continue
        if footer is not None:
            raise InvalidInput(f"{where}: the file goes on behind its end; nothing was loaded")
        if "entries" in values:
            footer = values["entries"]
            continue
        entry = _entry(values, where=where)
        if entry.seq <= last:
            raise InvalidInput(f"{where}: entry {entry.seq} comes after entry {last}; nothing was loaded")
        last, count = entry.seq, count + 1
        yield number, entry
    if footer != count or type(footer) is not int:
        raise InvalidInput(f"{path.name} is not complete: {count} entries of {footer}; nothing was loaded")


def _header(path: Path) -> Mapping[str, Any]:
    for _, values in _lines(path):
        if values.get("hitherto", values.get(FIRST_NAME)) != FORMAT:
            raise InvalidInput(f"{path.name} line 1: not an export of this format (expected {FORMAT})")
        return values
    raise InvalidInput(f"{path.name} is not complete: it is empty; nothing was loaded")


def _lines(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    with path.open("rb") as lines:
        for number, line in enumerate(lines, 1):
            try:
                found: object = json.loads(line.decode())
            except (ValueError, RecursionError) as error:
                raise InvalidInput(f"{path.name} line {number} is not JSON: {error}") from error
            if not isinstance(found, dict):
                raise InvalidInput(f"{path.name} line {number} is not an object")
            yield number, cast(dict[str, Any], found)


def _entry(values: Mapping[str, Any], *, where: str) -> LogEntry:
    try:
        entry = LogEntry(
            seq=whole(values["seq"]),
            op=one_of(_OPS, values["op"]),
            id=string(values["id"]),
            at=time(values["at"]),
            turn=made(StoredTurn, values["turn"]) if values["op"] == "turn" else None,
            row=made(Row, values["row"]) if values["op"] == "record" else None,
        )
        _agree(entry)
    except (KeyError, TypeError, ValueError) as error:
        raise InvalidInput(f"{where}: not a log entry ({error!r}); nothing was loaded") from error
    return entry


def _agree(entry: LogEntry) -> None:
    """Checks that an entry agrees with what it wrote, and that what it wrote can be read."""
    written = entry.turn or entry.row
    if entry.seq < 1 or not entry.id:
        raise ValueError("an entry has a number from 1 and an id")
    if written is not None and ((written.seq, written.id) != (entry.seq, entry.id) or written.version < 1):
        raise ValueError("the entry and what it wrote have different numbers or ids")
    if entry.turn is not None and not EPOCH <= entry.turn.at < END:
        raise ValueError(f"at: {entry.turn.at} is not between 1970 and 7999")
    if entry.row is not None:
        if not isinstance(json.loads(entry.row.body), dict):
            raise TypeError("body: it is not an object")
        _readable(nouns.record(entry.row))


def _readable(record: Record) -> None:
    """Checks the fields that only this noun has, as read from its body."""
    hints = get_type_hints(type(record))
    for field in fields(record):
        value, options = getattr(record, field.name), get_args(hints[field.name]) or (hints[field.name],)
        if not all(option in _PLAIN or option is NoneType for option in options):
            continue
        if not any(isinstance(value, _PLAIN.get(option, option)) for option in options):
            raise TypeError(f"{field.name}: {value!r:.40} is of another kind")
