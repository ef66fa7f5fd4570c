"""A disk whose power can be cut: what was written is recorded, and any crash can be played back afterwards.

While a `Recorder` is installed, every write, truncation, sync, deletion and rename of the store goes into one list,
SQLite's through a VFS of ours and Python's through `os`. `Disk` replays the beginning of that list and then loses power:
of what was not synced it keeps any part, in any order, torn between sectors. Names (created, renamed, deleted) become
durable when their folder is synced, and in order; a crash keeps the first so many of those that were not.
SQLite syncs the folder with the first sync of a new log, beneath the VFS, so that sync counts for both.
"""

import os
import random
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import pytest

from tests.faults.shim import Watcher, watching

SECTOR = 512
Kind = Literal["create", "write", "truncate", "sync", "delete", "rename", "sync_folder", "mark"]


@dataclass(frozen=True, slots=True)
class Op:
    """One thing that was done to a file; `mark` is a word of the test's about how far it has got."""

    kind: Kind
    path: str
    offset: int = 0
    data: bytes = b""
    target: str = ""
    word: Any = None


class Recorder(Watcher):
    """Everything that was done below one folder, in order."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.ops: list[Op] = []

    def add(self, kind: Kind, path: str, **more: Any) -> None:
        if Path(path).is_relative_to(self.root) and not path.endswith((".lock", "-shm")):
            self.ops.append(Op(kind, path, **more))

    def mark(self, word: Any) -> None:
        self.ops.append(Op("mark", "", word=word))

    def created(self, path: str) -> None:
        self.add("create", path)

    def wrote(self, path: str, offset: int, data: bytes) -> None:
        self.add("write", path, offset=offset, data=data)

    def truncated(self, path: str, size: int) -> None:
        self.add("truncate", path, offset=size)

    def synced(self, path: str) -> None:
        self.add("sync", path)
        if path.endswith(("-wal", "-journal")):
            self.add("sync_folder", str(Path(path).parent))

    def deleted(self, path: str, *, folder_synced: bool) -> None:
        self.add("delete", path)
        if folder_synced:
            self.add("sync_folder", str(Path(path).parent))


@contextmanager
def recording(root: Path) -> Generator[Recorder]:
    """Records what is done below `root` by code that runs inside."""
    recorder = Recorder(root)
    real_fsync, real_rename, real_unlink = os.fsync, os.rename, os.unlink

    def fsync(descriptor: int) -> None:
        real_fsync(descriptor)
        path = os.readlink(f"/proc/self/fd/{descriptor}")  # noqa: PTH115 - not a path of ours
        recorder.add("sync_folder" if Path(path).is_dir() else "sync", path)

    def rename(source: Any, target: Any) -> None:
        real_rename(source, target)
        recorder.add("rename", str(source), target=str(target))

    def unlink(path: Any) -> None:
        real_unlink(path)
        recorder.add("delete", str(path))

    with pytest.MonkeyPatch.context() as patch, watching(recorder):
        patch.setattr(os, "fsync", fsync)
        patch.setattr(os, "rename", rename)
        patch.setattr(os, "unlink", unlink)
        yield recorder


@dataclass(slots=True)
class _Inode:
    durable: bytearray = field(default_factory=bytearray)
    pending: list[Op] = field(default_factory=list[Op])


class Disk:
    """The state after a number of recorded operations, as far as it is sure and as far as it is not."""

    def __init__(self, ops: list[Op]) -> None:
        self._names: dict[str, _Inode] = {}
        self._durable_names: dict[str, _Inode] = {}
        self._pending_names: dict[str, list[Callable[[dict[str, _Inode]], None]]] = {}
        for op in ops:
            self._do(op)

    def _do(self, op: Op) -> None:
        if op.kind == "create":
            inode = _Inode()
            self._rename_with(op.path, lambda names: names.__setitem__(op.path, inode))
        elif op.kind in ("write", "truncate"):
            self._names[op.path].pending.append(op)
        elif op.kind == "sync":
            inode = self._names[op.path]
            for change in inode.pending:
                _apply(inode.durable, change)
            inode.pending.clear()
        elif op.kind == "delete":
            self._rename_with(op.path, lambda names: names.pop(op.path, None))
        elif op.kind == "rename":
            inode = self._names[op.path]

            def move(names: dict[str, _Inode]) -> None:
                names.pop(op.path, None)
                names[op.target] = inode

            self._rename_with(op.path, move)
        elif op.kind == "sync_folder":
            for change in self._pending_names.pop(op.path, []):
                change(self._durable_names)

    def _rename_with(self, path: str, change: Callable[[dict[str, _Inode]], Any]) -> None:
        change(self._names)
        self._pending_names.setdefault(str(Path(path).parent), []).append(change)

    def cut_power(self, root: Path, target: Path, chance: random.Random) -> None:
        """Writes what is left of `root` into `target`."""
        names = dict(self._durable_names)
        for changes in self._pending_names.values():
            for change in changes[: chance.randint(0, len(changes))]:
                change(names)
        for path, inode in names.items():
            content = bytearray(inode.durable)
            for op in _survivors(inode.pending, chance):
                _apply(content, op)
            place = target / Path(path).relative_to(root)
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(content)

    def kill(self, root: Path, target: Path) -> None:
        """Writes what the system still has when only the process ends: everything."""
        for path, inode in self._names.items():
            content = bytearray(inode.durable)
            for op in inode.pending:
                _apply(content, op)
            place = target / Path(path).relative_to(root)
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(content)


def _survivors(pending: list[Op], chance: random.Random) -> list[Op]:
    """What the disk had written by itself: any part, in any order, whole or torn."""
    kept = chance.choice((0.0, 0.3, 0.7, 1.0))
    survivors = [_torn(op, chance) for op in pending if chance.random() < kept]
    if chance.random() < 0.5:
        chance.shuffle(survivors)
    return survivors


def _torn(op: Op, chance: random.Random) -> Op:
    if op.kind != "write" or len(op.data) <= SECTOR or chance.random() < 0.7:
        return op
    cut = chance.randrange(SECTOR, len(op.data), SECTOR)
    if chance.random() < 0.5:
        return Op("write", op.path, offset=op.offset, data=op.data[:cut])
    return Op("write", op.path, offset=op.offset + cut, data=op.data[cut:])


def _apply(content: bytearray, op: Op) -> None:
    if op.kind == "truncate":
        del content[op.offset :]
        return
    end = op.offset + len(op.data)
    if len(content) < end:
        content.extend(bytes(end - len(content)))
    content[op.offset : end] = op.data
