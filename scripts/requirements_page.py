"""Writes docs/requirements.md: every requirement with the tests that prove it, and what is still open.

Rows come from docs/requirements.toml. Marks are read from the source of the tests without importing them, so
the page can be made, and checked, in a fraction of a second: `python scripts/requirements_page.py [--check]`.
"""

from __future__ import annotations

import ast
import sys
import tomllib
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
ROWS = ROOT / "docs" / "requirements.toml"
PAGE = ROOT / "docs" / "requirements.md"
# The store conformance suite is published in the package, so its marks count as well.
MARKED = ("tests/**/*.py", "src/hitherto/testing*", "src/hitherto/testing/**/*.py")


@dataclass(frozen=True)
class Row:
    id: str
    text: str


@dataclass(frozen=True)
class Group:
    id: str
    title: str
    rows: tuple[Row, ...]


@dataclass(frozen=True, order=True)
class Proof:
    """A test, or a class or module of tests, that carries a row's mark."""

    file: str
    name: str


class RequirementError(Exception):
    """A mark that no page can be made of."""


def read_groups(text: str) -> tuple[Group, ...]:
    return tuple(
        Group(id=id_, title=table["title"], rows=tuple(Row(*pair) for pair in table["rows"].items()))
        for id_, table in tomllib.loads(text).items()
    )


def find_marks(source: str, *, file: str) -> Iterator[tuple[str, Proof]]:
    """Every `pytest.mark.req(…)` with the place that carries it."""
    yield from _marks_below(ast.parse(source, filename=file), file=file, path=())


def _marks_below(node: ast.AST, *, file: str, path: tuple[str, ...]) -> Iterator[tuple[str, Proof]]:
    if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
        path = (*path, node.name)
    if isinstance(node, ast.Call) and ast.unparse(node.func) == "pytest.mark.req":
        for argument in node.args:
            if not (isinstance(argument, ast.Constant) and isinstance(argument.value, str)):
                raise RequirementError(f"{file}:{node.lineno}: a req mark takes the ids of rows as plain strings")
            yield argument.value, Proof(file=file, name="::".join(path) or "all of it")
    for child in ast.iter_child_nodes(node):
        yield from _marks_below(child, file=file, path=path)


def collect_marks(root: Path = ROOT) -> dict[str, list[Proof]]:
    proofs: dict[str, set[Proof]] = defaultdict(set)
    for path in sorted({path for pattern in MARKED for path in root.glob(pattern) if path.suffix == ".py"}):
        for id_, proof in find_marks(path.read_text("utf-8"), file=path.relative_to(root).as_posix()):
            proofs[id_].add(proof)
    return {id_: sorted(found) for id_, found in proofs.items()}


def render(groups: Sequence[Group], marks: dict[str, list[Proof]]) -> str:
    rows = [row for group in groups for row in group.rows]
    open_rows = [row for row in rows if row.id not in marks]
    proven = len(rows) - len(open_rows)
    lines = [
        "# Requirements and the tests that prove them",
        "",
        "Made by `make docs` from [requirements.toml](requirements.toml) and the marks in the tests.",
        f"{proven} of {len(rows)} rows have a test; the others are listed under [Open](#open).",
    ]
    for group in groups:
        lines += ["", f"## {group.id} {group.title}", "", "| id | requirement | tests |", "|---|---|---|"]
        for row in group.rows:
            text = row.text.replace("|", "\\|")
            lines.append(f"| {row.id} | {text} | {_proof_cell(marks.get(row.id, []))} |")
    lines += ["", "## Open", ""]
    lines += [f"- {row.id}: {row.text}" for row in open_rows] or ["Nothing."]
    return "\n".join(lines) + "\n"


def _proof_cell(proofs: Sequence[Proof]) -> str:
    names: dict[str, list[str]] = defaultdict(list)
    for proof in proofs:
        names[proof.file].append(f"`{proof.name}`")
    return "<br>".join(f"[{file}](../{file}): {', '.join(found)}" for file, found in names.items()) or "open"


def main(arguments: Sequence[str]) -> int:
    page = render(read_groups(ROWS.read_text("utf-8")), collect_marks())
    if "--check" not in arguments:
        PAGE.write_text(page, "utf-8")
        return 0
    if PAGE.read_text("utf-8") == page:
        return 0
    print("docs/requirements.md is out of date; run `make docs`.", file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
