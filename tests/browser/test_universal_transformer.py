"""The lab of the Universal Transformer as a visitor meets it: stories, sums, steps scrubbed and taken away, words it cannot read."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect

from explorer.labs.universal_transformer.page import LAB
from tests.browser.waiting import addressed, becomes

LIVE = re.compile(r"live · [\d.]+ m?s|remembered")
SLOW = 240_000  # milliseconds that a run may take while the machine does other things
STORY = "emma put the coin in the bag. daniel took the bag. daniel went to the school."
expect.set_options(timeout=60_000)  # five seconds, Playwright's own patience, are too few beside a training run


def opened(page: Page, site: str, query: str = "") -> Page:
    """The lab, drawn and listening."""
    page.goto(f"{site}{LAB.path}" + (f"?{query}" if query else ""))
    expect(page.locator(".tfe-ask-go")).to_be_visible(timeout=SLOW)
    expect(page.locator(".tfe-ponder .tfe-stage-count")).to_contain_text("step", timeout=SLOW)
    expect(page.locator(".tfe-change-panel")).to_be_visible()
    return page


def finished(page: Page) -> None:
    """Waits for the live result."""
    expect(page.locator(".tfe-ask .tfe-badge")).to_have_text(LIVE, timeout=SLOW)


def tell(page: Page, story: str, question: str) -> None:
    page.locator(".tfe-ask-story").fill(story)
    page.locator(".tfe-ask-question").fill(question)
    page.locator(".tfe-ask-question").press("Enter")


def task(page: Page, name: str) -> None:
    page.locator(".tfe-ask-head").get_by_role("radio", name=name).or_(page.locator(".tfe-ask-head button", has_text=name)).first.click()


def count(page: Page) -> tuple[int, int]:
    """(step in view, how many there are)."""
    found = re.search(r"(\d+)\D+(\d+)", page.locator(".tfe-ponder .tfe-stage-count").inner_text())
    assert found is not None
    return int(found[1]), int(found[2])


def test_a_story_is_asked_its_steps_are_scrubbed_and_attention_follows(site: str, page_watch: Page) -> None:
    opened(page_watch, site)
    tell(page_watch, STORY, "where is the coin")
    finished(page_watch)
    page_watch.locator(".tfe-ponder .tfe-stage-take summary").click()
    page_watch.locator(".tfe-ponder .tfe-stage-take").get_by_role("button", name="Table").click()
    expect(page_watch.locator(".tfe-ponder .tfe-stage-table")).to_contain_text("daniel took the bag")
    page_watch.locator(".tfe-ponder .tfe-stage-take").get_by_role("button", name="Table").click()
    addressed(page_watch, question="where is the coin")
    _, most = count(page_watch)
    page_watch.locator(".tfe-ponder .tfe-stage-board").focus()
    page_watch.keyboard.press("Home")
    for _ in range(most):
        page_watch.keyboard.press("ArrowLeft")
    expect(page_watch.locator(".tfe-ponder .tfe-stage-count")).to_contain_text(f"1 of {most}")
    expect(page_watch.locator(".tfe-attention .tfe-words")).to_contain_text("At step 1")
    if most > 1:
        page_watch.keyboard.press("ArrowRight")
        expect(page_watch.locator(".tfe-attention .tfe-words")).to_contain_text("At step 2")


def test_without_time_to_think_a_sum_is_wrong(site: str, page_watch: Page) -> None:
    opened(page_watch, site, "v=1&task=addition&text=95678%2B4322&question=")
    expect(page_watch.locator(".tfe-ask-answer")).to_have_text("100000", timeout=SLOW)
    expect(page_watch.locator(".tfe-ponder-chip").last).to_contain_text("100000", timeout=SLOW)  # drawn once its numbers are here
    _, most = count(page_watch)
    assert most > 1
    page_watch.locator(".tfe-change input[data-field=forced]").focus()
    page_watch.keyboard.press("ArrowRight")
    expect(page_watch.locator(".tfe-change-number")).to_contain_text("−", timeout=SLOW)
    expect(page_watch.locator(".tfe-ask-answer")).not_to_have_text("100000")
    expect(page_watch.locator(".tfe-ask-mark")).to_contain_text("wrong")
    becomes(page_watch, lambda: count(page_watch), (1, 1))
    addressed(page_watch, forced="1")
    expect(page_watch.locator(".tfe-change-sentence")).to_contain_text("exactly 1 step")
    expect(page_watch.locator(".tfe-changed-chip")).to_contain_text("exactly 1 step for every position")
    page_watch.keyboard.press("b")
    expect(page_watch.locator(".tfe-ask-answer")).to_have_text("100000")
    becomes(page_watch, lambda: count(page_watch)[1], most)
    page_watch.keyboard.press("b")
    becomes(page_watch, lambda: count(page_watch), (1, 1))
    page_watch.keyboard.press("Escape")
    expect(page_watch.locator(".tfe-changed-chip")).to_be_hidden()
    expect(page_watch.locator(".tfe-ask-answer")).to_have_text("100000")
    addressed(page_watch, forced=None)


def test_the_head_in_view_stays_when_the_network_is_changed(site: str, page_watch: Page) -> None:
    opened(page_watch, site, "v=1&task=copy&text=abcab&question=")  # there, another head tells most without the step signal
    finished(page_watch)
    view = page_watch.locator(".tfe-attention")
    found = re.search(r"head=(\d)\.(\d)", view.get_attribute("data-drawn") or "")
    assert found is not None
    step, was = found.groups()
    page_watch.locator(".tfe-change-told").get_by_role("radio", name="off").click()
    expect(page_watch.locator(".tfe-changed-chip")).to_contain_text("no step signal")
    expect(page_watch.locator(".tfe-change-panel")).to_have_attribute("aria-busy", "false")
    expect(view).to_have_attribute("data-drawn", re.compile(rf"head={step}\.{was}"))
    addressed(page_watch, told="0", _head=f"{step}.{was}")


def test_bertviz_opens_on_the_run_in_view(site: str, page_watch: Page) -> None:
    opened(page_watch, site, "v=1&task=copy&text=abcab&question=")
    finished(page_watch)
    page_watch.locator(".tfe-bertviz summary").click()
    expect(page_watch.locator(".tfe-bertviz iframe")).to_be_visible()
    expect(page_watch.locator(".tfe-bertviz [role=alert]")).to_be_hidden()


def test_a_word_that_no_story_has_is_named(site: str, page_watch: Page) -> None:
    opened(page_watch, site)
    before = page_watch.locator(".tfe-ask-answer").inner_text()
    tell(page_watch, "mary took the <b>sword</b>.", "where is mary")
    error = page_watch.locator(".tfe-ask-error")
    expect(error).to_contain_text("<b>sword</b>", timeout=SLOW)
    assert page_watch.locator(".tfe-ask-error b").count() == 0
    expect(page_watch.locator(".tfe-ask-story")).to_have_value("mary took the <b>sword</b>.")
    assert page_watch.locator(".tfe-ask-answer").inner_text() == before


@pytest.mark.parametrize(
    ("story", "question", "said"),
    [
        ("mary took the key.", "", "has no question"),
        ("", "where is mary", "There is no story"),
        ("mary key took the.", "where is mary", "no sentence"),
    ],
)
def test_what_is_no_story_is_refused_in_one_sentence(site: str, page_watch: Page, story: str, question: str, said: str) -> None:
    opened(page_watch, site)
    tell(page_watch, story, question)
    expect(page_watch.locator(".tfe-ask-error")).to_contain_text(said, timeout=SLOW)


def test_nobody_knows_where_somebody_is_who_never_appeared(site: str, page_watch: Page) -> None:
    opened(page_watch, site)
    tell(page_watch, "emma took the ball. john went to the kitchen. emma went to the school.", "where is peter")
    expect(page_watch.locator(".tfe-ask-given")).to_contain_text("peter", timeout=SLOW)
    expect(page_watch.locator(".tfe-ask-answer")).to_have_text("nobody knows", timeout=SLOW)
    expect(page_watch.locator(".tfe-ask-mark")).to_contain_text("right")


def test_every_word_that_the_network_knows_is_a_chip(site: str, page_watch: Page) -> None:
    opened(page_watch, site)
    chips = page_watch.locator(".tfe-ask-vocabulary button")
    expect(chips.filter(has_text="suitcase")).to_have_count(1)
    page_watch.locator(".tfe-ask-story").fill("sandra took")
    page_watch.locator(".tfe-ask-story").press("End")
    chips.filter(has_text="suitcase").first.click()
    expect(page_watch.locator(".tfe-ask-story")).to_have_value(re.compile(r"^sandra took the suitcase\s?$"))
