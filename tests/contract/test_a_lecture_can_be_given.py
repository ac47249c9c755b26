"""What a lecturer is promised of every lab: figures to guess at, covered until opened, and alone on the phones of a hall."""

from __future__ import annotations

from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.sync_api import Page, expect

from explorer.lab import Lab
from explorer.labs import LABS
from tests.browser.waiting import exact, prepared
from tests.fitting import refused_by_axe, scrolls_sideways

every_lab = pytest.mark.parametrize("lab", LABS, ids=lambda lab: lab.slug)
FIGURE = ".tfe-projected .tfe-words"


def _projected(page: Page, site: str, lab: Lab, number: int) -> None:
    """The step as the lecture projects it, its own figure drawn."""
    prepared(site, lab.slug)
    page.goto(f"{site}{lab.path}?step={number}&lecture=projector")
    expect(page.locator(".tfe-projector-title")).to_have_text(lab.steps[number - 1].asks["en"])


@every_lab
def test_a_figure_that_is_guessed_at_is_covered_until_it_is_opened_and_stands_alone_on_a_phone(new_page: Any, site: str, lab: Lab) -> None:
    number, guess = next((number, step.guess) for number, step in enumerate(lab.steps, 1) if step.guess is not None)
    page, faults = new_page(width=1280, height=720)
    _projected(page, site, lab, number)
    expect(page.locator(".tfe-projector-guess")).to_have_text(guess["en"])
    expect(page.locator(FIGURE).first).to_be_attached()
    assert page.locator(FIGURE).filter(visible=True).count() == 0
    if lab is LABS[0]:  # what is covered looks alike in every lab
        assert refused_by_axe(page) == []
    page.keyboard.press("Enter")
    expect(page.locator(FIGURE).filter(visible=True).first).to_be_visible()
    expect(page.locator(".tfe-projector-cover")).to_be_hidden()
    exact(page)
    said = page.locator(FIGURE).filter(visible=True).first.inner_text()
    code = str(page.locator(".tfe-projector-code").get_attribute("src"))

    page.set_viewport_size({"width": 360, "height": 780})
    page.goto(parse_qs(urlsplit(code).query)["text"][0])
    page.locator(".tfe-projector-cover button").click()
    expect(page.locator(".tfe-lone .tfe-words").filter(visible=True).first).to_have_text(said)
    expect(page.locator(".tfe-projector-title")).to_have_text(lab.steps[number - 1].asks["en"])
    for rest in (".tfe-shell-bar", ".tfe-ask", "h1", ".tfe-projector-code"):
        expect(page.locator(rest).filter(visible=True)).to_have_count(0)
    assert scrolls_sideways(page) == 0
    if lab is LABS[0]:  # the figure itself is judged on its page
        assert refused_by_axe(page) == []
    assert not faults.all()
