"""Segments and memory in a real browser, on the real server, with readings from a fixed seed."""

from __future__ import annotations

import asyncio
import csv
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

from explorer.figures import segments as figure
from explorer.lab import Lab
from explorer.widgets.segments import segments
from models.transformer_xl.weights import look
from tests.bench import Bench
from tests.browser.waiting import addressed
from tests.explorer import segmented

NEW = Callable[..., tuple[Page, Any]]
SIZES = {"given": 200, "segment": 32, "memory": 64, "layers": 3}
PICK = {"model": "xl", "head": "2.1", "pos": 138}
HOSTILE = "<img src=x onerror=alert(1)> is שלום 𝄞 " * 8


def value(intervention: str, **more: Any) -> dict[str, object]:
    """A finished run."""
    _, models = segmented.run(intervention, **({"text": HOSTILE} if intervention == "shuffled" else {}))
    how = {**SIZES, "query": f"v={intervention}", "state": "stored", "book": segmented.BOOK, "pick": PICK, **more}
    return figure.value(models, intervention=intervention, **how)


async def grow() -> AsyncGenerator[dict[str, object], None]:
    """A text as it is read, then the finished run."""
    seen, _ = segmented.run()
    for count in range(10, 251, 20):
        grown = [
            figure.Growing(one.variant, segmented.NAMES[one.variant], segmented.ABOUT[one.variant], one.text[:count], one.memory)
            for one in seen
        ]
        yield figure.growing(grown, of=250, intervention="none", query="v=new", **SIZES)  # type: ignore[arg-type]
        await asyncio.sleep(0.05)
    yield value("none", query="v=new", state="live", pick={**PICK, "pos": 75})


def page_of(slug: str) -> Callable[[Lab, object], None]:
    """What stands on one trial page."""

    def page(lab: Lab, engine: object) -> None:
        place = segments(value(slug))
        gr.Button("Grow", elem_id="grow").click(
            grow, None, place, show_progress="hidden", trigger_mode="multiple", api_visibility="private"
        )

    return page


@pytest.fixture(scope="module")
def site(bench: Bench) -> str:
    """The address of the bench pages."""
    return bench.put(__name__, {slug: page_of(slug) for slug in figure.INTERVENTIONS}, year=2019)


def opened(page: Page, site: str, slug: str = "none", query: str = "lang=en") -> Page:
    """The page once its picture stands and the weights of the first view are there."""
    page.goto(f"{site}/{slug}?{query}")
    page.wait_for_selector(".tfe-segments[data-drawn$=looked]", state="attached")
    return page


def drawn(page: Page, what: str) -> None:
    """Waits until the picture shows "xl 2.1 138 4 looked": model, head, positions, segment."""
    page.wait_for_selector(f".tfe-segments[data-drawn='{what}']", state="attached")


def said(page: Page) -> str:
    """The sentence under the picture."""
    return page.locator(".tfe-segments .tfe-words").inner_text()


def row(page: Page, layer: int, position: int) -> tuple[float, float]:
    """Where a position of its segment stands in the row of a layer, on the screen."""
    box = page.locator(f".tfe-segments-picture .row[data-layer='{layer}']").bounding_box()
    assert box
    return box["x"] + box["width"] * (position % 32 + 0.5) / 32, box["y"] + box["height"] / 2


def saved(page: Page, kind: str) -> tuple[str, bytes]:
    """Name and content of what the export bar saves."""
    with page.expect_download() as download:
        page.locator(f".tfe-segments .tfe-export[data-kind='{kind}']").click()
    return download.value.suggested_filename, Path(download.value.path()).read_bytes()


