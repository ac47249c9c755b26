"""Self-similarity in a browser: the weights that a click asks for, and a texture that is
scrubbed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from playwright.sync_api import Page, expect

from explorer.components import base
from explorer.labs.self_similarity import texts, views
from explorer.values.packing import convert_to_json
from models.self_similarity.explain import explain
from models.self_similarity.nonlocal_means import nonlocal_means, weigh_neighbours
from models.self_similarity.pretrained import load
from models.self_similarity.records import EXAMPLES, Explanation
from tests.bench import Place
from tests.browser.staged import Picture, alone

PLACES = [(11, 61), (0, 0), (95, 50)]


def first() -> Explanation:
    kept = views.first()
    assert kept is not None
    return kept.seen


def grown() -> dict[str, Any]:
    (seen,) = explain(EXAMPLES[3:4])
    assert isinstance(seen, Explanation)
    return views.draw_grown(seen, EXAMPLES[3], "live")


def page(name: str, words: Any, value: Callable[[], Any]) -> Place:
    """Return the page of one of the lab's pictures."""
    return alone(name, value, words, f"self_similarity/{name}")


PAGES = {
    "likes": page("likes", texts.LIKES, lambda: views.draw_likes(first(), EXAMPLES[0], "stored")),
    "denoised": page(
        "denoised", texts.DENOISED, lambda: views.draw_denoised(first(), EXAMPLES[0], "stored")
    ),
    "grown": page("grown", texts.GROWN, grown),
    "matrix": page(
        "matrix", texts.MATRIX, lambda: views.draw_matrix(first(), EXAMPLES[0], "stored")
    ),
}


def influence(noisy: torch.Tensor, row: int, column: int) -> np.ndarray:
    """Return how much each pixel moves what the block adds at one, by autograd through its readout
    and plain weights, (23, 23), all adding up to 1."""
    block = load("block").model
    readout, config = block.readout.weight[:, 0], block.config
    total = torch.zeros(len(readout), 23, 23)
    for down, right in np.ndindex(3, 3):
        place = row + down - 1, column + right - 1
        if 0 <= place[0] < 96 and 0 <= place[1] < 96:
            weights = weigh_neighbours(noisy, *place, config.softness * config.sigma, config.sigma)
            total[:, down : down + 21, right : right + 21] += (
                readout[:, down, right, None, None] * weights
            )
    length = total.square().sum(0).sqrt()
    return (length / length.sum()).numpy()


def test_the_browser_weighs_as_the_model_does(page_watch: Page, site: str) -> None:
    page_watch.goto(f"{site}/likes?lang=en")
    found = first().denoised
    assert found is not None
    noisy = torch.from_numpy(found.noisy.copy())
    asked = {
        "noisy": convert_to_json(found.noisy),
        "readout": convert_to_json(found.readout),
        "h": found.h,
        "sigma": found.sigma,
        "trained": {"sigma": found.trained[0], "h": found.trained[1]},
        "places": PLACES,
    }
    answers = page_watch.evaluate(
        """async ([weights, arrays, asked]) => {
            const { means, dots, block } = await import(weights);
            const { unpack } = await import(arrays);
            const [noisy, readout] = [await unpack(asked.noisy), await unpack(asked.readout)];
            const picture = { data: noisy.data, rows: 96, columns: 96 };
            return asked.places.map((place) => [
                means(picture, place, asked), dots(picture, place, { ...asked, bias: true }),
                dots(picture, place, { ...asked, bias: false }),
                block(picture, place, { ...asked.trained, readout }),
            ].map((one) => [...one]));
        }""",
        [
            base.write_script_address("labs/self_similarity/weights.js"),
            base.write_script_address("frontend/lib/arrays.js"),
            asked,
        ],
    )
    for place, kernels in zip(PLACES, answers, strict=True):
        wanted = [
            weigh_neighbours(noisy, *place, found.h, found.sigma),
            weigh_neighbours(noisy, *place, found.h, None),
            weigh_neighbours(noisy, *place, found.h, None, bias=False),
            influence(noisy, *place),
        ]
        for got, right in zip(kernels, wanted, strict=True):
            edge = (23 - len(right)) // 2
            assert np.allclose(np.reshape(got, (23, 23)), np.pad(right, edge), atol=2e-5)


def test_the_average_of_the_block_is_ours() -> None:
    found = first().denoised
    assert found is not None
    sigma, h = found.trained
    noisy = torch.from_numpy(found.noisy.copy())[None]
    assert torch.equal(load("block").model.average(noisy), nonlocal_means(noisy, h, sigma))


def test_a_click_moves_the_question(page_watch: Page, site: str) -> None:
    picture = Picture(page_watch, "likes").open(f"{site}/likes?lang=en")
    before = picture.words.inner_text()
    picture.click(picture.point(pixel=40 * 96 + 30))
    picture.stands("pixel=3870")
    assert "(40, 30)" in picture.words.inner_text() != before
    page_watch.keyboard.press("ArrowRight")
    picture.stands("pixel=3871")


def test_a_source_lights_up_and_growth_is_scrubbed(page_watch: Page, site: str) -> None:
    picture = Picture(page_watch, "grown").open(f"{site}/grown?lang=en")
    picture.click(picture.point(at=32 * 64 + 32))
    picture.stands("at=2080")
    assert "copied from" in picture.words.inner_text()
    picture.open(f"{site}/grown?lang=en&_fill=64")
    assert "1031 of 4096" in picture.words.inner_text()


@pytest.mark.parametrize("name", ["denoised", "matrix"])
def test_what_is_pointed_at_is_said(page_watch: Page, site: str, name: str) -> None:
    picture = Picture(page_watch, name).open(f"{site}/{name}?lang=en")
    before = picture.words.inner_text()
    picture.click(picture.point())
    expect(picture.words).not_to_have_text(before)
