from __future__ import annotations

import re
import tomllib

import pytest

from scripts.dependency_costs import (
    BEGIN,
    END,
    PAGE,
    ROOT,
    Cost,
    Dependency,
    parse_import_time,
    read_dependencies,
    render,
    replace_table,
)

REPORT = """\
import time: self [us] | cumulative | imported package
import time:       120 |        120 |   numpy.linalg
import time:      1200 |      98765 | numpy
"""


def project_dependencies() -> tuple[Dependency, ...]:
    return read_dependencies(tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8")))


def test_the_time_is_that_of_the_module_with_all_it_imports() -> None:
    assert parse_import_time(REPORT, "numpy") == 98.765
    with pytest.raises(LookupError, match="'linalg'"):
        parse_import_time(REPORT, "linalg")


def test_a_dependency_is_listed_once_where_it_is_first_asked_for() -> None:
    found = read_dependencies(
        {
            "project": {
                "name": "mine",
                "dependencies": ["A_b>=1"],
                "optional-dependencies": {"x": ["c[fast]>2", "a-b"], "all": ["mine[x]"]},
            },
            "dependency-groups": {"test": ["c", "d"], "dev": [{"include-group": "test"}]},
        }
    )
    assert found == (
        Dependency("a-b", frozenset(), "core"),
        Dependency("c", frozenset({"fast"}), "[x]"),
        Dependency("d", frozenset(), "test"),
    )


def test_the_table_shows_the_median_and_the_range() -> None:
    cost = Cost("1.0", (3, 1, 9), 2_000_000, 3_500_000)
    table = render([(Dependency("a", frozenset(), "core"), cost)], scale=[5], load="load average 0.1 on 2 cores")
    assert table.endswith("| a | core | 1.0 | 3 (1–9) | 2.0 | 3.5 |")
    assert "`import asyncio` took 5 (5–5) ms" in table
    assert "load average 0.1 on 2 cores" in table


def test_only_the_table_of_the_page_is_rewritten() -> None:
    page = replace_table(f"before\n{BEGIN}\nold\n{END}\nafter\n", "new")
    assert page == f"before\n{BEGIN}\nnew\n{END}\nafter\n"
    assert replace_table(page, "new") == page


def test_the_page_explains_and_measures_every_direct_dependency() -> None:
    prose, _, table = PAGE.read_text("utf-8").partition(BEGIN)
    names = {dependency.name for dependency in project_dependencies()}
    assert {name for name in names if not re.search(rf"`{re.escape(name)}[`\[]", prose)} == set()
    assert set(re.findall(r"^\| ([a-z0-9-]+) \|", table, re.MULTILINE)) - {"package"} == names


def test_the_page_measured_the_locked_versions() -> None:
    measured = re.findall(r"^\| ([a-z0-9-]+) \| \S+ \| (\d\S*) \|", PAGE.read_text("utf-8"), re.MULTILINE)
    locked = (ROOT / "requirements" / "dev.lock").read_text("utf-8")
    assert measured
    assert [f"{name}=={version}" for name, version in measured if f"\n{name}=={version} " not in locked] == []
