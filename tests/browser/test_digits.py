"""The stage with digits that several models make, from digits and weights of a fixed seed."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from typing import Any

import numpy as np
import pytest
from playwright.sync_api import Page

from explorer.labs.sparse_transformer import drawn as figure
from explorer.labs.sparse_transformer import texts
from models.sparse_transformer.weights import look
from tests.browser.staged import Picture, alone, opening
from tests.browser.waiting import addressed
from tests.explorer import drawn_digits

PICK = {"model": "strided", "head": "2.3", "pos": 552}
VARIANTS = tuple(drawn_digits.PATTERNS)


async def grow() -> AsyncGenerator[dict[str, object], None]:
    """Three models work at paces of their own, then the finished run."""
    told: list[Any] = []
    reached = dict.fromkeys(VARIANTS, 0)
    for pace in range(30):
        for n, variant in enumerate(VARIANTS):
            stop = min(784, reached[variant] + 24 + 2 * n)
            if stop > reached[variant]:
                told.append(drawn_digits.steps(variant, reached[variant], stop))
            reached[variant] = stop
        yield figure.draw_growing_digits(
            dict.fromkeys(VARIANTS, (4, 4)),
            told,
            query="v=2",
            keep=drawn_digits.KEEP,
            whole=drawn_digits.whole(),
        )
        await asyncio.sleep(0.05 if pace else 0.5)
    yield drawn_digits.value(query="v=2", state="live", pick=PICK, **drawn_digits.addresses())


def one() -> dict[str, object]:
    """A digit of one model."""
    made = drawn_digits.made("dense", 28)
    addresses = {"dense": drawn_digits.kept(made)[0]}
    return figure.draw_digits(
        [made], state="stored", query="v=1", whole=drawn_digits.whole(), looks=addresses
    )


VALUES: dict[str, Any] = {
    "three": lambda: drawn_digits.value(pick=PICK, **drawn_digits.addresses()),
    "one": one,
}
PAGES = {
    slug: alone("digits", made, texts.DRAWN, "sparse_transformer/digits", grow=grow)
    for slug, made in VALUES.items()
}
opened = opening("digits", "three")


def drawn(picture: Picture, what: str, **more: str) -> None:
    """Waits until it shows "strided 2.3 552" (model, head, pixels) and what `more` says, in the
    order of the picture's keys."""
    model, head, pos = what.split()
    flags = {"ghost", "whole"}
    said = [
        f"digits{key}" if key in flags else f"digits{key}={value}" for key, value in more.items()
    ]
    picture.drawn(" ".join([f"model={model}", f"head={head}", *said, f"pos={pos}"]))


def claim(variant: str, layer: int, head: int, position: int) -> tuple[str, str]:
    """What the sentence says a pixel looks at under a head, both from 1."""
    weights = look(drawn_digits.made(variant), layer - 1, head - 1, [position])[0]
    best = int(weights.argmax())
    return (
        f"{variant}, head {layer}·{head}: pixel {pixel(position)} looks at {pixel(best)}, ",
        f"{weights[best]:.2f}; it may look at ",
    )


def pixel(position: int) -> str:
    """A position as the page writes it."""
    return f"({position // 28}, {position % 28})"


def test_a_pixel_shows_what_its_head_saw(
    picture: Picture,
) -> None:
    exact, files, rows = (
        look(drawn_digits.made("strided"), 1, 2, [552])[0],
        picture.arrays(),
        picture.rows(),
    )
    np.testing.assert_array_equal(
        files["strided_pixels"].reshape(-1), drawn_digits.made("strided").symbols
    )
    np.testing.assert_allclose(files["strided_weights"].reshape(-1), exact, atol=1e-4)
    for variant in VARIANTS:
        keys = drawn_digits.PATTERNS[variant].joint_factor.list_keys(552).tolist()
        np.testing.assert_array_equal(
            np.flatnonzero(files[f"{variant}_allowed"]), sorted(set(keys))
        )
    assert len(rows) == 784
    assert float(rows[int(exact.argmax())]["strided, weight of head 2·3"]) == pytest.approx(
        exact.max(), abs=1e-4
    )
    picture.says(
        *claim("strided", 2, 3, 552), "47 of the 553 places up to its own (dense 553, fixed 97)."
    )
    picture.click(picture.point(model="fixed", pos=440))
    drawn(picture, "fixed 2.3 440")
    picture.says(*claim("fixed", 2, 3, 440))
    picture.click(picture.point(model="fixed", pos=431), shift=True)
    drawn(picture, "fixed 2.3 440,431")
    picture.walks(
        "model=fixed head={} pos={}",
        "ArrowRight 2.3 432, PageUp 2.3 431, ArrowDown 2.4 431, Home 2.4 0, End 2.4 783",
    )


def test_rollout_and_surprise_in_the_address(page: Page, picture: Picture) -> None:
    picture.find(".tfe-stage-choices [data-key='2']").click()
    drawn(picture, "strided 2.3 552", roll="2")
    roll = figure.Rollout(drawn_digits.made("strided")).rows(1, 0, [552])[0]
    best = int(np.where(np.arange(784) == 552, 0, roll).argmax())
    picture.says(
        "all 553 places up to its own reach it (dense 553, fixed 553)",
        f"the rollout gives most to {pixel(best)}",
    )
    picture.find("[data-key=digitsghost]").click()
    picture.find("[data-key=surprise]").click()
    drawn(picture, "strided 2.3 552", roll="2", see="surprise", ghost="1")
    nats = {name: drawn_digits.made(name).nats[552] for name in VARIANTS}
    picture.says(
        f"strided paid {nats['strided']:.2f} nats for pixel (19, 20) (dense {nats['dense']:.2f},"
        f" fixed {nats['fixed']:.2f})"
    )
    addressed(page, _digitsroll="2", _digitsghost="1", _digitssee="surprise")
    picture.find("[data-key=digitswhole]").click()
    picture.says("The 14 given rows cost strided")
    picture.find("[data-key=digitswhole]").click()
    # a head of another model, by its small picture
    picture.click(picture.point(model="dense", head="2.4"))
    drawn(picture, "dense 2.4 552", ghost="1")
    picture.point(model="dense", pos=600)  # what is pointed at is told before it is locked
    picture.says("pixel (21, 12) looks at")
    page.mouse.down()
    page.mouse.move(*picture.spot(picture.box(model="dense", pos=580)))
    page.mouse.up()  # a drag locks what it comes by
    drawn(picture, "dense 2.4 580", ghost="1")
