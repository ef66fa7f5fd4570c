"""Receipts as a user's file keeps them: the snapshots of contexts, and the texts that they share.

A snapshot is mostly names: the ids of turns and records that were candidates, and the hashes of the texts that it showed, of
32 digits each. The file has a number for both, so a packed snapshot says the number instead, and what is left is compressed
with words that all receipts have in common: 2.3 to 2.9 kB for the 17 to 21 kB of a user of 100 to 10,000 turns, in 0.3 ms.

Numbers are never given twice. One whose row is gone, because it was forgotten, stands for nothing any more: it reads as
`FORGOTTEN`, under which there is no text.
"""

import json
import re
import zlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from importlib.resources import files
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
_ENTRY, _TEXT = "\1", "\2"
"""Before a number in a packed body. JSON, which bodies are, writes no such character as it is."""
_NAME: Final = re.compile(r"(?<!\w)[0-9a-f]{32}(?!\w)")
_NUMBER: Final = re.compile(r"([\1\2])([0-9a-f]+)")


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
    if _ENTRY in body or _TEXT in body:
        return body
    values = {"names": json.dumps(list(dict.fromkeys(_NAME.findall(body))))}
    numbers = {name: f"{_ENTRY}{seq:x}" for name, seq in connection.execute(_RECEIPTS["entry_numbers"], values)}
    numbers |= {name: f"{_TEXT}{number:x}" for name, number in connection.execute(_RECEIPTS["text_numbers"], values)}
    plain = body.encode("utf-8", "surrogatepass")
    short = _NAME.sub(lambda found: numbers.get(found[0], found[0]), body).encode("utf-8", "surrogatepass")
    press = zlib.compressobj(_LEVEL, zlib.DEFLATED, -zlib.MAX_WBITS, 9, zlib.Z_DEFAULT_STRATEGY, _words())
    pressed = _FORMAT + press.compress(short) + press.flush()
    return pressed if len(pressed) < len(plain) else body


def _opened(connection: Connection, found: Sequence[Columns]) -> tuple[StoredSnapshot, ...]:
    with rows.sense():
        short = {row[0]: _unpressed(row[3]) for row in found if isinstance(row[3], bytes)}
        named = _names(connection, short.values())
        whole = {name: _NUMBER.sub(named, body) for name, body in short.items()}
        return tuple(rows.snapshot((*row[:3], whole.get(row[0], row[3]), row[4])) for row in found)


def _unpressed(body: bytes) -> str:
    if body[:1] != _FORMAT:
        raise ValueError(f"a receipt of format {body[:1]!r}")
    try:
        plain = zlib.decompressobj(-zlib.MAX_WBITS, _words()).decompress(body[1:])
    except zlib.error as error:
        raise ValueError(f"a receipt cannot be unpacked: {error}") from error
    return plain.decode("utf-8", "surrogatepass")


def _names(connection: Connection, bodies: Iterable[str]) -> Callable[[re.Match[str]], str]:
    """What gives each number its name again, for all bodies at once: they have most of them in common."""
    said = {token for body in bodies for token in _NUMBER.findall(body)}
    if not said:
        return lambda found: found[0]
    names: dict[tuple[str, str], str] = {}
    for kind, query in ((_ENTRY, "entry_names"), (_TEXT, "text_names")):
        numbers = json.dumps([int(number, 16) for of, number in said if of == kind])
        names |= {
            (kind, f"{number:x}"): name for number, name in connection.execute(_RECEIPTS[query], {"numbers": numbers})
        }
    return lambda found: names.get((found[1], found[2]), FORGOTTEN)


@cache
def _words() -> bytes:
    """Part of the format: a packed body is read with the words it was written with, so the file never changes."""
    return (files("hitherto.store.sqlite") / "receipts-1.words").read_bytes()
