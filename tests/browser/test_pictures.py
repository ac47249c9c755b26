"""A picture in the input bar, in a real browser: three ways to begin, pictures by hand and from
files, keys, phones."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import pytest
from playwright.sync_api import Page, expect

from explorer.contract import permalink
from explorer.labs.image_transformer import views
from explorer.page.program import Program
from explorer.page.runs import StoredRun
from models.data.pixels import read_picture
from models.image_transformer.records import EXAMPLES, LARGE, SIDE, Request, spelled
from models.media.pictures import picture
from tests.browser.staged import NEW
from tests.browser.visiting import (
    LIVE,
    badge,
    brought,
    go,
    opened,
    picture_file,
    requested,
    row_of,
    stroke,
)
from tests.browser.waiting import addressed, becomes
from tests.explorer.drawn_pictures import explanation, generate, measure
from tests.explorer.wishes import program_of


def program() -> Program[Request, Any]:
    """The lab's own page over models of a few lines."""
    whole = program_of("image_transformer")
    assert whole.change is not None
    kept = StoredRun(EXAMPLES[0], explanation(EXAMPLES[0]), 12.0, "cpu")
    return replace(
        whole, explain=generate, change=replace(whole.change, measure=measure), first=lambda: kept
    )


PAGES = {"trial": program().place_page}


def mode(page: Page, key: str) -> None:
    """Chooses one of the three ways to begin."""
    page.locator(f".tfe-ask [data-key={key}]").click()


def knob(page: Page, field: str) -> Any:
    """One of the controls of the bar."""
    return page.locator(f".tfe-ask [data-field={field}] >> visible=true")


def run(page: Page) -> Request:
    """Presses the button; what is asked for then stands in the address."""
    go(page).click()
    return asked(page)


def asked(page: Page) -> Request:
    """The request that stands in the address, once it is answered."""
    expect(badge(page)).to_have_text(LIVE)
    return requested(page, Request)


photo = partial(picture_file, slice(50, 80))


def test_each_way_to_begin_keeps_what_was_chosen_for_it(page: Page) -> None:
    expect(badge(page)).to_have_text("stored")
    knob(page, "kind").select_option("Dress")
    knob(page, "temperature").press("ArrowLeft")
    knob(page, "top_k").select_option("16")
    knob(page, "count").fill("4")
    page.locator(".tfe-ask-seed").fill("421")
    assert run(page) == Request(kind=3, temperature=0.9, top_k=16, seed=421, count=4)
    mode(page, "complete")
    expect(knob(page, "kind").locator("option:checked")).to_have_text("not told")
    expect(page.locator(".tfe-ask-go")).to_contain_text("Complete")
    knob(page, "keep").select_option("21")
    assert run(page) == replace(EXAMPLES[1], temperature=0.9, top_k=16, seed=421, keep=21)
    mode(page, "enlarge")
    expect(knob(page, "kind")).to_have_count(0)
    assert run(page) == replace(EXAMPLES[3], temperature=0.9, top_k=16, seed=421)
    mode(page, "generate")
    expect(knob(page, "kind").locator("option:checked")).to_have_text("Dress")
    expect(knob(page, "count")).to_have_value("4")
    page.get_by_role("button", name="Example 2").click()
    addressed(page, mode="complete", seed=None)
    assert asked(page) == EXAMPLES[1]
    expect(knob(page, "keep").locator("option:checked")).to_have_text("14")


def test_a_link_brings_the_picture_and_the_controls_back(page_watch: Page, site: str) -> None:
    levels = np.random.default_rng(2).integers(0, 256, (SIDE, SIDE)).astype(np.uint8)
    request = Request(
        mode="complete",
        picture=spelled(levels),
        keep=21,
        kind=4,
        count=2,
        seed=8,
        temperature=0.7,
        top_k=100,
    )
    page = opened(page_watch, site, f"lang=en&{permalink.encode(request)}")
    assert asked(page) == request
    expect(knob(page, "top_k").locator("option:checked")).to_have_text("100")
    expect(knob(page, "kind").locator("option:checked")).to_have_text("Coat")
    expect(page.get_by_role("radio", name="Your picture")).to_have_attribute("aria-checked", "true")
    page.locator(".tfe-ask-seed").fill("9")
    page.locator(".tfe-ask-seed").press("Enter")
    addressed(page, seed="9")
    assert asked(page) == replace(request, seed=9)


def test_arrows_move_among_our_pictures_and_enter_asks(page: Page) -> None:
    mode(page, "complete")
    strip = page.locator(".tfe-picture-choice")
    strip.first.focus()
    for key in ("ArrowRight", "ArrowDown", "ArrowLeft", "End"):
        page.keyboard.press(key)
    expect(strip.nth(23)).to_be_focused()
    expect(badge(page)).to_have_text("not run yet")
    strip.nth(1).focus()
    page.keyboard.press("Enter")
    addressed(page, picture="test:1")
    assert asked(page) == replace(EXAMPLES[1], picture="test:1")
    assert np.array_equal(row_of(strip.nth(1), 3)[:, 0], views.load_pictures()["grey"][0][1, 3])
    mode(page, "enlarge")
    assert np.array_equal(row_of(strip.nth(2), 3)[:, :3], views.load_pictures()["colour"][0][2, 3])


