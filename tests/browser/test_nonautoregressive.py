"""The staircase and the passes in a real browser, over a run of a few lines: time, positions,
masking again, pinning."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from explorer.labs.nonautoregressive import views
from explorer.page.program import Change
from explorer.page.runs import StoredRun
from explorer.panels import translation
from models.nonautoregressive.records import EXAMPLES, SPACE
from tests.browser.staged import Picture
from tests.browser.waiting import addressed
from tests.explorer.parallel import explain, explanation, reread
from tests.explorer.wishes import program_of

ALL = "moment=9 pos=2 show=p"


def page() -> Any:
    """The lab's own page over a model of a few lines."""
    kept = StoredRun(EXAMPLES[0], explanation(), 12.0, "cpu")
    return replace(
        program_of("nonautoregressive"),
        explain=explain,
        first=lambda: kept,
        change=Change(views.difference, reread, translation.ask_to_reread),
    )


PAGES = {"trial": page().place_page}


@pytest.fixture
def passes(page_watch: Page, site: str) -> Picture:
    """The picture of the first example."""
    return Picture(page_watch, "passes").open(f"{site}/trial?lang=en")


def cell(passes: Picture, piece: str, nth: int = -1) -> tuple[float, float]:
    """Where a piece stands on the screen, by default the last that says so."""
    marks = [one for one in passes.marks("text") if one["whole"] == piece]
    return passes.spot(marks[nth])


def test_both_ways_grow_on_one_axis_as_time_goes_on(passes: Picture) -> None:
    passes.drawn(ALL)
    assert {"done, 12.0 ms", "done, 6.0 ms", "pass 1", "pass 2", "</s>"} <= set(passes.texts())
    passes.says(
        "2 passes finish in 6.0 ms; one after the other, 5 pieces take 12.0 ms, 2.0 times as long.",
        "Position 2: pass 1 “Mann” (0.30), pass 2 “gehen” (0.60).",
    )
    assert passes.lines()[3].startswith("2,Mann,0.3,gehen,0.6,2")
    seek = "(seek, at) => { seek.value = at; seek.dispatchEvent(new Event('input')); }"
    passes.find(".tfe-range").first.evaluate(seek, 4)
    passes.drawn("moment=4 pos=2 show=p")
    passes.says(
        "At 4.0 ms: 1 of 2 passes is over; greedy decoding has written 1 of 5 pieces.",
        "Repeated after pass 1: “Mann” (2). Position 2: pass 1 “Mann” (0.30).",
    )
    assert len(passes.marks("rect", dash=[3, 3])) == 3, (
        "one greedy piece and two masked ones are being written"
    )
    # not far from the end, to which it plays in its own time
    passes.find(".tfe-range").first.evaluate(seek, 8)
    passes.find(".is-play").click()
    passes.drawn(ALL)


def test_a_click_masks_a_piece_again_and_shift_pins_it(passes: Picture) -> None:
    page = passes.page
    passes.drawn(ALL)
    passes.click(cell(passes, "Männer"))
    addressed(page, again="1", pinned=None)
    passes.shows("once more")
    expect(page.locator(".tfe-change-sentence")).to_contain_text(
        "With position 1 masked once more, it still writes"
    )
    passes.click(cell(passes, "Zwei"), shift=True)
    addressed(page, again="1", pinned=f"0.{SPACE}Zwei")
    expect(page.locator("[data-knob=pinned] [aria-pressed=true]")).to_have_text(
        re.compile("Zwei·0")
    )
    passes.click(cell(passes, "Zwei"))
    addressed(page, again="1", pinned=None)


def test_a_position_is_locked_and_masked(passes: Picture) -> None:
    page = passes.page
    passes.drawn(ALL)
    passes.click(cell(passes, "1"))
    passes.drawn("moment=9 pos=1 show=p")
    passes.says("Position 1: pass 1 “Mann” (0.40), pass 2 “Männer” (0.70).")
    passes.press("ArrowDown")
    passes.drawn(ALL)
    passes.press("Shift+Enter")
    addressed(page, again="2")
    expect(passes.find(".tfe-stage-below button").first).to_have_text(
        "Do not mask “gehen” (2) again"
    )
    passes.find(".tfe-stage-below button").nth(1).click()
    addressed(page, again="2", pinned=f"2.{SPACE}gehen")
    passes.find(".tfe-segmented").get_by_text("settled").click()
    expect(passes.find()).to_have_attribute("data-drawn", re.compile("show=settled"))
    assert passes.texts().count("Zwei") == 4, "once in each pass, and in the staircase"
