"""The digits widget in a real browser, on the real server, with digits and weights from a fixed seed."""

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
from axe_playwright_python.sync_playwright import Axe
from PIL import Image
from playwright.sync_api import Page, expect

from explorer.figures import digits as figure
from explorer.lab import Lab
from explorer.widgets.digits import digits
from models.layers.patterns import FACTORS, Factor
from models.sparse_transformer.weights import look
from tests.bench import Bench
from tests.browser.waiting import addressed, asked, becomes, quiet
from tests.explorer import drawn_digits

NEW = Callable[..., tuple[Page, Any]]
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
            place = digits(drawn_digits.value(pick=PICK, **drawn_digits.addresses()))
        else:
            one = drawn_digits.made("dense", 28)
            place = digits(
                figure.value([one], state="stored", query="v=1", whole=drawn_digits.whole(), looks={"dense": drawn_digits.kept(one)[0]})
            )
        gr.Button("Grow", elem_id="grow").click(
            grow, None, place, show_progress="hidden", trigger_mode="multiple", api_visibility="private"
        )

    return page


@pytest.fixture(scope="module")
def site(bench: Bench) -> str:
    """The address of the bench pages."""
    return bench.put(__name__, {slug: page_of(slug) for slug in ("three", "one")}, year=2019)


def script(page: Page, name: str) -> str:
    """The address of one of our scripts, as the page itself imports it."""
    found: str = page.evaluate("document.querySelector('link[rel=modulepreload][href$=\"/lib/state.js\"]').href")
    return found.replace("state.js", name)


def opened(page: Page, site: str, slug: str = "three", query: str = "lang=en", how: str = "looked") -> Page:
    """The page once its digits stand, and the weights of the first view are there."""
    page.goto(f"{site}/{slug}?{query}")
    page.wait_for_selector(f".tfe-digits[data-drawn$={how}]", state="attached")
    page.wait_for_selector(".tfe-shell-bar")  # whose keys act on the view too
    return page


def drawn(page: Page, what: str) -> None:
    """Waits until the boards show "strided 2.3 552 looked"."""
    page.wait_for_selector(f".tfe-digits[data-drawn='{what}']", state="attached")


def words(page: Page) -> Any:
    """The sentence under the boards."""
    return page.locator(".tfe-digits .tfe-words")


