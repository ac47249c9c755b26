"""The stage with a text that was read and written, and with how far its heads look back: texts and weights from a fixed seed."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncGenerator, Callable
from pathlib import Path
from typing import Any

import gradio as gr
import numpy as np
from playwright.sync_api import Page, expect

from explorer.figures import reading as figures
from explorer.lab import Lab
from explorer.labs.passages import TEXT_VIEW
from explorer.widgets.stage import stage
from tests.browser.staged import AT_ONCE, NEW, Picture
from tests.browser.waiting import addressed
from tests.explorer import readings

PICK = {"model": "xl", "head": "2.3", "pos": 420}
ARRIVAL = "model=xl head=2.3 pos=420 read=592"


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
        value = readings.value(pick=PICK) if slug == "beside" else readings.value(1200, 64, pick=PICK)
        with gr.Row(elem_classes=["tfe-bench", "tfe-bench-music"]):
            with gr.Column(elem_classes=["tfe-bench-wide"]):
                place = stage("reading", value, texts=TEXT_VIEW)
            with gr.Column(elem_classes=["tfe-bench-side"]):
                stage("reach", figures.reach(value), texts={})
        gr.Button("Grow", elem_id="grow").click(grow, None, place, **AT_ONCE)

    return page


PAGES = {slug: page_of(slug) for slug in ("long", "beside")}


def opened(page: Page, site: str, slug: str = "beside", query: str = "lang=en") -> Page:
    """The page once its text stands and the weights of the first view are there."""
    page.goto(f"{site}/{slug}?{query}")
    page.wait_for_selector(".tfe-reading[data-drawn]:not([data-drawn$=waits])", state="attached")
    page.wait_for_selector(".tfe-reach[data-drawn]", state="attached")
    return page


def drawn(page: Page, what: str) -> None:
    """Waits until the text shows "model=xl head=2.3 pos=420", its weights too."""
    page.wait_for_selector(f".tfe-reading[data-drawn^='{what}']:not([data-drawn$=waits])", state="attached")


def words(page: Page, view: str = "reading") -> Any:
    """The sentence under the picture."""
    return page.locator(f".tfe-{view} .tfe-words")


def claim(made: readings.Made, position: int, layer: int, head: int) -> str:
    """What the sentence says of a character under a head, both from 1."""
    weights = readings.rows(made, layer - 1, head - 1, [position])[0]
    best, most = int(weights[: len(made.text)].argmax()), float(weights[: len(made.text)].max())
    letter = {" ": "␣", "\n": "⏎"}
    query, key = (letter.get(made.text[n], made.text[n]) for n in (position, best - 1))
    cost = rf"“{re.escape(query)}” \({position}\) cost {made.nats[position] / np.log(2):.2f} bits"
    return rf"{cost}.*; head {layer}·{head} gives “{re.escape(key)}” \({best - 1}\) {most:.2f}"


def spot(page: Page, by: int = 0, text: int = 0) -> tuple[float, float]:
    """Where a character stands on the screen: the locked one of the first text, or so many columns beside it, in that text."""
    locked = [one["box"] for one in Picture(page, "reading").marks("rect", line="query")][text]
    paper = page.locator(".tfe-reading .tfe-stage-paper").bounding_box()
    assert paper
    wide = locked["x1"] - locked["x0"] - 1
    return paper["x"] + locked["x0"] + wide * (by + 0.5), paper["y"] + (locked["y0"] + locked["y1"]) / 2


def test_a_character_is_locked_by_click_or_key_and_the_sentence_tells_its_cost_and_where_its_head_looked(
    page_watch: Page, site: str
) -> None:
    page = opened(page_watch, site)
    xl, absolute = readings.run()[0]
    drawn(page, ARRIVAL)
    expect(words(page)).to_have_text(re.compile(claim(xl, 420, 2, 3)))
    expect(words(page)).to_contain_text(f"(Without a memory paid {absolute.nats[420] / np.log(2):.2f})")
    share = readings.rows(xl, 1, 2, [420])[0][:384].sum()
    expect(words(page)).to_contain_text(f"{round(100 * share)} % of its attention goes to the memory")
    page.mouse.click(*spot(page, 6))
    drawn(page, "model=xl head=2.3 pos=426 ")
    page.keyboard.down("Shift")
    page.mouse.click(*spot(page, -3))
    page.keyboard.up("Shift")
    drawn(page, "model=xl head=2.3 pos=426,423 ")
    expect(words(page)).to_contain_text("2 characters are chosen")
    page.mouse.click(*spot(page, -1, 2))
    page.wait_for_selector(".tfe-reading[data-drawn^='model=absolute']:not([data-drawn$=waits])", state="attached")
    page.goto(f"{site}/beside?lang=en&_model=absolute&_pos=500")
    drawn(page, "model=absolute head=2.3 pos=500 ")
    expect(words(page)).to_have_text(re.compile(claim(absolute, 500, 2, 3)))
    expect(words(page)).to_contain_text(f"Transformer-XL has “{xl.text[500]}” here")
    page.locator(".tfe-reading .tfe-stage-board").focus()
    for key, there in (
        ("ArrowRight", "2.3 pos=501"),
        ("ArrowLeft", "2.3 pos=500"),
        ("ArrowDown", "2.4 pos=500"),
        ("ArrowUp", "2.3 pos=500"),
    ):
        page.keyboard.press(key)
        drawn(page, f"model=absolute head={there} ")
    page.keyboard.press("Escape")
    drawn(page, ARRIVAL)
    addressed(page, _model=None, _pos=None, _head=None)


def test_a_head_is_chosen_among_the_profiles_and_other_views_follow_and_lead(page_watch: Page, site: str) -> None:
    page = opened(page_watch, site)
    expect(words(page, "reach")).to_contain_text("beyond a segment of 128")
    board = page.locator(".tfe-reach .tfe-stage-board")
    board.locator("canvas").click(position={"x": 30, "y": 26})
    drawn(page, "model=xl head=1.1 pos=420 ")
    board.focus()
    page.keyboard.press("ArrowDown")
    drawn(page, "model=xl head=2.1 pos=420 ")
    page.keyboard.press("ArrowRight")
    drawn(page, "model=xl head=2.2 pos=420 ")
    expect(words(page, "reach")).to_contain_text("Half of what head 2·2 looks at lies at most")
    page.evaluate(
        """async () => { const address = [...document.querySelectorAll("link[rel=modulepreload]")].map((each) => each.href)
            .find((each) => each.endsWith("/lib/state.js")); window.state = await import(address); window.pointed = [];
            window.state.bus.on("hover-pos", ({ pos }) => window.pointed.push(pos)); }"""
    )
    page.mouse.move(*spot(page, -3))
    expect(page.locator(".tfe-reading > .tfe-hover")).to_contain_text("click: lock it")
    assert page.evaluate("window.pointed.at(-1)") == 417
    page.evaluate('window.state.view.set({ pos: "none", head: "mean" })')
    page.wait_for_selector(".tfe-reading[data-drawn^='model=xl head=2.3 read']", state="attached")
    expect(words(page)).to_contain_text("Choose a character")
    page.evaluate('window.state.view.set({ pos: "12", head: "4.4" })')
    drawn(page, "model=xl head=4.4 pos=12 ")
    assert page.evaluate("document.querySelector('.tfe-reading .tfe-stage-board').scrollTop") == 0, "what is locked comes into view"


def test_a_text_is_replayed_and_nothing_is_asked_of_the_server(new_page: NEW, site: str) -> None:
    page, faults = new_page()
    opened(page, site)
    asked = len(faults.requests)
    play = page.locator(".tfe-reading .tfe-stage-step.is-play")
    page.locator(".tfe-reading .tfe-stage-board").focus()
    page.keyboard.press(" ")
    expect(play).to_have_attribute("aria-label", "Pause")
    page.wait_for_function("parseInt(document.querySelector('.tfe-reading .tfe-stage-count').textContent) < 400", timeout=9000)
    page.keyboard.press(" ")
    expect(play).to_have_attribute("aria-label", "Play")
    page.locator(".tfe-reading .tfe-range").fill("300")
    expect(page.locator(".tfe-reading .tfe-stage-count")).to_have_text("300 / 592 · segment 3")
    addressed(page, _read="300")
    shown = page.locator(".tfe-reading canvas").screenshot()
    page.locator(".tfe-reading .tfe-stage-step").first.click()
    expect(page.locator(".tfe-reading .tfe-stage-count")).to_contain_text("1 / 592")
    drawn(page, "model=xl head=2.3 pos=420 read=1")
    assert page.locator(".tfe-reading canvas").screenshot() != shown
    assert len(faults.requests) == asked


def test_a_text_appears_as_it_is_read_and_the_board_follows_unless_somebody_scrolled(page_watch: Page, site: str) -> None:
    page = opened(page_watch, site)
    page.evaluate(
        """() => { window.seen = []; const board = document.querySelector(".tfe-reading .tfe-stage-board");
            const words = document.querySelector(".tfe-reading .tfe-words");
            new MutationObserver(() => words.textContent.includes("read or written") && window.seen.push([board.scrollTop,
                board.clientHeight, board.scrollHeight])).observe(words, { childList: true }); }"""
    )
    page.click("#grow")
    page.wait_for_function("window.seen.length > 2")
    drawn(page, ARRIVAL)  # the same text up to there: what is looked at stays
    tops, heights, wholes = zip(*page.evaluate("window.seen"), strict=True)
    assert list(tops[1:]) == sorted(tops[1:]) and tops[-1] > 0, tops
    assert len(set(heights)) == 1 and len(set(wholes)) == 1, "the panel keeps its size"


def test_another_books_memory_is_told_apart(page_watch: Page, site: str) -> None:
    page = opened(page_watch, site, "long", "lang=en&_pos=900&_head=1.2")
    drawn(page, "model=xl head=1.2 pos=900 ")
    expect(words(page)).to_contain_text("40 % of its attention goes to another book’s memory")
    page.locator(".tfe-reading .tfe-segmented [data-key=absolute]").click()
    drawn(page, "model=absolute head=1.2 pos=900 ")
    expect(words(page)).not_to_contain_text("memory.")


def test_what_is_taken_along_opens_elsewhere_and_holds_the_numbers(new_page: NEW, site: str, tmp_path: Path) -> None:
    page, _ = new_page()
    opened(page, site)
    xl, absolute = readings.run()[0]
    picture = Picture(page, "reading").saved("SVG")[1].decode()
    assert "<svg" in picture and "var(--" not in picture and 'href="http' not in picture and ">海<" in picture
    lines = Picture(page, "reading").saved("CSV")[1].decode("utf-8-sig").split("\r\n")
    assert lines[0] == (
        'position,origin,"character, Transformer-XL","loss, bits, Transformer-XL","character, Without a memory",'
        '"loss, bits, Without a memory",weight of 2.3'
    )
    assert len(lines) == 2 + max(len(xl.text), len(absolute.text))
    assert lines[421].startswith(f"420,given,{xl.text[420]},{xl.nats[420] / np.log(2):.4f}"[:-2])
    files = Picture(page, "reading").arrays()
    assert "".join(map(chr, files["xl_characters"])) == xl.text
    np.testing.assert_allclose(files["absolute_nats"], absolute.nats, rtol=1e-6)
    exact = readings.rows(xl, 1, 2, [420])[0][: len(xl.text)]
    np.testing.assert_allclose(files["weights"][:-1], exact[1:], atol=1e-4)  # of each character, not of the key that carries it
    assert list(files["weights_axes"]) == ["character"]
    files = Picture(page, "reach").arrays()
    assert files["xl_weight_by_band"].shape == (readings.LAYERS, readings.HEADS, len(files["xl_bands"]) - 1)
    (tmp_path / "text.html").write_bytes(Picture(page, "reading").saved("HTML")[1])
    said = words(page).inner_text()
    page.goto(f"file://{tmp_path}/text.html")
    expect(words(page)).to_have_text(said)  # with the weights that were looked at
    page.locator(".tfe-stage-board").focus()
    page.keyboard.press("Home")
    expect(words(page)).to_contain_text("holds only the weights that were looked at before")


def test_a_phone_shows_one_model_at_a_time_and_a_tap_previews_before_it_locks(new_page: NEW, site: str) -> None:
    page, _ = new_page(360, 780, has_touch=True, locale="zh-CN")
    opened(page, site, query="lang=zh")
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    xl = readings.run()[0][0]
    expect(words(page)).to_contain_text(f"字符“{xl.text[420]}”（420）花了 {xl.nats[420] / np.log(2):.2f} 比特")
    names = Picture(page, "reading").texts(weight=650)
    assert names == ["Transformer-XL"]
    page.locator(".tfe-reading .tfe-stage-board").scroll_into_view_if_needed()
    at = spot(page, 3)
    page.touchscreen.tap(*at)
    expect(page.locator(".tfe-reading > .tfe-hover")).to_contain_text("再点一次")
    drawn(page, ARRIVAL)
    page.touchscreen.tap(*at)
    drawn(page, "model=xl head=2.3 pos=423 ")
