"""The lab of adaptive computation time as a visitor meets it: a sum and bits of one's own, steps scrubbed, updates forced, a link kept."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from explorer.labs.act_rnn import views
from explorer.labs.act_rnn.page import LAB
from tests.browser.waiting import addressed, asked, becomes, prepared

PATH = LAB.path
LIVE = re.compile(r"live · [\d.]+ m?s|remembered")
SLOW = 240_000  # milliseconds that a run may take while the machine does other things
HOSTILE = '<img src=x onerror="alert(1)">'
expect.set_options(timeout=60_000)  # five seconds, Playwright's own patience, are too few beside a training run


def opened(page: Page, site: str, query: str = "") -> Page:
    """The lab, drawn and listening."""
    page.goto(f"{site}{PATH}" + (f"?{query}" if query else ""))
    expect(page.locator(".tfe-ask-go")).to_be_visible()
    page.wait_for_selector(".tfe-ponder[data-drawn]", state="attached", timeout=SLOW)
    expect(page.locator(".tfe-change-panel")).to_be_visible()
    return page


def badge(page: Page) -> Any:
    return page.locator(".tfe-ask .tfe-badge")


def answer(page: Page) -> Any:
    return page.locator(".tfe-ask-answer")


def words(page: Page) -> Any:
    return page.locator(".tfe-ponder .tfe-words")


def ask(page: Page, text: str, task: str = "A sum") -> None:
    """Types something of one's own and asks for it."""
    page.locator(".tfe-ask").get_by_role("radio", name=task).click()
    line = page.locator(".tfe-ask-line")
    line.fill(text)
    line.press("Enter")


def number(page: Page) -> float:
    """The one number of the panel, once the answer stands."""
    shown = page.locator(".tfe-change-number")
    expect(shown).to_be_visible(timeout=SLOW)
    expect(page.locator(".tfe-change-panel")).not_to_have_attribute("aria-busy", "true", timeout=SLOW)
    return float(shown.inner_text().replace("−", "-").replace("+", ""))


def knob(page: Page, field: str) -> Any:
    return page.locator(f".tfe-change input[data-field={field}]")


def test_the_page_is_alive_before_any_model_is_loaded(site: str, page_watch: Page) -> None:
    opened(page_watch, site)
    expect(badge(page_watch)).to_have_text("stored")
    expect(answer(page_watch)).to_have_text("734")
    expect(words(page_watch)).to_contain_text(f"({views.telling()})")
    expect(page_watch.locator(".tfe-difficulty .tfe-words")).to_contain_text("Yours, 2 carries")
    expect(page_watch.locator(".tfe-card-head .tfe-card-pairs dt")).to_have_count(4)
    page_watch.get_by_role("button", name="About this model").or_(page_watch.get_by_role("link", name="About this model")).first.click()
    expect(page_watch.locator(".tfe-card-curve .tfe-words")).to_contain_text("Wrong at the end", timeout=SLOW)
    expect(page_watch.locator(".tfe-difficulty .tfe-words")).to_contain_text("Yours, 2 carries")


def test_a_sum_is_typed_its_steps_scrubbed_and_one_forced_update_breaks_it(site: str, page_watch: Page) -> None:
    opened(page_watch, site)
    ask(page_watch, "6789+543")
    expect(badge(page_watch)).to_have_text(LIVE, timeout=SLOW)
    expect(answer(page_watch)).to_have_text("7332")
    addressed(page_watch, text="6789+543")

    chips = page_watch.locator(".tfe-ponder-chip")
    expect(chips.last).to_contain_text("7332")  # the mechanism draws a result once its numbers are here, after the answer stands
    last = chips.count()
    assert last >= 3
    expect(page_watch.locator(".tfe-ponder .tfe-stage-count")).to_contain_text(f"{last} of {last}")
    board = page_watch.locator(".tfe-ponder .tfe-stage-board")
    board.focus()
    for step in range(last - 1, 0, -1):
        board.press("ArrowLeft")
        expect(page_watch.locator(".tfe-ponder .tfe-stage-count")).to_contain_text(f"{step} of {last}")
    addressed(page_watch, _step="1")
    expect(chips.first).not_to_contain_text("7332")
    expect(chips.nth(last - 1)).to_contain_text("7332")
    chips.nth(1).click()
    expect(page_watch.locator(".tfe-ponder .tfe-stage-count")).to_contain_text(f"2 of {last}")

    forced = knob(page_watch, "forced")
    forced.focus()
    forced.press("ArrowRight")
    assert number(page_watch) < -20, "points of accuracy on held-out sums"
    expect(answer(page_watch)).not_to_have_text("7332")
    expect(page_watch.locator(".tfe-ask-mark")).to_contain_text("7332")
    expect(page_watch.locator(".tfe-change-sentence")).to_contain_text("With exactly 1 update for every input, “7332” becomes")
    expect(chips).to_have_count(1)
    addressed(page_watch, forced="1", _step="2")  # what was locked stays locked
    page_watch.keyboard.press("b")
    expect(chips).to_have_count(last)
    expect(answer(page_watch)).to_have_text("7332")
    expect(page_watch.locator(".tfe-ponder .tfe-stage-count")).to_contain_text(f"2 of {last}")
    page_watch.keyboard.press("b")
    expect(chips).to_have_count(1)

    page_watch.locator(".tfe-change-restore").click()
    expect(answer(page_watch)).to_have_text("7332", timeout=SLOW)
    expect(page_watch.locator(".tfe-change-result")).to_be_hidden(timeout=SLOW)
    addressed(page_watch, forced=None)


