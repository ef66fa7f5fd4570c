"""Programs of Debian that tests run: installed when they are first needed."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

INSTALL = Path(__file__).resolve().parents[1] / "scripts" / "install_program.sh"


def installed(program: str, *, package: str, tests: str) -> str:
    """The program's path. Only where there is no apt are tests skipped, and never where a continuous run expects them."""
    found = shutil.which(program)
    if found is None and shutil.which("apt-get"):
        subprocess.run([str(INSTALL), program, package, tests], check=True)
        found = shutil.which(program)
    if found is not None:
        return found
    words = f"there is no {program} here and no apt to install {package} with: the {tests} tests cannot run"
    if os.environ.get("CI") or shutil.which("apt-get"):
        pytest.fail(words)
    pytest.skip(words)
