"""The stage with digits that several models make, from digits and weights of a fixed seed."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncGenerator
from typing import Any

import numpy as np
import pytest
from playwright.sync_api import Page, expect

from explorer.labs.sparse_transformer import drawn as figure
from explorer.labs.sparse_transformer import texts
from models.sparse_transformer.weights import look
from tests.browser.staged import NEW, Picture, alone, heard, listen, opening
from tests.browser.waiting import addressed, becomes, looked, quiet
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
        yield figure.growing(dict.fromkeys(VARIANTS, (4, 4)), told, query="v=2", keep=drawn_digits.KEEP, whole=drawn_digits.whole())
        await asyncio.sleep(0.05 if pace else 0.5)
    yield drawn_digits.value(query="v=2", state="live", pick=PICK, **drawn_digits.addresses())


def one() -> dict[str, object]:
    """A digit of one model."""
    made = drawn_digits.made("dense", 28)
    addresses = {"dense": drawn_digits.kept(made)[0]}
    return figure.value([made], state="stored", query="v=1", whole=drawn_digits.whole(), looks=addresses)


VALUES: dict[str, Any] = {"three": lambda: drawn_digits.value(pick=PICK, **drawn_digits.addresses()), "one": one}
PAGES = {slug: alone("digits", made, texts.DRAWN, "sparse_transformer/digits", grow=grow) for slug, made in VALUES.items()}
opened = opening("digits", "three")


def drawn(picture: Picture, what: str, **more: str) -> None:
    """Waits until it shows "strided 2.3 552" (model, head, pixels) and what `more` says, in the order of the picture's keys."""
    model, head, pos = what.split()
    flags = {"ghost", "whole"}
    said = [f"digits{key}" if key in flags else f"digits{key}={value}" for key, value in more.items()]
    picture.drawn(" ".join([f"model={model}", f"head={head}", *said, f"pos={pos}"]))


def boards(picture: Picture) -> list[dict[str, Any]]:
    """Where the digits stand, {x0, y0, x1, y1}."""
    return [one["box"] for one in picture.marks("pixels")]


