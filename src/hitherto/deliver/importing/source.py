"""What every importer is given, what it yields, and what it reports while it reads."""

import json
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any, BinaryIO, Final

from hitherto.errors import InvalidInput
from hitherto.types import Turn

SQLITE = b"SQLite format 3\0"


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownFact:
    """What another memory had learnt. It becomes a memory of origin "import", under an id that makes a repeated import
    change nothing."""

    user: str
    id: str
    text: str
    at: datetime | None = None
    persona: str | None = None
    valid_from: datetime | None = None
    valid_to: datetime | None = None


Imported = Turn | KnownFact


@dataclass(slots=True)
class Source:
    """One file to import, and for whom.

    `user` owns what the file does not assign itself; `persona` is who answered; `assistant` names whose messages are the
    persona's if the format does not say; `zone` is the time zone of times without one. `passed` (bytes) and `skipped`
    (reason → count) grow while the file is read.
    """

    path: Path
    user: str | None = None
    persona: str | None = None
    assistant: str | None = None
    zone: str = "UTC"
    passed: int = 0
    skipped: Counter[str] = field(default_factory=Counter[str])

    @property
    def size(self) -> int:
        return self.path.stat().st_size

    def owner(self, *, of: str) -> str:
        if self.user is None:
            raise InvalidInput(f"{self.path.name}: {of} does not say whose memory it is; pass the user")
        return self.user

    def skip(self, why: str) -> None:
        """Notes that something in the file became no turn, so that nothing is left out silently."""
        self.skipped[why] += 1

    @property
    def is_sqlite(self) -> bool:
        with self.path.open("rb") as file:
            return file.read(len(SQLITE)) == SQLITE

    def rows(self, table: str, *columns: str) -> Iterator[Sequence[Any]]:
        """Rows of another program's SQLite file, read-only, in the order they were written."""
        import apsw

        connection: Any = apsw.Connection(str(self.path), flags=apsw.SQLITE_OPEN_READONLY)
        try:
            found = {row[1] for row in connection.execute(f'pragma table_info("{table}")')}
            if missing := [column for column in columns if column not in found]:
                raise InvalidInput(f"{self.path.name}: its table {table!r} has no column {missing[0]!r}")
            names = ", ".join(f'"{column}"' for column in columns)
            total = next(iter(connection.execute(f'select count(*) from "{table}"')))[0]
            for number, row in enumerate(connection.execute(f'select {names} from "{table}" order by rowid'), 1):
                self.passed = self.size * number // total
                yield row
        except apsw.Error as error:
            raise InvalidInput(f"{self.path.name} cannot be read as SQLite: {error}") from error
        finally:
            connection.close()

    def has_table(self, table: str) -> bool:
        return any(name == table for (name,) in self.rows("sqlite_master", "name"))


# --- values out of a JSON file of any size, with the line of every mistake -------------------------------------------------
# An export is one JSON document of sometimes several gigabytes, so it cannot be parsed whole. The reader walks it: the
# caller steps into arrays and objects, takes the small values it wants as Python objects and skips the rest. Only the value
# being taken is in memory. It works on bytes, where JSON's own syntax is single bytes, so that the position of a value in
# the file is known and can be read again.

CHUNK: Final = 1 << 16
_REST_OF_STRING: Final = re.compile(rb'[^"\\]*+(?:\\.[^"\\]*+)*+"', re.DOTALL)
_TO_BRACKET: Final = re.compile(rb'[^"{}\[\]]*+(?:"[^"\\]*+(?:\\.[^"\\]*+)*+"[^"{}\[\]]*+)*+([{}\[\]])', re.DOTALL)
"""Everything up to the next bracket outside a string."""
_SCALAR_END: Final = re.compile(rb"[\s,\]}]")
_BLANK: Final = re.compile(rb"\s*")
_MARK: Final = b"\xef\xbb\xbf"


