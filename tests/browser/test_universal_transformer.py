"""The lab of the Universal Transformer as a visitor meets it: stories, sums, steps scrubbed and taken away, words it cannot read."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect

from explorer.labs.universal_transformer.page import LAB
from tests.browser.visiting import answer, chip, error, finished, settled
from tests.browser.waiting import addressed, becomes
from tests.visits import Visit

pytestmark = pytest.mark.xdist_group("universal_transformer walk", 2)  # on the page of the promises that hold for every lab

STORY = "emma put the coin in the bag. daniel took the bag. daniel went to the school."


@pytest.fixture
def page(visit: Visit) -> Page:
    """The lab as the bare address opens it."""
    return visit(LAB.path)


def tell(page: Page, story: str, question: str) -> None:
    page.locator(".tfe-ask-story").fill(story)
    page.locator(".tfe-ask-question").fill(question)
    page.locator(".tfe-ask-question").press("Enter")


def count(page: Page) -> tuple[int, int]:
    """(step in view, how many there are)."""
    found = re.search(r"(\d+)\D+(\d+)", page.locator(".tfe-ponder .tfe-stage-count").inner_text())
    assert found is not None
    return int(found[1]), int(found[2])


def test_a_story_is_asked_its_steps_are_scrubbed_and_attention_follows(page: Page) -> None:
    tell(page, STORY, "where is the coin")
    finished(page)
    page.locator(".tfe-ponder .tfe-stage-take summary").click()
    table = page.locator(".tfe-ponder .tfe-stage-take").get_by_role("button", name="Table")
    table.click()
    expect(page.locator(".tfe-ponder .tfe-stage-table")).to_contain_text("daniel took the bag")
    table.click()
    addressed(page, question="where is the coin")
    _, most = count(page)
    assert most > 1
    page.locator(".tfe-ponder .tfe-stage-board").focus()
    page.keyboard.press("Home")
    for _ in range(most):
        page.keyboard.press("ArrowLeft")
    expect(page.locator(".tfe-ponder .tfe-stage-count")).to_contain_text(f"1 of {most}")
    expect(page.locator(".tfe-attention .tfe-words")).to_contain_text("At step 1")
    page.keyboard.press("ArrowRight")
    expect(page.locator(".tfe-attention .tfe-words")).to_contain_text("At step 2")


def test_without_time_to_think_a_sum_is_wrong(visit: Visit) -> None:
    page = visit(f"{LAB.path}?v=1&task=addition&text=95678%2B4322&question=")
    expect(answer(page)).to_have_text("100000")
    expect(page.locator(".tfe-ponder-chip").last).to_contain_text("100000")  # drawn once its numbers are here
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
    page.keyboard.press("b")
    expect(answer(page)).to_have_text("100000")
    becomes(page, lambda: count(page)[1], most)
    page.keyboard.press("b")
    becomes(page, lambda: count(page), (1, 1))
    page.keyboard.press("Escape")
    expect(chip(page)).to_be_hidden()
    expect(answer(page)).to_have_text("100000")
    addressed(page, forced=None)


def test_the_head_in_view_stays_when_the_network_is_changed_and_bertviz_opens_on_it(visit: Visit) -> None:
    page = visit(f"{LAB.path}?v=1&task=copy&text=abcab&question=")  # there, another head tells most without the step signal
    finished(page)
    view = page.locator(".tfe-attention")
    head = r"head=(\d\.\d)"
    wished = [page.locator(f"[data-view={name}]") for name in ("ask", "attention")]
    becomes(page, lambda: len({one.get_attribute("data-wish") for one in wished}), 1)  # the view is drawn a moment after the answer stands
    expect(view).to_have_attribute("data-drawn", re.compile(head))
    (was,) = re.findall(head, view.get_attribute("data-drawn") or "")
    page.locator(".tfe-change-told").get_by_role("radio", name="off").click()
    expect(chip(page)).to_contain_text("no step signal")
    settled(page)
    expect(view).to_have_attribute("data-drawn", re.compile(f"head={re.escape(was)}"))
    addressed(page, told="0", _head=was)
    page.locator(".tfe-bertviz summary").click()
    expect(page.locator(".tfe-bertviz iframe")).to_be_visible()
    expect(page.locator(".tfe-bertviz [role=alert]")).to_be_hidden()


def test_what_is_no_story_is_refused_in_one_sentence_and_the_last_answer_stays(page: Page) -> None:
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
