"""What was forgotten, recorded outside the memory and its backups, so that an old backup does not bring it back.

A file of JSON lines that is only appended to, and synced before anything is forgotten. A line says for which user (the
digest of tenant and name) and when the ids with these hashes went, or everything. It contains no name, no id and no text.
"""

import errno
import fcntl
import json
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, cast

from hitherto.errors import StoreCorrupt, StoreError, StoreFull, StoreUnavailable

NAME = "forgotten.jsonl"
"""The ledger of a data folder, unless another place is named. Backups do not copy it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Forgotten:
    """One line: what was forgotten of a user at a moment. Empty `hashes` mean everything; `life` then names the log that
    went, so that neither a wrong clock nor a returning user confuses one life with another. Lines of 0.1.0 have none."""

    user: str
    at: datetime
    hashes: tuple[str, ...] = ()
    life: str = ""


class Ledger:
    """The file, which several processes may append to."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def add(self, line: Forgotten) -> None:
        """Durable on return; a line that cannot be written whole is an error, and leaves no part of itself."""
        values = {"user": line.user, "at": line.at.isoformat(), "ids": list(line.hashes)}
        text = json.dumps({**values, "life": line.life} if line.life else values) + "\n"
        try:
            self._append(text.encode())
        except OSError as error:
            raise self._unwritten(error) from error

    def _append(self, line: bytes) -> None:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX)
            _drop_cut_off_line(descriptor)
            if os.write(descriptor, line) < len(line):
                _drop_cut_off_line(descriptor)
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            os.fsync(descriptor)
        finally:
            os.close(descriptor)

    def _unwritten(self, error: OSError) -> StoreError:
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            return StoreFull(f"no space left for {self.path}; nothing was forgotten")
        return StoreUnavailable(f"{self.path} cannot be written ({error}); nothing was forgotten")

    def read(self) -> Mapping[str, Sequence[Forgotten]]:
        """All lines by user, oldest first. A truncated last line was never acted upon."""
        found: dict[str, list[Forgotten]] = {}
        for line in self._lines():
            found.setdefault(line.user, []).append(line)
        return found

    def _lines(self) -> Iterator[Forgotten]:
        if not self.path.exists():
            return
        lines = self.path.read_text("utf-8").split("\n")
        for number, text in enumerate(lines[:-1], start=1):
            try:
                values = cast(dict[str, Any], json.loads(text))
                yield Forgotten(
                    user=values["user"],
                    at=datetime.fromisoformat(values["at"]),
                    hashes=tuple(values["ids"]),
                    life=values.get("life", ""),
                )
            except (ValueError, KeyError, TypeError) as error:
                raise StoreCorrupt(
                    f"{self.path} line {number} cannot be read: what was forgotten is unknown"
                ) from error


def _drop_cut_off_line(descriptor: int) -> None:
    """Removes what a crash or a full disk left of a line, so that the next one is not appended to it."""
    size = os.fstat(descriptor).st_size
    if size and os.pread(descriptor, 1, size - 1) != b"\n":
        os.ftruncate(descriptor, os.pread(descriptor, size, 0).rfind(b"\n") + 1)
