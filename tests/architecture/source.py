"""The project's files as these tests see them: the package's modules parsed, and every other file."""

from __future__ import annotations

import ast
import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import hitherto

ROOT = Path(__file__).resolve().parents[2]
SOURCE = ROOT / "src"
PACKAGE = "hitherto"


@dataclass(frozen=True)
class Module:
    name: str
    path: Path
    text: str
    tree: ast.Module

    @property
    def file(self) -> str:
        return self.path.relative_to(ROOT).as_posix()


@cache
def modules() -> tuple[Module, ...]:
    """Every module of the package; `hitherto/store/__init__.py` is called `hitherto.store`."""
    return tuple(_load(path) for path in sorted((SOURCE / PACKAGE).rglob("*.py")))


def _load(path: Path) -> Module:
    text = path.read_text("utf-8")
    parts = path.relative_to(SOURCE).with_suffix("").parts
    name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
    return Module(name=name, path=path, text=text, tree=ast.parse(text, filename=str(path)))


def imported_names(tree: ast.AST) -> Iterator[str]:
    """Dotted names that an `import` mentions, wherever it stands; `from a import b` gives `a.b`."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module is not None:
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def loaded_names(module: Module) -> Iterator[str]:
    """Dotted names that a module imports as it is loaded: not in functions, not for type checkers alone. A name that the
    package gives out lazily stands for the module it lives in."""
    yield from _loaded(module.tree.body)


def _loaded(body: Sequence[ast.stmt]) -> Iterator[str]:
    for node in body:
        match node:
            case ast.Import() | ast.ImportFrom():
                yield from map(_home, imported_names(ast.Module([node], [])))
            case ast.If(test=test, body=inner, orelse=other):
                yield from _loaded(other if ast.unparse(test) == "TYPE_CHECKING" else [*inner, *other])
            case ast.Try(body=inner, handlers=handlers):
                yield from _loaded([*inner, *(line for handler in handlers for line in handler.body)])
            case ast.With(body=inner) | ast.ClassDef(body=inner):
                yield from _loaded(inner)
            case _:
                pass


def _home(name: str) -> str:
    package, _, last = name.partition(".")
    if package != PACKAGE or last not in hitherto.__all__:
        return name
    value: object = getattr(hitherto, last)
    return f"{getattr(value, '__module__', PACKAGE)}.{last}"


@cache
def project_files() -> tuple[Path, ...]:
    """Files that are, or are about to be, under version control; without git, all that look like it."""
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    try:
        listed = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout
    except (FileNotFoundError, subprocess.CalledProcessError):
        paths = [path for path in ROOT.rglob("*") if not _is_by_product(path.relative_to(ROOT).parts)]
    else:
        paths = [ROOT / name for name in listed.split("\0") if name]
    return tuple(path for path in paths if path.is_file())


def _is_by_product(parts: tuple[str, ...]) -> bool:
    return any(part.startswith(".") or part in ("__pycache__", "build", "dist") for part in parts)
