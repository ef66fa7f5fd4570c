"""Other people's clients, as they are, against the service.

`@pytest.mark.client(NAME, PACKAGE, DRIVEN)` says which client a test drives and what it does; `scripts/clients_page.py` writes
the table in docs/clients.md from what these tests report.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path

import pytest

from tests.clients.node_packages import version_of
from tests.deliver.openai.conftest import endpoint

__all__ = ["endpoint"]

REPORT = "HITHERTO_CLIENTS_REPORT"
"""The file that results are added to, one line of JSON each."""


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]) -> Iterator[None]:
    report: pytest.TestReport = yield
    marker, path = item.get_closest_marker("client"), os.environ.get(REPORT)
    if marker and path and (report.when == "call" or report.outcome != "passed"):
        name, package, driven = marker.args
        row = {
            "client": name,
            "package": package.removesuffix("-lowest"),
            "version": _version(package),
            "driven": driven,
            "test": item.name,
            "outcome": report.outcome,
        }
        with Path(path).open("a", encoding="utf-8") as file:
            file.write(json.dumps(row) + "\n")
    return report


def _version(package: str) -> str | None:
    """The installed version; a package of Node's is named with `npm:` before it, and with `-lowest` behind it where its lowest
    version stands beside the newest."""
    if package.startswith("npm:"):
        return version_of(package.removeprefix("npm:"))
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None
