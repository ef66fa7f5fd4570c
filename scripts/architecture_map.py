"""Writes the list of modules in ARCHITECTURE.md from what each module says of itself in its first sentence.

python scripts/architecture_map.py [--check]
"""

from __future__ import annotations

import argparse
import ast
import re
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "src" / "hitherto"
PAGE = ROOT / "ARCHITECTURE.md"
HEADING = "## Modules\n"
INTRODUCTION = """
One line each, in the order in which data flows: the first sentence of the module itself (`make docs` writes this list).
"""
FOLDERS: tuple[tuple[str, str], ...] = (
    ("", "Foundation and engine"),
    ("text", "text: what words, names and times mean"),
    ("store", "store: what is kept"),
    ("beside", "beside: what processes may share besides it"),
    ("ingest", "ingest: what comes in"),
    ("work", "work: who does what is due"),
    ("process", "process: the work after the turn"),
    ("recall", "recall: what answers a message"),
    ("assemble", "assemble: what the model sees"),
    ("client", "client: the same calls over HTTP"),
    ("deliver", "deliver: how it reaches applications and people"),
    ("testing", "testing: for those who build on it"),
)


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--check", action="store_true", help="only say whether the page is up to date")
    page = PAGE.read_text("utf-8")
    wanted = page.partition(HEADING)[0] + HEADING + INTRODUCTION + "".join(tables())
    if wanted == page:
        return 0
    if parser.parse_args(arguments).check:
        sys.stderr.write("ARCHITECTURE.md is out of date; run `make docs`.\n")
        return 1
    PAGE.write_text(wanted, "utf-8")
    return 0


def tables() -> Iterator[str]:
    for folder, title in FOLDERS:
        found = sorted(PACKAGE.glob("*.py") if not folder else (PACKAGE / folder).rglob("*.py"))
        rows = [
            f"| `{path.relative_to(PACKAGE).as_posix()}` | {owns(path)} |"
            for path in found
            if path.name != "__init__.py"
        ]
        if rows:
            yield f"\n### {title}\n\n| module | what it is for |\n|---|---|\n" + "\n".join(rows) + "\n"


def owns(path: Path) -> str:
    """The first sentence of a module's docstring."""
    said = ast.get_docstring(ast.parse(path.read_text("utf-8"))) or ""
    first = re.split(r"(?<=[.!?])\s|\n\n", " ".join(said.split("\n\n")[0].split()), maxsplit=1)[0]
    if not first:
        raise SystemExit(f"{path.relative_to(ROOT)} does not say what it is for")
    return first.rstrip(".").replace("|", "\\|")


if __name__ == "__main__":
    raise SystemExit(main())
