"""The image lab as a visitor meets it: pictures that grow, that are stopped, completed and made larger; pixels, heads and memory."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect

from explorer.labs.image_transformer.page import LAB
from tests.browser.staged import Picture
from tests.browser.visiting import finished, go
from tests.browser.waiting import addressed, becomes, note, noted
from tests.visits import Visit

pytestmark = pytest.mark.xdist_group("image_transformer walk", 2)  # on the page of the promises that hold for every lab


@pytest.fixture
def page(visit: Visit) -> Page:
    """The lab, drawn and listening."""
    page = visit(LAB.path)
    page.wait_for_selector(".tfe-spans[data-drawn]:not([data-drawn$=waits])")
    return page


def test_a_picture_grows_before_the_visitors_eyes(page: Page) -> None:
    note(page)
    page.locator(".tfe-ask-seed").fill("1234")
    go(page).click()
    finished(page)
    pixels = [int(found[1]) for text in noted(page) if (found := re.search(r"pixel (\d+) of 784", text))]
    assert len(set(pixels)) >= 2, "a whole picture came at once"
    assert pixels == sorted(pixels)
    addressed(page, seed="1234")


def test_a_small_picture_is_made_larger_in_colour(page: Page) -> None:
    page.locator(".tfe-spans .tfe-stage-choices").get_by_role("radio", name="6").click()
    expect(page.locator(".tfe-spans .tfe-words")).to_contain_text("of layer 6 gives")  # fetched when it is looked at
    page.locator(".tfe-ask-example").nth(3).click()
    addressed(page, mode="enlarge")
    becomes(page, lambda: any("8 × 8 pixels" in text for text in Picture(page, "spans").texts()), True)
    expect(page.locator(".tfe-surprise")).to_contain_text("grey pictures")
    expect(page.locator(".tfe-change input[data-field=flange]")).to_be_hidden()
    expect(page.locator(".tfe-change input[data-field=memory_rows] >> visible=true")).to_be_enabled()