@pytest.mark.parametrize(
    ("field", "key", "says"),
    [("limit", "Home", "With at most 1 update"), ("epsilon", "End", "With ε = 0.9"), ("bias", "End", "With +5 on the halting unit")],
)
def test_every_knob_changes_its_printed_number(site: str, page_watch: Page, field: str, key: str, says: str) -> None:
    opened(page_watch, site)
    slider = knob(page_watch, field)
    slider.focus()
    slider.press(key)
    assert number(page_watch) < 0
    expect(page_watch.locator(".tfe-change-sentence")).to_contain_text(says)
    becomes(page_watch, lambda: field in asked(page_watch), True)


def test_the_mark_of_the_first_update_can_be_taken_away(site: str, page_watch: Page) -> None:
    opened(page_watch, site)
    page_watch.locator(".tfe-change-told").get_by_role("radio", name="off").click()
    assert number(page_watch) < 0
    expect(page_watch.locator(".tfe-change-sentence")).to_contain_text("With no mark on the first update")
    addressed(page_watch, told="0")


def test_bits_of_ones_own_are_counted(site: str, page_watch: Page) -> None:
    opened(page_watch, site)
    for bits, says in (("10110", "odd"), ("1.1", "even")):
        ask(page_watch, bits, "Parity")
        expect(answer(page_watch)).to_have_text(says, timeout=SLOW)
    expect(page_watch.locator(".tfe-difficulty .tfe-words")).to_contain_text("Yours, 2 bits")
    addressed(page_watch, task="parity")


@pytest.mark.parametrize(
    ("task", "text", "says"),
    [
        ("A sum", "12+a", "“a” does not belong in a sum"),
        ("A sum", HOSTILE, "does not belong in a sum"),
        ("Parity", "1021", "“2” is no bit"),
    ],
)
def test_bad_input_gets_one_sentence_and_nothing_else_changes(site: str, page_watch: Page, task: str, text: str, says: str) -> None:
    opened(page_watch, site)
    ask(page_watch, text, task)
    error = page_watch.locator(".tfe-ask-error")
    expect(error).to_contain_text(says, timeout=SLOW)
    expect(badge(page_watch)).to_have_text("refused")
    expect(answer(page_watch)).to_have_text("734")
    ask(page_watch, "2+2", "A sum")
    expect(answer(page_watch)).to_have_text("4", timeout=SLOW)
    expect(error).to_be_hidden()


def test_the_run_before_a_change_of_an_example_is_fetched_without_the_queue(site: str, new_page: Callable[..., tuple[Page, Any]]) -> None:
    page, faults = new_page()
    prepared(site, LAB.slug)
    opened(page, site, "v=1&text=99999%2B1&forced=1")
    assert number(page) < 0
    expect(answer(page)).not_to_have_text("100000")
    asked_before = [address for address in faults.requests if "/queue/join" in address]
    page.keyboard.press("b")
    expect(answer(page)).to_have_text("100000")
    expect(page.locator(".tfe-ponder .tfe-units").first).to_contain_text("updates of each input")
    page.keyboard.press("b")
    expect(answer(page)).not_to_have_text("100000")
    assert [address for address in faults.requests if "/queue/join" in address] == asked_before