def test_the_sentence_says_what_crosses_how_far_one_knows_and_where_gradients_stop(page_watch: Page, site: str) -> None:
    page = opened(page_watch, site)
    drawn(page, "xl 2.1 138 4 looked")
    seen = segmented.run()[0][0]
    weights = look(seen, 1, 0, [138])[0]
    best = int(weights.argmax())
    assert (
        f"To say “{seen.text[138].replace(' ', '␠')}” (138) head 2·1 gives {seen.across[1, 0, 138]:.2f} of its attention to the memory; "
        f"its largest weight, {weights.max():.2f}, goes to “{seen.text[best - 1].replace(' ', '␠')}” ({best - 1}); "
        "after 3 layers it can know of characters from 0 on: 138 back; the gradient stops at 128."
    ) == said(page)
    assert page.locator(".tfe-segments-picture .now").count() == 4
    assert page.locator(".tfe-segments-picture .memory").count() == 3, "what the last layer made is not remembered"
    assert page.locator(".tfe-segments-picture .look").count() >= 3
    assert page.locator(".tfe-segments-picture .reach").all_text_contents() == [
        "after 1 layer: 74 back",
        "after 2 layers: 138 back",
        "after 3 layers: 138 back",
    ]
    told = [float(text) for text in page.locator(".tfe-segments-picture .share").all_text_contents()]
    expected = [seen.across[0, :, 138].mean(), seen.across[1, 0, 138], seen.across[2, :, 138].mean()]
    np.testing.assert_allclose(told, np.asarray(expected, np.float32), atol=0.006)


def test_keys_go_through_segments_and_heads_and_reset(page_watch: Page, site: str) -> None:
    page = opened(page_watch, site)
    page.keyboard.press("ArrowRight")
    drawn(page, "xl 2.1 138 4 looked")
    page.locator(".tfe-segments-board").focus()
    for key, there in (
        ("ArrowRight", "2.1 170 5"),
        ("ArrowRight", "2.1 202 6"),
        ("ArrowLeft", "2.1 170 5"),
        ("ArrowDown", "2.2 170 5"),
        ("ArrowDown", "3.1 170 5"),
        ("ArrowUp", "2.2 170 5"),
    ):
        page.keyboard.press(key)
        drawn(page, f"xl {there} looked")
    addressed(page, _pos="170", _head="2.2")
    page.locator(".tfe-segments .tfe-chip").click()
    drawn(page, "xl mean 170 5 bare")
    assert "layers 1 to 3 give" in said(page)
    page.goto(page.url)
    drawn(page, "xl mean 170 5 bare")
    page.locator(".tfe-segments-board").focus()
    page.keyboard.press(" ")
    drawn(page, "xl mean 234 7 bare")
    page.wait_for_selector(".tfe-segments[data-playing=false]", state="attached")
    page.keyboard.press("Escape")
    drawn(page, "xl 2.1 138 4 looked")
    addressed(page, _pos=None, _head=None, _model=None)


def test_a_click_locks_a_character_and_a_layer_and_hovering_tells_the_page(page_watch: Page, site: str) -> None:
    page = opened(page_watch, site)
    page.evaluate(
        """async () => { const address = [...document.querySelectorAll("link[rel=modulepreload]")].map((each) => each.href)
            .find((each) => each.endsWith("/lib/state.js")); window.told = [];
            window.bus = (await import(address)).bus; window.bus.on("hover-pos", ({ pos }) => window.told.push(pos)); }"""
    )
    page.mouse.move(*row(page, 3, 150))
    expect(page.locator(".tfe-hover")).to_contain_text("(150)")
    share = segmented.run()[0][0].across[2, :, 150].mean(dtype=np.float32)
    expect(page.locator(".tfe-hover")).to_contain_text(f"layer 3, mean of heads: {share:.2f} to the memory")
    assert page.evaluate("window.told") == [150]
    page.mouse.click(*row(page, 3, 150))
    drawn(page, "xl 3.1 150 4 looked")
    page.keyboard.down("Shift")
    page.mouse.click(*row(page, 3, 155))
    page.keyboard.up("Shift")
    drawn(page, "xl 3.1 150,155 4 looked")
    addressed(page, _pos="150,155", _head="3.1")
    expect(page.locator(".tfe-segments-picture .added.through")).to_have_count(1)
    page.mouse.move(2, 2)
    assert page.evaluate("window.told").pop() is None
    page.evaluate("window.bus.fire('hover-pos', { pos: 131 })")
    expect(page.locator(".tfe-segments-picture .preview.through")).to_have_count(1)
    page.evaluate("window.bus.fire('hover-pos', { pos: null })")
    expect(page.locator(".tfe-segments-picture .preview")).to_have_count(0)


