"""The stage with pictures that grow pixel by pixel, on the real server, with pictures and weights from a fixed seed."""

from __future__ import annotations

import asyncio
import io
import re
from collections.abc import AsyncGenerator, Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import gradio as gr
import numpy as np
import pytest
from numpy.typing import NDArray
from PIL import Image
from playwright.sync_api import Page, expect

from explorer.figures import image
from explorer.figures.image import Layout, in_rows, in_tiles, known, reach
from explorer.lab import Lab
from explorer.labs.image_transformer import texts
from explorer.looks import Look, looks
from explorer.widgets.stage import stage
from tests.browser.staged import AT_ONCE, NEW, Picture
from tests.browser.waiting import addressed, becomes, looked, quiet

Array = NDArray[np.float32]
GREY = (in_rows(28, 28, 2, 4), in_tiles(28, 28, 7, 7))
COLOUR = (in_rows(16, 16, 2, 4, channels=3, pattern="colour"),)
PICK = {"pattern": "local_2d", "position": 529, "layer": 3, "head": 1}


@dataclass(frozen=True)
class Made:
    """What a model hands over."""

    pattern: str
    pictures: NDArray[np.uint8]
    bits: Array
    order: NDArray[np.int16]
    starts: NDArray[np.int16]
    memory: NDArray[np.int16]
    ends: NDArray[np.int32]
    queries: NDArray[np.float16]


@dataclass(frozen=True)
class Step:
    """Some positions of a run."""

    first: int
    levels: NDArray[np.uint8]
    bits: Array


