"""Hiding words and finding heads in a real browser, over a run of a few lines."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

import pytest
from playwright.sync_api import Page, expect

from explorer.labs.bert import about, views
from explorer.page.runs import StoredRun
from tests.bench import TEXT, Bench
from tests.browser.staged import Picture
from tests.browser.waiting import addressed
from tests.explorer.bidirectional import SHIP, explain, explanation
from tests.explorer.wishes import program_of

# A head for the table, whatever was measured of the shipped one.
OBJECT = {
    "relation": "obj",
    "way": "dependent",
    "layer": 3,
    "head": 1,
    "test": 0.71,
    "distance": -1,
    "distance_test": 0.48,
    "n": 9,
}


@pytest.fixture(scope="module")
def site(bench: Bench) -> Iterator[str]:
    """The address of the bench pages."""
    known = about.facts()
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(
            about, "facts", lambda: {**known, "minilm": {**known["minilm"], "relations": [OBJECT]}}
        )
        patched.setattr(views, "list_shipped", lambda: ("mlm", "minilm"))
        page = replace(
            program_of("bert"),
            explain=explain,
            first=lambda: StoredRun(SHIP, explanation(), 12.0, "cpu"),
            examples=[(SHIP, TEXT)] * 3,
        )
        yield bench.put(__name__, {"trial": page.place_page}, year=2018)


def test_a_click_hides_a_word_and_shift_hides_one_more(page_watch: Page, site: str) -> None:
    arrows = Picture(page_watch, "arrows").open(f"{site}/trial?lang=en")
    page = page_watch
    arrows.shows("−0.38")
    assert {"both sides", "steered", "left side alone"} <= set(arrows.texts())
    page.mouse.click(*arrows.spot("ship"))
    addressed(page, hidden="4")
    expect(arrows.find(".tfe-words")).to_contain_text(
        "The hidden word is “ship” (5), guessed first with 0.40"
    )
    page.keyboard.down("Shift")
    page.mouse.click(*arrows.spot("captain"))
    page.keyboard.up("Shift")
    addressed(page, hidden="1,4")
    arrows.find(".tfe-stage-below button").first.click()
    addressed(page, hidden="1")
    page.mouse.click(*arrows.spot("hidden"))
    addressed(page, hidden=None)
    expect(arrows.find(".tfe-words")).to_contain_text("Nothing is hidden: click a word to hide it.")
    arrows.find(".tfe-stage-below button").last.click()
    addressed(page, way="draw")
    expect(arrows.find(".tfe-words")).to_contain_text(
        "Of 5 pieces 3 are drawn: 1 hidden, 1 replaced, 1 kept."
    )
    arrows.shows("pig")


def test_one_side_is_said_as_the_run_reads_it(page_watch: Page, site: str) -> None:
    address = f"{site}/trial?lang=en&v=1&text=The+captain+steered+his+ship&hidden=2"
    arrows = Picture(page_watch, "arrows").open(f"{address}&side=left")
    arrows.says("“steered” (3); the best guess is “was” with 0.20, the true word has 0.02.")
    arrows.open(f"{address}&side=right").says(
        "the best guess is “was” with 0.20, the true word has 0.03."
    )
    arrows.open(address).says("The hidden word is “steered” (3), guessed first with 0.40")


def test_a_row_of_the_table_locks_its_head_in_the_attention(page_watch: Page, site: str) -> None:
    finder = Picture(page_watch, "finder").open(
        f"{site}/trial?lang=en&v=1&text=A+captain+steers.&variant=minilm"
    )
    finder.shows("verb → object")
    page_watch.mouse.click(*finder.spot("verb → object"))
    addressed(page_watch, _head="4.2")
    expect(page_watch.locator(".tfe-attention")).to_have_attribute(
        "data-drawn", re.compile("head=4.2")
    )
    expect(finder.find(".tfe-words")).to_contain_text(
        "the best fixed distance, 1 to the left, in 0.48."
    )