def test_a_file_is_shown_and_described(new_page: NEW, site: str) -> None:
    page, faults = new_page()
    opened(page, site)
    file = {"name": "bar.png", "mimeType": "image/png", "buffer": photo()}
    chooser = page.locator(".tfe-ask input[type=file]")
    mode(page, "enlarge")
    chooser.set_input_files(file)
    addressed(page, mode="enlarge")
    assert np.array_equal(
        read_picture(asked(page).picture, (LARGE, LARGE, 3)), picture(photo(), LARGE, 3).levels
    )
    mode(page, "complete")
    chooser.set_input_files(file)
    addressed(page, mode="complete")
    expected = picture(photo(), SIDE, 1)
    assert np.array_equal(read_picture(asked(page).picture, (SIDE, SIDE)), expected.levels)
    assert expected.notice is not None
    expect(page.locator(".tfe-ask-note")).to_contain_text(expected.notice["en"])
    expect(page.get_by_role("radio", name="Your picture")).to_have_attribute("aria-checked", "true")
    chooser.set_input_files(
        {"name": "notes.png", "mimeType": "image/png", "buffer": b"Dear reader,\n"}
    )
    error = page.locator(".tfe-ask-error")
    expect(error).to_have_text("Your file is text; PNG, JPEG and WebP pictures are read.")
    assert len(faults.console) == 1 and "422" in faults.console.pop(), (
        "the browser itself notes the status"
    )
    sent = sum("/picture/" in address for address in faults.requests)
    chooser.set_input_files(
        {"name": "large.png", "mimeType": "image/png", "buffer": bytes((5 << 20) + 1)}
    )
    expect(error).to_have_text("Your file has 5.1 MB; pictures of up to 5 MB are read.")
    assert sum("/picture/" in address for address in faults.requests) == sent


@pytest.mark.parametrize("way", ["drop", "paste"])
def test_a_picture_is_dropped_or_pasted_once(page: Page, way: str) -> None:
    sent: list[str] = []
    page.on(
        "request", lambda request: sent.append(request.url) if "/picture/" in request.url else None
    )
    brought(page, way, ".tfe-ask-head", "bar.png", "image/png", photo())
    addressed(page, mode="complete")
    assert np.array_equal(
        read_picture(asked(page).picture, (SIDE, SIDE)), picture(photo(), SIDE, 1).levels
    )
    assert page.locator(".tfe-ask .is-over").count() == 0 and len(sent) == 1


def test_a_picture_is_drawn_with_the_pointer(page: Page) -> None:
    mode(page, "complete")
    page.get_by_role("button", name="Draw", exact=True).click()
    sheet = page.locator(".tfe-picture-sheet")
    sheet.scroll_into_view_if_needed()
    stroke(page, SIDE, (5, 4), (5, 24))
    stroke(page, SIDE, (10, 4), (10, 24))
    page.get_by_role("button", name="Undo").click()
    page.get_by_role("radio", name="eraser").click()
    page.get_by_role("radio", name="fine").click()
    stroke(page, SIDE, (2, 20.5), (8, 20.5))
    levels = read_picture(run(page).picture, (SIDE, SIDE))
    assert levels[4:6, 5:19].min() > 200 and levels[9:12].max() == 0 and levels[3:7, 20].max() == 0
    page.get_by_role("button", name="Clear").click()
    page.locator(".tfe-ask-go").click()
    expect(page.locator(".tfe-ask-error")).to_contain_text("Your drawing is empty")
    page.locator(".tfe-picture-choice").nth(3).focus()  # the visitor's stands before ours
    page.locator(".tfe-picture-choice").nth(3).press("Enter")
    expect(sheet).to_be_hidden()
    addressed(page, picture="test:2")
    page.get_by_role("button", name="Draw", exact=True).click()
    page.get_by_role("button", name="Copy the picture").click()
    assert np.array_equal(
        read_picture(run(page).picture, (SIDE, SIDE)), views.load_pictures()["grey"][0][2]
    )


def test_a_picture_is_drawn_with_keys_alone(page: Page) -> None:
    page.locator(".tfe-ask .tfe-ask-head [aria-checked=true]").focus()
    page.keyboard.press("ArrowRight")
    expect(page.locator(".tfe-picture-start")).to_be_visible()
    page.get_by_role("button", name="Draw", exact=True).focus()
    page.keyboard.press("Enter")
    expect(page.locator(".tfe-picture-sheet")).to_be_focused()
    page.keyboard.press("Space")
    page.keyboard.down("Shift")
    for _ in range(5):
        page.keyboard.press("ArrowRight")
    page.keyboard.up("Shift")
    said = page.locator(".tfe-picture-pad [aria-live]")
    expect(said).to_have_text("row 8, column 20, level 220")
    page.keyboard.press("Delete")
    expect(said).to_contain_text("level 0")
    page.keyboard.press("Control+z")
    page.locator(".tfe-ask-go").focus()
    page.keyboard.press("Enter")
    becomes(page, lambda: "picture" in page.evaluate("location.href"), True)
    levels = read_picture(asked(page).picture, (SIDE, SIDE))
    assert levels[7, 14:20].min() == 220 and levels[20:].max() == 0
