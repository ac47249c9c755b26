"""What a lecturer is promised of every lab: questions to guess at, whose answer stays covered until it is opened."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.sync_api import Page, expect

from explorer.lab import Lab
from explorer.labs import LABS
from tests.browser.waiting import prepared
from tests.fitting import refused_by_axe

every_lab = pytest.mark.parametrize("lab", LABS, ids=lambda lab: lab.slug)
FIGURE = ".tfe-projected .tfe-words"


def _projected(page: Page, site: str, lab: Lab, number: int) -> None:
    """The step as the lecture projects it, its own figure drawn."""
    prepared(site, lab.slug)
    page.goto(f"{site}{lab.path}?step={number}&lecture=projector")
    expect(page.locator(".tfe-projector-title")).to_have_text(lab.steps[number - 1].asks["en"])


@every_lab
def test_a_figure_that_is_guessed_at_is_covered_until_the_lecturer_opens_it(new_page: Any, site: str, lab: Lab) -> None:
    number, step = next((number, step) for number, step in enumerate(lab.steps, 1) if step.guess is not None)
    page, faults = new_page(width=1280, height=720)
    _projected(page, site, lab, number)
    expect(page.locator(".tfe-projector-guess")).to_have_text(step.guess["en"])
    expect(page.locator(FIGURE).first).to_be_attached()
    assert page.locator(FIGURE).filter(visible=True).count() == 0
    assert refused_by_axe(page) == []
    page.keyboard.press("Enter")
    expect(page.locator(FIGURE).filter(visible=True).first).to_be_visible()
    expect(page.locator(".tfe-projector-cover")).to_be_hidden()
    assert not faults.all()
