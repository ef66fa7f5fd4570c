"""Receipts in a user's file: the snapshots of contexts, and the texts that they share.

A snapshot consists mostly of names: the ids of candidate turns and records, and the hashes of the texts that it showed, of
32 digits each. The file has a number for each of them, so a packed snapshot stores numbers instead, and the rest is
compressed with a dictionary of what all receipts share: 1.9 kB at the median of a conversation of 109 turns, 2.9 kB of one
of 2,000.

Numbers are never reused. One whose row was forgotten no longer stands for anything: it reads as `FORGOTTEN`, under which
there is no text.
"""

import json
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import Final

from hitherto.clock import micros
from hitherto.store.protocol import Blobs, SnapshotList, SnapshotsById, StoredSnapshot
from hitherto.store.rows import NAMES, Columns, press, unpress
from hitherto.store.sql import queries
from hitherto.store.sqlite import rows
from hitherto.store.sqlite.connections import Connection, Value

FORGOTTEN: Final = "0" * 32
_RECEIPTS = queries("sqlite", "receipts")
_LATEST: Final = 2**62
_ENTRY, _TEXT, _SAME = "\1", "\2", "\3"
"""What replaces a name in a packed body: a mark and a number, for a text its distance from the previous one, or a mark for
the same name again. Bodies are JSON, which never contains these characters as they are."""
_SHORT: Final = re.compile(r"\x03|([\x01\x02])(-?[0-9a-f]+)")

_Number = tuple[str, int]
"""A mark, and the number of an entry or a text."""


def put(connection: Connection, snapshots: Sequence[StoredSnapshot], texts: Mapping[str, str]) -> None:
    numbers = _text_numbers(connection, texts)
    new = [{"name": name, "text": text} for name, text in texts.items() if name not in numbers]
    given = connection.executemany(_RECEIPTS["put_text"], new).fetchall()
    numbers |= {one["name"]: number for one, (number,) in zip(new, given, strict=True)}
    for one in snapshots:
        values = (one.id, micros(one.at), one.known, int(one.full), packed(connection, one.body, texts=numbers))
        connection.execute(_RECEIPTS["put"], values)


def _text_numbers(connection: Connection, names: Iterable[str]) -> dict[str, int]:
    return dict(connection.execute(_RECEIPTS["text_numbers"], {"names": json.dumps(list(names))}).fetchall())


def by_id(connection: Connection, query: SnapshotsById) -> tuple[StoredSnapshot, ...]:
    return _opened(connection, connection.execute(_RECEIPTS["by_id"], {"ids": json.dumps(query.ids)}).fetchall())


def newest(connection: Connection, query: SnapshotList) -> tuple[StoredSnapshot, ...]:
    before = _LATEST if query.before is None else micros(query.before)
    values: dict[str, Value] = {"before": before, "limit": query.limit}
    return _opened(connection, connection.execute(_RECEIPTS["newest"], values).fetchall())


def texts(connection: Connection, query: Blobs) -> dict[str, str]:
    return dict(connection.execute(_RECEIPTS["texts"], {"hashes": json.dumps(query.hashes)}).fetchall())


def pack_all(connection: Connection) -> None:
    """Packs what a version without packing wrote."""
    for name, body in connection.execute(_RECEIPTS["plain"]).fetchall():
        connection.execute(_RECEIPTS["pack"], (packed(connection, body), name))


def packed(connection: Connection, body: str, *, texts: Mapping[str, int] | None = None) -> Value:
    """A body for the file; left as it is if packing would not make it shorter. `texts` are numbers that are known already:
    the texts that came with a snapshot are most of the names in it, and looking them up twice took an eighth of the time."""
    if any(mark in body for mark in (_ENTRY, _TEXT, _SAME)):
        return body
    parts = NAMES.split(body)
    known = texts or {}
    others = {name for name in parts[1::2] if name not in known}
    numbers: dict[str, _Number] = {
        name: (_ENTRY, seq)
        for name, seq in connection.execute(_RECEIPTS["entry_numbers"], {"names": json.dumps(list(others))})
    }
    unknown = others - numbers.keys()
    more = _text_numbers(connection, unknown) if unknown else {}
    numbers |= {name: (_TEXT, number) for name, number in (*known.items(), *more.items())}
    parts[1::2] = _shortened(parts[1::2], numbers)
    pressed = press("".join(parts))
    return pressed if len(pressed) < len(body.encode("utf-8", "surrogatepass")) else body


def _shortened(names: Sequence[str], numbers: Mapping[str, _Number]) -> list[str]:
    """Numbers for names, as far as they have any."""
    short: list[str] = []
    last: _Number | None = None
    text = 0
    for name in names:
        number = numbers.get(name)
        if number is None:
            short.append(name)
        elif number == last:
            short.append(_SAME)
        elif number[0] == _ENTRY:
            short.append(f"{_ENTRY}{number[1]:x}")
        else:
            short.append(f"{_TEXT}{number[1] - text:x}")
            text = number[1]
        last = number or last
    return short


def _numbers(body: str) -> list[_Number]:
    """What the marks in a packed body stand for, in order."""
    found: list[_Number] = []
    text = 0
    for mark, digits in _SHORT.findall(body):
        if not mark:
            found.append(found[-1])
        elif mark == _ENTRY:
            found.append((_ENTRY, int(digits, 16)))
        else:
            text += int(digits, 16)
            found.append((_TEXT, text))
    return found


def _opened(connection: Connection, found: Sequence[Columns]) -> tuple[StoredSnapshot, ...]:
    with rows.sense():
        short = {row[0]: unpress(row[3]) for row in found if isinstance(row[3], bytes)}
        numbers = {name: _numbers(body) for name, body in short.items()}
        names = _names(connection, set(chain.from_iterable(numbers.values())))
        whole = {name: _whole(body, iter(numbers[name]), names) for name, body in short.items()}
        return tuple(rows.snapshot((*row[:3], whole.get(row[0], row[3]), row[4])) for row in found)


def _whole(body: str, said: Iterator[_Number], names: Mapping[_Number, str]) -> str:
    return _SHORT.sub(lambda _: names.get(next(said), FORGOTTEN), body)


def _names(connection: Connection, numbers: Collection[_Number]) -> dict[_Number, str]:
    """The names behind numbers, for all bodies at once, because they share most of them."""
    names: dict[_Number, str] = {}
    for mark, query in ((_ENTRY, "entry_names"), (_TEXT, "text_names")):
        asked = [number for of, number in numbers if of == mark]
        if asked:
            found = connection.execute(_RECEIPTS[query], {"numbers": json.dumps(asked)})
            names |= {(mark, number): name for number, name in found}
    return names