def spot(page: Page, board: int, position: int) -> tuple[float, float]:
    """Where a pixel of a board stands on the screen."""
    box = page.locator(".tfe-digits-board canvas").nth(board).bounding_box()
    assert box
    return box["x"] + (position % 28 + 0.5) * box["width"] / 28, box["y"] + (position // 28 + 0.5) * box["width"] / 28


def colour(page: Page, board: int, position: int) -> list[int]:
    """The colour of a pixel of a board, between its middle and its border."""
    found: list[int] = page.evaluate(
        """([n, position]) => {
            const board = document.querySelectorAll(".tfe-digits-board canvas")[n];
            const copy = new OffscreenCanvas(1, 1).getContext("2d", { willReadFrequently: true });
            const cell = board.width / 28;
            copy.drawImage(board, (position % 28 + 0.25) * cell, (Math.floor(position / 28) + 0.25) * cell, 1, 1, 0, 0, 1, 1);
            return [...copy.getImageData(0, 0, 1, 1).data].slice(0, 3);
        }""",
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


def viewed(page: Page) -> dict[str, str]:
    """What the address says is looked at."""
    return {key: value[0] for key, value in asked(page).items() if key.startswith("_")}


def saved(page: Page, kind: str) -> bytes:
    """What the export bar saves."""
    with page.expect_download() as download:
        page.locator(f".tfe-digits .tfe-export[data-kind='{kind}']").click()
    assert download.value.suggested_filename.startswith("three-strided-position_552-2.3."), download.value.suggested_filename
    return Path(download.value.path()).read_bytes()


def test_a_pixel_shows_what_it_could_look_at_and_what_the_head_in_view_looked_at(page_watch: Page, site: str) -> None:
    page = opened(page_watch, site)
    for part in claim("strided", 2, 3, 552):
        expect(words(page)).to_contain_text(part)
    expect(words(page)).to_contain_text("47 of the 553 places up to its own (dense 553, fixed 97).")
    page.mouse.click(*spot(page, 2, 440))
    drawn(page, "fixed 2.3 440 looked")
    for part in claim("fixed", 2, 3, 440):
        expect(words(page)).to_contain_text(part)
    page.mouse.move(5, 5)
    red, green, blue = colour(page, 0, 440)
    assert red > 150 and green < 100 and blue < 60, "the pixel that asks wears the colour of the query"
    sunk = colour(page, 0, 87)
    assert sunk == [233, 237, 243] and colour(page, 1, 87) != sunk, "the strided pattern may not look there, the dense one may"
    page.keyboard.down("Shift")
    page.mouse.click(*spot(page, 2, 431))
    page.keyboard.up("Shift")
    drawn(page, "fixed 2.3 440,431 looked")
    page.locator(".tfe-digits-boards").focus()
    for key, there in (("ArrowRight", "2.3 432"), ("PageUp", "2.3 431"), ("ArrowDown", "2.4 431"), ("Home", "2.4 0"), ("End", "2.4 783")):
        page.keyboard.press(key)
        drawn(page, f"fixed {there} looked")
    page.keyboard.press("Escape")
    drawn(page, "strided 2.3 552 looked")
    assert viewed(page) == {}


def test_patterns_drawn_are_those_that_the_models_attend_with(page_watch: Page, site: str) -> None:
    page = opened(page_watch, site)
    given = [(name, stride, summary, i) for name in FACTORS for stride, summary in ((28, 4), (5, 2)) for i in (0, 3, 27, 28, 29, 431, 783)]
    found = page.evaluate(
        """async ([address, given]) => {
            const { allowed, reached } = await import(address);
            const places = (mask) => [...mask.keys()].filter((j) => mask[j]);
            const layers = { factors: [["row"], ["column"]], stride: 28, summary: 4, length: 784 };
            const patterns = given.map(([name, l, c, i]) => places(allowed(name, l, c, i, 784)));
            return [patterns, [1, 2].map((n) => places(reached(layers, 500, n)))]; }""",
        [script(page, "digitpattern.js"), given],
    )
    for (name, stride, summary, i), places in zip(given, found[0], strict=True):
        assert places == Factor(name, stride, summary).keys(i).tolist(), (name, stride, summary, i)
    one, two = found[1]
    assert one == list(range(472, 501)) and two == list(range(501)), "a row, and then from each of its columns everything before"


def test_digits_grow_in_place_each_at_its_own_pixel_and_are_played_again_without_the_server(new_page: NEW, site: str) -> None:
    page, faults = new_page()
    opened(page, site)
    parts = ".tfe-digits-boards, .tfe-digits-transport, .tfe-digits-heads"
    place = f"[...document.querySelectorAll('{parts}')].map((it) => it.offsetTop + it.offsetHeight)"
    before = page.evaluate(place)
    page.click("#grow")
    page.wait_for_function("/ growing$/.test(document.querySelector('.tfe-digits').dataset.drawn)")
    expect(words(page)).to_contain_text(re.compile(r"strided (reads|makes) pixel"))
    page.wait_for_function("Number(document.querySelector('.tfe-digits').dataset.drawn.match(/ (\\d+) growing$/)?.[1]) > 430")
    assert page.evaluate(place) == before
    drawn(page, "strided 2.3 none whole")
    assert page.evaluate(place) == before and viewed(page) == {"_digitswhole": "1"}
    expect(words(page)).to_contain_text(
        re.compile(r"The 14 given rows cost strided [\d.]+ nats, dense [\d.]+ and fixed [\d.]+; for the 392 pixels")
    )
    quiet(page, faults)
    asked_for = len(faults.requests)
    page.locator(".tfe-digits-boards").focus()
    page.keyboard.press(" ")
    page.wait_for_function("Number(document.querySelector('.tfe-digits').dataset.drawn.match(/ (\\d+) playing$/)?.[1]) > 450")
    assert len(faults.requests) == asked_for, faults.requests[asked_for:]
    page.keyboard.press(" ")
    page.wait_for_selector(".tfe-digits[data-drawn$=looked]", state="attached")
    assert 450 < int(viewed(page)["_pos"]) < 783


def test_layers_rolled_out_reach_everything_and_surprise_and_the_given_digit_stand_in_the_address(page_watch: Page, site: str) -> None:
    page = opened(page_watch, site)
    page.locator(".tfe-digits-pickers [data-key='2']").click()
    drawn(page, "strided roll2 552 looked")
    roll = figure.Rollout(drawn_digits.made("strided")).rows(1, 0, [552])[0]
    best = int(np.where(np.arange(784) == 552, 0, roll).argmax())
    expect(words(page)).to_contain_text("all 553 places up to its own reach it (dense 553, fixed 553)")
    expect(words(page)).to_contain_text(f"the rollout gives most to {pixel(best)}")
    page.locator(".tfe-digits .tfe-chip", has_text="cut from").click()
    page.locator(".tfe-digits .tfe-chip", has_text="Surprise").click()
    drawn(page, "strided roll2 552 surprise")
    nats = {name: drawn_digits.made(name).nats[552] for name in VARIANTS}
    said = f"strided paid {nats['strided']:.2f} nats for pixel (19, 20) (dense {nats['dense']:.2f}, fixed {nats['fixed']:.2f})"
    expect(words(page)).to_contain_text(said)
    addressed(page, _digitsroll="2", _digitsghost="1", _digitssee="surprise", _pos="552")
    page.goto(page.url)
    drawn(page, "strided roll2 552 surprise")
    expect(words(page)).to_contain_text(said)
    # A head of another model, by its small picture: one tab stop, arrow keys choose.
    tiles = page.locator(".tfe-digits-tiles")
    tabs = [tiles.nth(n).get_attribute("tabindex") for n in range(3)]
    assert tabs == ["0", "-1", "-1"]
    tiles.nth(0).focus()
    page.keyboard.press("ArrowRight")
    drawn(page, "strided 2.4 552 looked")
    expect(tiles.nth(0)).to_have_attribute(
        "aria-label", re.compile(r"head 2·4 is in view.*strided 2·4 \(A1 ∪ A2, row and column\): mostly one left")
    )
    # Hover previews, and other widgets hear of it.
    page.evaluate(
        "async (address) => (await import(address)).bus.on('hover-pos', ({ pos }) => { window.hovered = pos; })", script(page, "state.js")
    )
    page.mouse.move(*spot(page, 1, 600))
    expect(page.locator(".tfe-hover")).to_contain_text("(21, 12) · pixel 601 of 784")
    expect(words(page)).to_contain_text("pixel (21, 12) looks at")
    assert page.evaluate("window.hovered") == 600
    page.mouse.move(5, 5)
    expect(words(page)).to_contain_text("pixel (19, 20) looks at")
    assert viewed(page)["_pos"] == "552" and page.evaluate("window.hovered") is None


def test_what_is_taken_along_opens_elsewhere_and_holds_the_numbers(page_watch: Page, site: str, tmp_path: Path) -> None:
    page = opened(page_watch, site)
    assert min(Image.open(io.BytesIO(saved(page, "PNG"))).size) > 900
    content = saved(page, "SVG")
    assert b"<svg" in content and content.count(b"data:image/png") == 3 and b'href="http' not in content
    made = drawn_digits.made("strided")
    exact = look(made, 1, 2, [552])[0]
    with np.load(io.BytesIO(saved(page, "NPZ"))) as files:
        np.testing.assert_array_equal(files["strided_pixels"].reshape(-1), made.symbols)
        np.testing.assert_allclose(files["strided_weights"].reshape(-1), exact, atol=1e-4)
        np.testing.assert_array_equal(np.flatnonzero(files["fixed_allowed"]), made_keys("fixed", 552))
        assert files["dense_mean_by_displacement"].shape == (4, 4, 7, 15)
    rows = [line.split(",") for line in saved(page, "CSV").decode("utf-8-sig").splitlines()]
    assert rows[0][:7] == ["position", "row", "column", "strided_pixel", "strided_given", "strided_nats", "strided_weight"]
    assert len(rows) == 785 and float(rows[1 + int(exact.argmax())][6]) == pytest.approx(exact.max(), abs=1e-4)
    (tmp_path / "page.html").write_bytes(saved(page, "HTML"))
    said = words(page).inner_text()
    page.unroute_all()
    other = page.context.new_page()
    broken: list[str] = []
    other.on("pageerror", lambda error: broken.append(str(error)))
    other.goto((tmp_path / "page.html").as_uri())
    expect(other.locator(".words")).to_have_text(said)
    expect(other.locator("#count")).to_have_text("553 / 784")
    other.locator("#at").fill("100")
    expect(other.locator("#count")).to_have_text("101 / 784")
    expect(other.locator(".words")).to_be_hidden()
    assert not broken, broken


def made_keys(variant: str, position: int) -> list[int]:
    """What a pixel may look at."""
    found: list[int] = drawn_digits.PATTERNS[variant].union.keys(position).tolist()
    return sorted(set(found))


def test_a_phone_shows_one_digit_everyone_can_use_it_and_the_projector_shows_what_matters(new_page: NEW, site: str) -> None:
    page, _ = new_page(360, 780, has_touch=True, color_scheme="dark")
    opened(page, site, query="lang=zh")
    assert page.locator(".tfe-digits-board:visible").count() == 1
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    assert not re.search(r"[A-Za-z]{3,}", words(page).inner_text()), words(page).inner_text()
    page.locator(".tfe-digits-switch [data-key=dense]").click()
    drawn(page, "dense 2.3 552 looked")
    page.touchscreen.tap(*spot(page, 1, 285))
    expect(page.locator(".tfe-hover")).to_contain_text("(10, 5)")
    drawn(page, "dense 2.3 552 looked")
    page.touchscreen.tap(*spot(page, 1, 285))
    drawn(page, "dense 2.3 285 looked")
    page.locator(".tfe-digits .tfe-export[data-kind=table]").click()
    expect(page.locator(".tfe-digits-table table")).to_have_count(2)
    found = Axe().run(page, context=".tfe-digits")
    assert found.violations_count == 0, found.generate_report()
    page, _ = new_page()
    opened(page, site)
    found = Axe().run(page, context=".tfe-digits")
    assert found.violations_count == 0, found.generate_report()
    page.locator(".tfe-digits-boards").focus()
    page.keyboard.press("p")
    expect(page.locator(".tfe-digits-transport")).to_be_hidden()
    page.keyboard.press("ArrowRight")
    drawn(page, "strided 2.3 553 looked")
    parts = ".tfe-digits-board canvas, .tfe-digits .tfe-words"
    bottom = f"Math.max(...[...document.querySelectorAll('{parts}')].map((it) => it.getBoundingClientRect().bottom))"
    becomes(page, lambda: page.evaluate(bottom) <= 900, True)
    page.keyboard.press("Escape")
    expect(page.locator(".tfe-digits-transport")).to_be_visible()
