"""Names that lead a reader: no file name twice for different things, no class name for more than two, and the walks through
the code that ARCHITECTURE.md describes."""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from pathlib import Path

from tests.architecture.source import ROOT, SOURCE, imported_names, modules, project_files
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


FIRST_NAME = "recol" + "lect"
"""The product's name up to 0.1.0; a package of other people has it in the public index."""
NAMES_OLD_DATA = {
    "CHANGELOG.md": "what was released under the first name",
    "docs/cli.md": "how a database of 0.1.0 is renamed",
    "docs/storage.md": "how a database of 0.1.0 is renamed",
    "src/hitherto/deliver/cli/transfer.py": "the option that renames such a database",
    "src/hitherto/ids.py": "what stored hashes and seals are made with",
    "src/hitherto/store/postgres/layout.py": "the schema that 0.1.0 made",
    "tests/store/postgres/test_renaming.py": "a database of 0.1.0 is renamed",
    "tests/store/test_export.py": "an export of 0.1.0 is loaded",
}


def test_the_first_name_stands_only_where_old_data_is_opened() -> None:
    found = {
        path.relative_to(ROOT).as_posix()
        for path in project_files()
        if FIRST_NAME in path.read_bytes().decode("utf-8", "ignore").lower()
    }
    assert found == NAMES_OLD_DATA.keys()


OTHER_PEOPLES_VALUES = {
    "src/hitherto/deliver/pydantic_ai/conversations.py": "PydanticAI's messages",
    "src/hitherto/integrations/google_adk.py": "the ADK's session state",
}


def test_values_become_json_in_one_place() -> None:
    """`store/codec.py` knows how our values are written and read; what is beside it are other people's types."""
    ways = {"pydantic.TypeAdapter", "pydantic_core.to_jsonable_python"}
    found = {module.file for module in modules() if not ways.isdisjoint(imported_names(module.tree))}
    assert found == {"src/hitherto/store/codec.py", *OTHER_PEOPLES_VALUES}


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
