"""The reading widget in a real browser, on the real server, with texts and weights from a fixed seed."""

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

from explorer.lab import Lab
from explorer.widgets.reading import reading, readside
from tests.bench import Bench
from tests.browser.waiting import addressed
from tests.explorer import readings

NEW = Callable[..., tuple[Page, Any]]
PICK = {"model": "xl", "head": "2.3", "pos": 420}
LEFT, SLIM, GAP = 32, 32, 30  # of the board: px of the gutter, characters of a row beside the heads, px between two texts


async def grow() -> AsyncGenerator[dict[str, object], None]:
    """Both models read and write side by side, then the finished run."""
    made, _ = readings.run()
    for until in range(20, max(len(one.text) for one in made), 20):
        yield readings.growing(0, until)
        await asyncio.sleep(0.04)
    yield readings.value(query="v=2", state="live", pick={**PICK, "pos": 500})


def page_of(slug: str) -> Callable[[Lab, object], None]:
    """What stands on one trial page."""

    def page(lab: Lab, engine: object) -> None:
        if slug == "beside":
            with gr.Row(elem_classes=["tfe-bench", "tfe-bench-music"]):
                with gr.Column(elem_classes=["tfe-bench-wide"]):
                    place = reading(readings.value(pick=PICK))
                with gr.Column(elem_classes=["tfe-bench-side"]):
                    readside()
        else:
            place = reading(readings.value(1200, 64, pick=PICK))
        gr.Button("Grow", elem_id="grow").click(
            grow, None, place, show_progress="hidden", trigger_mode="multiple", api_visibility="private"
        )

    return page


@pytest.fixture(scope="module")
def site(bench: Bench) -> str:
    """The address of the bench pages."""
    return bench.put(__name__, {slug: page_of(slug) for slug in ("long", "beside")}, year=2019)


def opened(page: Page, site: str, slug: str = "beside", query: str = "lang=en") -> Page:
    """The page once its text stands and the weights of the first view are there."""
    page.goto(f"{site}/{slug}?{query}")
    page.wait_for_selector(".tfe-reading[data-drawn$=looked]", state="attached")
    return page


def drawn(page: Page, what: str) -> None:
    """Waits until the text shows "xl 2.3 420 looked"."""
    page.wait_for_selector(f".tfe-reading[data-drawn='{what}']", state="attached")


def words(page: Page) -> Any:
    """The sentence under the text."""
    return page.locator(".tfe-reading .tfe-words")


def claim(made: readings.Made, position: int, layer: int, head: int) -> str:
    """What the sentence says of a character under a head, both from 1."""
    weights = readings.rows(made, layer - 1, head - 1, [position])[0]
    best, most = int(weights[: len(made.text)].argmax()), float(weights[: len(made.text)].max())
    letter = {" ": "␠", "\n": "⏎"}
    query, key = (letter.get(made.text[n], made.text[n]) for n in (position, best - 1))
    bits = made.nats[position] / np.log(2)
    cost = rf"“{re.escape(query)}” \({position}\) cost {bits:.2f} bits"
    return rf"{cost}.*; head {layer}·{head} gives “{re.escape(key)}” \({best - 1}\) {most:.2f}"