class JsonStream:
    """A cursor over one file. `elements` and `members` step into a value; `value` takes it; `skip` passes over it."""

    def __init__(self, file: BinaryIO, *, name: str) -> None:
        self._file = file
        self._name = name
        self._text = b""
        self._at = 0
        self._dropped = 0
        self._lines = 1
        self._more()
        if self._text.startswith(_MARK):
            self._at = len(_MARK)

    @property
    def offset(self) -> int:
        """How many bytes of the file have been passed."""
        return self._dropped + self._at

    @property
    def line(self) -> int:
        """The line of the cursor. Counted on demand: only a mistake needs it."""
        return self._lines + self._text.count(b"\n", 0, self._at)

    def peek(self) -> bytes:
        """The first byte of what comes next; empty at the end of the file."""
        while True:
            self._at = self._end_of_blank()
            if self._at < len(self._text):
                return self._text[self._at : self._at + 1]
            if not self._more():
                return b""

    def value(self) -> object:
        """The next value, complete."""
        end = self._end()
        try:
            found: object = json.loads(self._text[self._at : end])
        except json.JSONDecodeError as error:
            raise self._wrong(f"this is not JSON ({error.msg})", line=self.line + error.lineno - 1) from error
        except UnicodeDecodeError as error:
            raise self._wrong("this is not UTF-8") from error
        except (RecursionError, ValueError) as error:
            raise self._wrong("this value is nested too deeply or has a number too long") from error
        self._at = end
        return found

    def skip(self) -> None:
        self._at = self._end()

    def elements(self) -> Iterator[None]:
        """Stops before each element of the next array in turn; the caller takes or skips it."""
        self._expect(b"[")
        if self.peek() == b"]":
            self._at += 1
            return
        while True:
            yield
            if self._expect(b",", b"]") == b"]":
                return

    def members(self) -> Iterator[str]:
        """The keys of the next object, stopping before each one's value."""
        self._expect(b"{")
        if self.peek() == b"}":
            self._at += 1
            return
        while True:
            if self.peek() != b'"':
                raise self._wrong("a key in double quotes is missing")
            key = self.value()
            self._expect(b":")
            yield str(key)
            if self._expect(b",", b"}") == b"}":
                return

    def _expect(self, *signs: bytes) -> bytes:
        found = self.peek()
        if found not in signs:
            wanted = " or ".join(repr(sign.decode()) for sign in signs)
            what = f"found {found.decode('latin-1')!r}" if found else "the file ends"
            raise self._wrong(f"expected {wanted}, {what}")
        self._at += 1
        return found

    def _end(self) -> int:
        """Where the next value ends, with all of it in the buffer."""
        first = self.peek()
        if not first:
            raise self._wrong("the file ends where a value should be")
        if first == b'"':
            return self._string_end(self._at + 1)
        return self._container_end() if first in b"{[" else self._scalar_end()

    def _container_end(self) -> int:
        depth, at = 0, self._at
        while True:
            found = _TO_BRACKET.match(self._text, at)
            if found is None:
                at = self._grow(at, "an array, an object or a string in it is never closed")
                continue
            at = found.end()
            depth += 1 if found.group(1) in b"{[" else -1
            if depth == 0:
                return at

    def _string_end(self, at: int) -> int:
        while (found := _REST_OF_STRING.match(self._text, at)) is None:
            at = self._grow(at, "a string is never closed")
        return found.end()

    def _scalar_end(self) -> int:
        while (found := _SCALAR_END.search(self._text, self._at)) is None:
            if not self._more():
                return len(self._text)
        if found.start() == self._at:
            raise self._wrong(f"expected a value, found {found.group().decode()!r}")
        return found.start()

    def _end_of_blank(self) -> int:
        found = _BLANK.match(self._text, self._at)
        return found.end() if found else self._at

    def _grow(self, at: int, complaint: str) -> int:
        """The same position after reading on; the buffer is dropped up to the cursor."""
        before = self._at
        if not self._more():
            raise self._wrong(complaint)
        return at - before + self._at

    def _more(self) -> bool:
        """Reads as much again as is buffered, so that a long value costs no more than its length."""
        chunk = self._file.read(max(CHUNK, len(self._text) - self._at))
        if not chunk:
            return False
        self._lines += self._text.count(b"\n", 0, self._at)
        self._dropped += self._at
        self._text = self._text[self._at :] + chunk
        self._at = 0
        return True

    def _wrong(self, complaint: str, *, line: int | None = None) -> InvalidInput:
        return InvalidInput(f"{self._name}, line {line or self.line}: {complaint}")
