"""A browser that a test drives like a person, and that notices what a person would not: a script that ran, a request that
left the page, an error on its console."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Literal
from urllib.parse import urlsplit

from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Dialog, Page, Request, sync_playwright

from tests.deliver.inspector.serving import Served
from tests.programs import installed

FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
    "--no-default-browser-check",
    "--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1",
)


@contextmanager
def launched() -> Generator[Browser]:
    path = installed("chromium", package="chromium", tests="browser")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=[*FLAGS], headless=True)
        try:
            yield browser
        finally:
            browser.close()


@dataclass(slots=True)
class Seen:
    """What happened behind a page's back."""

    elsewhere: list[str] = field(default_factory=list[str])
    console: list[str] = field(default_factory=list[str])
    dialogs: list[str] = field(default_factory=list[str])

    def nothing(self) -> bool:
        return not (self.elsewhere or self.console or self.dialogs)


@dataclass(frozen=True, slots=True)
class Person:
    """Somebody at a browser who has signed in."""

    served: Served
    page: Page
    seen: Seen

    def go(self, path: str) -> Page:
        self.page.goto(self.served.url + path)
        return self.page


def visitor(
    browser: Browser, served: Served, *, dark: bool = False, width: int = 1280, height: int = 900
) -> tuple[BrowserContext, Page, Seen]:
    """A fresh browser window that has not signed in."""
    scheme: Literal["dark", "light"] = "dark" if dark else "light"
    context = browser.new_context(
        color_scheme=scheme,
        viewport={"width": width, "height": height},
        reduced_motion="reduce",
        service_workers="block",
    )
    context.set_default_timeout(20_000)
    page, seen = context.new_page(), Seen()
    _watch(page, served.url, seen)
    return context, page, seen


@contextmanager
def signed_in(browser: Browser, served: Served, *, key: str | None = None, **window: Any) -> Generator[Person]:
    context, page, seen = visitor(browser, served, **window)
    page.goto(served.url + "/")
    page.get_by_label("Key").fill(key or served.key())
    page.get_by_role("button", name="Sign in").click()
    page.wait_for_url(lambda url: "sign-in" not in url)
    yield Person(served, page, seen)
    context.close()


def _watch(page: Page, url: str, seen: Seen) -> None:
    home = urlsplit(url).netloc

    def request(made: Request) -> None:
        if urlsplit(made.url).netloc != home and not made.url.startswith("about:"):
            seen.elsewhere.append(made.url)

    def console(message: ConsoleMessage) -> None:
        if message.type in ("error", "warning"):
            seen.console.append(message.text)

    def dialog(opened: Dialog) -> None:
        seen.dialogs.append(opened.message)
        opened.dismiss()

    page.on("request", request)
    page.on("console", console)
    page.on("pageerror", lambda error: seen.console.append(str(error)))
    page.on("dialog", dialog)