@cache
def made(layout: Layout, count: int = 1) -> Made:
    """Bright discs on black, a little different each."""
    row, column = np.indices((layout.rows, layout.columns))
    discs = [np.hypot(row - layout.rows / 2, column - layout.columns / 2) < layout.rows / 3 + n for n in range(count)]
    pictures = np.array([np.where(disc, 90 + 5 * ((row + column) % 30), 0) for disc in discs]).astype(np.uint8)
    if layout.channels > 1:
        pictures = np.stack([pictures, pictures[:, ::-1], pictures // 2], -1)
    return Made(
        layout.pattern,
        pictures,
        (pictures % 7).astype(np.float32),
        layout.order.astype(np.int16),
        np.array(layout.starts, np.int16),
        np.concatenate(layout.memory).astype(np.int16),
        np.cumsum([len(memory) for memory in layout.memory]).astype(np.int32),
        np.zeros((6, 4, layout.length, 8), np.float16),
    )


@cache
def weights(layout: Layout, layer: int) -> Array:
    """(head, position, slot): head h of layer l looks with 0.6 at the key 3 h + l places back, the rest is spread evenly."""
    slots = max(len(memory) + stop - start for memory, start, stop in zip(layout.memory, layout.starts, layout.starts[1:], strict=False))
    found = np.zeros((4, layout.length, slots), np.float32)
    for position in range(layout.length):
        count = len(layout.keys(position))
        found[:, position, :count] = 0.4 / count
        for head in range(4):
            found[head, position, max(0, count - 1 - 3 * head - layer)] += 0.6
    return found


@cache
def kept(layout: Layout) -> str:
    """The address of its weights, as the lab puts them there: a row for each position, head after head."""

    def rows(layer: int, _head: int, which: range) -> Array:
        return weights(layout, layer)[:, which.start : which.stop].swapaxes(0, 1).reshape(len(which), -1)

    return looks().put(Look(rows, 6, 1, layout.length, 1), f"spans {layout.pattern}".encode())


def value(layouts: tuple[Layout, ...], count: int = 1, **more: Any) -> dict[str, object]:
    """A finished run."""
    found = {layout.pattern: kept(layout) for layout in layouts}
    told: dict[str, Any] = {"state": "stored", "query": "v=1", "looks": found, "pick": {**PICK, "pattern": layouts[-1].pattern}, **more}
    return image.value([made(layout, count) for layout in layouts], **told)


async def grow() -> AsyncGenerator[dict[str, object], None]:
    """Twenty-eight updates, then the finished run."""
    flat = [made(layout).pictures.reshape(1, -1)[:, layout.places] for layout in GREY]
    steps: list[Step] = []
    for first in range(0, 784, 28):
        levels = np.stack([each[:, first : first + 28] for each in flat])
        steps.append(Step(first, levels, np.ones(levels.shape, np.float32)))
        yield image.growing(GREY, steps, count=1, query="v=1&seed=2")
        await asyncio.sleep(0.05)
    yield value(GREY, state="live", query="v=1&seed=2")


def page_of(slug: str) -> Callable[[Lab, object], None]:
    """What stands on one trial page."""

    def page(lab: Lab, engine: object) -> None:
        first: dict[str, Callable[[], dict[str, object]]] = {
            "still": lambda: value(GREY, silenced=[("local_2d", 3, 2)]),
            "four": lambda: value(GREY, 4, kept=14, truth=made(GREY[0], 4).pictures[3]),
            "colour": lambda: value(COLOUR, 3, truth=made(COLOUR[0]).pictures[0], small=made(COLOUR[0]).pictures[0, ::2, ::2]),
        }
        place = stage("spans", first[slug](), texts=texts.SPANS, picture="image_transformer/spans")
        gr.Button("Grow", elem_id="grow").click(grow, None, place, **AT_ONCE)

    return page


PAGES = {slug: page_of(slug) for slug in ("still", "four", "colour")}


def opened(page: Page, site: str, slug: str = "still", query: str = "lang=en") -> Page:
    """The page once its boards stand and the weights of the first view are there."""
    page.goto(f"{site}/{slug}?{query}")
    page.wait_for_selector(".tfe-spans[data-drawn]:not([data-drawn$=waits])", state="attached")
    page.wait_for_selector(".tfe-shell-bar")  # whose keys act on the view too
    return page


def drawn(page: Page, what: str) -> None:
    """Waits until the picture shows "local_2d 4.2 529", its weights too."""
    pattern, head, pos = what.split()
    begins = f"pattern={pattern} head={head} pos={pos} "
    page.wait_for_selector(f".tfe-spans[data-drawn^='{begins}']:not([data-drawn$=waits])", state="attached")


def boards(page: Page) -> list[dict[str, float]]:
    """Where the boards stand in the picture: they are the large ones."""
    boxes = [one["box"] for one in Picture(page, "spans").marks(kind="pixels")]
    return [box for box in boxes if box["x1"] - box["x0"] > 150]


def spot(page: Page, board: int, row: int, column: int) -> tuple[float, float]:
    """Where a pixel of a board stands on the screen."""
    box, paper = boards(page)[board], page.locator(".tfe-spans .tfe-stage-paper").bounding_box()
    assert paper
    side = made(GREY[0]).pictures.shape[1]
    x = box["x0"] + (column + 0.5) * (box["x1"] - box["x0"]) / side
    return paper["x"] + x, paper["y"] + box["y0"] + (row + 0.5) * (box["y1"] - box["y0"]) / side


def text(page: Page, said: str) -> tuple[float, float]:
    """Where a text of the picture stands on the screen."""
    mark, paper = Picture(page, "spans").marks(kind="text", text=said)[0], page.locator(".tfe-spans .tfe-stage-paper").bounding_box()
    assert paper
    return paper["x"] + mark["x"], paper["y"] + mark["y"]


def click(page: Page, board: int, row: int, column: int) -> None:
    """Clicks a pixel of a board."""
    page.locator(".tfe-spans .tfe-stage-board").scroll_into_view_if_needed()
    page.mouse.click(*spot(page, board, row, column))


def said(page: Page) -> str:
    """The sentence under the boards."""
    return page.locator(".tfe-spans .tfe-words").inner_text()


def colour(page: Page, board: int, row: int, column: int) -> list[int]:
    """The colour of a pixel of a board, beside the dot in its middle."""
    box = boards(page)[board]
    cell = (box["x1"] - box["x0"]) / 28
    found: list[int] = page.evaluate(
        """([x, y]) => {
            const canvas = document.querySelector(".tfe-spans canvas");
            const copy = new OffscreenCanvas(1, 1).getContext("2d", { willReadFrequently: true });
            const scale = canvas.width / canvas.clientWidth;
            copy.drawImage(canvas, x * scale, y * scale, 1, 1, 0, 0, 1, 1);
            return [...copy.getImageData(0, 0, 1, 1).data].slice(0, 3);
        }""",
        [box["x0"] + (column + 0.25) * cell, box["y0"] + (row + 0.25) * cell],
    )
    return found


def pixel(layout: Layout, position: int) -> str:
    """A position as the page writes it."""
    return f"({layout.order[position] // layout.columns}, {layout.order[position] % layout.columns})"


def test_a_telling_pixel_is_locked_on_arrival_and_the_sentence_says_what_it_looks_at(page_watch: Page, site: str) -> None:
    page = opened(page_watch, site)
    one, two = GREY
    keys = two.keys(529)
    best = int(weights(two, 3)[1, 529, : len(keys)].argmax())
    words = said(page)
    assert f"Pixel {pixel(two, 529)}, made 530th, sees {known(reach(two, 529, 1)[0])} pixels in 2D" in words
    assert f"head 2 of layer 4 gives {pixel(two, int(keys[best]))} {weights(two, 3)[1, 529, best]:.2f}" in words
    assert f"In 1D the same turn falls on {pixel(one, 529)}." in words


def test_a_click_locks_a_pixel_and_draws_its_blocks(page_watch: Page, site: str) -> None:
    page = opened(page_watch, site)
    click(page, 1, 16, 9)
    position = int(np.flatnonzero(GREY[1].order == 16 * 28 + 9)[0])
    drawn(page, f"local_2d 4.2 {position}")
    assert f"Pixel (16, 9), made {position + 1}th, sees {known(reach(GREY[1], position, 1)[0])} pixels in 2D" in said(page)
    assert looked(page) == {"_pos": str(position)}
    red, green, blue = colour(page, 1, 16, 9)
    assert red > 150 and green < 100 and blue < 60, "the asking pixel wears the colour of the query"
    made_already, unmade = colour(page, 1, 3, 3), colour(page, 1, 24, 3)
    assert max(made_already) < 10 and min(unmade) > 200, "what is not made yet is not black"
    page.mouse.move(*spot(page, 0, 20, 12))
    expect(page.locator(".tfe-spans > .tfe-hover")).to_contain_text("(20, 12) · made 573rd of 784")
    assert len(Picture(page, "spans").marks(dash=[5, 4], line="query")) == 1, "its own blocks are previewed"
    # A mouse that is held down locks one pixel after the other.
    page.mouse.down()
    page.mouse.move(*spot(page, 0, 16, 9), steps=4)
    drawn(page, f"local_1d 4.2 {16 * 28 + 9}")
    page.mouse.up()


def test_weights_come_when_they_are_looked_at_and_steps_ask_for_nothing(new_page: NEW, site: str) -> None:
    page, faults = new_page()
    opened(page, site)
    asked = lambda: sum("/looks/" in url for url in faults.requests)  # noqa: E731
    assert asked() == 2, "one for each board"
    page.locator(".tfe-spans .tfe-stage-board").focus()
    for _ in range(5):
        page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowDown")
    drawn(page, "local_2d 4.3 534")
    assert asked() == 2
    page.locator(".tfe-spans .tfe-stage-choices [data-key='2.3']").click()
    drawn(page, "local_2d 2.3 534")
    expect(page.locator(".tfe-spans .tfe-words")).to_contain_text("head 3 of layer 2")
    becomes(page, asked, 4)
    page.locator(".tfe-spans .tfe-stage-choices [data-key='4.3']").click()
    drawn(page, "local_2d 4.3 534")
    page.locator(".tfe-spans .tfe-stage-choices [data-key='2.3']").click()
    drawn(page, "local_2d 2.3 534")
    quiet(page, faults)
    assert asked() == 4
    assert not any("queue/join" in url for url in faults.requests)


def test_keys_step_pixels_and_heads_play_and_reset_only_where_the_focus_is(page_watch: Page, site: str) -> None:
    page = opened(page_watch, site)
    page.keyboard.press("ArrowRight")
    drawn(page, "local_2d 4.2 529")
    page.locator(".tfe-spans .tfe-stage-board").focus()
    for key, there in (("ArrowRight", "4.2 530"), ("ArrowLeft", "4.2 529"), ("ArrowUp", "4.1 529"), ("Home", "4.1 0"), ("End", "4.1 783")):
        page.keyboard.press(key)
        drawn(page, f"local_2d {there}")
    page.locator(".tfe-spans [data-key=whole]").click()
    addressed(page, _whole="1")
    page.locator(".tfe-spans .tfe-stage-board").focus()
    page.keyboard.press(" ")
    expect(page.locator(".tfe-spans .is-play")).to_have_attribute("aria-label", "Pause")
    page.wait_for_function("Number(/pos=(\\d+)/.exec(document.querySelector('.tfe-spans').dataset.drawn)[1]) > 28")
    page.keyboard.press(" ")
    becomes(page, lambda: "_whole" in looked(page), False)
    reached = int(looked(page)["_pos"])
    assert 28 < reached < 783
    page.keyboard.press("Escape")
    drawn(page, "local_2d 4.2 529")
    assert looked(page) == {}


def test_a_picture_grows_in_place_and_stays_whole_when_it_is_done(page_watch: Page, site: str) -> None:
    page = opened(page_watch, site)
    click(page, 1, 16, 9)  # tells nothing in another picture
    drawn(page, f"local_2d 4.2 {int(np.flatnonzero(GREY[1].order == 16 * 28 + 9)[0])}")
    high = "document.querySelector('.tfe-spans .tfe-stage-paper').offsetHeight"
    before = page.evaluate(high)
    page.evaluate(
        """() => { window.seen = []; const node = document.querySelector(".tfe-spans"), paper = node.querySelector(".tfe-stage-paper");
            const note = () => window.seen.push([node.dataset.state, node.dataset.drawn, paper.offsetHeight]);
            new MutationObserver(note).observe(node, { attributes: true }); }"""
    )
    page.click("#grow")
    expect(page.locator(".tfe-spans .tfe-words")).to_contain_text("is being made")
    page.wait_for_selector(".tfe-spans[data-drawn*='pos=529 whole']")
    seen = page.evaluate("window.seen")
    places = [int(found[1]) for state, drawn_, _ in seen if state == "running" and drawn_ and (found := re.search(r"pos=(\d+)", drawn_))]
    places = places[next(i for i, place in enumerate(places) if place < 400) :]
    assert places == sorted(places) and len(set(places)) > 3, places
    assert {tall for *_, tall in seen} == {before}, "nothing jumps"
    assert looked(page) == {"_whole": "1"}
    assert colour(page, 1, 26, 26) == [0, 0, 0]


def test_the_field_shows_what_a_pixel_knows_of_and_the_address_restores_it(page_watch: Page, site: str) -> None:
    page = opened(page_watch, site)
    one, two = (known(reach(layout, 529, 3)[2]) for layout in GREY)
    page.mouse.click(*(n - 12 for n in text(page, str(one))))
    sentence = page.locator(".tfe-spans .tfe-words")
    expect(sentence).to_contain_text(f"three layers let it know {one} in 1D and {two} in 2D, all there are")
    assert looked(page) == {"_field": "3", "_pattern": "local_1d", "_pos": "529"}
    before = said(page)
    page.goto(page.url)
    page.wait_for_selector(".tfe-spans[data-drawn]", state="attached")
    expect(sentence).to_have_text(before)
    page.locator(".tfe-spans .tfe-stage-board").focus()
    page.keyboard.press("Shift+ArrowLeft")
    expect(sentence).to_contain_text("two layers let it know")
    addressed(page, _field="2")


def test_a_silenced_head_is_struck_and_a_shift_click_asks_for_another(page_watch: Page, site: str) -> None:
    page = opened(page_watch, site)
    assert len(Picture(page, "spans").marks(kind="path", line="ink", width=2)) == 1
    page.evaluate(
        """async () => { const address = [...document.querySelectorAll("link[rel=modulepreload]")].map((each) => each.href)
            .find((each) => each.endsWith("/lib/state.js"));
            (await import(address)).bus.on("silence", (detail) => { window.silenced = detail; }); }"""
    )
    tile = lambda head: [box for one in Picture(page, "spans").marks(kind="rect", fill="sunk") if (box := one["box"])][head - 1]  # noqa: E731
    paper = page.locator(".tfe-spans .tfe-stage-paper").bounding_box()
    assert paper
    middle = (paper["x"] + tile(4)["x0"] + 20, paper["y"] + tile(4)["y0"] + 20)
    page.keyboard.down("Shift")
    page.mouse.click(*middle)
    page.keyboard.up("Shift")
    assert page.evaluate("window.silenced") == {"kind": "local_2d", "layer": 3, "head": 3}
    page.mouse.click(*middle)
    drawn(page, "local_2d 4.4 529")
    page.mouse.move(paper["x"] + tile(3)["x0"] + 20, paper["y"] + tile(3)["y0"] + 20)
    expect(page.locator(".tfe-spans > .tfe-hover")).to_contain_text("silenced")
    page.locator(".tfe-spans .tfe-stage-board").focus()
    page.keyboard.press("Shift+Enter")
    assert page.evaluate("window.silenced") == {"kind": "local_2d", "layer": 3, "head": 3}


def test_four_continuations_stand_beside_the_truth(page_watch: Page, site: str) -> None:
    page = opened(page_watch, site, "four")
    assert len([one for one in Picture(page, "spans").marks(kind="pixels") if one["box"]["x1"] - one["box"]["x0"] < 60]) == 10
    assert len(Picture(page, "spans").marks(text="given")) == 2 and Picture(page, "spans").marks(text=" · 14 rows given, above the line")
    x, y = text(page, "3")
    page.mouse.click(x, y - 30)
    drawn(page, "local_1d 4.2 529")
    expect(page.locator(".tfe-spans .tfe-stage-below")).to_have_text("Heads are watched on the first picture only.")
    assert looked(page)["_pic"] == "3"


def test_a_coloured_picture_grows_value_by_value_beside_what_it_starts_from(page_watch: Page, site: str) -> None:
    page = opened(page_watch, site, "colour")
    assert len(boards(page)) == 2
    assert Picture(page, "spans").marks(text="What it starts from") and Picture(page, "spans").marks(text=" · 8 × 8 pixels, seen whole")
    assert f"Pixel {pixel(COLOUR[0], 529)} green, made 530th" in said(page)
    expect(page.locator(".tfe-spans .tfe-stage-count")).to_have_text("value 530 / 768")


def test_what_is_taken_along_opens_elsewhere_and_holds_the_numbers(page_watch: Page, site: str, tmp_path: Path) -> None:
    page = opened(page_watch, site, query="lang=en&_pos=529")
    name, content = Picture(page, "spans").saved("PNG")
    assert name.endswith("spans-pos_529.png") and min(Image.open(io.BytesIO(content)).size) > 800
    _, content = Picture(page, "spans").saved("SVG")
    assert b"<svg" in content and b"data:image/png" in content and b'href="http' not in content
    _, content = Picture(page, "spans").saved("NPZ")
    with np.load(io.BytesIO(content)) as files:
        np.testing.assert_array_equal(files["local_2d_pictures"], made(GREY[1]).pictures)
        np.testing.assert_allclose(files["local_2d_layer_4_weights"], weights(GREY[1], 3), atol=1e-4)
        np.testing.assert_array_equal(files["local_2d_keys_of_query"], GREY[1].keys(529))
        assert list(files["local_2d_layer_4_weights_axes"]) == ["head", "position", "slot"] and files["local_2d_bits_unit"] == "bits"
    lines = Picture(page, "spans").saved("CSV")[1].decode("utf-8-sig").splitlines()
    assert lines[0].startswith('rank,row,column,level,"head 1, weight"') and len(lines) == 1 + len(GREY[1].keys(529))
    assert float(lines[1].split(",")[5]) == pytest.approx(float(weights(GREY[1], 3)[1, 529].max()), abs=1e-3)
    _, content = Picture(page, "spans").saved("PNG 8×")
    picture = np.asarray(Image.open(io.BytesIO(content)).convert("L"))
    np.testing.assert_array_equal(picture[4 : 28 * 8 : 8, 4::8], made(GREY[0]).pictures[0])
    _, content = Picture(page, "spans").saved("HTML")
    (tmp_path / "page.html").write_bytes(content)
    assert not re.search(rb"(?:src|href)=\"?https?:", content)
    words = said(page)
    page.goto((tmp_path / "page.html").as_uri())
    expect(page.locator(".tfe-words")).to_have_text(words)
    page.locator(".tfe-stage-board").focus()
    page.keyboard.press("Home")
    expect(page.locator(".tfe-stage-count")).to_have_text("pixel 1 / 784")
    page.locator("input[type=range]").fill("100")
    expect(page.locator(".tfe-words")).to_contain_text("head 2 of layer 4 gives")  # weights of the whole layer came along


def test_a_phone_shows_one_board_and_a_tap_previews_before_it_locks(new_page: NEW, site: str) -> None:
    page, _ = new_page(360, 780, has_touch=True)
    opened(page, site)
    assert len(boards(page)) == 1
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    page.locator(".tfe-spans .tfe-stage-choices [data-key=local_1d]").click()
    drawn(page, "local_1d 4.2 529")
    page.locator(".tfe-spans .tfe-stage-head").scroll_into_view_if_needed()
    at = spot(page, 0, 10, 5)
    page.touchscreen.tap(*at)
    expect(page.locator(".tfe-spans > .tfe-hover")).to_contain_text("(10, 5) · made 286th of 784")
    drawn(page, "local_1d 4.2 529")
    page.touchscreen.tap(*at)
    drawn(page, "local_1d 4.2 285")
