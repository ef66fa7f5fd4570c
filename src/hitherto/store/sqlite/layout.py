"""Where files lie in the data folder. A user's files are named by digest, never by name."""

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from hitherto.private import FOLDER_MODE


@dataclass(frozen=True, slots=True)
class Layout:
    """`root/catalog.db` and `root/users/ab/ab….db`, each with SQLite's two companions and a lock beside it."""

    root: Path

    @classmethod
    def of(cls, folder: str | Path) -> "Layout":
        return cls(Path(folder).absolute())

    @property
    def catalog(self) -> Path:
        return self.root / "catalog.db"

    @property
    def users(self) -> Path:
        return self.root / "users"

    def user(self, digest: str) -> Path:
        return self.users / digest[:2] / f"{digest}.db"

    def all_users(self) -> Iterator[Path]:
        """Every user's file, in the order of the digests."""
        for folder in sorted(self.users.iterdir()) if self.users.is_dir() else ():
            if folder.is_dir():
                yield from sorted(folder.glob("*.db"))


def lock_of(path: Path) -> Path:
    return path.with_suffix(".lock")


def companions_of(path: Path) -> tuple[Path, Path]:
    """The write-ahead log and its index."""
    return path.with_name(path.name + "-wal"), path.with_name(path.name + "-shm")


def make_folder(folder: Path) -> None:
    """Creates a folder for its owner alone, durably, so that it survives a power loss."""
    if folder.is_dir():
        return
    make_folder(folder.parent)
    folder.mkdir(mode=FOLDER_MODE, exist_ok=True)
    sync_folder(folder.parent)


def sync_folder(folder: Path) -> None:
    """Makes the names in a folder durable."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
