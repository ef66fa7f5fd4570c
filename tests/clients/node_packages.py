"""Node and the packages that tests run in it: installed when they are first needed, from a lock, into `build/`."""

from __future__ import annotations

import asyncio
import fcntl
import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
SCRIPTS = ROOT / "tests" / "clients" / "node"


def installed(folder: Path = SCRIPTS) -> Path:
    """The folder in which the packages of a package.json are. Skipped where there is no Node, never in a continuous run."""
    if shutil.which("npm") is None:
        words = "there is no npm here: tests with Node's packages cannot run"
        if os.environ.get("CI"):
            pytest.fail(words)
        pytest.skip(words)
    build = ROOT / "build" / "node" / folder.relative_to(ROOT).as_posix().replace("/", "-")
    build.parent.mkdir(parents=True, exist_ok=True)
    with (build.parent / f"{build.name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # Test processes that run side by side install it once.
        subprocess.run([str(ROOT / "scripts" / "install_npm.sh"), str(folder), str(build)], check=True)
    return build


async def run(script: str, *arguments: str, seconds: float = 120) -> list[str]:
    """The lines that a script prints, run beside the packages."""
    build = installed()
    place = build / script
    place.write_text((SCRIPTS / script).read_text("utf-8"), "utf-8")
    process = await asyncio.create_subprocess_exec(
        "node", str(place), *arguments, cwd=build, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE
    )
    async with asyncio.timeout(seconds):
        out, err = await process.communicate()
    assert process.returncode == 0, err.decode()
    return out.decode().splitlines()


def version_of(package: str) -> str:
    """The version that a lock holds: of the packages that drive the endpoint, or of those of the TypeScript client."""
    locks: list[Any] = [
        json.loads((folder / "package-lock.json").read_text("utf-8"))
        for folder in (SCRIPTS, ROOT / "clients" / "typescript")
    ]
    name = f"node_modules/{package}"
    return next(str(lock["packages"][name]["version"]) for lock in locks if name in lock["packages"])
