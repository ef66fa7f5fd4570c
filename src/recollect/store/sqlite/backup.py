"""Copies of a data folder, made while others read and write it, and putting such a copy back.

Each file is copied by SQLite's online backup from one state of it; in WAL mode that keeps no writer waiting. The
catalog comes last, so that a user who is wiped meanwhile is a remnant in the copy as well.
"""

from collections.abc import Awaitable, Callable
from contextlib import closing
from pathlib import Path
from typing import Protocol, TypeVar

from recollect.errors import InvalidInput
from recollect.store.sqlite.driver import connect, truncate_log
from recollect.store.sqlite.failures import translating
from recollect.store.sqlite.layout import Layout, make_folder, sync_folder

T = TypeVar("T")
Secret = Callable[[str], bytes | None]
Progress = Callable[[int, int], None]


class InThread(Protocol):
    def __call__(self, work: Callable[[], T], /) -> Awaitable[T]: ...


async def copy_folder(
    source: Layout, target: Layout, in_thread: InThread, *, secret: Secret, progress: Progress | None
) -> int:
    """Copies every user and the catalog into an empty folder; the number of users."""
    if target.root.exists() and any(target.root.iterdir()):
        raise InvalidInput(f"{str(target.root)!r} is not empty; name a new folder for the backup")
    paths = await in_thread(lambda: list(source.all_users()))
    copied = 0
    for number, path in enumerate(paths, start=1):
        copied += await in_thread(
            lambda path=path: copy_file(path, target.user(path.stem), secret(path.stem))
        )
        if progress is not None:
            progress(number, len(paths))
    await in_thread(lambda: copy_file(source.catalog, target.catalog, None))
    return copied


def copy_file(source: Path, target: Path, key: bytes | None) -> bool:
    """Copies one data file, synced; False when it is gone."""
    with translating(source):
        if not source.exists():
            return False
        make_folder(target.parent)
        with (
            closing(connect(source, writes=False, key=key)) as origin,
            closing(connect(target, create=True, key=key)) as copy,
        ):
            steps = copy.backup("main", origin, "main")
            steps.step(-1)
            steps.finish()
            truncate_log(copy)
        sync_folder(target.parent)
        return True
