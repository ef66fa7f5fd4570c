"""Files that hold what people told: whatever the process's mask is, only their owner may open what is made here."""

import os
from pathlib import Path

FOLDER_MODE = 0o700
FILE_MODE = 0o600


def opener(path: str, flags: int) -> int:
    """For `open(…, opener=opener)`: a file that this makes is its owner's alone; one that was there keeps its mode."""
    return os.open(path, flags, FILE_MODE)


def make_folder(folder: Path) -> None:
    """Makes a folder, and those above it that are missing, for its owner alone; one that was there keeps its mode."""
    if not folder.is_dir():
        make_folder(folder.parent)
        folder.mkdir(mode=FOLDER_MODE, exist_ok=True)
