"""What every importer is given, what it gives, and what it reports while it reads."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

from hitherto.errors import InvalidInput
from hitherto.types import Turn

SQLITE = b"SQLite format 3\0"


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownFact:
    """What another memory had learnt. It becomes a memory of origin "import", under an id that makes importing twice the
    same as once."""

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
    persona's, where a format does not say; `zone` is the time zone of times that come without one. `passed` (bytes) and
    `skipped` (why → how many) grow while it is read.
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
        """Notes that something of the file became no turn, so that nothing is left out silently."""
        self.skipped[why] += 1

    @property
    def is_sqlite(self) -> bool:
        with self.path.open("rb") as file:
            return file.read(len(SQLITE)) == SQLITE

    def rows(self, table: str, *columns: str) -> Iterator[Sequence[Any]]:
        """Rows of somebody else's SQLite file, read only, in the order they were written."""
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
