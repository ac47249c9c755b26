"""The stage with segments and memory, with readings from a fixed seed."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncGenerator, Callable
from pathlib import Path
from typing import Any

import gradio as gr
import numpy as np
import pytest
from playwright.sync_api import Page, expect

from explorer.figures import segments as figure
from explorer.lab import Lab
from explorer.labs.transformer_xl import texts
from explorer.widgets.stage import stage
from models.transformer_xl.weights import look
from tests.browser.staged import AT_ONCE, NEW, Picture
from tests.browser.waiting import addressed
from tests.explorer import segmented

SIZES = {"given": 200, "segment": 32, "memory": 64, "layers": 3}
PICK = {"model": "xl", "head": "2.1", "pos": 138}
ARRIVAL = "model=xl head=2.1 pos=138"
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
        place = stage("segments", value(slug), texts=texts.SEGMENTS, picture="transformer_xl/segments")
        gr.Button("Grow", elem_id="grow").click(grow, None, place, **AT_ONCE)

    return page


PAGES = {slug: page_of(slug) for slug in figure.INTERVENTIONS}


def opened(page: Page, site: str, slug: str = "none", query: str = "lang=en") -> Page:
    """The page once its picture stands and the weights of the first view are there."""
    page.goto(f"{site}/{slug}?{query}")
    page.wait_for_selector(".tfe-segments[data-drawn]:not([data-drawn$=waits])", state="attached")
    return page


def said(page: Page) -> str:
    """The sentence under the picture."""
    return page.locator(".tfe-segments .tfe-words").inner_text()


def row(page: Page, layer: int, position: int) -> tuple[float, float]:
    """Where a position of its segment stands in the row of a layer, on the screen."""
    rows = [one["box"] for one in Picture(page, "segments").marks(kind="rect", fill="panel", line="line")]  # the last layer first
    box, paper = rows[len(rows) - layer], page.locator(".tfe-segments .tfe-stage-paper").bounding_box()
    assert paper
    return paper["x"] + box["x0"] + (box["x1"] - box["x0"]) * (position % 32 + 0.5) / 32, paper["y"] + (box["y0"] + box["y1"]) / 2


def test_the_sentence_says_what_crosses_how_far_one_knows_and_where_gradients_stop(page_watch: Page, site: str) -> None:
    page = opened(page_watch, site)
    Picture(page, "segments").drawn(ARRIVAL)
    seen = segmented.run()[0][0]
    weights = look(seen, 1, 0, [138])[0]
    best = int(weights.argmax())
    assert (
        f"To say “{seen.text[138].replace(' ', '␣')}” (138) head 2·1 gives {seen.across[1, 0, 138]:.2f} of its attention to the memory; "
        f"its largest weight, {weights.max():.2f}, goes to “{seen.text[best - 1].replace(' ', '␣')}” ({best - 1}); "
        "after 3 layers it can know of characters from 0 on: 138 back; the gradient stops at 128."
    ) == said(page)
    assert len(Picture(page, "segments").marks(kind="rect", fill="out-soft")) == 4
    assert len(Picture(page, "segments").marks(kind="rect", fill="key-soft")) == 3, "what the last layer made is not remembered"
    assert len(Picture(page, "segments").marks(cap="round")) >= 3
    reach = [one["text"] for one in Picture(page, "segments").marks(kind="text", colour="query", weight=600)]
    assert reach == ["after 1 layer: 74 back", "after 2 layers: 138 back", "after 3 layers: 138 back"]
    told = [float(one["text"]) for one in Picture(page, "segments").marks(kind="text", colour="key", halo="panel")]
    expected = [seen.across[0, :, 138].mean(), seen.across[1, 0, 138], seen.across[2, :, 138].mean()]
    np.testing.assert_allclose(told, np.asarray(expected, np.float32), atol=0.006)


def test_keys_go_through_segments_and_heads_and_reset(page_watch: Page, site: str) -> None:
    page = opened(page_watch, site)
    board = page.locator(".tfe-segments .tfe-stage-board")
    board.focus()
    for key, there in (
        ("ArrowRight", "2.1 pos=170"),
        ("ArrowRight", "2.1 pos=202"),
        ("ArrowLeft", "2.1 pos=170"),
        ("ArrowDown", "2.2 pos=170"),
        ("ArrowDown", "3.1 pos=170"),
        ("ArrowUp", "2.2 pos=170"),
    ):
        page.keyboard.press(key)
        Picture(page, "segments").drawn(f"model=xl head={there}")
    addressed(page, _pos="170", _head="2.2")
    page.locator(".tfe-segments [data-key=mean]").click()
    Picture(page, "segments").drawn("model=xl head=mean pos=170")
    assert "layers 1 to 3 give" in said(page)
    page.goto(page.url)
    Picture(page, "segments").drawn("model=xl head=mean pos=170")
    board.focus()
    page.keyboard.press(" ")
    Picture(page, "segments").drawn("model=xl head=mean pos=234")
    expect(page.locator(".tfe-segments .is-play")).to_have_attribute("aria-label", "Play segment by segment")
    expect(page.locator(".tfe-segments .tfe-stage-count")).to_have_text("segment 8 of 8")
    page.keyboard.press("Escape")
    Picture(page, "segments").drawn(ARRIVAL)
    addressed(page, _pos=None, _head=None, _model=None)


def test_a_click_locks_a_character_and_a_layer_and_hovering_tells_the_page(page_watch: Page, site: str) -> None:
    page = opened(page_watch, site)
    page.evaluate(
        """async () => { const address = [...document.querySelectorAll("link[rel=modulepreload]")].map((each) => each.href)
            .find((each) => each.endsWith("/lib/state.js")); window.told = [];
            window.bus = (await import(address)).bus; window.bus.on("hover-pos", ({ pos }) => window.told.push(pos)); }"""
    )
    page.mouse.move(*row(page, 3, 150))
    card = page.locator(".tfe-segments > .tfe-hover")
    expect(card).to_contain_text("(150)")
    share = segmented.run()[0][0].across[2, :, 150].mean(dtype=np.float32)
    expect(card).to_contain_text(f"layer 3, mean of heads: {share:.2f} to the memory")
    assert page.evaluate("window.told") == [150]
    page.mouse.click(*row(page, 3, 150))
    Picture(page, "segments").drawn("model=xl head=3.1 pos=150")
    page.keyboard.down("Shift")
    page.mouse.click(*row(page, 3, 155))
    page.keyboard.up("Shift")
    Picture(page, "segments").drawn("model=xl head=3.1 pos=150,155")
    addressed(page, _pos="150,155", _head="3.1")
    page.mouse.move(2, 2)
    expect(card).to_be_hidden()
    assert page.evaluate("window.told").pop() is None
    dashed = (
        "() => document.querySelector('.tfe-segments canvas').marks.filter((one) => one.line === 'query' && one.dash?.[0] === 3).length"
    )
    page.evaluate("window.bus.fire('hover-pos', { pos: 131 })")
    page.wait_for_function(f"({dashed})() === 1")
    page.evaluate("window.bus.fire('hover-pos', { pos: null })")
    page.wait_for_function(f"({dashed})() === 0")


def test_without_a_memory_of_its_own_text_the_picture_says_so(page_watch: Page, site: str) -> None:
    page = opened(page_watch, site)
    page.locator(".tfe-segments [data-key=absolute]").click()
    Picture(page, "segments").drawn("model=absolute head=2.1 pos=138")
    assert said(page).startswith("Transformer remembers nothing, and nothing crosses the border: to say")
    assert "from 128 on: 10 back; the gradient stops at 128" in said(page)
    assert not Picture(page, "segments").marks(kind="rect", fill="key-soft")
    assert Picture(page, "segments").marks(text="nothing is remembered: nothing crosses")
    opened(page, site, "foreign")
    assert "of its attention to the memory, which holds Moby Dick" in said(page) and "10 back" in said(page)
    assert Picture(page, "segments").marks(text="memory of Moby Dick")
    expect(page.locator(".tfe-segments .tfe-stage-legend")).to_contain_text("memory of Moby Dick")
    opened(page, site, "cut")
    assert said(page).startswith("The memory is cut, and nothing crosses the border")
    opened(page, site, "shuffled", "lang=zh")
    assert "顺序被打乱的记忆" in said(page)
    expect(page.locator(".tfe-segments .tfe-stage-legend")).to_contain_text("被记住，顺序打乱")
    assert page.locator(".tfe-segments img").count() == 0
    latin = set(re.findall(r"[A-Za-z_]{2,}", page.locator(".tfe-segments").inner_text())) - set(re.findall(r"[A-Za-z]+", HOSTILE))
    assert latin <= {"Transformer", "XL", "Esc", "PNG", "SVG", "HTML", "CSV", "NPZ"}, latin


def test_a_text_is_seen_to_be_read_and_nothing_jumps_when_it_is_done(page_watch: Page, site: str) -> None:
    page = opened(page_watch, site)
    page.evaluate(
        """() => { window.seen = []; const node = document.querySelector(".tfe-segments");
            new MutationObserver(() => window.seen.push([node.querySelector(".tfe-stage-paper").style.height,
                node.querySelector(".tfe-words").textContent])).observe(node.querySelector(".tfe-words"), { childList: true }); }"""
    )
    page.click("#grow")
    page.wait_for_function("window.seen.length > 3")
    Picture(page, "segments").drawn(ARRIVAL)  # the same text: what is looked at stays
    heights, words = zip(*page.evaluate("window.seen"), strict=True)
    assert len(set(heights)) == 1
    assert any("of 250 characters are read and written, 32 at a time" in each for each in words), words


def test_what_is_taken_along_holds_the_numbers(new_page: NEW, site: str, tmp_path: Path) -> None:
    page, _ = new_page()
    opened(page, site)
    seen, (model, _) = segmented.run()
    files = Picture(page, "segments").arrays()
    np.testing.assert_allclose(files["share_to_memory"], seen[0].across, atol=1e-4)
    np.testing.assert_array_equal(files["knows_from"], model.travelled)
    np.testing.assert_array_equal(files["remembered"], seen[0].remembered)
    exact = look(seen[0], 1, 0, [138])[0]
    np.testing.assert_allclose(files["weights"][:-1], exact[1:250], atol=1e-4)  # of each character, not of the state that carries it
    np.testing.assert_allclose(files["weight_of_start"], exact[:1], atol=1e-4)
    assert "".join(files["characters"]) == seen[0].text
    lines = Picture(page, "segments").saved("CSV")[1].decode("utf-8-sig").split("\r\n")
    at = lines[0].split(",").index("head 2·1")
    assert len(lines) == 252 and float(lines[139].split(",")[at]) == pytest.approx(float(seen[0].across[1, 0, 138]), abs=1e-3)
    assert "gradient stops here" in Picture(page, "segments").saved("SVG")[1].decode()
    (tmp_path / "segments.html").write_bytes(Picture(page, "segments").saved("HTML")[1])
    words = said(page)
    page.goto(f"file://{tmp_path}/segments.html")
    expect(page.locator(".tfe-words")).to_have_text(words)
    page.locator(".tfe-stage-board").focus()
    page.keyboard.press("ArrowRight")
    expect(page.locator(".tfe-words")).to_contain_text("(170)")
