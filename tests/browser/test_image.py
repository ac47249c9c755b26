"""The image lab as a visitor meets it: pictures that grow, that are stopped, completed and made larger; pixels, heads and memory."""

from __future__ import annotations

import io
import re
from collections.abc import Callable
from typing import Any
from urllib.parse import urlsplit

import numpy as np
import pytest
from PIL import Image
from playwright.sync_api import Page, expect

from explorer import permalink
from explorer.figures import image
from explorer.labs.image_transformer import views
from explorer.labs.image_transformer.page import LAB
from models.image_transformer.records import SIDE, Request, read_picture
from tests.browser.staged import numbers
from tests.browser.waiting import addressed, asked, becomes

PATH = LAB.path
LIVE = re.compile(r"live · [\d.]+ m?s|remembered")
SLOW = 240_000  # milliseconds that a run may take while the machine does other things
IN_ROWS, IN_TILES = views.LAYOUTS["grey"]
expect.set_options(timeout=60_000)  # five seconds, Playwright's own patience, are too few beside a training run


def opened(page: Page, site: str, query: str = "") -> Page:
    """The lab, drawn and listening."""
    page.goto(f"{site}{PATH}" + (f"?{query}" if query else ""))
    expect(page.locator(".tfe-ask-go")).to_be_visible()
    page.wait_for_selector(".tfe-spans[data-drawn]:not([data-drawn$=waits])", timeout=SLOW)
    expect(page.locator(".tfe-change [data-knob=silenced] button").first).to_be_visible()
    return page


def badge(page: Page) -> Any:
    return page.locator(".tfe-ask .tfe-badge")


def finished(page: Page) -> None:
    """Waits for the live result."""
    expect(badge(page)).to_have_text(LIVE, timeout=SLOW)


def words(page: Page) -> Any:
    return page.locator(".tfe-spans .tfe-words")


def seed(page: Page, number: int) -> None:
    page.locator(".tfe-ask-seed").fill(str(number))


def count(page: Page, number: int) -> None:
    page.locator(".tfe-ask [data-field=count] >> visible=true").fill(str(number))


def watch_badge(page: Page) -> None:
    page.evaluate(
        """() => {
            window.seen = [];
            const badge = document.querySelector('.tfe-ask .tfe-badge');
            const count = document.querySelector('.tfe-spans .tfe-stage-count');
            const note = () => window.seen.push([badge.textContent, count.textContent]);
            new MutationObserver(note).observe(badge, {childList: true, subtree: true, characterData: true});
        }"""
    )


def test_a_picture_grows_before_the_visitors_eyes(site: str, page_watch: Page) -> None:
    opened(page_watch, site)
    watch_badge(page_watch)
    seed(page_watch, 1234)
    page_watch.locator(".tfe-ask-go").click()
    finished(page_watch)
    told = [re.search(r"pixel (\d+) of 784", text) for text, _ in page_watch.evaluate("window.seen")]
    pixels = [int(found[1]) for found in told if found]
    assert len(set(pixels)) >= 2, "a whole picture came at once"
    assert pixels == sorted(pixels)
    addressed(page_watch, seed="1234")


