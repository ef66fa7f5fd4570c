"""Reads the Dockerfile as a linter would, and runs its steps in a folder, without a container engine.

    python scripts/image_check.py [--lint]

The steps are the file's own: what it copies and runs to build, the variables it sets, its entry point, command, health check
and stop signal. Only what belongs to an engine is left out: pulling the base image, the system's user, the volume.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
KNOWN = {
    "FROM", "ENV", "WORKDIR", "COPY", "RUN", "USER", "VOLUME", "EXPOSE", "STOPSIGNAL", "HEALTHCHECK", "ENTRYPOINT", "CMD",
}  # fmt: skip
SECONDS = 60.0


@dataclass(frozen=True, slots=True)
class Step:
    """One instruction of the file, with its lines joined."""

    name: str
    text: str


def steps(text: str) -> list[Step]:
    lines = "\n".join(line for line in text.split("\n") if not line.lstrip().startswith("#"))
    joined = re.sub(r"\\\n\s*", " ", lines)
    return [Step(*line.split(maxsplit=1)) for line in joined.split("\n") if line.strip()]


def faults(found: Sequence[Step]) -> Iterator[str]:
    """What a linter says of it: the rules of hadolint that could apply to a file like this."""
    last = max(number for number, step in enumerate(found) if step.name == "FROM")
    final = {step.name: step.text for step in found[last:]}
    for step in found:
        if step.name not in KNOWN:
            yield f"{step.name} is not used here (ADD fetches, ONBUILD surprises, SHELL hides)"
        if step.name == "FROM" and not re.match(r"\S+:(?!latest)\S+", step.text):
            yield f"FROM {step.text}: name a version, and not 'latest'"
        if step.name in ("CMD", "ENTRYPOINT") and not _is_list(step.text):
            yield f"{step.name} {step.text}: write a JSON list, so that signals reach the program"
        if step.name == "WORKDIR" and not step.text.startswith("/"):
            yield f"WORKDIR {step.text} is not absolute"
        if step.name == "RUN":
            yield from _run_faults(step.text)
    for name in ("USER", "HEALTHCHECK", "ENTRYPOINT", "STOPSIGNAL"):
        if name not in final:
            yield f"the image has no {name}"
    if final.get("USER") in ("root", "0"):
        yield "the image runs as root"


def _run_faults(text: str) -> Iterator[str]:
    if re.search(r"\b(sudo|cd|curl|wget)\b", text):
        yield f"RUN {text}: use WORKDIR and COPY, and fetch nothing outside of a lock"
    if "apt-get install" in text and not ("--no-install-recommends" in text and "/var/lib/apt/lists" in text):
        yield f"RUN {text}: install without recommendations, and remove the lists"
    for install in re.findall(r"pip install[^&;|]*", text):
        if "--require-hashes" not in install and "--no-deps" not in install:
            yield f"RUN {text}: what pip installs is locked with hashes, or is the project itself"


def _is_list(text: str) -> bool:
    try:
        return isinstance(json.loads(text), list)
    except ValueError:
        return False


def settings(found: Sequence[Step]) -> dict[str, str]:
    """The variables that the steps set."""
    return dict(pair.split("=", 1) for step in found if step.name == "ENV" for pair in shlex.split(step.text))


def built(found: Sequence[Step], folder: Path) -> Path:
    """Runs the steps of the first stage under this folder; where the program is then."""
    app, here = folder / "app", folder
    environment = {**_outside(), **settings(found)}
    for step in found:
        if step.name == "WORKDIR":
            here = folder / step.text.lstrip("/")
            here.mkdir(parents=True, exist_ok=True)
        elif step.name == "COPY":
            *names, target = step.text.split()
            for name in names:
                source = ROOT / name
                place = here / target / ("" if source.is_dir() and len(names) == 1 else source.name)
                place.parent.mkdir(parents=True, exist_ok=True)
                if source.is_dir():
                    shutil.copytree(
                        source, here / target, dirs_exist_ok=True, ignore=shutil.ignore_patterns("__pycache__")
                    )
                else:
                    shutil.copy(source, place)
        elif step.name == "RUN":
            text = step.text.replace("python -m venv", f"{shlex.quote(sys.executable)} -m venv").replace(
                "/app", str(app)
            )
            subprocess.run(
                ["/bin/sh", "-ec", text], cwd=here, env=environment, check=True, capture_output=True, timeout=600
            )
    return app / "bin"


def served(found: Sequence[Step], binaries: Path, folder: Path) -> str:
    """Starts what the image starts, asks its health check, and stops it as an engine does."""
    final = {step.name: step.text for step in found}
    port = _free_port()
    names = settings(found) | {"HITHERTO_DATA": str(folder / "data"), "HITHERTO_PORT": str(port)}
    environment = {**_outside(), **names, "PATH": f"{binaries}:/usr/bin:/bin"}
    entry: list[str] = json.loads(final["ENTRYPOINT"])
    command: list[str] = json.loads(final["CMD"])
    program = str(binaries / entry[0])
    subprocess.run(
        [program, "keys", "create"], env=environment, cwd=folder, check=True, capture_output=True, timeout=SECONDS
    )
    health = json.loads(re.sub(r"^.*?CMD ", "", final["HEALTHCHECK"]))
    health = [str(binaries / health[0]), *(word.replace("8080", str(port)) for word in health[1:])]
    with subprocess.Popen(
        [program, *entry[1:], *command], env=environment, cwd=folder, stderr=subprocess.PIPE
    ) as process:
        try:
            end = time.monotonic() + SECONDS
            while subprocess.run(health, env=environment, cwd=folder, capture_output=True, check=False).returncode:
                if process.poll() is not None or time.monotonic() > end:
                    raise SystemExit(f"{' '.join(command)} is not ready: {process.poll()}")
                time.sleep(0.3)
            process.send_signal(signal.Signals[final["STOPSIGNAL"]])
            code = process.wait(SECONDS)
            if code not in (0, -signal.Signals[final["STOPSIGNAL"]]):
                raise SystemExit(f"{final['STOPSIGNAL']} ended it with {code}")
        finally:
            process.kill()
    return f"{' '.join([*entry, *command])} answered its health check and ended at {final['STOPSIGNAL']}"


def _outside() -> dict[str, str]:
    return {
        name: value for name, value in os.environ.items() if not name.startswith(("HITHERTO_", "PYTHON", "VIRTUAL_"))
    }


def _free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


def main(arguments: Sequence[str]) -> int:
    found = steps((ROOT / "Dockerfile").read_text("utf-8"))
    if wrong := list(faults(found)):
        raise SystemExit("\n".join(wrong))
    print(f"Dockerfile: {len(found)} steps, nothing to say against them")
    if "--lint" in arguments:
        return 0
    second = max(number for number, step in enumerate(found) if step.name == "FROM")
    with tempfile.TemporaryDirectory(prefix="hitherto-image-") as named:
        folder = Path(named)
        binaries = built(found[:second], folder)
        print(served(found[second:], binaries, folder))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
