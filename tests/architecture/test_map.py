"""ARCHITECTURE.md is the map for newcomers: one line for every module, no line for one that is not there."""

from __future__ import annotations

import re

from scripts import architecture_map
from tests.architecture.source import PACKAGE, ROOT, SOURCE, modules

ENTRY = re.compile(r"^\| `(?P<file>[\w/]+\.py)` \| \S", re.MULTILINE)


def test_the_map_shows_every_module_once() -> None:
    mapped = ENTRY.findall((ROOT / "ARCHITECTURE.md").read_text("utf-8"))
    package = SOURCE / PACKAGE
    there = [module.path.relative_to(package).as_posix() for module in modules() if module.path.name != "__init__.py"]
    assert sorted(mapped) == sorted(there)


def test_the_map_says_what_the_modules_say() -> None:
    assert architecture_map.main(["--check"]) == 0
