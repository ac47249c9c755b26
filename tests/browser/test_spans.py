"""The stage with pictures that grow pixel by pixel, with pictures and weights from a fixed seed."""

from __future__ import annotations

import asyncio
import io
import re
from collections.abc import AsyncGenerator
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from PIL import Image
from playwright.sync_api import Page, expect

from explorer.labs.image_transformer import drawn as image
from explorer.labs.image_transformer import texts
from explorer.labs.image_transformer.drawn import Layout, in_rows, in_tiles
from explorer.looks import Look, looks
from tests.browser.staged import NEW, Picture, alone, heard, joined, listen, opening
from tests.browser.waiting import addressed, becomes, looked, note, noted, quiet
from tests.explorer.reached import known, reach

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


VALUES: dict[str, Any] = {
    "still": lambda: value(GREY, silenced=[("local_2d", 3, 2)]),
    "four": lambda: value(GREY, 4, kept=14, truth=made(GREY[0], 4).pictures[3]),
    "colour": lambda: value(COLOUR, 3, truth=made(COLOUR[0]).pictures[0], small=made(COLOUR[0]).pictures[0, ::2, ::2]),
}
PAGES = {slug: alone("spans", made, texts.SPANS, "image_transformer/spans", grow=grow) for slug, made in VALUES.items()}
opened = opening("spans", "still")


def drawn(picture: Picture, what: str) -> None:
    """Waits until the picture shows "local_2d 4.2 529", its weights too."""
    picture.drawn("pattern={} head={} pos={}".format(*what.split()))


def boards(picture: Picture) -> list[dict[str, float]]:
    """Where the boards stand in the picture: they are the large ones."""
    return [box for one in picture.marks("pixels") if (box := one["box"])["x1"] - box["x0"] > 150]


def spot(picture: Picture, board: int, row: int, column: int) -> tuple[float, float]:
    """Where a pixel of a board stands on the screen."""
    box = boards(picture)[board]
    side = (box["x1"] - box["x0"]) / 28
    return picture.spot({"left": box["x0"] + (column + 0.5) * side, "top": box["y0"] + (row + 0.5) * side})


def colour(picture: Picture, board: int, row: int, column: int) -> list[int]:
    """The colour of a pixel of a board, beside the dot in its middle."""
    box = boards(picture)[board]
    cell = (box["x1"] - box["x0"]) / 28
    found: list[int] = picture.page.evaluate(
        """([x, y]) => {
            const canvas = document.querySelector(".tfe-spans canvas");
            const copy = new OffscreenCanvas(1, 1).getContext("2d", { willReadFrequently: true });
            const scale = canvas.width / canvas.clientWidth;
            copy.drawImage(canvas, x * scale, y * scale, 1, 1, 0, 0, 1, 1);
            return [...copy.getImageData(0, 0, 1, 1).data].slice(0, 3); }""",
        [box["x0"] + (column + 0.25) * cell, box["y0"] + (row + 0.25) * cell],
    )
    return found


def pixel(layout: Layout, position: int) -> str:
    """A position as the page writes it."""
    return f"({layout.order[position] // layout.columns}, {layout.order[position] % layout.columns})"


def test_a_pixel_is_locked_on_arrival_by_a_click_or_a_drag_and_its_blocks_and_weights_are_shown(page_watch: Page, site: str) -> None:
    page, picture = page_watch, opened(page_watch, site)
    one, two = GREY
    keys = two.keys(529)
    best = int(weights(two, 3)[1, 529, : len(keys)].argmax())
    picture.says(
        f"Pixel {pixel(two, 529)}, made 530th, sees {known(reach(two, 529, 1)[0])} pixels in 2D",
        f"head 2 of layer 4 gives {pixel(two, int(keys[best]))} {weights(two, 3)[1, 529, best]:.2f}",
        f"In 1D the same turn falls on {pixel(one, 529)}.",
    )
    picture.click(spot(picture, 1, 16, 9))
    position = int(np.flatnonzero(two.order == 16 * 28 + 9)[0])
    drawn(picture, f"local_2d 4.2 {position}")
    picture.says(f"Pixel (16, 9), made {position + 1}th, sees {known(reach(two, position, 1)[0])} pixels in 2D")
    assert looked(page) == {"_pos": str(position)}
    red, green, blue = colour(picture, 1, 16, 9)
    assert red > 150 and green < 100 and blue < 60, "the asking pixel wears the colour of the query"
    made_already, unmade = colour(picture, 1, 3, 3), colour(picture, 1, 24, 3)
    assert max(made_already) < 10 and min(unmade) > 200, "what is not made yet is not black"
    page.mouse.move(*spot(picture, 0, 20, 12))
    expect(picture.find("> .tfe-hover")).to_contain_text("(20, 12) · made 573rd of 784")
    assert len(picture.marks(dash=[5, 4], line="query")) == 1, "its own blocks are previewed"
    page.mouse.down()
    page.mouse.move(*spot(picture, 0, 16, 9), steps=4)
    drawn(picture, f"local_1d 4.2 {16 * 28 + 9}")
    page.mouse.up()


