"""A user's memory as JSON lines, out and in. Every line is one log entry with its own number, so that what is read back is
what was written: exporting again gives the same bytes.

The first line is a header with the format's version and the user; the last counts the entries, so that a file that was
cut off is noticed before anything of it is stored.
"""

import json
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, fields, replace
from datetime import datetime
from pathlib import Path
from typing import Any, cast

from recollect.errors import InvalidInput
from recollect.store import codec, nouns
from recollect.store.base import Log, LogEntry, Row, Store, UserStore
from recollect.store.catalog import UserKey
from recollect.types import StoredTurn

FORMAT = 1
BATCH = 1_000

_TIMES = frozenset({"at", "recorded_at", "retired_at", "due", "valid_from", "valid_to"})
_TUPLES = frozenset({"sources", "entities"})


async def export(store: UserStore, *, key: UserKey) -> AsyncIterator[str]:
    """Lines without their line feeds: header, entries in order, footer."""
    yield nouns.dump({"recollect": FORMAT, "user": key.user})
    after, count = 0, 0
    while True:
        query = Log(after=after, limit=BATCH)
        entries = (await store.read(query))[query]
        if not entries:
            break
        for entry in entries:
            yield _line(entry)
        after, count = entries[-1].seq, count + len(entries)
    yield nouns.dump({"entries": count})


async def load(
    store: Store, file: str | Path, *, tenant: str, user: str | None = None, stems: Callable[[str], Sequence[str]]
) -> tuple[str, int]:
    """Checks the whole file, then restores it in batches, indexed by `stems`; for whom, and how many entries. Loading it
    again changes nothing."""
    path = Path(file)
    header, count = _check(path)
    whose = user or str(header["user"])
    target = store.user(UserKey(tenant, whose))
    batch: list[LogEntry] = []
    for _, values in _lines(path):
        if "seq" not in values:
            continue
        batch.append(_indexed(_entry(values), stems))
        if len(batch) == BATCH:
            await target.restore(batch)
            batch = []
    if batch:
        await target.restore(batch)
    return whose, count


def _check(path: Path) -> tuple[Mapping[str, Any], int]:
    header: Mapping[str, Any] | None = None
    count, footer = 0, None
    for number, values in _lines(path):
        if header is None:
            if values.get("recollect") != FORMAT:
                raise InvalidInput(f"{path.name} line {number}: not an export of this format (expected {FORMAT})")
            header = values
        elif "entries" in values:
            footer = values["entries"]
        else:
            _entry(values, where=f"{path.name} line {number}")
            count += 1
    if header is None or footer != count:
        raise InvalidInput(f"{path.name} is not complete: {count} entries of {footer}; nothing was loaded")
    return header, count


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


def _line(entry: LogEntry) -> str:
    values: dict[str, Any] = {"seq": entry.seq, "op": entry.op, "id": entry.id, "at": entry.at}
    if entry.turn:
        values["turn"] = asdict(entry.turn)
    if entry.row:
        values["row"] = asdict(entry.row)
    return nouns.dump(values)


def _entry(values: Mapping[str, Any], *, where: str = "the file") -> LogEntry:
    try:
        turn, row = values.get("turn"), values.get("row")
        return LogEntry(
            seq=int(values["seq"]),
            op=values["op"],
            id=values["id"],
            at=datetime.fromisoformat(values["at"]),
            turn=_turn(turn) if turn else None,
            row=_row(row) if row else None,
        )
    except (KeyError, TypeError, ValueError) as error:
        raise InvalidInput(f"{where}: not a log entry ({error!r}); nothing was loaded") from error


def _indexed(entry: LogEntry, stems: Callable[[str], Sequence[str]]) -> LogEntry:
    """The entry with the words that it is found by; they are not part of the file."""
    if entry.turn:
        return replace(entry, stems=tuple(stems(entry.turn.text)))
    if entry.row and entry.row.noun in nouns.SEARCHABLE and entry.row.text:
        return replace(entry, stems=tuple(stems(entry.row.text)))
    return entry


def _turn(values: Mapping[str, Any]) -> StoredTurn:
    parts = codec.decode_parts(json.dumps(values["parts"]))
    read: dict[str, Any] = {**_common(values, StoredTurn), "parts": parts}
    return StoredTurn(**read)


def _row(values: Mapping[str, Any]) -> Row:
    return Row(**_common(values, Row))


def _common(values: Mapping[str, Any], cls: type[Any]) -> dict[str, Any]:
    read: dict[str, Any] = {}
    for f in fields(cls):
        value = values[f.name]
        if value is not None and f.name in _TIMES:
            value = datetime.fromisoformat(value)
        elif f.name in _TUPLES:
            value = tuple(cast(list[str], value))
        read[f.name] = value
    return read
