"""Data flows one way: a module imports its own layer and lower ones, never a higher one."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from graphlib import CycleError, TopologicalSorter

import pytest

from tests.architecture.source import PACKAGE, Module, imported_names, loaded_names, modules

# Lowest first. The names are files and folders right under src/hitherto; those on one line are one layer.
LAYERS: tuple[tuple[str, ...], ...] = (
    ("errors", "ids", "types", "settings", "clock", "tokens", "pages", "private", "calls", "plugins"),
    ("text",),
    ("store",),
    ("coordination",),
    ("safety",),
    ("ingest",),
    ("recall",),
    ("recipes",),
    ("assemble",),
    ("work",),
    ("learn",),
    ("privacy",),
    ("parts",),
    ("engine",),
    ("sync", "__init__"),
    ("testing",),
    ("demo", "evaluate"),
    ("client",),
    ("deliver",),
    ("integrations",),
)
HEIGHT = {name: height for height, layer in enumerate(LAYERS) for name in layer}


def layer_of(module: str) -> str:
    """The layer's name in `hitherto.<layer>…`; the package itself is `__init__`."""
    return module.split(".")[1] if "." in module else "__init__"


def resolve(name: str, known: frozenset[str]) -> str | None:
    """The module of ours that an imported name comes from: `hitherto.types.Turn` is in `hitherto.types`."""
    while name and name not in known:
        name = name.rpartition(".")[0]
    return name or None


def imports_of(module: Module, known: frozenset[str]) -> frozenset[str]:
    found = {resolve(name, known) for name in imported_names(module.tree) if name.split(".")[0] == PACKAGE}
    return frozenset(name for name in found if name is not None and name != module.name)


def climbs(module: str, imported: str) -> bool:
    return HEIGHT[layer_of(imported)] > HEIGHT[layer_of(module)]


def known_modules() -> frozenset[str]:
    return frozenset(module.name for module in modules())


def test_every_module_has_a_layer() -> None:
    unplaced = {layer_of(name) for name in known_modules()} - HEIGHT.keys()
    assert not unplaced, f"add to LAYERS, at the height where data reaches it: {sorted(unplaced)}"


def test_imports_go_one_way() -> None:
    known = known_modules()
    upward = [
        f"{module.file} imports {imported}"
        for module in modules()
        for imported in sorted(imports_of(module, known))
        if climbs(module.name, imported)
    ]
    assert not upward, "\n".join(upward)


def test_no_module_imports_itself_by_way_of_others() -> None:
    known = known_modules()
    graph = {module.name: imports_of(module, known) for module in modules()}
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        pytest.fail(f"import cycle: {' → '.join(error.args[1])}")


LONGEST_CHAIN = 16
"""Modules on the longest way from one that nothing imports down to one that imports nothing: what has to be loaded, one after
the other, before the first can be. Imports inside functions and for type checkers alone are not on the way."""


def longest_chain() -> list[str]:
    known = known_modules()
    below = {module.name: sorted(_resolved(loaded_names(module), known) - {module.name}) for module in modules()}
    chains: dict[str, list[str]] = {}
    for name in TopologicalSorter(below).static_order():
        chains[name] = [name, *max((chains[imported] for imported in below[name]), key=len, default=list[str]())]
    return max(chains.values(), key=len)


def _resolved(names: Iterable[str], known: frozenset[str]) -> set[str]:
    ours = (resolve(name, known) for name in names if name.split(".")[0] == PACKAGE)
    return {name for name in ours if name is not None}


def test_no_chain_of_imports_is_long() -> None:
    chain = longest_chain()
    assert len(chain) <= LONGEST_CHAIN, f"{len(chain)} modules: " + " → ".join(chain)


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("import hitherto.store.protocol", {"hitherto.store.protocol"}),
        ("from hitherto.store import protocol", {"hitherto.store.protocol"}),
        ("from hitherto.types import Turn", {"hitherto.types"}),
        ("def late():\n    from hitherto.engine import Hitherto", {"hitherto.engine"}),
        ("import hithertoed", set[str]()),
    ],
)
def test_imports_are_seen_in_every_form(source: str, expected: set[str]) -> None:
    known = frozenset({"hitherto", "hitherto.store", "hitherto.store.protocol", "hitherto.types", "hitherto.engine"})
    tree = ast.parse(source)
    found = {resolve(name, known) for name in imported_names(tree) if name.split(".")[0] == PACKAGE}
    assert found == expected


def test_climbing_is_noticed() -> None:
    assert climbs("hitherto.store.sqlite", "hitherto.recall.rank")
    assert not climbs("hitherto.recall.rank", "hitherto.store.protocol")
    assert not climbs("hitherto.types", "hitherto.errors")
