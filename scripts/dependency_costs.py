"""Measures what each direct dependency costs and writes the table in docs/dependencies.md.

Import time is that of a fresh interpreter (`-X importtime`, cumulative, caches warm), with a module of the
standard library beside it for scale; sizes are the installed files, alone and with everything they pull in.
"""

from __future__ import annotations

import os
import re
import statistics
import subprocess
import sys
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.metadata import Distribution, distribution
from pathlib import Path
from typing import Any

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "dependencies.md"
BEGIN, END = "<!-- measured: begin -->", "<!-- measured: end -->"
RUNS = 7
SCALE = "asyncio"

# What a program imports where it is not the package's own name; None for what runs as a command or a plugin.
IMPORTED: dict[str, str | None] = {
    "apsw-sqlite3mc": "apsw",
    "basedpyright": None,
    "hatchling": None,
    "langgraph": "langgraph.graph",
    "langgraph-checkpoint-conformance": "langgraph.checkpoint.conformance",
    "mkdocs-material": None,
    "openai-agents": "agents",
    "opentelemetry-api": "opentelemetry.trace",
    "opentelemetry-sdk": "opentelemetry.sdk.trace",
    "playwright": "playwright.sync_api",
    "pydantic-ai-slim": "pydantic_ai",
    "pytest-asyncio": None,
    "pytest-timeout": None,
    "pytest-xdist": None,
    "python-multipart": "python_multipart",
    "python-telegram-bot": "telegram",
    "rich": "rich.console",
    "ruff": None,
    "splintr-rs": "splintr",
}


FRAMEWORKS = (
    "aiogram",
    "crewai",
    "google-adk",
    "langgraph",
    "livekit",
    "llama-index",
    "openai-agents",
    "pipecat",
    "telegram",
)
"""Extras for the frameworks of others. Like the group `clients` they are in an environment of their own."""


@dataclass(frozen=True)
class Dependency:
    name: str
    extras: frozenset[str]
    used_by: str
    """`core`, an extra in square brackets, or a dependency group."""


@dataclass(frozen=True)
class Cost:
    version: str
    import_ms: tuple[float, ...]
    own_bytes: int
    total_bytes: int


def read_dependencies(project: dict[str, Any]) -> tuple[Dependency, ...]:
    """Direct dependencies, each once, at the first place that asks for it."""
    asked: list[tuple[str, str]] = [("core", line) for line in project["project"]["dependencies"]]
    for extra, lines in project["project"]["optional-dependencies"].items():
        if extra in FRAMEWORKS:
            continue
        asked += [(f"[{extra}]", line) for line in lines]
    for group, lines in project["dependency-groups"].items():
        if group == "clients":
            continue
        asked += [(group, line) for line in lines if isinstance(line, str)]
    found: dict[str, Dependency] = {}
    for used_by, line in asked:
        requirement = Requirement(line)
        name = canonicalize_name(requirement.name)
        if name != project["project"]["name"]:
            found.setdefault(name, Dependency(name, frozenset(requirement.extras), used_by))
    return tuple(found.values())


def parse_import_time(report: str, module: str) -> float:
    """Milliseconds of the module's own line in a report of `-X importtime`."""
    found = re.search(rf"\|\s*(\d+)\s*\|\s*{re.escape(module)}$", report, re.MULTILINE)
    if found is None:
        raise LookupError(f"no line for {module!r} in the report")
    return int(found[1]) / 1000


def measure(dependency: Dependency) -> Cost:
    installed = distribution(dependency.name)
    module = IMPORTED.get(dependency.name, dependency.name.replace("-", "_"))
    return Cost(
        version=installed.version,
        import_ms=measure_import(module) if module else (),
        own_bytes=_size(installed),
        total_bytes=sum(_size(distribution(name)) for name in _closure(dependency)),
    )


def measure_import(module: str) -> tuple[float, ...]:
    """Milliseconds of several imports; one before them warms the caches."""
    command = [sys.executable, "-X", "importtime", "-c", f"import {module}"]
    reports = [subprocess.run(command, check=True, capture_output=True, text=True).stderr for _ in range(RUNS + 1)]
    return tuple(parse_import_time(report, module) for report in reports[1:])


def _closure(dependency: Dependency) -> set[str]:
    """The package and all it needs on this machine."""
    seen: set[tuple[str, str]] = set()
    waiting: list[tuple[str, str]] = [(dependency.name, extra) for extra in ("", *dependency.extras)]
    while waiting:
        name, extra = waiting.pop()
        if (name, extra) in seen:
            continue
        seen.add((name, extra))
        for line in distribution(name).requires or ():
            needed = Requirement(line)
            if needed.marker is None or needed.marker.evaluate({"extra": extra}):
                waiting += [(canonicalize_name(needed.name), extra) for extra in ("", *needed.extras)]
    return {name for name, _ in seen}


def _size(installed: Distribution) -> int:
    paths = [Path(str(installed.locate_file(file))) for file in installed.files or () if file.suffix != ".pyc"]
    return sum(path.stat().st_size for path in paths if path.is_file())


def render(costs: Sequence[tuple[Dependency, Cost]], *, scale: Sequence[float], load: str) -> str:
    """The load goes with the times, because a busy machine stretches all of them."""
    lines = [
        f"{RUNS} imports each, {load}.",
        f"For scale, `import {SCALE}` took {_milliseconds(scale)} ms in the same run.",
        "",
        "| package | used by | version | import ms, median (range) | installed MB | with what it needs |",
        "|---|---|---|---|---|---|",
    ]
    for dependency, cost in costs:
        lines.append(
            f"| {dependency.name} | {dependency.used_by} | {cost.version} | {_milliseconds(cost.import_ms)} "
            f"| {cost.own_bytes / 1e6:.1f} | {cost.total_bytes / 1e6:.1f} |"
        )
    return "\n".join(lines)


def _milliseconds(runs: Sequence[float]) -> str:
    return f"{statistics.median(runs):.0f} ({min(runs):.0f}–{max(runs):.0f})" if runs else "–"


def replace_table(page: str, table: str) -> str:
    before, _, rest = page.partition(BEGIN)
    _, _, after = rest.partition(END)
    return f"{before}{BEGIN}\n{table}\n{END}{after}"


def main() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    costs = [(dependency, measure(dependency)) for dependency in read_dependencies(project)]
    load = f"load average {os.getloadavg()[1]:.1f} on {os.cpu_count()} cores"
    table = render(costs, scale=measure_import(SCALE), load=load)
    PAGE.write_text(replace_table(PAGE.read_text("utf-8"), table), "utf-8")


if __name__ == "__main__":
    main()
