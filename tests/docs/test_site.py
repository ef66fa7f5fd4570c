"""The pages as a site: built strictly, and read from files in a browser that has no network."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.architecture.source import ROOT
from tests.deliver.inspector.browser import launched

pytest.importorskip("mkdocs", reason="mkdocs is of the development environment: make site")


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    build = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(folder)]
    environment = {**os.environ, "NO_MKDOCS_2_WARNING": "1"}
    done = subprocess.run(build, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return folder


def test_the_site_is_searched_without_a_server_and_asks_nobody(site: Path) -> None:
    asked: list[str] = []
    with launched() as browser:
        for width in (1280, 390):
            page = browser.new_page(viewport={"width": width, "height": 900})
            page.on("request", lambda request: asked.append(request.url))
            page.goto((site / "howto" / "recipe.html").as_uri())
            assert page.evaluate("document.documentElement.scrollWidth <= document.documentElement.clientWidth")
            if width == 390:
                page.locator("label.md-header__button[for=__search]").click()
            page.get_by_role("textbox", name="Search").press_sequentially("row-level security")
            expect(page.locator(".md-search-result__link").first).to_be_visible()
    assert [url for url in asked if not url.startswith(("file:", "data:", "blob:"))] == []
