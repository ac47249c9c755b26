"""A real browser on the real server, and pages that remember everything that went wrong on them:
fixtures of every test."""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import Any
from urllib.parse import urljoin, urlsplit

import pytest
from playwright._impl.assertions import LocatorAssertions, PageAssertions
from playwright.sync_api import (
    Browser,
    BrowserContext,
    ConsoleMessage,
    Dialog,
    Error,
    Page,
    Playwright,
    expect,
    sync_playwright,
)

# Parts of the browser that no test is about. The first two are pages of its own behind the address
# bar, two more renderers for each page of a test; the rest is the list of Playwright, whose place
# this one takes.
WITHOUT = (
    *("WebUIOmniboxPopup", "WebUIOmniboxAimPopup"),
    *(
        "AimEnabled",
        "AvoidCorsURLLoaderRestartOnRedirect",
        "AvoidUnnecessaryBeforeUnloadCheckSync",
        "DestroyProfileOnBrowserClose",
    ),
    *(
        "HttpsFirstBalancedModeAutoEnable",
        "HttpsUpgrades",
        "LensOverlay",
        "MediaRouter",
        "NetworkTimeServiceQuerying",
        "OptimizationHints",
    ),
    *(
        "PaintHolding",
        "PreconnectToSearch",
        "TcpPortRandomizationWin",
        "ThirdPartyStoragePartitioning",
    ),
)
ARGUMENTS = [
    f"--disable-features={','.join(WITHOUT)}",
    "--no-sandbox",
    # a page of a test lives for seconds: optimising its code takes longer than it saves
    "--js-flags=--no-opt,--no-flush-bytecode",
    "--disable-gpu",
    "--process-per-site",  # the pages of a context share the scripts that one of them has compiled
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--font-render-hinting=none",
    # no request reaches another host
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1, EXCLUDE localhost",
]
# Chromium without windows, tabs and bars of its own draws a page for half the work; where there is
# none, the whole of it does.
PROGRAMS = ("/usr/lib/chromium/chromium-headless-shell", "/usr/bin/chromium")
PROGRAM = os.environ.get("CHROMIUM") or next(
    (one for one in PROGRAMS if Path(one).exists()), PROGRAMS[-1]
)
PATIENCE = 90_000  # milliseconds, for a machine that does other things beside
# said of a slow machine, not of the page
SLOWNESS = "was preloaded using link preload but not used"
# what Gradio's script writes where a page with an open stream of answers is left, the second for
# each event under way
LEFT = (
    "AbortError: signal is aborted without reason",
    "Unexpected error Connection errored out.",
)
LEAVING, ARRIVED = "the page is being left", "a page begins"
TELLS = f"""{{ // of a frame too, which is left when it shows another page
    console.debug("{ARRIVED}");
    addEventListener("beforeunload", () => console.debug("{LEAVING}"));
}}"""
# On a busy machine it happens that Chromium draws no more frames of a page, whatever changes on it,
# until another page is opened. A page says so, and another one is opened: what waits for its next
# frame, as every click does, goes on.
STILL = "no frame for seconds"
FRAMES = f"""if (window === top) {{
    const frame = requestAnimationFrame.bind(window);
    setInterval(() => {{
        const late = setTimeout(() => console.debug("{STILL}"), 6000);
        frame(() => clearTimeout(late));
    }}, 8000);
}}"""
# of a page for which a test says nothing else
MODE = {"locale": "en-US", "reduced_motion": "reduce"}


@dataclass
class Faults:
    """What a page must never do."""

    outside: list[str] = field(default_factory=list)
    console: list[str] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)
    dialogs: list[str] = field(default_factory=list)
    requests: list[str] = field(
        default_factory=list
    )  # every request but what is fetched for later, for tests that count them; no fault by itself

    def all(self) -> list[str]:
        """Every fault so far, each with its kind."""
        kinds = {
            "outside request": self.outside,
            "console": self.console,
            "page error": self.errors,
            "dialog": self.dialogs,
        }
        return [f"{kind}: {what}" for kind, found in kinds.items() for what in found]


def watch(page: Page, site: str) -> Faults:
    """Records the faults of `page` from now on. A request to another host is one; it reaches nobody
    (ARGUMENTS).

    Nothing is routed here: a page with a route of Playwright's keeps no file, and would fetch all
        scripts again.
    """
    faults = Faults()
    home = urlsplit(site).netloc

    def request(asked: Any) -> None:
        # fetched for later, whenever there is time
        if asked.headers.get("sec-purpose") != "prefetch" and "/vendor/" not in asked.url:
            faults.requests.append(asked.url)
        address = urlsplit(asked.url)
        if address.scheme in {"http", "https", "ws", "wss"} and address.netloc != home:
            faults.outside.append(asked.url)

    leaving = False

    def console(message: ConsoleMessage) -> None:
        nonlocal leaving
        if message.text in {LEAVING, ARRIVED}:
            leaving = message.text == LEAVING
        elif (
            message.type in {"error", "warning"}
            and SLOWNESS not in message.text
            and not (leaving and message.text.strip().startswith(LEFT))
        ):
            faults.console.append(f"{message.type}: {message.text}")

    def dialog(shown: Dialog) -> None:
        faults.dialogs.append(shown.message)
        shown.dismiss()

    page.on("request", request)
    page.add_init_script(TELLS)
    page.on("console", console)
    page.on("pageerror", lambda error: faults.errors.append(str(error)))
    page.on("dialog", dialog)
    return faults