def test_without_a_memory_of_its_own_text_the_picture_says_so(page_watch: Page, site: str) -> None:
    page = opened(page_watch, site)
    page.locator(".tfe-segments [data-key=absolute]").click()
    drawn(page, "absolute 2.1 138 4 looked")
    assert said(page).startswith("Transformer remembers nothing, and nothing crosses the border: to say")
    assert "from 128 on: 10 back; the gradient stops at 128" in said(page)
    assert page.locator(".tfe-segments-picture .memory").count() == 0
    expect(page.locator(".tfe-segments-picture .nothing")).to_have_text("nothing is remembered: nothing crosses")
    opened(page, site, "foreign")
    assert "of its attention to the memory, which holds Moby Dick" in said(page) and "10 back" in said(page)
    expect(page.locator(".tfe-segments-picture .held")).to_have_text("memory of Moby Dick")
    expect(page.locator(".tfe-segments-legend .tfe-key")).to_have_text("memory of Moby Dick")
    opened(page, site, "cut")
    assert said(page).startswith("The memory is cut, and nothing crosses the border")
    opened(page, site, "shuffled", "lang=zh")
    assert "顺序被打乱的记忆" in said(page)
    expect(page.locator(".tfe-segments-legend .tfe-key")).to_have_text("被记住，顺序打乱")
    assert page.locator(".tfe-segments img").count() == 0
    latin = set(re.findall(r"[A-Za-z_]{2,}", page.locator(".tfe-segments").inner_text())) - set(re.findall(r"[A-Za-z]+", HOSTILE))
    assert latin <= {"Transformer", "XL", "shift", "Esc", "PNG", "SVG", "HTML", "CSV", "NPZ"}, latin


def test_a_text_is_seen_to_be_read_and_nothing_jumps_when_it_is_done(page_watch: Page, site: str) -> None:
    page = opened(page_watch, site)
    page.evaluate(
        """() => { window.seen = []; const node = document.querySelector(".tfe-segments");
            new MutationObserver(() => node.dataset.drawn.endsWith("growing") && window.seen.push([
                node.querySelectorAll("rect.now").length, Number(node.querySelector("svg.tfe-segments-picture").getAttribute("height")),
                node.dataset.drawn.split(" ")[3], node.querySelector(".tfe-words").textContent])).observe(node, { attributes: true }); }"""
    )
    height = float(page.locator(".tfe-segments-picture").get_attribute("height") or 0)
    page.click("#grow")
    page.wait_for_function("window.seen.length > 3")
    drawn(page, "xl 2.1 75 2 looked")
    strips, heights, numbers, words = zip(*page.evaluate("window.seen"), strict=True)
    assert set(strips) == {4} and set(heights) == {height}
    assert list(numbers) == sorted(numbers) and len(set(numbers)) >= 3
    assert any("of 250 characters are read and written, 32 at a time" in each for each in words), words


