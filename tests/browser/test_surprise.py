"""The stage with a picture and what each model paid for each of its pixels."""

from __future__ import annotations

import numpy as np
from playwright.sync_api import Page, expect

from explorer.labs.image_transformer import drawn as image
from explorer.labs.image_transformer import texts
from tests.browser.staged import alone, opening
from tests.browser.waiting import addressed

READ = (np.arange(28 * 28, dtype=np.int64) * 37 % 256).astype(np.uint8).reshape(28, 28)
MAPS = {"local_1d": READ / 64, "local_2d": READ / 50, "pixelcnn": np.full(READ.shape, 2.0)}


BITS = {key: each.astype(np.float32) for key, each in MAPS.items()}
VALUES = {"grey": image.surprise(READ, BITS, state="stored", query="v=1", unusual=True), "colour": image.no_surprise(texts.NO_SURPRISE)}
PAGES = {slug: alone("surprise", value, texts.SURPRISE, "image_transformer/surprise") for slug, value in VALUES.items()}
opened = opening("surprise", "grey")


def test_the_surprise_of_a_pixel_is_told_for_every_model(page_watch: Page, site: str) -> None:
    picture = opened(page_watch, site)
    picture.says("For 2D, row ")
    expect(picture.find()).to_contain_text("unlike what the models learned from")
    picture.press("ArrowDown")
    level = int(READ[15, 14])
    picture.says(f"Pixel (15, 14), level {level}: 1D: {level / 64:.1f} bits, 2D: {level / 50:.1f} bits, PixelCNN: 2.0 bits.")
    addressed(page_watch, _bit="15,14")
    picture.find("canvas").click(position={"x": 4, "y": 4})
    picture.says(f"Pixel (0, 0), level {int(READ[0, 0])}")
    lines = picture.lines()
    assert lines[0] == 'row,column,level,"1D, bits","2D, bits","PixelCNN, bits"' and len(lines) == 1 + 28 * 28
    files = picture.arrays()
    np.testing.assert_array_equal(files["picture"], READ)
    np.testing.assert_allclose(files["local_2d_bits"], READ / 50, atol=0.05)
    page_watch.goto(f"{site}/colour?lang=en")
    expect(picture.words).to_have_text(texts.NO_SURPRISE["en"])
