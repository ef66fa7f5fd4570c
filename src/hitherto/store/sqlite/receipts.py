"""Receipts as a user's file keeps them: the snapshots of contexts, and the texts that they share.

A snapshot is mostly names: the ids of turns and records that were candidates, and the hashes of the texts that it showed, of
32 digits each. The file has a number for both, so a packed snapshot says the number instead, and what is left is compressed
with words that all receipts have in common: 2.8 kB at the median of a conversation of 109 turns, 4.5 kB where 10,000 turns
give 180 candidates.

Numbers are never given twice. One whose row is gone, because it was forgotten, stands for nothing any more: it reads as
`FORGOTTEN`, under which there is no text.
"""

import json
import re
import zlib
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import cache
from importlib.resources import files
from itertools import chain
from typing import Final

from hitherto.clock import micros
from hitherto.store.codec import Columns
from hitherto.store.protocol import Blobs, SnapshotList, SnapshotsById, StoredSnapshot
from hitherto.store.sql import queries
from hitherto.store.sqlite import rows
from hitherto.store.sqlite.connections import Connection, Value

FORGOTTEN: Final = "0" * 32
_RECEIPTS = queries("sqlite", "receipts")
_LATEST: Final = 2**62
_FORMAT: Final = b"\1"
"""The first byte of a packed body: which words it was compressed with."""
_LEVEL: Final = 9
_ENTRY, _TEXT, _SAME = "\1", "\2", "\3"
"""What stands for a name in a packed body: a mark and a number, for a text its distance from the one before, or that it is the
same name again. JSON, which bodies are, writes no such character as it is."""
_NAME: Final = re.compile(r"(?<!\w)[0-9a-f]{32}(?!\w)")
_SHORT: Final = re.compile(r"\x03|([\x01\x02])(-?[0-9a-f]+)")

_Number = tuple[str, int]
"""A mark, and the number of an entry or a text."""


def put(connection: Connection, snapshots: Sequence[StoredSnapshot], texts: Mapping[str, str]) -> None:
    connection.executemany(_RECEIPTS["put_text"], [{"hash": name, "text": text} for name, text in texts.items()])
    for one in snapshots:
        values = (one.id, micros(one.at), one.known, int(one.full), packed(connection, one.body))
        connection.execute(_RECEIPTS["put"], values)


def by_id(connection: Connection, query: SnapshotsById) -> tuple[StoredSnapshot, ...]:
    return _opened(connection, connection.execute(_RECEIPTS["by_id"], {"ids": json.dumps(query.ids)}).fetchall())


def newest(connection: Connection, query: SnapshotList) -> tuple[StoredSnapshot, ...]:
    before = _LATEST if query.before is None else micros(query.before)
    values: dict[str, Value] = {"before": before, "limit": query.limit}
    return _opened(connection, connection.execute(_RECEIPTS["newest"], values).fetchall())


def texts(connection: Connection, query: Blobs) -> dict[str, str]:
    return dict(connection.execute(_RECEIPTS["texts"], {"hashes": json.dumps(query.hashes)}).fetchall())


def pack_all(connection: Connection) -> None:
    """Packs what a version that did not pack has written."""
    for name, body in connection.execute(_RECEIPTS["plain"]).fetchall():
        connection.execute(_RECEIPTS["pack"], (packed(connection, body), name))


def packed(connection: Connection, body: str) -> Value:
    """A body for the file; as it is where packing makes it no shorter."""
    if any(mark in body for mark in (_ENTRY, _TEXT, _SAME)):
        return body
    values = {"names": json.dumps(list(dict.fromkeys(_NAME.findall(body))))}
    numbers: dict[str, _Number] = {
        name: (_ENTRY, seq) for name, seq in connection.execute(_RECEIPTS["entry_numbers"], values)
    }
    numbers |= {name: (_TEXT, number) for name, number in connection.execute(_RECEIPTS["text_numbers"], values)}
    plain = body.encode("utf-8", "surrogatepass")
    short = _NAME.sub(_Shortening(numbers), body).encode("utf-8", "surrogatepass")
    press = zlib.compressobj(_LEVEL, zlib.DEFLATED, -zlib.MAX_WBITS, 9, zlib.Z_DEFAULT_STRATEGY, _words())
    pressed = _FORMAT + press.compress(short) + press.flush()
    return pressed if len(pressed) < len(plain) else body


class _Shortening:
    """Writes numbers for names, one after the other."""

    def __init__(self, numbers: Mapping[str, _Number]) -> None:
        self._numbers = numbers
        self._last: _Number | None = None
        self._text = 0

    def __call__(self, found: re.Match[str]) -> str:
        number = self._numbers.get(found[0])
        if number is None:
            return found[0]
        if number == self._last:
            return _SAME
        self._last = number
        if number[0] == _ENTRY:
            return f"{_ENTRY}{number[1]:x}"
        distance, self._text = number[1] - self._text, number[1]
        return f"{_TEXT}{distance:x}"


def _numbers(body: str) -> list[_Number]:
    """What the marks in a packed body stand for, in their order."""
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
        short = {row[0]: _unpressed(row[3]) for row in found if isinstance(row[3], bytes)}
        numbers = {name: _numbers(body) for name, body in short.items()}
        names = _names(connection, set(chain.from_iterable(numbers.values())))
        whole = {name: _whole(body, iter(numbers[name]), names) for name, body in short.items()}
        return tuple(rows.snapshot((*row[:3], whole.get(row[0], row[3]), row[4])) for row in found)


def _whole(body: str, said: Iterator[_Number], names: Mapping[_Number, str]) -> str:
    return _SHORT.sub(lambda _: names.get(next(said), FORGOTTEN), body)


def _unpressed(body: bytes) -> str:
    if body[:1] != _FORMAT:
        raise ValueError(f"a receipt of format {body[:1]!r}")
    try:
        plain = zlib.decompressobj(-zlib.MAX_WBITS, _words()).decompress(body[1:])
    except zlib.error as error:
        raise ValueError(f"a receipt cannot be unpacked: {error}") from error
    return plain.decode("utf-8", "surrogatepass")


def _names(connection: Connection, numbers: Collection[_Number]) -> dict[_Number, str]:
    """The names behind numbers, for all bodies at once: they have most of them in common."""
    names: dict[_Number, str] = {}
    for mark, query in ((_ENTRY, "entry_names"), (_TEXT, "text_names")):
        asked = [number for of, number in numbers if of == mark]
        if asked:
            found = connection.execute(_RECEIPTS[query], {"numbers": json.dumps(asked)})
            names |= {(mark, number): name for number, name in found}
    return names


@cache
def _words() -> bytes:
    """Part of the format: a packed body is read with the words it was written with, so the file never changes."""
    return (files("hitherto.store.sqlite") / "receipts-1.words").read_bytes()
