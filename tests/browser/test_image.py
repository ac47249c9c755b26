"""The image lab as a visitor meets it: pictures that grow, that are stopped, completed and made larger; pixels, heads and memory."""

from __future__ import annotations

import io
import re
from urllib.parse import urlsplit

import numpy as np
import pytest
from PIL import Image
from playwright.sync_api import Page, expect

from explorer import permalink
from explorer.labs.image_transformer.page import LAB
from models.image_transformer.records import SIDE, Request
from models.pixels import read_picture
from tests.browser.conftest import Visit
from tests.browser.staged import Picture, numbers
from tests.browser.visiting import badge, chip, error, finished, go, number, restored
from tests.browser.waiting import addressed, asked, becomes, note, noted
from tests.contract.test_the_badge_says_where_a_result_comes_from import SMALL

OWN = SMALL[LAB.slug]  # small enough to be measured at once


@pytest.fixture
def page(visit: Visit) -> Page:
    """The lab as the bare address opens it."""
    return opened(visit)


def opened(visit: Visit, query: str = "") -> Page:
    """The lab, drawn and listening."""
    page = visit(f"{LAB.path}?{query}")
    page.wait_for_selector(".tfe-spans[data-drawn]:not([data-drawn$=waits])")
    return page


def fill(page: Page, seed: int, count: int = 1) -> None:
    """Chooses a seed, and how many pictures."""
    page.locator(".tfe-ask-seed").fill(str(seed))
    page.locator(".tfe-ask [data-field=count] >> visible=true").fill(str(count))


def test_a_picture_grows_before_the_visitors_eyes(page: Page) -> None:
    note(page)
    fill(page, 1234)
    go(page).click()
    finished(page)
    pixels = [int(found[1]) for text in noted(page) if (found := re.search(r"pixel (\d+) of 784", text))]
    assert len(set(pixels)) >= 2, "a whole picture came at once"
    assert pixels == sorted(pixels)
    addressed(page, seed="1234")


def test_a_growing_picture_can_be_stopped_and_another_one_asked_for(page: Page) -> None:
    fill(page, 77, 4)
    # Pressed by the page itself, so that the picture cannot be finished before.
    page.evaluate(
        """() => {
            const badge = document.querySelector('.tfe-ask .tfe-badge');
            const watcher = new MutationObserver(() => {
                if (!/pixel/.test(badge.textContent)) return;
                watcher.disconnect();
                document.querySelector('.tfe-ask-go').click();
            });
            watcher.observe(badge, {childList: true, subtree: true, characterData: true});
        }"""
    )
    go(page).click()
    expect(badge(page)).to_have_text("stopped")
    expect(page.locator(".tfe-spans")).to_have_attribute("data-state", "running")  # not a finished picture
    fill(page, 78)
    go(page).click()
    finished(page)
    addressed(page, seed="78")


def test_a_layer_not_looked_at_yet_is_fetched(page: Page) -> None:
    page.locator(".tfe-spans .tfe-stage-choices").get_by_role("radio", name="6").click()
    expect(page.locator(".tfe-spans .tfe-words")).to_contain_text("of layer 6 gives")


def shoe(side: int = 60) -> bytes:
    """A visitor's own picture: a bright wedge on black, as a PNG."""
    rows, columns = np.mgrid[0:side, 0:side]
    levels = np.where((rows > side * 0.2) & (columns > side * 0.15) & (columns < side * 0.15 + rows * 0.8), 190 + columns, 0)
    file = io.BytesIO()
    Image.fromarray(levels.clip(0, 255).astype(np.uint8)).save(file, "PNG")
    return file.getvalue()


def test_an_uploaded_picture_is_completed_and_words_are_no_picture(visit: Visit, page: Page) -> None:
    page.locator(".tfe-ask [data-key=complete]").click()
    file = page.locator(".tfe-ask input[type=file]")
    file.set_input_files({"name": "mine.png", "mimeType": "image/png", "buffer": shoe()})
    finished(page)
    addressed(page, mode="complete")
    request, _ = permalink.decode(Request, urlsplit(page.evaluate("location.href")).query)
    given = read_picture(request.picture, (SIDE, SIDE))
    assert given.max() > 150 and given.min() == 0
    Picture(page, "spans").shows("given")
    expect(page.locator(".tfe-surprise .tfe-words")).to_contain_text("costs most")
    with page.expect_response(lambda answer: "/picture/" in answer.url) as answer:
        file.set_input_files({"name": "a.png", "mimeType": "image/png", "buffer": b"these are words, not pixels"})
    assert answer.value.status == 422
    expect(error(page)).to_be_visible()
    expect(badge(page)).to_have_text("refused")
    expect(page.locator(".tfe-spans .tfe-words")).to_be_visible()
    visit.faults.console[:] = [line for line in visit.faults.console if "422" not in line]  # Chromium notes every refusal


def test_cutting_the_memory_costs_bits_and_restoring_gives_them_back(visit: Visit) -> None:
    page = opened(visit, OWN)
    page.locator(".tfe-change input[data-field=flange]").press("Home")
    first = number(page, "2D")
    assert first > 0, "a model that sees less reads its own picture worse"
    expect(chip(page)).to_contain_text("flange of 0 of 7")
    addressed(page, flange="0")
    expect(page.locator(".tfe-change .tfe-words")).to_contain_text("flange of 0 of 7 pixels")
    assert "1D" not in numbers(page)
    page.locator(".tfe-change input[data-field=memory_rows] >> visible=true").press("Home")
    assert number(page, "1D") > 0
    before, after = numbers(page)["2D"][1].split(" → ")
    assert float(after) - float(before) == pytest.approx(first, abs=0.011)
    restored(page)
    addressed(page, flange=None, memory_rows=None)


def test_a_shift_click_silences_a_head_and_its_number_changes(visit: Visit) -> None:
    page = opened(visit, f"{OWN}&_pattern=local_2d&_head=3.2")  # a layer with heads that are missed
    picture, knobs = Picture(page, "spans"), page.locator(".tfe-change .tfe-knob-chip >> visible=true")

    def silence(head: int) -> None:
        """Shift-clicks the small picture of a head, from 0."""
        tile = picture.marks("rect", fill="sunk")[head]["box"]
        page.keyboard.down("Shift")
        page.mouse.click(*picture.spot({"left": (tile["x0"] + tile["x1"]) / 2, "top": (tile["y0"] + tile["y1"]) / 2}))
        page.keyboard.up("Shift")

    silence(1)
    first = number(page, "2D")
    expect(knobs).to_have_count(1)
    becomes(page, lambda: asked(page).get("silenced", [""])[0].partition(".")[0], "local_2d")
    expect(page.locator(".tfe-change .tfe-words")).to_contain_text("Without head 2D")
    silence(3)
    expect(knobs).to_have_count(2)
    becomes(page, lambda: number(page, "2D") != first, True)
    page.locator(".tfe-change [data-knob=silenced] button").first.press("Escape")
    expect(knobs).to_have_count(0)


def test_a_small_picture_is_made_larger_in_colour(page: Page) -> None:
    page.locator(".tfe-ask-example").nth(3).click()
    addressed(page, mode="enlarge")
    becomes(page, lambda: any("8 × 8 pixels" in text for text in Picture(page, "spans").texts()), True)
    expect(page.locator(".tfe-surprise")).to_contain_text("grey pictures")
    expect(page.locator(".tfe-change input[data-field=flange]")).to_be_hidden()
    expect(page.locator(".tfe-change input[data-field=memory_rows] >> visible=true")).to_be_enabled()
