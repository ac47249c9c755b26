"""The stage with digits that several models make, from digits and weights of a fixed seed."""

from __future__ import annotations

import asyncio
import io
import re
from collections.abc import AsyncGenerator, Callable
from pathlib import Path
from typing import Any

import gradio as gr
import numpy as np
import pytest
from PIL import Image
from playwright.sync_api import Page, expect

from explorer.figures import digits as figure
from explorer.lab import Lab
from explorer.labs.sparse_transformer import texts
from explorer.widgets.stage import stage
from models.sparse_transformer.weights import look
from tests.browser.staged import AT_ONCE, NEW, Picture
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
        yield figure.growing(VARIANTS, told, query="v=2", keep=drawn_digits.KEEP, whole=drawn_digits.whole())
        await asyncio.sleep(0.05 if pace else 0.5)
    yield drawn_digits.value(query="v=2", state="live", pick=PICK, **drawn_digits.addresses())


def page_of(slug: str) -> Callable[[Lab, object], None]:
    """What stands on one trial page."""

    def page(lab: Lab, engine: object) -> None:
        if slug == "three":
            value = drawn_digits.value(pick=PICK, **drawn_digits.addresses())
        else:
            one = drawn_digits.made("dense", 28)
            addresses = {"dense": drawn_digits.kept(one)[0]}
            value = figure.value([one], state="stored", query="v=1", whole=drawn_digits.whole(), looks=addresses)
        place = stage("digits", value, texts=texts.DRAWN, picture="sparse_transformer/digits")
        gr.Button("Grow", elem_id="grow").click(grow, None, place, **AT_ONCE)

    return page


PAGES = {slug: page_of(slug) for slug in ("three", "one")}


def opened(page: Page, site: str, slug: str = "three", query: str = "lang=en") -> Picture:
    """The digits, with the weights of the first view."""
    picture = Picture(page, "digits").open(f"{site}/{slug}?{query}")
    page.wait_for_selector(".tfe-digits[data-drawn]:not([data-drawn$=waits])", state="attached")
    return picture


def drawn(picture: Picture, what: str, **more: str) -> None:
    """Waits until it shows "strided 2.3 552" (model, head, pixels) and what `more` says, in the order of the picture's keys."""
    model, head, pos = what.split()
    flags = {"ghost", "whole"}
    said = [f"digits{key}" if key in flags else f"digits{key}={value}" for key, value in more.items()]
    picture.drawn(" ".join([f"model={model}", f"head={head}", *said, f"pos={pos}"]))


def words(picture: Picture) -> Any:
    """The sentence under the digits."""
    return picture.find(".tfe-words")


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
    page = page_watch
    picture = opened(page, site)
    for part in claim("strided", 2, 3, 552):
        expect(words(picture)).to_contain_text(part)
    expect(words(picture)).to_contain_text("47 of the 553 places up to its own (dense 553, fixed 97).")
    page.mouse.click(*spot(picture, 2, 440))
    drawn(picture, "fixed 2.3 440")
    for part in claim("fixed", 2, 3, 440):
        expect(words(picture)).to_contain_text(part)
    page.mouse.move(5, 5)
    assert len(picture.marks("rect", fill="query")) >= 3, "the pixel that asks wears the colour of the query"
    sunk = colour(picture, 0, 87)
    assert sunk == [233, 237, 243] and colour(picture, 1, 87) != sunk, "the strided pattern may not look there, the dense one may"
    page.keyboard.down("Shift")
    page.mouse.click(*spot(picture, 2, 431))
    page.keyboard.up("Shift")
    drawn(picture, "fixed 2.3 440,431")
    picture.find(".tfe-stage-board").focus()
    for key, there in (("ArrowRight", "2.3 432"), ("PageUp", "2.3 431"), ("ArrowDown", "2.4 431"), ("Home", "2.4 0"), ("End", "2.4 783")):
        page.keyboard.press(key)
        drawn(picture, f"fixed {there}")
    page.keyboard.press("Escape")
    drawn(picture, "strided 2.3 552")
    assert looked(page) == {}


