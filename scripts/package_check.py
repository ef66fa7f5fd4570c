"""Builds the package, installs its wheel into fresh environments and runs README's example there.

    python scripts/package_check.py [PYTHON ...]

What is built is what would be published: a source archive, and a wheel made from it. Each environment holds the core install
alone, from the hash-locked requirements, on the lowest and the highest Python found (or on those named). Both archives are
left in dist/.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from collections.abc import Iterator, Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LOWEST = (3, 11)
NEWEST = 30
"""The highest minor version that is looked for."""
EXAMPLE = re.compile(r"```python\n(.*?)```", re.DOTALL)
SHOWN = re.compile(r"^# ?> ?(.*)$", re.MULTILINE)
EXTRAS = ("fastapi", "psycopg", "pydantic_ai", "onnxruntime", "cryptography", "mcp", "redis")
"""What the core install must not have brought along."""


def run(*command: str | Path, cwd: Path, quiet: bool = True) -> str:
    """What a command prints; its end is ours if it fails."""
    kept = {
        name: value for name, value in os.environ.items() if not name.startswith(("HITHERTO_", "PYTHON", "VIRTUAL_"))
    }
    done = subprocess.run(
        [*map(str, command)], cwd=cwd, env=kept, capture_output=quiet, text=True, timeout=600, check=False
    )
    if done.returncode:
        raise SystemExit(f"{' '.join(map(str, command))}\nexit {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout or ""


def version_of(python: str | Path) -> tuple[int, int] | None:
    """Which Python it is; None where it does not run."""
    try:
        done = subprocess.run(
            [str(python), "-c", "import sys; print(*sys.version_info[:2])"],
            capture_output=True,
            text=True,
            timeout=60,
            check=True,
        )
    except (OSError, subprocess.SubprocessError):
        return None
    major, minor = done.stdout.split()
    return int(major), int(minor)


def pythons() -> dict[tuple[int, int], str]:
    """The interpreters on this machine that are new enough, lowest first."""
    managed = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"
    named = (shutil.which(f"python3.{minor}") for minor in range(LOWEST[1], NEWEST))
    tried = [sys.executable, *filter(None, named), *sorted(map(str, managed.glob("*/bin/python")))]
    found: dict[tuple[int, int], str] = {}
    for python in tried:
        version = version_of(python)
        if version is not None and version >= LOWEST:
            found.setdefault(version, python)
    return dict(sorted(found.items()))


def build(folder: Path) -> tuple[Path, Path]:
    """The source archive, and the wheel made from what is in it."""
    hatchling = Path(sys.executable).with_name("hatchling")
    run(hatchling, "build", "--target", "sdist", "--directory", folder, cwd=ROOT)
    [archive] = folder.glob("*.tar.gz")
    with tarfile.open(archive) as opened:
        opened.extractall(folder / "source", filter="data")
    [source] = (folder / "source").iterdir()
    run(hatchling, "build", "--target", "wheel", "--directory", folder, cwd=source)
    [wheel] = folder.glob("*.whl")
    return archive, wheel


def faults(wheel: Path) -> Iterator[str]:
    """What is wrong with what the wheel holds."""
    tracked = run("git", "ls-files", "src/hitherto", cwd=ROOT).split("\n")
    expected = {path.removeprefix("src/") for path in tracked if path and (ROOT / path).exists()}
    with zipfile.ZipFile(wheel) as opened:
        names = set(opened.namelist())
        about = opened.read(next(name for name in names if name.endswith("/METADATA"))).decode()
    for path in sorted(expected - names):
        yield f"{path} is not in the wheel"
    for path in sorted(names - expected):
        if ".dist-info/" not in path:
            yield f"{path} is in the wheel, but not in the repository"
    if not any(name.endswith("licenses/LICENSE") for name in names):
        yield "the licence is not in the wheel"
    if "# Hitherto" not in about:
        yield "README is not the description"


def try_out(wheel: Path, python: str, folder: Path) -> None:
    """A fresh environment with the wheel: the example prints what README says, the commands work, no extra came along."""
    run(python, "-m", "venv", folder / "venv", cwd=folder)
    fresh = folder / "venv" / "bin" / "python"
    pip = (fresh, "-m", "pip", "install", "--quiet", "--disable-pip-version-check")
    run(*pip, "--require-hashes", "-r", ROOT / "requirements" / "run.lock", cwd=folder)
    run(*pip, "--no-deps", wheel, cwd=folder)
    run(fresh, "-m", "pip", "check", cwd=folder)
    example = EXAMPLE.search((ROOT / "README.md").read_text("utf-8"))
    assert example is not None, "README has an example"
    (folder / "example.py").write_text(example[1], "utf-8")
    printed = run(fresh, "-I", "-W", "error", folder / "example.py", cwd=folder)
    for line in SHOWN.findall(example[1]):
        shape = ".*".join(map(re.escape, line.strip().split("…")))
        if not any(re.fullmatch(shape, shown.strip()) for shown in printed.splitlines()):
            raise SystemExit(f"README's example does not print {line!r}, but:\n{printed}")
    brought = run(
        fresh, "-c", f"import importlib.util as u; print(*[m for m in {EXTRAS!r} if u.find_spec(m)])", cwd=folder
    )
    if brought.strip():
        raise SystemExit(f"the core install brought along {brought.strip()}")
    command = folder / "venv" / "bin" / "hitherto"
    for arguments in (["--version"], ["doctor"], ["search", "nuts", "--user", "ana"], ["demo", "--brief"]):
        run(command, *arguments, cwd=folder)


def main(arguments: Sequence[str]) -> int:
    found = {version_of(python) or LOWEST: python for python in arguments} or pythons()
    wanted = dict.fromkeys([min(found), max(found)]) if not arguments else found
    with tempfile.TemporaryDirectory(prefix="hitherto-package-") as named:
        folder = Path(named)
        archive, wheel = build(folder)
        if wrong := list(faults(wheel)):
            raise SystemExit("\n".join(wrong))
        kept = ROOT / "dist"
        kept.mkdir(exist_ok=True)
        for made in (archive, wheel):
            shutil.copy(made, kept)
        print(
            f"{archive.name}: {archive.stat().st_size / 1e6:.1f} MB; {wheel.name}: {wheel.stat().st_size / 1e6:.1f} MB"
        )
        for version in wanted:
            place = folder / f"python{version[0]}.{version[1]}"
            place.mkdir()
            try_out(wheel, found[version], place)
            print(f"Python {version[0]}.{version[1]}: installed, README's example and four commands ran")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