def test_a_growing_picture_can_be_stopped_and_another_one_asked_for(site: str, page_watch: Page) -> None:
    opened(page_watch, site)
    seed(page_watch, 77)
    count(page_watch, 4)
    # Pressed by the page itself, so that the picture cannot be finished before.
    page_watch.evaluate(
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
    page_watch.locator(".tfe-ask-go").click()
    expect(badge(page_watch)).to_have_text("stopped", timeout=SLOW)
    expect(page_watch.locator(".tfe-spans")).to_have_attribute("data-state", "running")  # not a finished picture
    seed(page_watch, 78)
    count(page_watch, 1)
    page_watch.locator(".tfe-ask-go").click()
    finished(page_watch)
    addressed(page_watch, seed="78")


# Boards are the large pictures that the pen drew, the tiles of heads are drawn on the ground.
BOXES = """(kind) => document.querySelector(".tfe-spans canvas").marks.filter((one) => one.kind === kind && (kind === "pixels"
    ? one.box.x1 - one.box.x0 > 150 : one.fill === "sunk")).map(({ box }) => [box.x0, box.y0, box.x1, box.y1])"""


def spot(page: Page, kind: str, number: int, right: float, down: float) -> tuple[float, float]:
    """Where such a share of a board ("pixels") or a head's tile ("rect") lies on the screen."""
    page.locator(".tfe-spans .tfe-stage-board").scroll_into_view_if_needed()
    x0, y0, x1, y1 = page.evaluate(BOXES, kind)[number]
    paper = page.locator(".tfe-spans .tfe-stage-paper").bounding_box()
    assert paper is not None
    return paper["x"] + x0 + right * (x1 - x0), paper["y"] + y0 + down * (y1 - y0)


def pixel(page: Page, board: int, row: int, column: int) -> None:
    """Clicks a pixel of one of the two large pictures."""
    page.mouse.click(*spot(page, "pixels", board, (column + 0.5) / SIDE, (row + 0.5) / SIDE))


def silence(page: Page, head: int) -> None:
    """Shift-clicks a head, from 0."""
    page.keyboard.down("Shift")
    page.mouse.click(*spot(page, "rect", head, 0.5, 0.5))
    page.keyboard.up("Shift")


@pytest.mark.parametrize(("board", "layout"), [(0, IN_ROWS), (1, IN_TILES)], ids=["1D", "2D"])
def test_a_clicked_pixel_shows_the_block_it_may_see(site: str, page_watch: Page, board: int, layout: image.Layout) -> None:
    opened(page_watch, site)
    row, column = 16, 9
    position = int(np.flatnonzero(layout.order == row * SIDE + column)[0])
    pixel(page_watch, board, row, column)
    expect(words(page_watch)).to_contain_text(f"({row}, {column})")
    known = image.known(image.reach(layout, position, 1)[0])
    expect(words(page_watch)).to_contain_text(re.compile(rf"\b{known} pixels"))
    addressed(page_watch, _pos=str(position))
    expect(page_watch.locator(".tfe-spans .tfe-stage-legend")).to_contain_text("memory block")


def test_keys_alone_step_choose_heads_and_play(site: str, page_watch: Page) -> None:
    opened(page_watch, site)
    page_watch.locator(".tfe-spans .tfe-stage-board").focus()
    pixel(page_watch, 1, 16, 9)
    position = int(np.flatnonzero(IN_TILES.order == 16 * SIDE + 9)[0])
    addressed(page_watch, _pos=str(position))
    page_watch.keyboard.press("ArrowRight")
    addressed(page_watch, _pos=str(position + 1))
    page_watch.keyboard.press("ArrowLeft")
    addressed(page_watch, _pos=str(position))
    page_watch.keyboard.press("ArrowDown")
    becomes(page_watch, lambda: "_head" in asked(page_watch), True)
    head = asked(page_watch)["_head"]
    page_watch.keyboard.press("ArrowDown")
    becomes(page_watch, lambda: asked(page_watch)["_head"] != head, True)
    page_watch.keyboard.press("Space")
    page_watch.wait_for_function(
        "p => !document.querySelector('.tfe-spans .tfe-stage-count').textContent.includes(`${p + 1} /`)", arg=position
    )
    page_watch.keyboard.press("Space")
    page_watch.keyboard.press("Escape")
    addressed(page_watch, _pos=None)


def test_a_layer_not_looked_at_yet_is_fetched_once(site: str, page_watch: Page) -> None:
    opened(page_watch, site)
    page_watch.locator(".tfe-spans .tfe-stage-choices").get_by_role("radio", name="6").click()
    expect(words(page_watch)).to_contain_text("of layer 6 gives", timeout=SLOW)


def shoe(side: int = 60) -> bytes:
    """A visitor's own picture: a bright wedge on black, as a PNG."""
    rows, columns = np.mgrid[0:side, 0:side]
    levels = np.where((rows > side * 0.2) & (columns > side * 0.15) & (columns < side * 0.15 + rows * 0.8), 190 + columns, 0)
    file = io.BytesIO()
    Image.fromarray(levels.clip(0, 255).astype(np.uint8)).save(file, "PNG")
    return file.getvalue()


def test_an_uploaded_picture_is_completed(site: str, page_watch: Page) -> None:
    opened(page_watch, site)
    page_watch.locator(".tfe-ask [data-key=complete]").click()
    count(page_watch, 2)
    page_watch.locator(".tfe-ask input[type=file]").set_input_files({"name": "mine.png", "mimeType": "image/png", "buffer": shoe()})
    finished(page_watch)
    addressed(page_watch, mode="complete", count="2")
    request, _ = permalink.decode(Request, urlsplit(page_watch.evaluate("location.href")).query)
    given = read_picture(request.picture, (SIDE, SIDE))
    assert given.max() > 150 and given.min() == 0
    page_watch.wait_for_function("() => document.querySelector('.tfe-spans canvas').marks.some((one) => one.text === 'given')")
    expect(page_watch.locator(".tfe-surprise .tfe-words")).to_contain_text("costs most")


def test_a_file_that_is_no_picture_gets_one_sentence(site: str, new_page: Callable[..., tuple[Page, Any]]) -> None:
    page, faults = new_page()
    opened(page, site)
    page.locator(".tfe-ask [data-key=complete]").click()
    with page.expect_response(lambda answer: "/picture/" in answer.url) as answer:
        page.locator(".tfe-ask input[type=file]").set_input_files(
            {"name": "a.png", "mimeType": "image/png", "buffer": b"these are words, not pixels"}
        )
    assert answer.value.status == 422
    expect(page.locator(".tfe-ask-error")).to_be_visible()
    expect(badge(page)).to_have_text("refused")
    expect(words(page)).to_be_visible()
    faults.console[:] = [line for line in faults.console if "422" not in line]  # Chromium notes every refusal


def number(page: Page, pattern: str) -> float:
    """The one number of a pattern, once the answer stands."""
    expect(page.locator(".tfe-change-panel")).to_have_attribute("aria-busy", "false", timeout=SLOW)
    becomes(page, lambda: pattern in numbers(page), True)
    return float(numbers(page)[pattern][0].replace("−", "-"))


def test_cutting_the_memory_costs_bits_and_restoring_gives_them_back(site: str, page_watch: Page) -> None:
    opened(page_watch, site)
    slider = page_watch.locator(".tfe-change input[data-field=flange]")
    slider.focus()
    slider.press("Home")
    first = number(page_watch, "2D")
    assert first > 0, "a model that sees less reads its own picture worse"
    expect(page_watch.locator(".tfe-changed-chip")).to_contain_text("flange of 0 of 7")
    addressed(page_watch, flange="0")
    expect(page_watch.locator(".tfe-change .tfe-words")).to_contain_text("flange of 0 of 7 pixels")
    assert "1D" not in numbers(page_watch)
    slider = page_watch.locator(".tfe-change input[data-field=memory_rows] >> visible=true")
    slider.focus()
    slider.press("Home")
    assert number(page_watch, "1D") > 0
    before, after = numbers(page_watch)["2D"][1].split(" → ")
    assert float(after) - float(before) == pytest.approx(first, abs=0.011)
    page_watch.locator(".tfe-change-restore").click()
    expect(page_watch.locator(".tfe-change-picture")).to_be_hidden(timeout=SLOW)
    addressed(page_watch, flange=None, memory_rows=None)


def test_a_shift_click_silences_a_head_and_its_number_changes(site: str, page_watch: Page) -> None:
    opened(page_watch, site, "_pattern=local_2d&_head=3.2")  # a layer with heads that are missed
    silence(page_watch, 1)
    first = number(page_watch, "2D")
    chip = page_watch.locator(".tfe-change .tfe-knob-chip >> visible=true")
    expect(chip).to_have_count(1)
    becomes(page_watch, lambda: asked(page_watch).get("silenced", [""])[0].partition(".")[0], "local_2d")
    expect(page_watch.locator(".tfe-change .tfe-words")).to_contain_text("Without head 2D")
    silence(page_watch, 3)
    expect(chip).to_have_count(2)
    becomes(page_watch, lambda: number(page_watch, "2D") != first, True)
    page_watch.locator(".tfe-change [data-knob=silenced] button").first.focus()
    page_watch.keyboard.press("Escape")
    expect(chip).to_have_count(0, timeout=SLOW)


def test_a_small_picture_is_made_larger_in_colour(site: str, page_watch: Page) -> None:
    opened(page_watch, site)
    page_watch.locator(".tfe-ask-example").nth(3).click()
    page_watch.wait_for_function("() => new URL(location).searchParams.get('mode') === 'enlarge'", timeout=SLOW)
    page_watch.wait_for_function(
        "() => document.querySelector('.tfe-spans canvas').marks.some((one) => one.text?.includes('8 × 8 pixels'))", timeout=SLOW
    )
    expect(page_watch.locator(".tfe-surprise")).to_contain_text("grey pictures")
    expect(page_watch.locator(".tfe-change input[data-field=flange]")).to_be_hidden()
    expect(page_watch.locator(".tfe-change input[data-field=memory_rows] >> visible=true")).to_be_enabled()
