"""The inspector over the demo's story, and a browser to look at it with."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser

from tests.deliver.inspector.browser import Person, launched, signed_in
from tests.deliver.inspector.serving import Served, load_demo, served


@pytest.fixture(scope="session")
def story(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The demo's memory; tests work on copies of it."""
    folder = tmp_path_factory.mktemp("story") / "memories"
    load_demo(folder)
    return folder


@pytest.fixture(scope="module")
def service(story: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    folder = tmp_path_factory.mktemp("inspected") / "memories"
    shutil.copytree(story, folder)
    with served(folder) as running:
        yield running


# Of a module, not of the session: Playwright keeps an event loop running in this thread, where other modules have theirs.
@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with launched() as running:
        yield running


@pytest.fixture
def person(browser: Browser, service: Served) -> Iterator[Person]:
    """Somebody signed in with a key that may do everything. At the end, nothing happened behind the page's back."""
    with signed_in(browser, service) as someone:
        yield someone
        assert someone.seen.nothing(), someone.seen