def spot(picture: Picture, board: int, position: int) -> tuple[float, float]:
    """Where a pixel of a board stands on the screen."""
    box = boards(picture)[board]
    cell = (box["x1"] - box["x0"]) / 28
    return picture.spot({"left": box["x0"] + (position % 28 + 0.5) * cell, "top": box["y0"] + (position // 28 + 0.5) * cell})


def colour(picture: Picture, board: int, position: int) -> list[int]:
    """The colour that the picture gives a pixel of a board."""
    found: list[int] = picture.page.evaluate(
        """([n, position]) => { const marks = document.querySelector(".tfe-digits canvas").marks.filter(({ kind }) => kind === "pixels");
            return [...marks[n].image.data.subarray(4 * position, 4 * position + 3)]; }""",
        [board, position],
    )
    return found


def claim(variant: str, layer: int, head: int, position: int) -> tuple[str, str]:
    """What the sentence says a pixel looks at under a head, both from 1."""
    weights = look(drawn_digits.made(variant), layer - 1, head - 1, [position])[0]
    best = int(weights.argmax())
    return f"{variant}, head {layer}·{head}: pixel {pixel(position)} looks at {pixel(best)}, ", f"{weights[best]:.2f}; it may look at "


def pixel(position: int) -> str:
    """A position as the page writes it."""
    return f"({position // 28}, {position % 28})"


def test_a_pixel_shows_what_it_could_look_at_and_what_the_head_in_view_looked_at(page_watch: Page, site: str) -> None:
    page, picture = page_watch, opened(page_watch, site)
    picture.says(*claim("strided", 2, 3, 552), "47 of the 553 places up to its own (dense 553, fixed 97).")
    picture.click(spot(picture, 2, 440))
    drawn(picture, "fixed 2.3 440")
    picture.says(*claim("fixed", 2, 3, 440))
    page.mouse.move(5, 5)
    assert len(picture.marks("rect", fill="query")) >= 3, "the pixel that asks wears the colour of the query"
    sunk = colour(picture, 0, 87)
    assert sunk == [233, 237, 243] and colour(picture, 1, 87) != sunk, "the strided pattern may not look there, the dense one may"
    picture.click(spot(picture, 2, 431), shift=True)
    drawn(picture, "fixed 2.3 440,431")
    picture.walks("model=fixed head={} pos={}", "ArrowRight 2.3 432, PageUp 2.3 431, ArrowDown 2.4 431, Home 2.4 0, End 2.4 783")


def test_digits_grow_in_place_each_at_its_own_pixel_and_are_played_again_without_the_server(new_page: NEW, site: str) -> None:
    page, faults = new_page()
    picture = opened(page, site)
    parts = "canvas, .tfe-stage-transport, .tfe-words"
    place = f"[...document.querySelectorAll('.tfe-digits :is({parts})')].map((it) => it.offsetTop + it.offsetHeight)"
    before = page.evaluate(place)
    page.click("#grow")
    expect(picture.words).to_contain_text(re.compile(r"strided (reads|makes) pixel"))
    page.wait_for_function("Number(document.querySelector('.tfe-digits').dataset.drawn.match(/ pos=(\\d+)/)[1]) > 430")
    assert page.evaluate(place) == before
    drawn(picture, "strided 2.3 783", whole="1")
    assert page.evaluate(place) == before and looked(page) == {"_digitswhole": "1"}
    expect(picture.words).to_contain_text(
        re.compile(r"The 14 given rows cost strided [\d.]+ nats, dense [\d.]+ and fixed [\d.]+; for the 392 pixels")
    )
    picture.find(".tfe-stage-transport input").fill("440")
    quiet(page, faults)
    asked_for = len(faults.requests)
    picture.find(".tfe-stage-step.is-play").click()
    page.wait_for_function(
        "((at) => at > 450 && at < 783)(Number(document.querySelector('.tfe-digits').dataset.drawn.match(/ pos=(\\d+)/)[1]))"
    )
    assert len(faults.requests) == asked_for, faults.requests[asked_for:]
    expect(picture.words).to_contain_text(re.compile(r"strided, head 2·3: pixel .*may look at"))
    picture.find(".tfe-stage-step.is-play").click()
    becomes(page, lambda: 450 < int(looked(page).get("_pos", "0")) < 783, True)
    picture.find(".tfe-stage-transport input").fill("770")
    picture.find(".tfe-stage-step.is-play").click()
    drawn(picture, "strided 2.3 783", whole="1")  # what was made stands there whole


def test_layers_rolled_out_reach_everything_and_surprise_and_the_given_digit_stand_in_the_address(page_watch: Page, site: str) -> None:
    page = page_watch
    picture = opened(page, site)
    picture.find(".tfe-stage-choices [data-key='2']").click()
    drawn(picture, "strided 2.3 552", roll="2")
    roll = figure.Rollout(drawn_digits.made("strided")).rows(1, 0, [552])[0]
    best = int(np.where(np.arange(784) == 552, 0, roll).argmax())
    picture.says("all 553 places up to its own reach it (dense 553, fixed 553)")
    picture.says(f"the rollout gives most to {pixel(best)}")
    picture.find("[data-key=digitsghost]").click()
    picture.find("[data-key=surprise]").click()
    drawn(picture, "strided 2.3 552", roll="2", see="surprise", ghost="1")
    nats = {name: drawn_digits.made(name).nats[552] for name in VARIANTS}
    said = f"strided paid {nats['strided']:.2f} nats for pixel (19, 20) (dense {nats['dense']:.2f}, fixed {nats['fixed']:.2f})"
    picture.says(said)
    addressed(page, _digitsroll="2", _digitsghost="1", _digitssee="surprise")
    # A head of another model, by its small picture.
    tiles = picture.marks("cells", rows=7)
    page.mouse.move(*picture.spot({"left": tiles[23]["left"] + 8, "top": tiles[23]["top"] + 4}))  # the eighth of the second model
    expect(page.locator(".tfe-digits .tfe-hover")).to_contain_text("dense 2·4 (all before)")
    page.mouse.down()
    page.mouse.up()
    page.mouse.move(5, 5)
    drawn(picture, "dense 2.4 552", ghost="1")
    # Hover previews, and other views hear of it.
    listen(page, "hover-pos")
    page.mouse.move(*spot(picture, 1, 600))
    expect(page.locator(".tfe-digits .tfe-hover")).to_contain_text("(21, 12) · pixel 601 of 784")
    picture.says("pixel (21, 12) looks at")
    assert [one["pos"] for one in heard(page)] == [600]
    page.mouse.move(5, 5)
    picture.says("pixel (19, 20) looks at")
    assert "_pos" not in looked(page) and [one["pos"] for one in heard(page)] == [None]
    page.mouse.move(*spot(picture, 0, 560))
    page.mouse.down()
    for position in (570, 580):
        page.mouse.move(*spot(picture, 0, position))
    page.mouse.up()  # a drag locks what it comes by
    drawn(picture, "strided 2.4 580", ghost="1")
    picture.find("[data-key=digitswhole]").click()
    picture.says("The 14 given rows cost")
    page.mouse.click(*spot(picture, 0, 600))
    drawn(picture, "strided 2.4 600", ghost="1")


def test_what_is_taken_along_holds_the_numbers(page_watch: Page, site: str) -> None:
    picture = opened(page_watch, site)
    assert picture.saved("SVG")[1].count(b"data:image/png") == 3
    made = drawn_digits.made("strided")
    exact = look(made, 1, 2, [552])[0]
    files = picture.arrays()
    np.testing.assert_array_equal(files["strided_pixels"].reshape(-1), made.symbols)
    np.testing.assert_allclose(files["strided_weights"].reshape(-1), exact, atol=1e-4)
    for variant in VARIANTS:
        keys = drawn_digits.PATTERNS[variant].union.keys(552).tolist()
        np.testing.assert_array_equal(np.flatnonzero(files[f"{variant}_allowed"]), sorted(set(keys)))
    assert files["dense_mean_by_displacement"].shape == (4, 4, 7, 15)
    rows, head = picture.rows(), "strided, weight of head 2·3"
    first = ["position", "row", "column", "strided, ink", "strided, given", "strided, nats", head]
    assert len(rows) == 784 and list(rows[0])[:7] == first
    assert float(rows[int(exact.argmax())][head]) == pytest.approx(exact.max(), abs=1e-4)
