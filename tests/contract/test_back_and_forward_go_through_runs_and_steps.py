"""Back and forward go through the runs of a lab, and bring back what was looked at; those of guided
steps: the walk through every lab."""

from __future__ import annotations

from playwright.sync_api import Page, expect

from tests.browser.waiting import becomes
from tests.contract.test_the_badge_says_where_a_result_comes_from import LIVE, RESULT

INPUT = (
    "form textarea:visible, form input[type=text]:visible, form select:visible, form"
    " input[class*=seed]:visible"
)


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


def test_a_run_is_an_entry_of_the_history(site: str, page_watch: Page) -> None:
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
    assert page.evaluate("history.length") == entries + 2, (
        "the same run again is where the page stands already"
    )
    goes(page, 1)
    expect(page.locator(".tfe-ask-story")).to_have_value("A dog sits there.")
    expect(badge).not_to_have_text(LIVE)
