"""The cost laboratory in a browser: a run of the clock grows, is made anew every time, and ends where it is stopped."""

from __future__ import annotations

import re

from playwright.sync_api import Page, expect

from tests.contract.test_the_badge_says_where_a_result_comes_from import LIVE


def test_the_clock_is_run_anew_every_time_and_a_change_chip_comes_off(site: str, page_watch: Page) -> None:
    page_watch.goto(f"{site}/cost?lang=en&v=1&length=64&width=16&window=16")
    badge, bar = page_watch.locator(".tfe-badge").first, page_watch.locator("[data-view=ask]")
    expect(badge).to_have_text(LIVE)
    expect(page_watch.locator(".tfe-changed-chip")).to_contain_text("restricted to 16 keys")
    expect(page_watch.locator("[data-view=change][data-state=done] .tfe-change-unit")).to_have_text("ms, restricted attention at L = 64")
    before = bar.get_attribute("data-wish")
    page_watch.locator("button[type=submit].tfe-button").first.click()
    expect(bar).not_to_have_attribute("data-wish", before or "")
    expect(badge).to_have_text(LIVE)


def test_a_run_that_is_stopped_shows_how_far_it_came(site: str, page_watch: Page) -> None:
    page_watch.goto(f"{site}/cost?lang=en")
    badge, run = page_watch.locator(".tfe-badge").first, page_watch.locator("button[type=submit].tfe-button").first
    expect(badge).to_have_text("stored")
    # Stop is pressed by the page itself, at the first point: pressed from outside, it may come when a fast run is over, and start another.
    page_watch.evaluate(
        """() => {
            const badge = document.querySelector(".tfe-badge");
            const watcher = new MutationObserver(() => {
                if (!/^live · point \\d+ of 20$/.test(badge.textContent)) return;
                watcher.disconnect();
                document.querySelector("button[type=submit].tfe-button").click();
            });
            watcher.observe(badge, { childList: true, subtree: true, characterData: true });
        }"""
    )
    run.click()
    expect(page_watch.locator(".tfe-clock .tfe-words")).to_contain_text(re.compile(r"^Stopped after \d+ of 20 points, at L = "))
    expect(badge).to_have_text(LIVE)


def test_each_experiment_shows_its_own_figures(site: str, page_watch: Page) -> None:
    page_watch.goto(f"{site}/cost?lang=en")
    for name, shown, hidden in (("Scores and softmax", "hardens", "clock"), ("A filter made of heads", "filtered", "hardens")):
        page_watch.get_by_role("radio", name=name).or_(page_watch.get_by_role("button", name=name)).first.click()
        page_watch.locator("button[type=submit].tfe-button").first.click()
        expect(page_watch.locator(f".tfe-{shown} .tfe-words")).to_be_visible()
        expect(page_watch.locator(f".tfe-{hidden} .tfe-words")).to_be_hidden()
        expect(page_watch.locator(".tfe-seconds .tfe-words")).to_be_visible()