def spot(page: Page, position: int, index: int = 0) -> tuple[float, float]:
    """Where a character stands on the screen; its rows are as long as the gutter's numbers tell, all equally wide."""
    x, width, top, row = page.evaluate(
        """() => { const canvas = document.querySelector(".tfe-reading-canvas").getBoundingClientRect();
            const board = document.querySelector(".tfe-reading-board"); const names = [...document.querySelectorAll(".tfe-reading-name")];
            const rows = Math.ceil(Number(document.querySelector(".tfe-reading .tfe-range").max) / 32);
            return [names.map((it) => it.getBoundingClientRect().x), names[0].getBoundingClientRect().width,
                canvas.y - board.scrollTop, board.scrollHeight / rows]; }"""
    )
    cell = width / SLIM
    return x[index] + cell * (position % SLIM + 0.5), top + row * (position // SLIM) + 10


def saved(page: Page, kind: str) -> bytes:
    """What the export bar saves."""
    with page.expect_download() as download:
        page.locator(f".tfe-reading .tfe-export[data-kind='{kind}']").click()
    assert download.value.suggested_filename.startswith("beside-xl-2.3-420."), download.value.suggested_filename
    return Path(download.value.path()).read_bytes()


def test_a_character_is_locked_by_click_or_key_and_the_sentence_tells_its_cost_and_where_its_head_looked(
    page_watch: Page, site: str
) -> None:
    page = opened(page_watch, site)
    xl, absolute = readings.run()[0]
    drawn(page, "xl 2.3 420 looked")
    expect(words(page)).to_have_text(re.compile(claim(xl, 420, 2, 3)))
    expect(words(page)).to_contain_text(f"(Without a memory paid {absolute.nats[420] / np.log(2):.2f})")
    share = readings.rows(xl, 1, 2, [420])[0][:384].sum()
    expect(words(page)).to_contain_text(f"{round(100 * share)} % of its attention goes to the memory")
    page.mouse.click(*spot(page, 400))
    drawn(page, "xl 2.3 400 looked")
    page.keyboard.down("Shift")
    page.mouse.click(*spot(page, 389))
    page.keyboard.up("Shift")
    drawn(page, "xl 2.3 400,389 looked")
    page.mouse.click(*spot(page, 500, 1))
    drawn(page, "absolute 2.3 500 looked")
    addressed(page, _model="absolute", _pos="500")
    expect(words(page)).to_have_text(re.compile(claim(absolute, 500, 2, 3)))
    expect(words(page)).to_contain_text(f"Transformer-XL has “{xl.text[500]}” here")
    page.locator(".tfe-reading-board").focus()
    for key, there in (("ArrowRight", "2.3 501"), ("ArrowLeft", "2.3 500"), ("ArrowDown", "2.4 500"), ("ArrowUp", "2.3 500")):
        page.keyboard.press(key)
        drawn(page, f"absolute {there} looked")
    page.keyboard.press("Escape")
    drawn(page, "xl 2.3 420 looked")
    addressed(page, _model=None, _pos=None, _head=None)


def test_a_head_is_chosen_among_the_profiles_and_other_widgets_follow_and_lead(page_watch: Page, site: str) -> None:
    page = opened(page_watch, site)
    expect(page.locator(".tfe-readside .tfe-title").first).to_have_text("How far each head looks back")
    expect(page.locator(".tfe-reading-far .tfe-note")).to_contain_text("beyond a segment of 128")
    tiles = page.locator(".tfe-reading-tiles")
    tiles.click(position={"x": 30, "y": 26}, modifiers=["Shift"])
    addressed(page, _head=None)
    tiles.click(position={"x": 30, "y": 26})
    drawn(page, "xl 1.1 420 looked")
    addressed(page, _head="1.1", _pos="420")
    tiles.focus()
    page.keyboard.press("ArrowDown")
    drawn(page, "xl 2.1 420 looked")
    expect(page.locator(".tfe-reading-far .tfe-title")).to_have_text("Head 2·1 looks back")
    page.evaluate(
        """async () => { const address = [...document.querySelectorAll("link[rel=modulepreload]")].map((each) => each.href)
            .find((each) => each.endsWith("/lib/state.js")); window.state = await import(address); window.pointed = [];
            window.state.bus.on("hover-pos", ({ pos }) => window.pointed.push(pos)); }"""
    )
    page.mouse.move(*spot(page, 397))
    expect(page.locator(".tfe-reading .tfe-hover")).to_contain_text("click to lock")
    assert page.evaluate("window.pointed.at(-1)") == 397
    page.evaluate('window.state.view.set({ pos: "none", head: "mean" })')
    drawn(page, "xl 2.1 none bare")
    expect(words(page)).to_contain_text("Choose a character")
    page.evaluate('window.state.view.set({ pos: "12", head: "4.4" })')
    drawn(page, "xl 4.4 12 looked")
    assert page.evaluate("document.querySelector('.tfe-reading-board').scrollTop") == 0, "what is locked comes into view"


def test_a_text_is_replayed_and_nothing_is_asked_of_the_server(new_page: NEW, site: str) -> None:
    page, faults = new_page()
    opened(page, site)
    asked = len(faults.requests)
    assert page.locator(".tfe-reading").get_attribute("data-place") == "all"
    page.locator(".tfe-reading-board").focus()
    page.keyboard.press(" ")
    page.wait_for_function("document.querySelector('.tfe-reading').dataset.playing === 'true'")
    page.wait_for_function("Number(document.querySelector('.tfe-reading').dataset.place) >= 16")
    page.keyboard.press(" ")
    page.wait_for_selector(".tfe-reading[data-playing=false]", state="attached")
    page.locator(".tfe-reading .tfe-range").fill("300")
    expect(page.locator(".tfe-reading-where")).to_have_text(re.compile(r"300 / 5\d\d · segment 3"))
    shown = page.locator(".tfe-reading-canvas").screenshot()
    page.locator(".tfe-reading-press").first.click()
    expect(page.locator(".tfe-reading-where")).to_contain_text("0 / ")
    assert page.locator(".tfe-reading-canvas").screenshot() != shown
    assert len(faults.requests) == asked


def test_a_text_appears_as_it_is_read_and_the_board_follows_unless_somebody_scrolled(page_watch: Page, site: str) -> None:
    page = opened(page_watch, site)
    page.evaluate(
        """() => { window.seen = []; const board = document.querySelector(".tfe-reading-board");
            const words = document.querySelector(".tfe-reading .tfe-words"); const node = document.querySelector(".tfe-reading");
            new MutationObserver(() => node.dataset.drawn.endsWith("growing") && window.seen.push([board.scrollTop, board.clientHeight,
                board.scrollHeight, words.textContent])).observe(node, { attributes: true, attributeFilter: ["data-drawn", "data-place"] });
            new MutationObserver(() => node.dataset.drawn.endsWith("growing") && window.seen.push([board.scrollTop, board.clientHeight,
                board.scrollHeight, words.textContent])).observe(words, { childList: true }); }"""
    )
    page.click("#grow")
    page.wait_for_function("window.seen.length > 2")
    drawn(page, "xl 2.3 500 looked")
    tops, heights, wholes, texts = zip(*page.evaluate("window.seen"), strict=True)
    assert list(tops) == sorted(tops) and tops[-1] > 0, tops
    assert len(set(heights)) == 1 and len(set(wholes)) == 1, "the panel keeps its size"
    assert any("characters are read or written" in each for each in texts), texts


def test_another_books_memory_is_told_apart(page_watch: Page, site: str) -> None:
    page = opened(page_watch, site, "long", "lang=en&_pos=900&_head=1.2")
    drawn(page, "xl 1.2 900 looked")
    expect(words(page)).to_contain_text("40 % of its attention goes to another book’s memory")
    page.locator(".tfe-reading .tfe-segmented [data-key=absolute]").click()
    drawn(page, "absolute 1.2 900 looked")
    expect(words(page)).not_to_contain_text("memory.")


def test_what_is_taken_along_opens_elsewhere_and_holds_the_numbers(page_watch: Page, site: str) -> None:
    page = opened(page_watch, site)
    xl, absolute = readings.run()[0]
    assert min(Image.open(io.BytesIO(saved(page, "PNG"))).size) > 400
    picture = saved(page, "SVG").decode()
    assert "<svg" in picture and "var(--" not in picture and 'href="http' not in picture and ">海<" in picture
    lines = saved(page, "CSV").decode("utf-8-sig").replace('"\n"', "⏎").split("\r\n")
    assert lines[0] == "position,given,unknown,character_xl,bits_xl,character_absolute,bits_absolute,weight"
    assert len(lines) == 2 + max(len(xl.text), len(absolute.text))
    assert lines[421].startswith(f"420,1,0,{xl.text[420]},{xl.nats[420] / np.log(2):.4f}"[:-2])
    with np.load(io.BytesIO(saved(page, "NPZ"))) as files:
        assert "".join(map(chr, files["xl_characters"])) == xl.text
        np.testing.assert_allclose(files["absolute_nats"], absolute.nats, rtol=1e-6)
        exact = readings.rows(xl, 1, 2, [420])[0][: len(xl.text)]
        np.testing.assert_allclose(files["weights"][:-1], exact[1:], atol=1e-4)  # of each character, not of the key that carries it
    content = saved(page, "HTML").decode()
    assert words(page).inner_text().split(";")[0] in content and not re.search(r"(?:src|href)=\"?https?:", content)


def test_a_phone_shows_one_model_at_a_time_and_a_tap_previews_before_it_locks(new_page: NEW, site: str) -> None:
    page, _ = new_page(360, 780, has_touch=True, locale="zh-CN")
    opened(page, site, query="lang=zh")
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    expect(page.locator(".tfe-reading-name")).to_have_count(1)
    xl = readings.run()[0][0]
    expect(words(page)).to_contain_text(f"字符“{xl.text[420]}”（420）花了 {xl.nats[420] / np.log(2):.2f} 比特")
    board = page.locator(".tfe-reading-board")
    board.scroll_into_view_if_needed()
    box = page.locator(".tfe-reading-canvas").bounding_box()
    assert box is not None
    at = (box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    page.touchscreen.tap(*at)
    expect(page.locator(".tfe-reading .tfe-hover")).to_contain_text("再点一次即锁定")
    drawn(page, "xl 2.3 420 looked")
    page.touchscreen.tap(*at)
    page.wait_for_selector(".tfe-reading[data-drawn$=looked]:not([data-drawn*=' 420 '])", state="attached")
    page.locator(".tfe-reading .tfe-segmented [data-key=absolute]").click()
    expect(page.locator(".tfe-reading-name")).to_contain_text("没有记忆")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_and_the_projector_shows_the_text_and_its_sentence_alone(new_page: NEW, site: str, scheme: str) -> None:
    page, _ = new_page(color_scheme=scheme)
    opened(page, site)
    page.locator(".tfe-reading .tfe-export[data-kind=table]").click()
    expect(page.locator(".tfe-reading-table td.here").first).to_be_visible()
    for context in (".tfe-reading", ".tfe-readside"):
        found = Axe().run(page, context=context)
        assert found.violations_count == 0, found.generate_report()
    page.locator(".tfe-reading-board").focus()
    page.keyboard.press("p")
    expect(page.locator(".tfe-projector-title")).to_have_text("To say the next character, where does the model look?")
    expect(page.locator(".tfe-reading-transport")).to_be_hidden()
    page.keyboard.press("ArrowRight")
    drawn(page, "xl 2.3 421 looked")
    bottoms = page.evaluate(
        "[...document.querySelectorAll('.tfe-reading-canvas, .tfe-reading .tfe-words')].map((it) => it.getBoundingClientRect().bottom)"
    )
    assert max(bottoms) <= 900
    page.keyboard.press("Escape")
    expect(page.locator(".tfe-reading-transport")).to_be_visible()
