"""The user files that are open: at most so many, the longest unused closed first."""

import threading
from collections import OrderedDict
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass

from hitherto.store.catalog import UserKey
from hitherto.store.sqlite.userfile import UserFile


@dataclass(slots=True)
class _Entry:
    file: UserFile
    borrowers: int = 0


class OpenFiles:
    """Lends files to threads. One that is lent out is not closed, so there may be a few more than `limit` for a while."""

    def __init__(self, limit: int, make: Callable[[UserKey], UserFile]) -> None:
        self._limit = limit
        self._make = make
        self._lock = threading.Lock()
        self._entries: OrderedDict[UserKey, _Entry] = OrderedDict()

    @contextmanager
    def borrow(self, key: UserKey) -> Generator[UserFile]:
        with self._lock:
            entry = self._entries.get(key)
            if entry is None:
                entry = self._entries[key] = _Entry(self._make(key))
            entry.borrowers += 1
            self._entries.move_to_end(key)
            surplus = self._take_surplus()
        for file in surplus:
            file.close()
        with self._lent(entry) as file:
            yield file

    @contextmanager
    def borrow_open(self, key: UserKey) -> Generator[UserFile | None]:
        """One that is open; None for any other. Opens and closes nothing, so it takes no time."""
        with self._lock:
            entry = self._entries.get(key)
            if entry is not None:
                entry.borrowers += 1
        if entry is None:
            yield None
            return
        with self._lent(entry) as file:
            yield file

    @contextmanager
    def _lent(self, entry: _Entry) -> Generator[UserFile]:
        try:
            yield entry.file
        finally:
            with self._lock:
                entry.borrowers -= 1

    def _take_surplus(self) -> list[UserFile]:
        over = len(self._entries) - self._limit
        if over <= 0:
            return []
        idle = [key for key, entry in self._entries.items() if not entry.borrowers]
        return [self._entries.pop(key).file for key in idle[:over]]

    def close(self) -> None:
        with self._lock:
            files = [entry.file for entry in self._entries.values()]
            self._entries.clear()
        for file in files:
            file.close()

    def __len__(self) -> int:
        with self._lock:
            return len(self._entries)
