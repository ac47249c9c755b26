"""The lab of adaptive computation time as a visitor meets it: a sum and bits of one's own, steps
scrubbed, updates forced."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.sync_api import Page, expect

from explorer.labs import LABS
from tests.browser.visiting import answer, finished, settled
from tests.browser.waiting import addressed, prepared
from tests.visits import Visit

LAB = next(lab for lab in LABS if lab.slug == "act_rnn")

# on the page of the promises that hold for every lab
pytestmark = pytest.mark.xdist_group("act_rnn walk", 2)


def ask(page: Page, text: str, task: str = "A sum") -> None:
    """Types something of one's own and asks for it."""
    page.locator(".tfe-ask").get_by_role("radio", name=task).click()
    line = page.locator(".tfe-ask-line")
    line.fill(text)
    line.press("Enter")


def number(page: Page) -> float:
    """The one number of the panel, once the answer stands."""
    shown = page.locator(".tfe-change-number")
    expect(shown).to_be_visible()
    settled(page)
    return float(shown.inner_text().replace("−", "-").replace("+", ""))


def knob(page: Page, field: str) -> Any:
    return page.locator(f".tfe-change input[data-field={field}]")


def test_a_forced_update_breaks_a_sum(page: Page) -> None:
    ask(page, "6789+543")
    finished(page)
    expect(answer(page)).to_have_text("7332")
    addressed(page, text="6789+543")

    chips, count = page.locator(".tfe-ponder-chip"), page.locator(".tfe-ponder .tfe-stage-count")
    # the mechanism draws a result once its numbers are here, after the answer stands
    expect(chips.last).to_contain_text("7332")
    last = chips.count()
    assert last >= 3
    expect(count).to_contain_text(f"{last} of {last}")
    chips.nth(1).click()
    addressed(page, _step="2")

    knob(page, "forced").press("ArrowRight")
    assert number(page) < -20, "points of accuracy on held-out sums"
    expect(answer(page)).not_to_have_text("7332")
    expect(page.locator(".tfe-ask-mark")).to_contain_text("7332")
    expect(page.locator(".tfe-change-sentence")).to_contain_text(
        "With exactly 1 update for every input, “7332” becomes"
    )
    expect(chips).to_have_count(1)
    addressed(page, forced="1", _step="2")  # what was locked stays locked
    page.keyboard.press("b")
    expect(chips).to_have_count(last)
    expect(answer(page)).to_have_text("7332")
    expect(count).to_contain_text(f"2 of {last}")


def test_bits_of_ones_own_are_counted(page: Page) -> None:
    for bits, says in (("10110", "odd"), ("1.1", "even")):
        ask(page, bits, "Parity")
        expect(answer(page)).to_have_text(says)
    expect(page.locator(".tfe-difficulty .tfe-words")).to_contain_text("Yours, 2 bits")
    addressed(page, task="parity")


def test_the_run_before_a_change_is_fetched(visit: Visit) -> None:
    prepared(visit.site, LAB.slug)
    page = visit(f"{LAB.path}?v=1&text=99999%2B1&forced=1")
    assert number(page) < 0
    expect(answer(page)).not_to_have_text("100000")
    asked_before = [address for address in visit.faults.requests if "/queue/join" in address]
    page.keyboard.press("b")
    expect(answer(page)).to_have_text("100000")
    expect(page.locator(".tfe-ponder .tfe-units").first).to_contain_text("updates of each input")
    page.keyboard.press("b")
    expect(answer(page)).not_to_have_text("100000")
    assert [
        address for address in visit.faults.requests if "/queue/join" in address
    ] == asked_before
