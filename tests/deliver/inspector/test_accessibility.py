"""No serious fault by axe-core's rules, in light and dark, wide and on a phone; and the keyboard reaches everything."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.deliver.inspector.browser import Person, signed_in, visitor
from tests.deliver.inspector.places import PAGES
from tests.deliver.inspector.serving import Served

AXE = Path(__file__).with_name("axe.min.js")
SERIOUS = {"serious", "critical"}


def faults(page: Page) -> list[str]:
    """What axe-core finds that is serious, each with the first element it is about."""
    page.evaluate(AXE.read_text("utf-8"))  # By way of the debugger: the page's own policy lets no such script in.
    found: dict[str, Any] = page.evaluate(
        "axe.run(document, {resultTypes: ['violations'], runOnly: ['wcag2a', 'wcag2aa', 'wcag21aa', 'wcag22aa']})"
    )
    return [
        f"{fault['id']}: {fault['help']} ({fault['nodes'][0]['html'][:200]})"
        for fault in found["violations"]
        if fault["impact"] in SERIOUS
    ]


INSIDE = """[...document.querySelectorAll('nav ul, .tabs, .scroll, .sidebyside')]
    .filter(part => part.scrollWidth > part.clientWidth + 1).map(part => part.className || part.tagName)"""
"""What would have to be scrolled sideways within a page."""


@pytest.mark.parametrize(("dark", "width"), [(False, 1280), (True, 390)], ids=["light, wide", "dark, phone"])
def test_no_page_has_a_serious_fault(browser: Browser, service: Served, dark: bool, width: int) -> None:
    found: dict[str, list[str]] = {}
    context, page, _ = visitor(browser, service, dark=dark, width=width)
    page.goto(service.url + "/inspect/sign-in")
    found["sign in"] = faults(page)
    context.close()
    with signed_in(browser, service, dark=dark, width=width) as person:
        for name in PAGES:
            person.go(PAGES[name])
            if name == "playground":
                expect(person.page.locator("#preview .figures")).to_be_visible()
            found[name] = faults(person.page)
            overflow = person.page.evaluate("document.documentElement.scrollWidth - innerWidth")
            if overflow > 0:
                found[name].append(f"{overflow} pixels wider than the window")
            found[name] += [f"{part} scrolls sideways" for part in person.page.evaluate(INSIDE)]
    assert {name: faulty for name, faulty in found.items() if faulty} == {}


def test_the_checker_bites(browser: Browser, service: Served) -> None:
    context, page, _ = visitor(browser, service)
    page.goto(service.url + "/inspect/sign-in")
    page.evaluate("document.querySelector('label').remove(); document.querySelector('#key').placeholder = ''")
    assert any(fault.startswith("label") for fault in faults(page))
    context.close()


def test_the_keyboard_reaches_an_answers_context(person: Person) -> None:
    page = person.go("/inspect/conversation?user=ana")
    page.keyboard.press("Tab")
    expect(page.get_by_role("link", name="Skip to the content")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.locator("#main")).to_be_focused()
    for _ in range(12):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.textContent") == "Why this answer?":
            break
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="What the model saw")).to_be_visible()
