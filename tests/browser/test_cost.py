"""The cost laboratory in a browser: a run of the clock grows, is made anew every time, and ends
where it is stopped."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

from tests.browser.visiting import badge, chip, go
from tests.contract.test_the_badge_says_where_a_result_comes_from import LIVE
from tests.visits import Visit

# on the page of the promises that hold for every lab
pytestmark = pytest.mark.xdist_group("cost walk", 2)


def test_the_clock_runs_anew_and_stops(
    visit: Visit,
) -> None:
    page = visit("/cost?v=1&length=64&width=16&window=16")
    bar = page.locator("[data-view=ask]")
    expect(badge(page)).to_have_text(LIVE)
    expect(chip(page)).to_contain_text("restricted to 16 keys")
    expect(page.locator("[data-view=change][data-state=done] .tfe-change-unit")).to_have_text(
        "ms, restricted attention at L = 64"
    )
    before = bar.get_attribute("data-wish")
    go(page).click()
    expect(bar).not_to_have_attribute("data-wish", before or "")
    expect(badge(page)).to_have_text(LIVE)
    page = visit("/cost")
    expect(badge(page)).to_have_text("stored")
    # Stop is pressed by the page itself, at the first point: pressed from outside, it may come when
    # a fast run is over, and start another.
    page.evaluate(
        """() => {
            const badge = document.querySelector(".tfe-badge");
            const watcher = new MutationObserver(() => {
                if (!/^live · point \\d+ of 20$/.test(badge.textContent)) return;
                watcher.disconnect();
                document.querySelector(".tfe-ask-go").click();
            });
            watcher.observe(badge, { childList: true, subtree: true, characterData: true });
        }"""
    )
    go(page).click()
    expect(page.locator(".tfe-clock .tfe-words")).to_contain_text(
        re.compile(r"^Stopped after \d+ of 20 points, at L = ")
    )
    expect(badge(page)).to_have_text(LIVE)
    for name, shown, hidden in (
        ("Scores and softmax", "hardens", "clock"),
        ("A filter made of heads", "filtered", "hardens"),
    ):
        page.get_by_role("radio", name=name).or_(
            page.get_by_role("button", name=name)
        ).first.click()
        go(page).click()
        expect(page.locator(f".tfe-{shown} .tfe-words")).to_be_visible()
        expect(page.locator(f".tfe-{hidden} .tfe-words")).to_be_hidden()
        expect(page.locator(".tfe-seconds .tfe-words")).to_be_visible()
