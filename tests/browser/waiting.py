"""Waiting for what a page comes to, however long that takes: nothing here assumes that a machine is
slow or fast."""

from __future__ import annotations

import json
import time
import urllib.request
from collections.abc import Callable
from typing import Any, TypeVar
from urllib.parse import parse_qs, urlsplit

from playwright.sync_api import FloatRect, Frame, FrameLocator, Locator, Page, expect

from tests.conftest import PATIENCE as START
from tests.pages import PATIENCE, Faults

T = TypeVar("T")
CLOSED = "Unexpected error Connection errored out"


def becomes(page: Page, read: Callable[[], T], wanted: T) -> None:
    """Waits until `read` gives `wanted`, for what `expect` has no words for; fails with what it
    gives instead."""
    end = time.monotonic() + PATIENCE / 1000
    while (found := read()) != wanted:
        assert time.monotonic() < end, f"{found!r} instead of {wanted!r}"
        page.wait_for_timeout(25)  # unlike sleep, lets the page's events come


def measure_box(element: Locator) -> FloatRect:
    """Return where an element stands on the screen. A page may build it anew between the look at
    it and its measure; then the new one is measured."""
    end = time.monotonic() + PATIENCE / 1000
    while True:
        expect(element).to_be_visible()
        if (box := element.bounding_box()) is not None:
            return box
        assert time.monotonic() < end, f"{element} never stays on the screen"


def asked(page: Page) -> dict[str, list[str]]:
    """The query of the address as the page itself reads it: `page.url` hears of a change only after
    the key that made it."""
    return parse_qs(urlsplit(page.evaluate("location.href")).query)


def looked(page: Page) -> dict[str, str]:
    """What the address says is looked at."""
    return {key: value[0] for key, value in asked(page).items() if key.startswith("_")}


def addressed(page: Page, /, **said: str | None) -> None:
    """Waits until the address says this of each of these keys; None: nothing."""
    becomes(page, lambda: {key: asked(page).get(key, [None])[0] for key in said}, said)


def unfolded(page: Page | FrameLocator) -> None:
    """Waits for the input bar; on a phone, where what is asked stands in two lines, opens it to be
    edited."""
    page.locator(".tfe-ask-go").wait_for(state="attached")
    edit = page.locator(".tfe-ask-edit[aria-expanded=false]")
    if edit.is_visible():
        edit.click()


LOOKED_AT = """(wanted) => document.querySelector(wanted)
    || void [...document.querySelectorAll("[data-plot=waits]")]
  .find((one) => one.checkVisibility())?.scrollIntoView({ block: "center" })"""


def stands(page: Page, wanted: str) -> None:
    """Looks at the figures that are not drawn yet, one after the other, until what is wanted is
    there: none is drawn before it is near."""
    page.wait_for_function(LOOKED_AT, arg=wanted)


def quiet(page: Page, faults: Faults) -> None:
    """Waits until nothing of the page is on its way any more: half a second without a request. Then
    its requests can be counted."""
    page.wait_for_load_state("networkidle")
    end, since, seen = time.monotonic() + PATIENCE / 1000, time.monotonic(), len(faults.requests)
    while time.monotonic() - since < 0.5:
        assert time.monotonic() < end, f"it goes on asking: {faults.requests[-3:]}"
        page.wait_for_timeout(50)
        if len(faults.requests) != seen:
            since, seen = time.monotonic(), len(faults.requests)


def exact(page: Page) -> None:
    """Waits until the pictures hold all exact weights that they have asked for: a sentence names
    them only then."""
    page.wait_for_function("() => !Number(document.documentElement.dataset.fetching)")


def focus(page: Page, frame: Frame, selector: str) -> None:
    """Gives something in a frame the focus, and waits until keys go there: a frame may live in a
    process of its own."""
    frame.locator(selector).focus()
    page.wait_for_function("() => document.activeElement.tagName === 'IFRAME'")
    frame.wait_for_function("() => document.hasFocus()")


def prepared(site: str, slug: str) -> None:
    """Waits until the server holds the results of all examples and steps of a lab: a while after it
    has started."""
    end = time.monotonic() + START
    while True:
        with urllib.request.urlopen(f"{site}/readyz", timeout=10) as answer:
            made, of = json.load(answer)["stored"][slug]
        if made == of:
            return
        assert time.monotonic() < end, f"{made} of {of} results after {START:.0f} s"
        time.sleep(0.5)


def left(faults: Faults) -> None:
    """Forgets what Gradio's script writes to the console where a page is left in mid-stream: that
    is what leaving is."""
    faults.console[:] = [line for line in faults.console if CLOSED not in line]


BADGE = "document.querySelector('.tfe-badge').textContent"


def note(page: Page, says: str = BADGE) -> None:
    """From now on the page writes down what an expression gives, by default its first badge,
    whenever that has become another."""
    page.evaluate(f"""() => {{
            const same = (one, other) => JSON.stringify(one) === JSON.stringify(other),
                all = (window.said = []);
            const look = () => {{ const it = {says}; if (!same(it, all.at(-1))) all.push(it); }};
            const what = {{ childList: true, subtree: true, attributes: true,
                characterData: true }};
            new MutationObserver(look).observe(document.body, what); }}""")


def noted(page: Page) -> list[Any]:
    """All that it has written down since `note` was called."""
    return list(page.evaluate("window.said"))
