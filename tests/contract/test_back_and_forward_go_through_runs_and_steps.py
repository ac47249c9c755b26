"""Back and forward go through the runs and guided steps of every lab: input, result and view come back; looking around is no entry."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect

from explorer.lab import Lab
from tests.browser.conftest import Visit
from tests.browser.waiting import becomes, prepared
from tests.contract.conftest import ON_ITS_PAGE
from tests.contract.test_the_badge_says_where_a_result_comes_from import LIVE, RESULT, SMALL

INPUT = "form textarea:visible, form input[type=text]:visible, form select:visible, form input[class*=seed]:visible"


def controls(page: Page) -> list[str]:
    """What stands in the controls of the input."""
    found: list[str] = page.locator(INPUT).evaluate_all("(all) => all.map((one) => one.value)")
    return found


def address(page: Page) -> str:
    """The address as the page itself reads it."""
    return str(page.evaluate("location.href"))


def goes(page: Page, by: int) -> None:
    """Back or forward in the browser's history, without waiting for a page to load: none is."""
    page.evaluate("(by) => history.go(by)", by)


@pytest.mark.parametrize("lab", ON_ITS_PAGE)
def test_back_and_forward_bring_input_result_and_view_back(lab: Lab, visit: Visit) -> None:
    prepared(visit.site, lab.slug)
    page = visit(f"{lab.path}?{SMALL[lab.slug]}")
    badge = page.locator(".tfe-badge").first
    expect(badge).to_have_text(RESULT)
    entries = page.evaluate("history.length")
    own = address(page), controls(page)

    last = len(lab.steps)
    for number in (1, last):
        page.locator(f".tfe-shell-tour li:nth-child({number}) button").click()
        becomes(page, lambda n=number: f"step={n}" in address(page), True)  # type: ignore[misc]
        expect(badge).to_have_text(RESULT)
    assert page.evaluate("history.length") == entries + 2, "a step is an entry"
    if not page.locator(".tfe-changed-chip").is_visible():  # where something is changed, Escape takes that off
        page.keyboard.press("Escape")
    page.evaluate("tfeLoad('/ui/-/widgets/lib/state.js').then(({view}) => view.set({looked: 1}))")
    becomes(page, lambda: "_looked=1" in address(page), True)
    assert page.evaluate("history.length") == entries + 2, "what is looked at is none"
    at_last = address(page), controls(page)

    goes(page, -2)
    becomes(page, lambda: address(page), own[0])
    expect(badge).to_have_text(re.compile("^remembered$|^stored$"))
    becomes(page, lambda: controls(page), own[1])
    expect(page.locator(".tfe-shell-note")).to_be_hidden()

    goes(page, 2)
    becomes(page, lambda: address(page), at_last[0])
    expect(page.locator(".tfe-shell-tour [aria-current=step]")).to_have_attribute("aria-label", re.compile(f"^{last}, "))
    expect(badge).to_have_text(RESULT)
    becomes(page, lambda: controls(page), at_last[1])


def test_a_run_is_an_entry_and_keeps_what_was_looked_at_before_it(site: str, page_watch: Page) -> None:
    page = page_watch
    page.goto(f"{site}/translation?lang=en&v=1&sentence=A+dog+sits.&_row=1")
    badge = page.locator(".tfe-badge").first
    expect(badge).to_have_text(RESULT)
    entries = page.evaluate("history.length")
    page.locator(".tfe-ask-story").fill("A dog sits there.")
    page.locator(".tfe-ask-go").click()
    becomes(page, lambda: "sits+there" in address(page), True)
    expect(badge).to_have_text(RESULT)
    assert page.evaluate("history.length") == entries + 1
    page.locator(".tfe-ask-example").nth(2).click()
    becomes(page, lambda: "sits" in address(page), False)
    assert page.evaluate("history.length") == entries + 2
    goes(page, -2)
    becomes(page, lambda: "_row=1" in address(page) and "sits." in address(page), True)
    expect(page.locator(".tfe-ask-story")).to_have_value("A dog sits.")
    expect(badge).to_have_text("remembered")
    page.locator(".tfe-ask-go").click()
    expect(badge).to_have_text("remembered")
    assert page.evaluate("history.length") == entries + 2, "the same run again is where the page stands already"
    goes(page, 1)
    expect(page.locator(".tfe-ask-story")).to_have_value("A dog sits there.")
    expect(badge).not_to_have_text(LIVE)