def test_digits_grow_in_place_each_at_its_own_pixel_and_are_played_again_without_the_server(new_page: NEW, site: str) -> None:
    page, faults = new_page()
    picture = opened(page, site)
    parts = "canvas, .tfe-stage-transport, .tfe-words"
    place = f"[...document.querySelectorAll('.tfe-digits :is({parts})')].map((it) => it.offsetTop + it.offsetHeight)"
    before = page.evaluate(place)
    page.click("#grow")
    expect(words(picture)).to_contain_text(re.compile(r"strided (reads|makes) pixel"))
    page.wait_for_function("Number(document.querySelector('.tfe-digits').dataset.drawn.match(/ pos=(\\d+)/)[1]) > 430")
    assert page.evaluate(place) == before
    drawn(picture, "strided 2.3 783", whole="1")
    assert page.evaluate(place) == before and looked(page) == {"_digitswhole": "1"}
    expect(words(picture)).to_contain_text(
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
    expect(words(picture)).to_contain_text(re.compile(r"strided, head 2·3: pixel .*may look at"))
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
    expect(words(picture)).to_contain_text("all 553 places up to its own reach it (dense 553, fixed 553)")
    expect(words(picture)).to_contain_text(f"the rollout gives most to {pixel(best)}")
    picture.find("[data-key=digitsghost]").click()
    picture.find("[data-key=surprise]").click()
    drawn(picture, "strided 2.3 552", roll="2", see="surprise", ghost="1")
    nats = {name: drawn_digits.made(name).nats[552] for name in VARIANTS}
    said = f"strided paid {nats['strided']:.2f} nats for pixel (19, 20) (dense {nats['dense']:.2f}, fixed {nats['fixed']:.2f})"
    expect(words(picture)).to_contain_text(said)
    addressed(page, _digitsroll="2", _digitsghost="1", _digitssee="surprise")
    picture.open(page.url)
    drawn(picture, "strided 2.3 552", roll="2", see="surprise", ghost="1")
    expect(words(picture)).to_contain_text(said)
    # A head of another model, by its small picture.
    tiles = picture.marks("cells", rows=7)
    page.mouse.move(*picture.spot({"left": tiles[23]["left"] + 8, "top": tiles[23]["top"] + 4}))  # the eighth of the second model
    expect(page.locator(".tfe-digits .tfe-hover")).to_contain_text("dense 2·4 (all before)")
    page.mouse.down()
    page.mouse.up()
    page.mouse.move(5, 5)
    drawn(picture, "dense 2.4 552", ghost="1")
    # Hover previews, and other views hear of it.
    state = page.evaluate("document.querySelector('link[rel=modulepreload][href$=\"/lib/state.js\"]').href")
    page.evaluate("async (address) => (await import(address)).bus.on('hover-pos', ({ pos }) => { window.hovered = pos; })", state)
    page.mouse.move(*spot(picture, 1, 600))
    expect(page.locator(".tfe-digits .tfe-hover")).to_contain_text("(21, 12) · pixel 601 of 784")
    expect(words(picture)).to_contain_text("pixel (21, 12) looks at")
    assert page.evaluate("window.hovered") == 600
    page.mouse.move(5, 5)
    expect(words(picture)).to_contain_text("pixel (19, 20) looks at")
    assert "_pos" not in looked(page) and page.evaluate("window.hovered") is None
    page.mouse.move(*spot(picture, 0, 560))
    page.mouse.down()
    for position in (570, 580):
        page.mouse.move(*spot(picture, 0, position))
    page.mouse.up()  # a drag locks what it comes by
    drawn(picture, "strided 2.4 580", ghost="1")
    picture.find("[data-key=digitswhole]").click()
    expect(words(picture)).to_contain_text("The 14 given rows cost")
    page.mouse.click(*spot(picture, 0, 600))
    drawn(picture, "strided 2.4 600", ghost="1")


def test_what_is_taken_along_opens_elsewhere_and_holds_the_numbers(page_watch: Page, site: str, tmp_path: Path) -> None:
    picture = opened(page_watch, site)
    name, content = picture.saved("PNG")
    assert name.endswith("strided-position_552-head_2_3.png"), name
    assert min(Image.open(io.BytesIO(content)).size) > 900
    content = picture.saved("SVG")[1]
    assert b"<svg" in content and content.count(b"data:image/png") == 3 and b'href="http' not in content
    made = drawn_digits.made("strided")
    exact = look(made, 1, 2, [552])[0]
    files = picture.arrays()
    np.testing.assert_array_equal(files["strided_pixels"].reshape(-1), made.symbols)
    np.testing.assert_allclose(files["strided_weights"].reshape(-1), exact, atol=1e-4)
    for variant in VARIANTS:
        np.testing.assert_array_equal(np.flatnonzero(files[f"{variant}_allowed"]), made_keys(variant, 552))
    assert files["dense_mean_by_displacement"].shape == (4, 4, 7, 15)
    rows = picture.rows()
    assert len(rows) == 784 and list(rows[0])[:7] == [
        "position",
        "row",
        "column",
        "strided, ink",
        "strided, given",
        "strided, nats",
        "strided, weight of head 2·3",
    ]
    assert float(rows[int(exact.argmax())]["strided, weight of head 2·3"]) == pytest.approx(exact.max(), abs=1e-4)
    (tmp_path / "page.html").write_bytes(picture.saved("HTML")[1])
    said = words(picture).inner_text()
    page_watch.unroute_all()
    other = Picture(page_watch.context.new_page(), "digits")
    broken: list[str] = []
    other.page.on("pageerror", lambda error: broken.append(str(error)))
    other.page.goto((tmp_path / "page.html").as_uri())
    expect(words(other)).to_have_text(said)
    other.find(".tfe-stage-transport input").fill("100")
    expect(words(other)).to_contain_text("pixel (3, 16)")
    expect(other.find(".tfe-stage-below")).to_contain_text("a saved page holds only the weights that were looked at before")
    other.find(".tfe-stage-board").focus()
    other.page.keyboard.press("Escape")
    expect(words(other)).to_have_text(said)
    assert not broken, broken


def made_keys(variant: str, position: int) -> list[int]:
    """What a pixel may look at."""
    found: list[int] = drawn_digits.PATTERNS[variant].union.keys(position).tolist()
    return sorted(set(found))


def test_a_phone_shows_one_digit_everyone_can_use_it_and_the_projector_shows_what_matters(new_page: NEW, site: str) -> None:
    page, _ = new_page(360, 780, has_touch=True, color_scheme="dark")
    picture = opened(page, site, query="lang=zh")
    assert len(boards(picture)) == 1
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    assert not re.search(r"[A-Za-z]{3,}", words(picture).inner_text()), words(picture).inner_text()
    picture.find("[data-key=dense]").click()
    drawn(picture, "dense 2.3 552")
    page.touchscreen.tap(*spot(picture, 0, 285))
    expect(page.locator(".tfe-digits .tfe-hover")).to_contain_text("(10, 5)")
    drawn(picture, "dense 2.3 552")
    page.touchscreen.tap(*spot(picture, 0, 285))
    drawn(picture, "dense 2.3 285")
    picture.fits()
    page, _ = new_page()
    picture = opened(page, site)
    picture.fits()
    picture.find(".tfe-stage-board").focus()
    page.keyboard.press("p")
    expect(picture.find(".tfe-stage-transport")).to_be_hidden()
    page.keyboard.press("ArrowRight")
    drawn(picture, "strided 2.3 553")
    parts = ".tfe-digits canvas, .tfe-digits .tfe-words"
    bottom = f"Math.max(...[...document.querySelectorAll('{parts}')].map((it) => it.getBoundingClientRect().bottom))"
    becomes(page, lambda: page.evaluate(bottom) <= 900, True)
    page.keyboard.press("Escape")
    expect(picture.find(".tfe-stage-transport")).to_be_visible()
