"""Files that hold what users said: only their owner can open them, whatever the process's umask is."""

import os
from pathlib import Path

FOLDER_MODE = 0o700
FILE_MODE = 0o600


def opener(path: str, flags: int) -> int:
    """For `open(…, opener=opener)`: a file created this way is readable by its owner alone; an existing one keeps its mode."""
    return os.open(path, flags, FILE_MODE)


def make_folder(folder: Path) -> None:
    """Creates a folder and its missing parents for their owner alone; existing ones keep their mode."""
    if not folder.is_dir():
        make_folder(folder.parent)
        folder.mkdir(mode=FOLDER_MODE, exist_ok=True)
