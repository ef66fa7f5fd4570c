"""Folders for tests that write much and need no disk to have been written to."""

import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

MEMORY = Path("/dev/shm")


@pytest.fixture
def fast_folder() -> Iterator[Path]:
    """An empty folder, in memory where the system has one: its syncs cost nothing."""
    with tempfile.TemporaryDirectory(dir=MEMORY if MEMORY.is_dir() else None, prefix="hitherto-") as folder:
        yield Path(folder)
