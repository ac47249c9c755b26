"""The stage with pictures that grow pixel by pixel, with pictures and weights from a fixed seed."""

from __future__ import annotations

import asyncio
import io
from collections.abc import AsyncGenerator
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from PIL import Image
from playwright.sync_api import Page, expect

from explorer.labs.image_transformer import drawn as image
from explorer.labs.image_transformer import texts
from explorer.labs.image_transformer.drawn import Layout, lay_out_rows, lay_out_tiles
from explorer.values.exact_rows import RowSource, exact_row_store
from models.image_transformer.records import Made, Step
from tests.browser.staged import NEW, Picture, alone, heard, joined, listen, opening
from tests.browser.waiting import addressed, becomes, looked, quiet
from tests.explorer import drawn_pictures
from tests.explorer.reached import known, reach

Array = NDArray[np.float32]
GREY = (lay_out_rows(28, 28, 2, 4), lay_out_tiles(28, 28, 7, 7))
COLOUR = (lay_out_rows(16, 16, 2, 4, channels=3, pattern="colour"),)
HERE = int(np.flatnonzero(GREY[1].order == 16 * 28 + 9)[0])  # when the pixel (16, 9) is made
PICK = {"pattern": "local_2d", "position": 529, "layer": 3, "head": 1}


@cache
def made(layout: Layout, count: int = 1) -> Made:
    """Bright discs on black, a little different each."""
    row, column = np.indices((layout.rows, layout.columns))
    discs = [
        np.hypot(row - layout.rows / 2, column - layout.columns / 2) < layout.rows / 3 + n
        for n in range(count)
    ]
    pictures = np.array(
        [np.where(disc, 90 + 5 * ((row + column) % 30), 0) for disc in discs]
    ).astype(np.uint8)
    if layout.channels > 1:
        pictures = np.stack([pictures, pictures[:, ::-1], pictures // 2], -1)
    return replace(
        drawn_pictures.made(layout, count),
        pictures=pictures,
        bits=(pictures % 7).astype(np.float32),
    )


@cache
def weights(layout: Layout, layer: int) -> Array:
    """(head, position, slot): head h of layer l looks with 0.6 at the key 3 h + l places back, the
    rest is spread evenly."""
    slots = max(
        len(memory) + stop - start
        for memory, start, stop in zip(
            layout.memory, layout.starts, layout.starts[1:], strict=False
        )
    )
    found = np.zeros((4, layout.length, slots), np.float32)
    for position in range(layout.length):
        count = len(layout.list_keys(position))
        found[:, position, :count] = 0.4 / count
        for head in range(4):
            found[head, position, max(0, count - 1 - 3 * head - layer)] += 0.6
    return found


@cache
def kept(layout: Layout) -> str:
    """The address of its weights, as the lab puts them there: a row for each position, head after
    head."""

    def rows(layer: int, _head: int, which: range) -> Array:
        return (
            weights(layout, layer)[:, which.start : which.stop]
            .swapaxes(0, 1)
            .reshape(len(which), -1)
        )

    return exact_row_store().put(
        RowSource(rows, 6, 1, layout.length, 1), f"spans {layout.pattern}".encode()
    )


def value(layouts: tuple[Layout, ...], count: int = 1, **more: Any) -> dict[str, object]:
    """A finished run."""
    found = {layout.pattern: kept(layout) for layout in layouts}
    told: dict[str, Any] = {
        "state": "stored",
        "query": "v=1",
        "looks": found,
        "pick": {**PICK, "pattern": layouts[-1].pattern},
        **more,
    }
    return image.draw_spans([made(layout, count) for layout in layouts], **told)


async def grow() -> AsyncGenerator[dict[str, object], None]:
    """Twenty-eight updates, then the finished run."""
    flat = [made(layout).pictures.reshape(1, -1)[:, layout.places] for layout in GREY]
    steps: list[Step] = []
    for first in range(0, 784, 28):
        levels = np.stack([each[:, first : first + 28] for each in flat])
        steps.append(Step(first, levels, np.ones(levels.shape, np.float32)))
        yield image.draw_growing_spans(GREY, steps, count=1, query="v=1&seed=2")
        await asyncio.sleep(0.05)
    yield value(GREY, state="live", query="v=1&seed=2")


VALUES: dict[str, Any] = {
    "still": lambda: value(GREY, silenced=[("local_2d", 3, 2)]),
    "four": lambda: value(GREY, 4, kept=14, truth=made(GREY[0], 4).pictures[3]),
    "colour": lambda: value(
        COLOUR, 3, truth=made(COLOUR[0]).pictures[0], small=made(COLOUR[0]).pictures[0, ::2, ::2]
    ),
}
READ = (np.arange(28 * 28, dtype=np.int64) * 37 % 256).astype(np.uint8).reshape(28, 28)
MAPS = {"local_1d": READ / 64, "local_2d": READ / 50, "pixelcnn": np.full(READ.shape, 2.0)}


BITS = {key: each.astype(np.float32) for key, each in MAPS.items()}
READINGS = {
    "grey": image.draw_surprise(READ, BITS, state="stored", query="v=1", unusual=True),
    "none": image.explain_no_surprise(texts.NO_SURPRISE),
}
PAGES = {
    slug: alone("spans", made, texts.SPANS, "image_transformer/spans", grow=grow)
    for slug, made in VALUES.items()
} | {
    slug: alone("surprise", made, texts.SURPRISE, "image_transformer/surprise")
    for slug, made in READINGS.items()
}
opened = opening("spans", "still")


def drawn(picture: Picture, what: str) -> None:
    """Waits until the picture shows "local_2d 4.2 529", its weights too."""
    picture.drawn("pattern={} head={} pos={}".format(*what.split()))


def pixel(layout: Layout, position: int) -> str:
    """A position as the page writes it."""
    return (
        f"({layout.order[position] // layout.columns}, {layout.order[position] % layout.columns})"
    )


def test_a_pixel_is_locked_with_its_blocks(page: Page, picture: Picture) -> None:
    one, two = GREY
    keys = two.list_keys(529)
    best = int(weights(two, 3)[1, 529, : len(keys)].argmax())
    picture.says(
        f"Pixel {pixel(two, 529)}, made 530th, sees {known(reach(two, 529, 1)[0])} pixels in 2D",
        f"head 2 of layer 4 gives {pixel(two, int(keys[best]))}"
        f" {weights(two, 3)[1, 529, best]:.2f}",
        f"In 1D, the pixel made at the same moment is {pixel(one, 529)}.",
    )
    assert picture.traces("memory")[1]["zmax"] == pytest.approx(weights(two, 3)[1, 529].max(), 1e-3)
    picture.click(picture.spot(picture.box(pattern="local_2d", pos=HERE)))
    drawn(picture, f"local_2d 4.2 {HERE}")
    picture.says(
        f"Pixel (16, 9), made {HERE + 1}th, sees {known(reach(two, HERE, 1)[0])} pixels in 2D"
    )
    assert looked(page) == {"_pos": str(HERE)}
    picture.point(pattern="local_1d", pos=20 * 28 + 12)
    expect(picture.find("> .tfe-hover")).to_contain_text("(20, 12) · made 573rd of 784")
    becomes(page, lambda: len(picture.marks("shape", dash="5px,4px")), 2)  # its own blocks
    page.mouse.down()
    page.mouse.move(*picture.spot(picture.box(pattern="local_1d", pos=16 * 28 + 9)), steps=4)
    drawn(picture, f"local_1d 4.2 {16 * 28 + 9}")
    page.mouse.up()


def test_keys_step_pixels_and_heads(new_page: NEW, site: str) -> None:
    page, faults = new_page()
    picture = opened(page, site)
    asked = lambda: sum("/looks/" in url for url in faults.requests)  # noqa: E731
    assert asked() == 2, "one for each board"
    picture.walks(
        "pattern=local_2d head={} pos={}",
        "ArrowRight 4.2 530, ArrowLeft 4.2 529, ArrowDown 4.3 529",
    )
    assert asked() == 2
    for head in ("2.3", "4.3", "2.3"):
        picture.find(f".tfe-stage-choices [data-key='{head}']").click()
        drawn(picture, f"local_2d {head} 529")
        picture.says("head 3 of layer 2" if head == "2.3" else "head 3 of layer 4")
    quiet(page, faults)
    assert asked() == 4 and joined(faults) == 0
    picture.walks("pattern=local_2d head={} pos={}", "End 2.3 783, Home 2.3 0")


def test_the_field_of_a_pixel_and_its_export(page: Page, picture: Picture) -> None:
    files, tiles = picture.arrays(), GREY[1]
    np.testing.assert_array_equal(files["local_2d_pictures"], made(tiles).pictures)
    np.testing.assert_allclose(files["local_2d_layer_4_weights"], weights(tiles, 3), atol=1e-4)
    np.testing.assert_array_equal(files["local_2d_keys_of_query"], tiles.list_keys(529))
    assert (
        list(files["local_2d_layer_4_weights_axes"]) == ["head", "position", "slot"]
        and files["local_2d_bits_unit"] == "bits"
    )
    lines = picture.lines()
    assert lines[0].startswith('rank,row,column,level,"head 1, weight"') and len(lines) == 1 + len(
        tiles.list_keys(529)
    )
    assert float(lines[1].split(",")[5]) == pytest.approx(
        float(weights(tiles, 3)[1, 529].max()), abs=1e-3
    )
    enlarged = np.asarray(Image.open(io.BytesIO(picture.saved("PNG 8×")[1])).convert("L"))
    np.testing.assert_array_equal(enlarged[4 : 28 * 8 : 8, 4::8], made(GREY[0]).pictures[0])
    assert len(picture.marks(kind="path", line="ink", width=2)) == 1
    listen(page, "silence")
    third, fourth = (
        picture.spot({"left": one["box"]["x0"] + 20, "top": one["box"]["y0"] + 20})
        for one in picture.marks("rect", fill="sunk")[2:4]
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


def test_continuations_beside_the_truth(page_watch: Page, site: str) -> None:
    picture = opened(page_watch, site, slug="four")
    assert (
        len([one for one in picture.marks("pixels") if one["box"]["x1"] - one["box"]["x0"] < 60])
        == 10
    )
    assert len(picture.marks(text="given")) == 2 and picture.marks(
        text=" · 14 rows given, above the line"
    )
    x, y = picture.spot("3")
    picture.click((x, y - 30))
    drawn(picture, "local_1d 4.2 529")
    expect(picture.find(".tfe-stage-below")).to_have_text(
        "Heads are watched on the first picture only."
    )
    assert looked(page_watch)["_pic"] == "3"
    picture = opened(page_watch, site, slug="colour")
    assert picture.marks(text="What it starts from") and picture.marks(
        text=" · 8 × 8 pixels, seen whole"
    )
    picture.says(f"Pixel {pixel(COLOUR[0], 529)} green, made 530th")
    expect(picture.find(".tfe-stage-count")).to_have_text("value 530 / 768")


def test_the_surprise_of_a_pixel_is_told_for_every_model(page_watch: Page, site: str) -> None:
    picture = opening("surprise", "grey")(page_watch, site)
    picture.says("For 2D, row ")
    expect(picture.find()).to_contain_text("unlike what the models learned from")
    picture.press("ArrowDown")
    level = int(READ[15, 14])
    picture.says(
        f"Pixel (15, 14), level {level}: 1D: {level / 64:.1f} bits, 2D: {level / 50:.1f} bits,"
        " PixelCNN: 2.0 bits."
    )
    addressed(page_watch, _bit="15,14")
    picture.find("canvas").click(position={"x": 4, "y": 4})
    picture.says(f"Pixel (0, 0), level {int(READ[0, 0])}")
    lines = picture.lines()
    assert (
        lines[0] == 'row,column,level,"1D, bits","2D, bits","PixelCNN, bits"'
        and len(lines) == 1 + 28 * 28
    )
    files = picture.arrays()
    np.testing.assert_array_equal(files["picture"], READ)
    np.testing.assert_allclose(files["local_2d_bits"], READ / 50, atol=0.05)
    page_watch.goto(f"{site}/none?lang=en")
    expect(picture.words).to_have_text(texts.NO_SURPRISE["en"])