def test_what_is_taken_along_holds_the_numbers(page_watch: Page, site: str) -> None:
    page = opened(page_watch, site)
    seen, (model, _) = segmented.run()
    name, content = saved(page, "NPZ")
    assert name == "none-xl-2.1-segment_5.npz"
    with np.load(io.BytesIO(content)) as files:
        np.testing.assert_allclose(files["share_to_memory"], seen[0].across, atol=1e-4)
        np.testing.assert_array_equal(files["knows_from"], model.travelled)
        np.testing.assert_array_equal(files["remembered"], seen[0].remembered)
        exact = look(seen[0], 1, 0, [138])[0]
        np.testing.assert_allclose(files["weights"][:-1], exact[1:250], atol=1e-4)  # of each character, not of the state that carries it
        np.testing.assert_allclose(files["weight_of_start"], exact[:1], atol=1e-4)
        assert "".join(files["characters"]) == seen[0].text
    rows = list(csv.DictReader(io.StringIO(saved(page, "CSV")[1].decode("utf-8-sig"))))
    assert len(rows) == 250 and float(rows[138]["to_memory_2.1"]) == pytest.approx(float(seen[0].across[1, 0, 138]), abs=1e-3)
    assert min(Image.open(io.BytesIO(saved(page, "PNG")[1])).size) > 600
    for kind in ("SVG", "HTML"):
        text = saved(page, kind)[1].decode()
        assert "gradient stops here" in text and "var(--" not in text.split("<body>")[-1]
    page.locator(".tfe-segments .tfe-export[data-kind=table]").click()
    cells = page.locator(".tfe-segments-table tbody tr").nth(1).locator("td").all_text_contents()
    means = [*seen[0].across[1, :, 128:160].mean(1, dtype=np.float32), seen[0].across[1, :, 128:160].mean(dtype=np.float32)]
    np.testing.assert_allclose([float(cell) for cell in cells], means, atol=0.006)


@pytest.mark.parametrize(("width", "height", "scheme"), [(1280, 900, "dark"), (360, 780, "light")])
def test_nothing_is_cut_off_unnamed_or_hard_to_see(new_page: NEW, site: str, width: int, height: int, scheme: str) -> None:
    page, _ = new_page(width=width, height=height, color_scheme=scheme, has_touch=width < 720)
    opened(page, site)
    page.locator(".tfe-segments .tfe-export[data-kind=table]").click()
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    found = Axe().run(page, context=".tfe-segments")
    assert found.violations_count == 0, found.generate_report()
    outside = page.evaluate(
        """() => { const box = document.querySelector(".tfe-segments-panel").getBoundingClientRect();
            return [...document.querySelectorAll(".tfe-segments-picture text")].map((one) => [one.textContent, one.getBoundingClientRect()])
                .filter(([, one]) => one.left < box.left || one.right > box.right || one.height < 11).map(([text]) => text); }"""
    )
    assert outside == []
    if width < 720:
        page.touchscreen.tap(*row(page, 1, 140))
        expect(page.locator(".tfe-hover")).to_contain_text("tap again to lock")
        drawn(page, "xl 2.1 138 4 looked")
        page.touchscreen.tap(*row(page, 1, 140))
        drawn(page, "xl 1.1 140 4 looked")


def test_the_projector_shows_the_picture_and_the_sentence_alone(page_watch: Page, site: str) -> None:
    page = opened(page_watch, site)
    page.locator(".tfe-segments-board").focus()
    page.keyboard.press("p")
    expect(page.locator(".tfe-projector-title")).to_contain_text("What is remembered, and how far back")
    expect(page.locator(".tfe-segments-bar")).to_be_hidden()
    page.wait_for_function(
        """() => [...document.querySelectorAll(".tfe-segments-picture text")]
            .every((one) => parseFloat(getComputedStyle(one).fontSize) >= 20)"""
    )
    page.keyboard.press("ArrowRight")
    drawn(page, "xl 2.1 170 5 looked")
    bottoms = page.evaluate(
        "[...document.querySelectorAll('.tfe-segments-picture, .tfe-segments .tfe-words')].map((it) => it.getBoundingClientRect().bottom)"
    )
    assert max(bottoms) <= 900, bottoms
    page.keyboard.press("Escape")
    expect(page.locator(".tfe-segments-bar")).to_be_visible()
