"""Names that lead a reader: no file name twice for different things, no class name for more than two, and the walks through
the code that ARCHITECTURE.md describes."""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from pathlib import Path

from tests.architecture.source import ROOT, SOURCE, modules
from tests.architecture.test_layers import LAYERS

MOST_MODULES_OF_A_CLASS_NAME = 2
WALK = re.compile(r"^### (?P<title>.+)$")
MODULE = re.compile(r"`([a-z_/]+\.py)`")


def test_a_class_name_means_one_thing_or_two() -> None:
    found: dict[str, set[str]] = defaultdict(set)
    for module in modules():
        for node in ast.walk(module.tree):
            if isinstance(node, ast.ClassDef):
                found[node.name].add(module.name)
    # Names of other people's protocols, which each adapter has to implement under that name, would be listed here.
    crowded = {name: sorted(where) for name, where in found.items() if len(where) > MOST_MODULES_OF_A_CLASS_NAME}
    assert crowded == {}


SAME_NOUN = (
    "deliver/cli",
    "deliver/http/routes",
    "deliver/inspector",
    "testing/conformance",
    "store/sqlite",
    "store/postgres",
)
"""Rooms whose files are named for what they show, serve, check or keep of a noun that has its own file elsewhere."""
NOT_PARTICIPLES = {
    "embed.py": "the step that makes vectors: a step's name, which its cursor carries, is its module's",
    "keyring.py": "a noun",
    "untrusted.py": "an adjective: JSON that others made",
}


def test_a_file_name_means_one_thing() -> None:
    found: dict[str, list[str]] = defaultdict(list)
    for module in modules():
        if module.path.name != "__init__.py":
            room = module.path.parent.relative_to(SOURCE / "hitherto").as_posix()
            if room not in SAME_NOUN:
                found[module.path.name].append(module.file)
    assert {name: files for name, files in found.items() if len(files) > 1} == {}


def test_a_file_is_no_participle() -> None:
    """What is done is named by its noun: a reader looks for "the summary", not for "summarising"."""
    named = {
        module.path.name: module.file for module in modules() if re.search(r"..(?:ing|[^e]ed)\.py$", module.path.name)
    }
    assert {name: file for name, file in named.items() if name not in NOT_PARTICIPLES} == {}
    assert NOT_PARTICIPLES.keys() <= named.keys(), "an exception that nothing needs"


def walks() -> dict[str, list[str]]:
    """Each walk of the page with the modules it enters, in order."""
    found: dict[str, list[str]] = {}
    title = ""
    for line in (ROOT / "ARCHITECTURE.md").read_text("utf-8").splitlines():
        heading = WALK.match(line)
        if heading is not None:
            title = heading["title"]
        elif line.startswith("## "):
            title = ""
        elif title:
            found.setdefault(title, []).extend(MODULE.findall(line))
    return found


def test_the_walks_enter_modules_that_exist_and_each_once() -> None:
    """Only the store may be entered again: it is asked, and then it is written to."""
    found = walks()
    assert len(found) == 5, sorted(found)
    for title, entered in found.items():
        missing = [module for module in entered if not (SOURCE / "hitherto" / Path(module)).is_file()]
        assert missing == [], title
        again = {module for module in entered if entered.count(module) > 1 and not module.startswith("store/")}
        assert again == set(), title
        assert len(entered) >= 5, title


def test_the_page_names_every_room_in_the_order_of_the_layers() -> None:
    rows = re.findall(r"^\| (`[^|]+`) \|", (ROOT / "ARCHITECTURE.md").read_text("utf-8"), re.MULTILINE)
    rooms = [{name.rstrip("/") for name in re.findall(r"`([a-z_/]+)`", row)} for row in rows]
    layers = [set(layer) - {"__init__"} for layer in LAYERS]
    assert set[str]().union(*rooms) == set[str]().union(*layers)
    heights = [[height for height, layer in enumerate(layers) if layer & room] for room in rooms]
    assert heights == sorted(heights), "a room stands above one that it uses"


def test_the_page_fits_in_the_head() -> None:
    assert len((ROOT / "ARCHITECTURE.md").read_text("utf-8").splitlines()) <= 200
