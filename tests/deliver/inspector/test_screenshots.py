"""A picture of every page, for the documentation: `make screenshots` writes them to docs/images."""

from __future__ import annotations

import os
from pathlib import Path

from playwright.sync_api import Browser, expect

from tests.architecture.source import ROOT
from tests.deliver.inspector.browser import Person, signed_in
from tests.deliver.inspector.places import PAGES
from tests.deliver.inspector.serving import Served

VARIABLE = "HITHERTO_SCREENSHOTS"
TAKEN = (
    "conversation",
    "context",
    "remembered",
    "candidates",
    "replay",
    "compare",
    "backtest",
    "playground",
    "facts",
    "entities",
    "loops",
    "work",
)
DARK = ("context", "entities")
PNG = b"\x89PNG\r\n"


def folder(tmp_path: Path) -> Path:
    """Where the pictures go: the folder of the variable, else nowhere that stays."""
    given = os.environ.get(VARIABLE)
    wanted = ROOT / given if given else tmp_path
    wanted.mkdir(parents=True, exist_ok=True)
    return wanted


def take(person: Person, name: str, file: Path) -> None:
    page = person.go(PAGES["context" if name == "remembered" else name])
    if name == "remembered":  # the same page, where the memory begins
        page.locator(".layer").filter(has_text="[LAST TIME]").evaluate(
            "layer => window.scrollTo(0, layer.getBoundingClientRect().top + window.scrollY - 60)"
        )
    if name == "playground":
        page.get_by_label("target", exact=True).fill("1000")
        page.get_by_label("cap", exact=True).fill("1200")
        expect(page.get_by_role("heading", name="Against continuity as it is")).to_be_visible()
    if name == "replay":
        expect(page.locator(".diffs").first).to_be_visible()
    if name == "candidates":
        page.locator(".candidate summary").first.click()
        expect(page.locator(".candidate .found .turn").first).to_be_visible()
    page.screenshot(path=str(file))


def test_every_page_has_its_picture(browser: Browser, service: Served, tmp_path: Path) -> None:
    home = folder(tmp_path)
    with signed_in(browser, service) as person:
        for name in TAKEN:
            take(person, name, home / f"{name}.png")
    with signed_in(browser, service, dark=True) as person:
        for name in DARK:
            take(person, name, home / f"{name}-dark.png")
    with signed_in(browser, service, width=390, height=800) as person:
        take(person, "conversation", home / "conversation-phone.png")
    made = [*(f"{name}.png" for name in TAKEN), *(f"{name}-dark.png" for name in DARK), "conversation-phone.png"]
    assert [name for name in made if not (home / name).read_bytes().startswith(PNG)] == []


def test_the_documentation_shows_pictures_that_are_there() -> None:
    for file in ("README.md", "docs/inspector.md"):
        text = (ROOT / file).read_text("utf-8")
        shown = [line.split("images/")[1].split(".png")[0] for line in text.splitlines() if ".png)" in line]
        assert shown, file
        assert [name for name in shown if not (ROOT / "docs" / "images" / f"{name}.png").is_file()] == []
