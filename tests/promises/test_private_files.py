"""What people told is their owner's alone on the disk, whatever mask the process has."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest

from hitherto import Hitherto
from hitherto.deliver.cli import main
from hitherto.testing import FakeClock
from tests.promises.canaries import canary, files_with, live

MASTER = "1e" * 32


@pytest.fixture(autouse=True)
def _no_mask() -> Iterator[None]:
    """The mask that hides nothing."""
    before = os.umask(0)
    yield
    os.umask(before)


def _open_to_others(*places: Path) -> list[str]:
    """Folders, and files outside a closed folder, with any right for others than their owner."""
    found = [path for place in places for path in (place, *place.rglob("*"))]
    assert len(found) >= len(places)
    return [f"{path.name} {mode:o}" for path in found if (mode := stat.S_IMODE(path.stat().st_mode)) & 0o077]


@pytest.mark.promise("files of their owner alone")
@pytest.mark.parametrize("key", [None, MASTER], ids=["plain", "encrypted"])
async def test_a_folder_its_files_keys_and_backups(tmp_path: Path, key: str | None) -> None:
    clock, folder, backup = FakeClock(), tmp_path / "deep" / "memories", tmp_path / "copies" / "backup"
    async with Hitherto(folder, clock=clock, master_key=key) as memory:
        await live(memory, clock, "ana", canary(1))
        await live(memory, clock, "bo", canary(2))
        assert any(path.name.endswith("-wal") for path in folder.rglob("*"))
        assert _open_to_others(folder) == []
        await memory.forget(user="ana", turn="ana-1")
        await memory.forget(user="bo", everything=True)
        assert (folder / "forgotten.jsonl").is_file()
        await memory.backup(backup)
        assert _open_to_others(tmp_path / "deep", tmp_path / "copies") == []


@pytest.mark.promise("files of their owner alone")
async def test_an_export_and_what_a_restore_makes(tmp_path: Path) -> None:
    clock, folder = FakeClock(), tmp_path / "memories"
    async with Hitherto(folder, clock=clock) as memory:
        await live(memory, clock, "ana", canary(1))
        await memory.backup(tmp_path / "backup")
        await memory.forget(user="ana", turn="ana-1")
    exported, restored = tmp_path / "ana.jsonl", tmp_path / "restored"
    ledger = folder / "forgotten.jsonl"
    assert main(["--data", str(folder), "export", "--user", "ana", "--output", str(exported)]) == 0
    assert main(["--data", str(restored), "restore", str(tmp_path / "backup"), "--forgotten", str(ledger)]) == 0
    assert files_with(["sister"], exported.parent), "there is something to hide"
    assert _open_to_others(exported, restored) == []


@pytest.mark.promise("files of their owner alone")
async def test_a_backup_of_postgres(postgres_url: str, tmp_path: Path) -> None:
    clock = FakeClock()
    async with Hitherto(postgres_url, clock=clock) as memory:
        await live(memory, clock, "ana", canary(1))
        await memory.backup(tmp_path / "copies" / "backup")
    assert files_with([canary(1)], tmp_path)
    assert _open_to_others(tmp_path / "copies") == []


async def test_a_folder_that_was_there_keeps_its_mode(tmp_path: Path) -> None:
    """Somebody shares it with a group on purpose, or `hitherto doctor` tells them."""
    folder = tmp_path / "memories"
    folder.mkdir(mode=0o750)
    async with Hitherto(folder) as memory:
        await live(memory, FakeClock(), "ana", canary(1))
    assert stat.S_IMODE(folder.stat().st_mode) == 0o750
    assert _open_to_others(*(path for path in folder.iterdir())) == []
