"""Long files and long functions are where a codebase starts to hurt."""

from __future__ import annotations

import ast

from tests.architecture.source import modules

MOST_LINES_OF_A_FILE = 600
MOST_LINES_OF_A_FUNCTION = 100
MOST_FILES = 300
VAGUE_NAMES = {"common", "core", "helpers", "manager", "misc", "util", "utils"}


def test_files_stay_small() -> None:
    sizes = {module.file: len(module.text.splitlines()) for module in modules()}
    assert {file: size for file, size in sizes.items() if size > MOST_LINES_OF_A_FILE} == {}


def test_the_files_stay_few() -> None:
    """A room that needs more files says less to a reader: merge what serves one sibling before adding one."""
    assert len(modules()) <= MOST_FILES


def test_functions_stay_small() -> None:
    long = [
        f"{module.file}:{node.lineno} {node.name}"
        for module in modules()
        for node in ast.walk(module.tree)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        and (node.end_lineno or node.lineno) - node.lineno + 1 > MOST_LINES_OF_A_FUNCTION
    ]
    assert long == []


def test_a_file_is_named_for_its_noun() -> None:
    assert [module.file for module in modules() if module.path.stem in VAGUE_NAMES] == []