def test_keys_step_pixels_and_heads_and_weights_come_when_they_are_looked_at(new_page: NEW, site: str) -> None:
    page, faults = new_page()
    picture = opened(page, site)
    asked = lambda: sum("/looks/" in url for url in faults.requests)  # noqa: E731
    assert asked() == 2, "one for each board"
    picture.walks("pattern=local_2d head={} pos={}", "ArrowRight 4.2 530, ArrowLeft 4.2 529, ArrowDown 4.3 529")
    assert asked() == 2
    for head in ("2.3", "4.3", "2.3"):
        picture.find(f".tfe-stage-choices [data-key='{head}']").click()
        drawn(picture, f"local_2d {head} 529")
        picture.says("head 3 of layer 2" if head == "2.3" else "head 3 of layer 4")
    quiet(page, faults)
    assert asked() == 4 and joined(faults) == 0
    picture.walks("pattern=local_2d head={} pos={}", "End 2.3 783, Home 2.3 0")
    picture.find("[data-key=whole]").click()
    addressed(page, _whole="1")
    picture.press(" ")
    expect(picture.find(".is-play")).to_have_attribute("aria-label", "Pause")
    page.wait_for_function("Number(/pos=(\\d+)/.exec(document.querySelector('.tfe-spans').dataset.drawn)[1]) > 28")
    page.keyboard.press(" ")
    becomes(page, lambda: "_whole" in looked(page), False)
    assert 28 < int(looked(page)["_pos"]) < 783


def test_a_picture_grows_in_place_and_stays_whole_when_it_is_done(page_watch: Page, site: str) -> None:
    page, picture = page_watch, opened(page_watch, site)
    picture.click(spot(picture, 1, 16, 9))  # tells nothing in another picture
    drawn(picture, f"local_2d 4.2 {int(np.flatnonzero(GREY[1].order == 16 * 28 + 9)[0])}")
    high = "document.querySelector('.tfe-spans .tfe-stage-paper').offsetHeight"
    before = page.evaluate(high)
    note(page, f"((it) => [it.dataset.state, it.dataset.drawn, {high}])(document.querySelector('.tfe-spans'))")
    page.click("#grow")
    picture.says("is being made")
    page.wait_for_selector(".tfe-spans[data-drawn*='pos=529 whole']")
    seen = noted(page)
    places = [int(found[1]) for state, drawn_, _ in seen if state == "running" and drawn_ and (found := re.search(r"pos=(\d+)", drawn_))]
    places = places[next(i for i, place in enumerate(places) if place < 400) :]
    assert places == sorted(places) and len(set(places)) > 3, places
    assert {tall for *_, tall in seen} == {before}, "nothing jumps"
    assert looked(page) == {"_whole": "1"}
    assert colour(picture, 1, 26, 26) == [0, 0, 0]


def test_the_field_shows_what_a_pixel_knows_of_and_a_silenced_head_is_struck(page_watch: Page, site: str) -> None:
    page, picture = page_watch, opened(page_watch, site)
    assert len(picture.marks(kind="path", line="ink", width=2)) == 1
    listen(page, "silence")
    third, fourth = (
        picture.spot({"left": one["box"]["x0"] + 20, "top": one["box"]["y0"] + 20}) for one in picture.marks("rect", fill="sunk")[2:4]
    )
    asked = {"kind": "local_2d", "layer": 3, "head": 3}
    picture.click(fourth, shift=True)
    assert heard(page) == [asked]
    picture.click(fourth)
    drawn(picture, "local_2d 4.4 529")
    page.mouse.move(*third)
    expect(picture.find("> .tfe-hover")).to_contain_text("silenced")
    picture.press("Shift+Enter")
    assert heard(page) == [asked]
    one, two = (known(reach(layout, 529, 3)[2]) for layout in GREY)
    picture.click(tuple(n - 12 for n in picture.spot(str(one))))  # type: ignore[arg-type]
    picture.says(f"three layers let it know {one} in 1D and {two} in 2D, all there are")
    assert looked(page) == {"_field": "3", "_pattern": "local_1d", "_pos": "529", "_head": "4.4"}
    picture.press("Shift+ArrowLeft")
    picture.says("two layers let it know")
    addressed(page, _field="2")


def test_four_continuations_and_a_coloured_picture_stand_beside_the_truth(page_watch: Page, site: str) -> None:
    picture = opened(page_watch, site, slug="four")
    assert len([one for one in picture.marks("pixels") if one["box"]["x1"] - one["box"]["x0"] < 60]) == 10
    assert len(picture.marks(text="given")) == 2 and picture.marks(text=" · 14 rows given, above the line")
    x, y = picture.spot("3")
    picture.click((x, y - 30))
    drawn(picture, "local_1d 4.2 529")
    expect(picture.find(".tfe-stage-below")).to_have_text("Heads are watched on the first picture only.")
    assert looked(page_watch)["_pic"] == "3"
    picture = opened(page_watch, site, slug="colour")
    assert len(boards(picture)) == 2
    assert picture.marks(text="What it starts from") and picture.marks(text=" · 8 × 8 pixels, seen whole")
    picture.says(f"Pixel {pixel(COLOUR[0], 529)} green, made 530th")
    expect(picture.find(".tfe-stage-count")).to_have_text("value 530 / 768")


def test_what_is_taken_along_holds_the_numbers(page_watch: Page, site: str) -> None:
    picture = opened(page_watch, site)
    files, two = picture.arrays(), GREY[1]
    np.testing.assert_array_equal(files["local_2d_pictures"], made(two).pictures)
    np.testing.assert_allclose(files["local_2d_layer_4_weights"], weights(two, 3), atol=1e-4)
    np.testing.assert_array_equal(files["local_2d_keys_of_query"], two.keys(529))
    assert list(files["local_2d_layer_4_weights_axes"]) == ["head", "position", "slot"] and files["local_2d_bits_unit"] == "bits"
    lines = picture.lines()
    assert lines[0].startswith('rank,row,column,level,"head 1, weight"') and len(lines) == 1 + len(two.keys(529))
    assert float(lines[1].split(",")[5]) == pytest.approx(float(weights(two, 3)[1, 529].max()), abs=1e-3)
    enlarged = np.asarray(Image.open(io.BytesIO(picture.saved("PNG 8×")[1])).convert("L"))
    np.testing.assert_array_equal(enlarged[4 : 28 * 8 : 8, 4::8], made(GREY[0]).pictures[0])
