"""A real browser on the real server, and a page that remembers everything that went wrong on it."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Browser, BrowserContext, Dialog, Page, Playwright, expect, sync_playwright

ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--font-render-hinting=none",
]
PATIENCE = 90_000  # milliseconds, for a machine that does other things beside
SLOWNESS = "was preloaded using link preload but not used"  # said of a slow machine, not of the page


@dataclass
class Faults:
    """What a page must never do."""

    outside: list[str] = field(default_factory=list)
    console: list[str] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)
    dialogs: list[str] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)  # every request, for tests that count them; no fault by itself

    def all(self) -> list[str]:
        """Every fault so far, each with its kind."""
        kinds = {"outside request": self.outside, "console": self.console, "page error": self.errors, "dialog": self.dialogs}
        return [f"{kind}: {what}" for kind, found in kinds.items() for what in found]


def watch(page: Page, site: str) -> Faults:
    """Records the faults of `page` from now on. Requests to another host are stopped as well."""
    faults = Faults()
    home = urlsplit(site).netloc

    def request(asked: Any) -> None:
        faults.requests.append(asked.url)
        address = urlsplit(asked.url)
        if address.scheme in {"http", "https", "ws", "wss"} and address.netloc != home:
            faults.outside.append(asked.url)

    def dialog(shown: Dialog) -> None:
        faults.dialogs.append(shown.message)
        shown.dismiss()

    page.on("request", request)
    page.on(
        "console",
        lambda message: (
            faults.console.append(f"{message.type}: {message.text}")
            if message.type in {"error", "warning"} and SLOWNESS not in message.text
            else None
        ),
    )
    page.on("pageerror", lambda error: faults.errors.append(str(error)))
    page.on("dialog", dialog)
    page.route(lambda url: urlsplit(url).scheme in {"http", "https"} and urlsplit(url).netloc != home, lambda route: route.abort())
    return faults


@pytest.fixture(scope="session")
def playwright_driver() -> Iterator[Playwright]:
    """Playwright itself."""
    expect.set_options(timeout=PATIENCE)
    with sync_playwright() as driver:
        yield driver


@pytest.fixture(scope="session")
def chromium(playwright_driver: Playwright) -> Iterator[Browser]:
    """Debian's Chromium, or the one that $CHROMIUM names."""
    browser = playwright_driver.chromium.launch(executable_path=os.environ.get("CHROMIUM", "/usr/bin/chromium"), args=ARGUMENTS)
    yield browser
    browser.close()


@pytest.fixture
def new_page(chromium: Browser, site: str) -> Iterator[Callable[..., tuple[Page, Faults]]]:
    """Makes a page in a context of its own: new_page(width=360, height=780, color_scheme="dark", locale="zh-CN") -> (page, faults).

    Any fault on any of them fails the test when it ends.
    """
    contexts: list[BrowserContext] = []
    watched: list[Faults] = []

    def make(width: int = 1280, height: int = 900, **settings: Any) -> tuple[Page, Faults]:
        context = chromium.new_context(
            viewport={"width": width, "height": height}, **{"locale": "en-US", "reduced_motion": "reduce", **settings}
        )
        context.set_default_timeout(PATIENCE)
        contexts.append(context)
        page = context.new_page()
        watched.append(watch(page, site))
        return page, watched[-1]

    yield make
    for context in contexts:
        context.close()
    found = [fault for faults in watched for fault in faults.all()]
    assert not found, "\n".join(found)


@pytest.fixture
def page_watch(new_page: Callable[..., tuple[Page, Faults]]) -> Page:
    """A page of 1280 × 900 in English and light; an outside request, console error, page error or dialog on it fails the test."""
    page, _ = new_page()
    return page
