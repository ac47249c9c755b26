"""A digit in the input bar, in a real browser: digits of ours, by hand, from files; a text in its
place, keys, phones."""

from __future__ import annotations

import re
from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from playwright.sync_api import Page, expect

from explorer.contract import permalink
from models.media.pictures import picture
from models.sparse_transformer.records import read_drawing, spell_pixels
from tests.browser.visiting import (
    LIVE,
    badge,
    error,
    finer,
    go,
    opened,
    picture_file,
    requested,
    row_of,
    stroke,
)
from tests.browser.visiting import turn as knob
from tests.browser.waiting import addressed, becomes
from tests.explorer.small_drawer import EXAMPLES, HOSTILE, PROGRAM, SIDE, Ask, rings

PAGES = {"trial": PROGRAM.place_page}


def run(page: Page) -> Ask:
    """Presses the button, and waits for the answer: what is asked for stands in the address."""
    go(page).click()
    expect(badge(page)).to_have_text(LIVE)
    return requested(page, Ask)


turn = partial(knob, within=".tfe-ask")
photo = partial(picture_file, slice(60, 90))
asked = partial(requested, kind=Ask)


def test_a_digit_of_ours_is_cut_and_asked_for(page: Page) -> None:
    expect(badge(page)).to_have_text("stored")
    for rows, says in ((28, "Read"), (0, "Make a digit"), (10, "Make the rest")):
        turn(page, "keep", rows)
        expect(go(page)).to_contain_text(says)
    expect(badge(page)).to_have_text("not run yet")
    turn(page, "temperature", 0.5)
    page.locator(".tfe-ask-seed").fill("421")
    assert run(page) == Ask(seed=421, temperature=0.5, keep=10)
    choice = page.locator(".tfe-picture-choice").nth(18)
    choice.press("Enter")
    addressed(page, drawing="test:18")
    assert np.array_equal(row_of(choice, 9)[:, 0], rings()[18, 9] * 255)
    expect(page.get_by_role("radio", name=f"Digit 10: {HOSTILE}")).to_be_visible()
    assert page.locator(".tfe-ask img:not(.tfe-picture-choice > img)").count() == 0
    finer(page, ".tfe-picture-before")


def test_a_digit_drawn_by_hand_becomes_the_same_pixels_each_time(page: Page) -> None:
    page.get_by_role("button", name="Draw", exact=True).click()
    sheet = page.locator(".tfe-picture-sheet")
    sheet.scroll_into_view_if_needed()
    found = []
    for _ in range(2):
        stroke(page, SIDE, (5.2, 4), (5.2, 24))
        found.append(run(page))
        page.get_by_role("button", name="Clear").click()
        go(page).click()
        expect(error(page)).to_have_text(re.compile("^Nothing is drawn yet: "))
        expect(badge(page)).to_have_text("refused")
    assert found[0] == found[1], "the same strokes give the same pixels"
    pixels = read_drawing(found[0].drawing)
    assert pixels[5, 5:23].all() and not pixels[8:].any() and not pixels[:3].any()
    edge = pixels[[3, 6], 5:23]
    assert 0 < edge.sum() < edge.size, "grey edges are drawn pixel by pixel"
    stroke(page, SIDE, (20.5, 8), (20.5, 18))
    go(page).click()
    expect(error(page)).to_have_text(re.compile("in the 14 rows that stay"))
    turn(page, "keep", 0)
    run(page)
    addressed(page, keep="0")
    assert read_drawing(asked(page).drawing)[20].any(), "from nothing a digit may be made"


def test_a_file_becomes_a_digit_of_our_size(page: Page) -> None:
    page.locator(".tfe-ask [data-key=text]").click()
    chooser = page.locator(".tfe-ask input[type=file]")
    page.locator(".tfe-ask [data-key=digit]").click()
    chooser.set_input_files({"name": "one.png", "mimeType": "image/png", "buffer": photo()})
    expect(badge(page)).to_have_text(LIVE)
    becomes(page, lambda: asked(page).drawing.startswith("test:"), False)
    pixels = read_drawing(asked(page).drawing)
    rows, columns = (np.flatnonzero(pixels.any(axis)) for axis in (1, 0))
    assert (rows[0], rows[-1]) == (4, 23), "20 pixels long, in the middle"
    assert 6 <= columns[-1] - columns[0] + 1 <= 9 and columns[0] + columns[-1] == pytest.approx(
        27, abs=1
    )
    notice = picture(photo(), SIDE, 1).notice
    assert notice is not None and "inverted" in notice["en"]
    expect(page.locator(".tfe-ask-note")).to_contain_text(notice["en"])
    expect(page.locator(".tfe-ask-note")).to_contain_text("It was shrunk to the size of the digits")
    expect(page.get_by_role("radio", name="Your digit")).to_have_attribute("aria-checked", "true")


def test_a_link_restores_the_drawing(page_watch: Page, site: str) -> None:
    pixels = np.random.default_rng(2).integers(0, 2, (SIDE, SIDE)).astype(np.uint8)
    request = Ask(
        drawing=spell_pixels(pixels), keep=21, seed=8, temperature=0.7, pattern="fixed", summary=2
    )
    page = opened(page_watch, site, f"lang=en&{permalink.encode(request)}")
    expect(badge(page)).to_have_text(LIVE)
    expect(page.get_by_role("radio", name="Your digit")).to_have_attribute("aria-checked", "true")
    expect(page.locator(".tfe-ask [data-field=keep]")).to_have_value("21")
    page.get_by_role("button", name=re.compile("Example 2: ten rows")).click()
    addressed(page, drawing="test:8", keep="10", pattern=None)
    assert asked(page) == EXAMPLES[1]


def test_a_text_shares_its_places_with_what_is_written(page_watch: Page, site: str) -> None:
    page = opened(page_watch, site, "lang=en&_pos=412&_model=strided")
    page.locator(".tfe-ask [data-key=text]").click()
    expect(page.locator(".tfe-picture-start")).to_be_hidden()
    box = page.locator(".tfe-ask-box")
    expect(box).to_have_value(EXAMPLES[2].text)
    box.fill(f"A gull 😀 {HOSTILE}")
    turn(page, "length", 1000)
    expect(page.locator(".tfe-ask-count")).to_have_text("37 given + 1,000 to write, of 1,024")
    go(page).click()
    expect(error(page)).to_have_text(
        "The text has 37 characters and 1,000 are to be written; 1,024 together are the most."
    )
    turn(page, "length", 0)
    box.press("Control+Enter")
    addressed(page, task="text", _pos=None, _model=None)
    assert asked(page) == Ask("text", text=f"A gull 😀 {HOSTILE}", length=0)
    box.fill("")
    go(page).click()
    expect(error(page)).to_contain_text("The box is empty")
    page.get_by_role("button", name="a beginning").click()
    expect(box).to_have_value(EXAMPLES[3].text)
    addressed(page, text=EXAMPLES[3].text)
    assert asked(page) == EXAMPLES[3]
    page.locator(".tfe-ask [data-key=digit]").click()
    run(page)
    addressed(page, task=None)
    assert asked(page) == replace(EXAMPLES[0], seed=EXAMPLES[3].seed), (
        "of the text nothing is left in it"
    )
