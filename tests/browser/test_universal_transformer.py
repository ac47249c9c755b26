"""The lab of the Universal Transformer as a visitor meets it: stories, sums, steps scrubbed and
taken away, words it cannot read."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect

from explorer.labs import LABS
from tests.browser.visiting import answer, chip, error, finished
from tests.browser.waiting import addressed, becomes
from tests.visits import Visit

LAB = next(lab for lab in LABS if lab.slug == "universal_transformer")

# on the page of the promises that hold for every lab
pytestmark = pytest.mark.xdist_group("universal_transformer walk", 2)

STORY = "emma put the coin in the bag. daniel took the bag. daniel went to the school."


def tell(page: Page, story: str, question: str) -> None:
    page.locator(".tfe-ask-story").fill(story)
    page.locator(".tfe-ask-question").fill(question)
    page.locator(".tfe-ask-question").press("Enter")


def count(page: Page) -> tuple[int, int]:
    """(step in view, how many there are)."""
    found = re.search(r"(\d+)\D+(\d+)", page.locator(".tfe-ponder .tfe-stage-count").inner_text())
    assert found is not None
    return int(found[1]), int(found[2])


def test_a_story_is_asked_and_scrubbed(page: Page) -> None:
    tell(page, STORY, "where is the coin")
    finished(page)
    addressed(page, question="where is the coin")
    _, most = count(page)
    assert most > 1
    page.locator(".tfe-ponder .tfe-stage-board").focus()
    page.keyboard.press("Home")
    expect(page.locator(".tfe-ponder .tfe-stage-count")).to_contain_text(f"1 of {most}")
    expect(page.locator(".tfe-attention .tfe-words")).to_contain_text("At step 1")
    page.keyboard.press("ArrowRight")
    expect(page.locator(".tfe-attention .tfe-words")).to_contain_text("At step 2")


def test_without_time_to_think_a_sum_is_wrong(visit: Visit) -> None:
    page = visit(f"{LAB.path}?v=1&task=addition&text=95678%2B4322&question=")
    expect(answer(page)).to_have_text("100000")
    # drawn once its numbers are here
    expect(page.locator(".tfe-ponder-chip").last).to_contain_text("100000")
    _, most = count(page)
    assert most > 1
    page.locator(".tfe-change input[data-field=forced]").press("ArrowRight")
    expect(page.locator(".tfe-change-number")).to_contain_text("−")
    expect(answer(page)).not_to_have_text("100000")
    expect(page.locator(".tfe-ask-mark")).to_contain_text("wrong")
    becomes(page, lambda: count(page), (1, 1))
    addressed(page, forced="1")
    expect(page.locator(".tfe-change-sentence")).to_contain_text("exactly 1 step")
    expect(chip(page)).to_contain_text("exactly 1 step for every position")


def test_what_is_no_story_is_refused(page: Page) -> None:
    before = answer(page).inner_text()
    for story, question, said in (
        ("mary took the <b>sword</b>.", "where is mary", "<b>sword</b>"),
        ("mary took the key.", "", "has no question"),
        ("", "where is mary", "There is no story"),
        ("mary key took the.", "where is mary", "no sentence"),
    ):
        tell(page, story, question)
        expect(error(page)).to_contain_text(said)
        assert error(page).locator("b").count() == 0
        expect(page.locator(".tfe-ask-story")).to_have_value(story)
        assert answer(page).inner_text() == before
