"""Nothing is kept that only tests reach: a module is imported by another one or named in the documentation, a function,
class or constant is named a second time.
"""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterator

from tests.architecture.source import ROOT, Module, imported_names, modules

ENTRANCES = frozenset({"hitherto.sync", "hitherto.learn.readers.classifier"})
"""Modules that people import by themselves; the classifier is measured and trained alone (`bench/statements.py`)."""
FOR_TESTS = frozenset({"sign_elevenlabs", "sign_retell", "every_statement", "routes_of", "WITHOUT_CALL", "BUCKETS"})
"""What a provider would send, and what a lint, a page's table or the training of
the classifier looks through: right beside what they are the other side of."""
PUBLISHED = ("hitherto.testing", "hitherto.client", "hitherto.integrations", "hitherto.deliver.pydantic_ai")
"""Rooms whose names are for applications: nothing of ours needs to call them."""


KNOWN = frozenset(module.name for module in modules())
_DOTTED = re.compile(r"hitherto(?:\.\w+)+")


def _is_published(name: str) -> bool:
    return name in ENTRANCES or any(name == room or name.startswith(f"{room}.") for room in PUBLISHED)


def _imported() -> frozenset[str]:
    """Every module that another one imports, by name or by a dotted name in a string (what is loaded when it is needed)."""
    found: set[str] = set()
    for module in modules():
        names = {*imported_names(module.tree), *_DOTTED.findall(module.text)}
        found |= {_module(name) for name in names} - {module.name}
    return frozenset(found)


def _module(name: str) -> str:
    """The module that a dotted name lies in."""
    while name and name not in KNOWN:
        name = name.rpartition(".")[0]
    return name


def test_every_module_is_imported_by_another_one() -> None:
    imported = _imported() | frozenset(_module(name) for name in _DOTTED.findall(_documentation()))
    alone = [
        module.file
        for module in modules()
        if module.path.name != "__init__.py" and module.name not in imported and not _is_published(module.name)
    ]
    assert not alone, f"nothing but tests imports: {', '.join(alone)}"


def _documentation() -> str:
    return "\n".join(path.read_text("utf-8") for path in sorted((ROOT / "docs").rglob("*.md")))


def _defined(module: Module) -> Iterator[str]:
    for node in module.tree.body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield node.name
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name) and node.value is not None:
            yield node.target.id
        elif isinstance(node, ast.Assign):
            yield from (target.id for target in node.targets if isinstance(target, ast.Name))


def test_every_function_class_and_constant_is_named_somewhere() -> None:
    words = Counter(word for module in modules() for word in re.findall(r"\w+", module.text))
    decorated = {
        node.name
        for module in modules()
        for node in module.tree.body
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
        and node.decorator_list
        and not _is_dataclass(node)
    }
    unnamed = [
        f"{module.file}: {name}"
        for module in modules()
        if not _is_published(module.name)
        for name in _defined(module)
        if words[name] == 1 and name not in decorated | FOR_TESTS and not name.startswith("__")
    ]
    assert not unnamed, "nothing but tests names:\n" + "\n".join(unnamed)


def _is_dataclass(node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) -> bool:
    return any("dataclass" in ast.unparse(each) for each in node.decorator_list)
