"""The same tests on the lowest supported PydanticAI. Installing it needs a package index, so this is `make soak`'s."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tomllib
from importlib.metadata import version
from pathlib import Path

import pytest

from tests import effort

ROOT = Path(__file__).resolve().parents[3]
TESTED = ("test_continuity.py", "test_recording.py", "test_orphans.py")


def lowest() -> str:
    """The lower bound of the extra, as a whole version."""
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["optional-dependencies"]
    (bound,) = re.findall(r">=([\d.]+)", extras["pydantic-ai"][0])
    return bound if bound.count(".") == 2 else f"{bound}.0"


def _outside() -> dict[str, str]:
    """The environment without what this run of the tests has put there for itself."""
    return {name: value for name, value in os.environ.items() if not name.startswith(("HITHERTO_", "PYTEST_"))}


def test_the_installed_version_is_a_supported_one() -> None:
    def numbers(name: str) -> list[int]:
        return [int(part) for part in name.split(".")[:3]]

    assert numbers(version("pydantic-ai-slim")) >= numbers(lowest())


@pytest.mark.req("R1.12")
@pytest.mark.skipif(effort.profile() != "soak", reason="installs another PydanticAI: only in make soak")
def test_the_lowest_supported_version_behaves_alike(tmp_path: Path) -> None:
    wanted = [f"{name}=={lowest()}" for name in ("pydantic-ai-slim", "pydantic-graph")]
    install = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--target", str(tmp_path), *wanted]
    subprocess.run(install, check=True)
    tests = [str(Path(__file__).parent / name) for name in TESTED]
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-k", "not postgres", *tests],
        cwd=ROOT,
        env={**_outside(), "PYTHONPATH": str(tmp_path)},
        check=False,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-2000:]
