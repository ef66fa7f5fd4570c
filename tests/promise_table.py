"""One table at the end of a run: each promise, how often it was tried, how often it failed, the seed.

A test says which promise it keeps, and how often it tries it in one run, by `@pytest.mark.promise("F14", tries=1_000)`; the
file's name is enough for a fault (`test_f03_…` tries F3 once). A test that learns only while it runs how often it tried
says so with the fixture `tried`. A control is a test that passes because a protection was
taken out and the loss was noticed; it carries `control=True`. One that needs no store carries `pure=True`.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any, cast

import pytest

_FAULT = re.compile(r"test_f(\d\d)_")
_BACKEND = re.compile(r"\[(?:.*-)?(sqlite|postgres)(?:-.*)?\]")
_SERVERS = frozenset({"postgres_url", "second_postgres_url", "own_server"})
"""Fixtures of tests that are only about the server's store."""
PROPERTY = "promise"
TRIED = "tried"


@dataclass(slots=True)
class Line:
    tests: int = 0
    tries: int = 0
    failures: int = 0
    skipped: int = 0
    stores: set[str] = field(default_factory=set[str])


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "promise(name, tries, control, pure): the promise that this test keeps")


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Written into the report, so that it also arrives from another process."""
    marker = item.get_closest_marker("promise")
    fault = _FAULT.search(item.nodeid)
    if marker is None and fault is None:
        return
    given: dict[str, Any] = dict(marker.kwargs) if marker else {}
    name = str(marker.args[0]) if marker else f"F{int(fault[1]) if fault else 0}"
    store = "" if given.get("pure") else _store(item)
    item.user_properties.append((PROPERTY, [name, given.get("tries", 1), bool(given.get("control")), store]))


def _store(item: pytest.Item) -> str:
    if found := _BACKEND.search(item.nodeid):
        return found[1]
    fixtures: list[str] = getattr(item, "fixturenames", [])
    return "postgres" if "postgres" in item.nodeid or _SERVERS.intersection(fixtures) else "sqlite"


@pytest.fixture
def tried(request: pytest.FixtureRequest) -> Callable[[int], None]:
    """Called by a test with the number of its tries, when the data decides it."""

    def note(tries: int) -> None:
        request.node.user_properties.append((TRIED, tries))

    return note


def lines(reports: Iterable[pytest.TestReport]) -> dict[str, Line]:
    """The table's lines by promise; a control is a line of its own."""
    table: dict[str, Line] = {}
    for report in reports:
        found = cast("tuple[str, int, bool, str] | None", dict(report.user_properties).get(PROPERTY))
        if found is None or (report.when != "call" and not (report.when == "setup" and not report.passed)):
            continue
        name, tries, is_control, store = found
        tries = sum(n for key, n in report.user_properties if key == TRIED and isinstance(n, int)) or tries
        line = table.setdefault(f"{name} (control: must be noticed)" if is_control else name, Line())
        if store:
            line.stores.add(store)
        line.tests += 1
        line.tries += 0 if report.skipped else tries
        line.skipped += report.skipped
        line.failures += report.failed
    return table


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    kinds = ("passed", "failed", "skipped", "error")
    reports = [report for kind in kinds for report in terminalreporter.getreports(kind)]
    table = lines([report for report in reports if isinstance(report, pytest.TestReport)])
    if not table:
        return
    seed = os.environ.get("HITHERTO_TEST_SEED", "?")
    terminalreporter.write_sep("=", "promises")
    terminalreporter.write_line(f"{'promise':<44} {'stores':<16} {'tries':>8} {'failures':>8}  seed")
    for name, line in sorted(table.items(), key=lambda entry: _order(entry[0])):
        note = f"  ({line.skipped} skipped)" if line.skipped else ""
        stores = "+".join(sorted(line.stores, reverse=True)) or "-"
        terminalreporter.write_line(
            f"{name:<44} {stores:<16} {line.tries:>8,} {line.failures:>8}  {seed}{note}",
            red=bool(line.failures),
        )


def _order(name: str) -> tuple[int, str]:
    fault = re.match(r"F(\d+)", name)
    return (int(fault[1]) if fault else 99, name)
