"""The stage with a picture and what each model paid for each of its pixels."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from playwright.sync_api import Page, expect

from explorer.figures import image
from explorer.lab import Lab
from explorer.labs.image_transformer import texts
from explorer.widgets.stage import stage
from tests.browser.staged import Picture
from tests.browser.waiting import addressed

READ = (np.arange(28 * 28, dtype=np.int64) * 37 % 256).astype(np.uint8).reshape(28, 28)
MAPS = {"local_1d": READ / 64, "local_2d": READ / 50, "pixelcnn": np.full(READ.shape, 2.0)}


def page_of(slug: str) -> Callable[[Lab, object], None]:
    """What stands on one trial page."""

    def page(lab: Lab, engine: object) -> None:
        bits = {key: each.astype(np.float32) for key, each in MAPS.items()}
        value = image.surprise(READ, bits, state="stored", query="v=1", unusual=True)
        shown = value if slug == "grey" else image.no_surprise(texts.NO_SURPRISE)
        stage("surprise", shown, texts=texts.SURPRISE, picture="image_transformer/surprise")

    return page


PAGES = {slug: page_of(slug) for slug in ("grey", "colour")}


def test_the_surprise_of_a_pixel_is_told_for_every_model(page_watch: Page, site: str) -> None:
    page = page_watch
    page.goto(f"{site}/grey?lang=en")
    page.wait_for_selector(".tfe-surprise[data-drawn]", state="attached")
    words = page.locator(".tfe-surprise .tfe-words")
    expect(words).to_contain_text("For 2D, row ")
    expect(page.locator(".tfe-surprise")).to_contain_text("unlike what the models learned from")
    page.locator(".tfe-surprise .tfe-stage-board").focus()
    page.keyboard.press("ArrowDown")
    level = int(READ[15, 14])
    expect(words).to_have_text(f"Pixel (15, 14), level {level}: 1D: {level / 64:.1f} bits, 2D: {level / 50:.1f} bits, PixelCNN: 2.0 bits.")
    addressed(page, _bit="15,14")
    page.locator(".tfe-surprise canvas").click(position={"x": 4, "y": 4})
    expect(words).to_contain_text(f"Pixel (0, 0), level {int(READ[0, 0])}")
    lines = Picture(page, "surprise").saved("CSV")[1].decode("utf-8-sig").splitlines()
    assert lines[0] == 'row,column,level,"1D, bits","2D, bits","PixelCNN, bits"' and len(lines) == 1 + 28 * 28
    files = Picture(page, "surprise").arrays()
    np.testing.assert_array_equal(files["picture"], READ)
    np.testing.assert_allclose(files["local_2d_bits"], READ / 50, atol=0.05)
    page.keyboard.press("Escape")
    page.locator(".tfe-surprise .tfe-stage-board").focus()
    page.keyboard.press("Escape")
    expect(words).to_contain_text("For 2D, row ")
    addressed(page, _bit=None)


def test_a_picture_that_cannot_be_read_has_a_sentence_alone(page_watch: Page, site: str) -> None:
    page_watch.goto(f"{site}/colour?lang=en")
    expect(page_watch.locator(".tfe-surprise .tfe-words")).to_have_text(texts.NO_SURPRISE["en"])
