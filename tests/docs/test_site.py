"""The pages as a site: built strictly, and read from files in a browser that has no network."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from typing import Literal
from urllib.parse import unquote

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


class Page(HTMLParser):
    """The links and the anchors of one page."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.links: set[str] = set()
        self.anchors: set[str] = set()
        self.feed(path.read_text("utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        del tag
        for name, value in attrs:
            if name in ("href", "src") and value:
                self.links.add(value)
            elif name == "id" and value:
                self.anchors.add(value)


def test_every_link_leads_somewhere(site: Path) -> None:
    pages = {path: Page(path) for path in site.rglob("*.html") if path.name != "404.html"}
    dead: list[str] = []
    for path, page in pages.items():
        for link in page.links:
            address, _, anchor = link.partition("#")
            if "://" in link or link.startswith(("data:", "javascript:")):
                continue
            target = (path.parent / unquote(address)).resolve() if address else path
            known = anchor == "" or target not in pages or unquote(anchor) in pages[target].anchors
            if not target.is_file() or not (known or anchor.startswith("__")):
                dead.append(f"{path.relative_to(site)}: {link}")
    assert dead == []


def luminance(color: str) -> float:
    def linear(part: str) -> float:
        value = int(part) / 255
        return value / 12.92 if value <= 0.03928 else ((value + 0.055) / 1.055) ** 2.4

    red, green, blue = (linear(part) for part in re.findall(r"\d+", color)[:3])
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_links_can_be_read_in_both_schemes(site: Path, scheme: Literal["light", "dark"]) -> None:
    with launched() as browser:
        page = browser.new_page(color_scheme=scheme)
        page.goto((site / "index.html").as_uri())
        link = page.locator("article table a").first.evaluate("x => getComputedStyle(x).color")
        ground = page.evaluate("getComputedStyle(document.body).backgroundColor")
    light, dark = sorted((luminance(link), luminance(ground)), reverse=True)
    assert (light + 0.05) / (dark + 0.05) >= 4.5, f"{link} on {ground}"


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
