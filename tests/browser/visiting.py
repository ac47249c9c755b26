"""What a visitor sees and touches of any lab: the input bar, its badge and answer, the panel of changes."""

from __future__ import annotations

import re
from typing import Any

from playwright.sync_api import Page, expect

from tests.browser.staged import numbers
from tests.browser.waiting import becomes

LIVE = re.compile(r"^live · [\d.,]+ m?s\b|^remembered$")


def badge(page: Page) -> Any:
    """Says where the result comes from."""
    return page.locator(".tfe-ask .tfe-badge")


def finished(page: Page) -> None:
    """Waits for the live result."""
    expect(badge(page)).to_have_text(LIVE)


def error(page: Page) -> Any:
    """Says why something was refused."""
    return page.locator(".tfe-ask-error")


def answer(page: Page) -> Any:
    """What the model answers."""
    return page.locator(".tfe-ask-answer")


def go(page: Page) -> Any:
    """The button that runs, or stops."""
    return page.locator(".tfe-ask-go")


def chip(page: Page) -> Any:
    """Says what is changed."""
    return page.locator(".tfe-changed-chip")


def settled(page: Page) -> None:
    """Waits until no change is being computed."""
    expect(page.locator(".tfe-change-panel")).to_have_attribute("aria-busy", "false")


def number(page: Page, name: str | None = None) -> float:
    """The one number of a change once it stands; name: of which model, where there are several."""
    settled(page)
    becomes(page, lambda: name in numbers(page) if name else bool(numbers(page)), True)
    found = numbers(page)
    return float(found[name or next(iter(found))][0].replace("−", "-"))


def restored(page: Page) -> None:
    """Gives the model back what was changed."""
    page.locator(".tfe-change-restore").click()
    expect(page.locator(".tfe-change-picture, .tfe-change-result").filter(visible=True)).to_have_count(0)