# milliseconds of patience, with which Playwright looks every 100 ms; with more it soon looks every
# 500 only
OFTEN = 2400


def soon(ask: Callable[..., Any]) -> Callable[..., Any]:
    """What `expect` asks Playwright, asked again and again with little patience instead of once
    with much: so it hears sooner.

    With much patience a wait ends a quarter of a second late in the middle, and a run has thousands
    of them.
    """

    async def asked(self: Any, expression: str, options: Any, title: str | None) -> Any:
        end = time.monotonic() + options["timeout"] / 1000
        while True:
            left = 1000 * (end - time.monotonic())
            found = await ask(
                self, expression, {**options, "timeout": max(1, min(left, OFTEN))}, title
            )
            if found["matches"] != options["isNot"] or left <= OFTEN:
                return found

    return asked


@pytest.fixture(scope="session")
def playwright_driver() -> Iterator[Playwright]:
    """Playwright itself."""
    expect.set_options(timeout=PATIENCE)
    with pytest.MonkeyPatch.context() as patch, sync_playwright() as driver:
        for kind in (LocatorAssertions, PageAssertions):
            patch.setattr(kind, "_call_expect", soon(kind._call_expect))
        yield driver


@pytest.fixture(scope="session")
def chromium(playwright_driver: Playwright) -> Iterator[Browser]:
    """Debian's Chromium, or the one that $CHROMIUM names."""
    browser = playwright_driver.chromium.launch(executable_path=PROGRAM, args=ARGUMENTS)
    yield browser
    browser.close()


class Contexts:
    """Browser contexts: those of each mode are kept, with the files that it has fetched and nothing
    else of what a test did in it.

    A page of its own stays open in it: without one, the process that has compiled the site's
    scripts ends with the last page of a test, and each test compiles them anew, half of what
    opening a page costs.
    """

    def __init__(self, browser: Browser) -> None:
        self._browser = browser
        self._kept: dict[str, tuple[BrowserContext, Page]] = {}
        self._lent: set[str] = set()
        self._others: list[BrowserContext] = []

    def page(self, site: str, width: int = 1280, height: int = 900, **settings: Any) -> Page:
        """A page in a kept context of this mode that is not lent, a first or second one …; with
        permissions, in a new one."""
        settings = {**MODE, **settings}
        if "permissions" in settings:
            context = self._new(settings)
            self._others.append(context)
        else:
            kept = (f"{sorted(settings.items())} {number}" for number in count())
            mode = next(one for one in kept if one not in self._lent)
            if mode not in self._kept:
                self._kept[mode] = self._keep(site, settings)
            self._lent.add(mode)
            context, _ = self._kept[mode]
        page = context.new_page()
        page.set_viewport_size({"width": width, "height": height})
        page.add_init_script(FRAMES)
        page.on("console", lambda message: message.text == STILL and self._wakes(context, site))
        return page

    @staticmethod
    def _wakes(context: BrowserContext, site: str) -> None:
        with contextlib.suppress(Error):  # the test may end meanwhile
            other = context.new_page()
            other.goto(urljoin(site, "/healthz"))
            other.close()

    def end(self, site: str) -> None:
        """After a test: closes all pages, forgets storage, cookies and permissions, and whatever
        context was not kept."""
        for context in self._others:
            context.close()
        for mode in self._lent:
            context, own = self._kept.pop(mode)  # unless all of this works
            session = context.new_cdp_session(own)
            session.send("Storage.clearDataForOrigin", {"origin": site, "storageTypes": "all"})
            session.detach()
            for page in context.pages:
                if page is not own:
                    page.close()
            context.clear_cookies()
            context.clear_permissions()
            context.unroute_all()
            self._kept[mode] = (context, own)
        self._others, self._lent = [], set()

    def _new(self, settings: dict[str, Any]) -> BrowserContext:
        context = self._browser.new_context(**settings)
        context.set_default_timeout(PATIENCE)
        return context

    def _keep(self, site: str, settings: dict[str, Any]) -> tuple[BrowserContext, Page]:
        context = self._new(settings)
        own = context.new_page()
        own.goto(urljoin(site, "/healthz"))
        return context, own


@pytest.fixture(scope="session")
def contexts(chromium: Browser) -> Contexts:
    """The contexts of this worker's browser."""
    return Contexts(chromium)


@pytest.fixture
def new_page(contexts: Contexts, site: str) -> Iterator[Callable[..., tuple[Page, Faults]]]:
    """Makes a page in a context of its own: new_page(width=360, height=780, color_scheme="dark",
    locale="zh-CN") -> (page, faults).

    No page sees what another one or another test has left, except for files that browsers keep. Any
    fault on any of them fails the test when it ends.
    """
    watched: list[Faults] = []

    def make(width: int = 1280, height: int = 900, **settings: Any) -> tuple[Page, Faults]:
        page = contexts.page(site, width, height, **settings)
        watched.append(watch(page, site))
        return page, watched[-1]

    yield make
    found = [fault for faults in watched for fault in faults.all()]
    contexts.end(site)
    assert not found, "\n".join(found)


@pytest.fixture
def page_watch(new_page: Callable[..., tuple[Page, Faults]]) -> Page:
    """A page of 1280 × 900 in English and light; an outside request, console error, page error or
    dialog on it fails the test."""
    page, _ = new_page()
    return page
