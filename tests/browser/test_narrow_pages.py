"""Where a page is narrow: nothing runs out of it, and an answer is not squeezed by its badge."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from explorer.labs import LABS
from tests.browser.staged import NEW
from tests.browser.waiting import becomes, measure_box
from tests.fitting import scrolls_sideways

WIDTHS = (1440, 1366, 1280, 1024, 390)
LANGUAGES = ("en", "zh")
OUTSIDE = """(bar) => [...document.querySelectorAll(bar + " *")].filter((one) => {
  const { width, right } = one.getBoundingClientRect();
  return width && right > innerWidth;
}).length"""
# answers of seven digits beside the knobs
WIDE = "/act_rnn?v=1&task=addition&text=999999%2B999999&forced=1"
LIVE = "/translation?v=1&sentence=A+dog+runs+on+grass."


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_presenter_fits(new_page: NEW, site: str, language: str) -> None:
    page, _ = new_page()
    page.goto(f"{site}/presenter?lang={language}")
    expect(page.locator(".tfe-presenter-bar button").first).to_be_visible()
    for width in WIDTHS:
        page.set_viewport_size({"width": width, "height": 800})
        becomes(page, lambda: scrolls_sideways(page), 0)


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_table_of_changes_fits(new_page: NEW, site: str, language: str) -> None:
    page, _ = new_page()
    page.goto(f"{site}{WIDE}&lang={language}")
    table, panel = page.locator(".tfe-change-table"), page.locator(".tfe-change-panel")
    expect(table).to_contain_text("1999988")
    for width in WIDTHS:
        page.set_viewport_size({"width": width, "height": 800})
        becomes(page, lambda: scrolls_sideways(page), 0)
        inner, outer = measure_box(table), measure_box(panel)
        assert inner["x"] + inner["width"] <= outer["x"] + outer["width"]
        assert page.evaluate(OUTSIDE, ".tfe-shell-bar") == 0


def test_a_live_answer_is_as_wide_as_a_phone(new_page: NEW, site: str) -> None:
    page, _ = new_page(width=390, height=844)
    page.goto(f"{site}{LIVE}&lang=en")
    expect(page.locator(".tfe-ask-panel .tfe-badge")).to_contain_text("cpu")
    pieces = page.locator(".tfe-ask-panel .tfe-pieces-piece")
    badge, first, last = (
        measure_box(one)
        for one in (page.locator(".tfe-ask-panel .tfe-badge"), pieces.first, pieces.nth(3))
    )
    assert last["y"] == first["y"] >= badge["y"] + badge["height"], "one line, below the badge"


def test_the_next_lab_fits_the_rail(new_page: NEW, site: str) -> None:
    page, _ = new_page()
    for lab in LABS[:-1]:
        page.goto(f"{site}{lab.path}?step={len(lab.steps)}&lang=en")
        button, tour = (
            page.locator(".tfe-shell-tour .tfe-shell-next"),
            page.locator(".tfe-shell-tour"),
        )
        expect(button).to_contain_text("Next: ")
        inner, outer = measure_box(button), measure_box(tour)
        assert inner["x"] + inner["width"] < outer["x"] + outer["width"], lab.slug
