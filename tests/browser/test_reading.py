"""The stage with a text that was read and written, and with how far its heads look back: texts and
weights from a fixed seed."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncGenerator, Callable

import gradio as gr
import numpy as np
from playwright.sync_api import Page, expect

from explorer.components.stage import place_picture
from explorer.contract.lab import OpenLab
from explorer.figures import reading as figures
from explorer.panels.passages import TEXT_VIEW
from tests.browser.staged import AT_ONCE, NEW, Picture, listen, opening
from tests.browser.waiting import addressed, measure_box
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


def page_of(slug: str) -> Callable[[OpenLab, object], None]:
    """What stands on one trial page."""

    def page(lab: OpenLab, engine: object) -> None:
        value = (
            readings.value(pick=PICK) if slug == "beside" else readings.value(1200, 64, pick=PICK)
        )
        with gr.Row(elem_classes=["tfe-bench", "tfe-bench-music"]):
            with gr.Column(elem_classes=["tfe-bench-wide"]):
                place = place_picture("reading", value, texts=TEXT_VIEW)
            with gr.Column(elem_classes=["tfe-bench-side"]):
                place_picture("reach", figures.draw_reach(value), texts={})
        gr.Button("Grow", elem_id="grow").click(grow, None, place, **AT_ONCE)

    return page


PAGES = {slug: page_of(slug) for slug in ("long", "beside")}


opened = opening("reading", "beside")


def claim(made: readings.Made, position: int, layer: int, head: int) -> str:
    """What the sentence says of a character under a head, both from 1."""
    weights = readings.rows(made, layer - 1, head - 1, [position])[0]
    best, most = int(weights[: len(made.text)].argmax()), float(weights[: len(made.text)].max())
    letter = {" ": "␣", "\n": "⏎"}
    query, key = (letter.get(made.text[n], made.text[n]) for n in (position, best - 1))
    cost = rf"“{re.escape(query)}” \({position}\) cost {made.nats[position] / np.log(2):.2f} bits"
    return rf"{cost}.*; head {layer}·{head} gives “{re.escape(key)}” \({best - 1}\) {most:.2f}"


def spot(picture: Picture, by: int = 0, text: int = 0) -> tuple[float, float]:
    """Where a character stands on the screen: the locked one of the first text, or so many columns
    beside it, in that text."""
    locked = [one["box"] for one in picture.marks("rect", line="query")][text]
    paper, wide = measure_box(picture.find(".tfe-stage-paper")), locked["x1"] - locked["x0"] - 1
    return (
        paper["x"] + locked["x0"] + wide * (by + 0.5),
        paper["y"] + (locked["y0"] + locked["y1"]) / 2,
    )


def test_a_locked_character_shows_its_head(page: Page, picture: Picture, site: str) -> None:
    xl, absolute = readings.run()[0]
    picture.drawn(ARRIVAL)
    rows, files = picture.rows(), picture.arrays()
    assert len(rows) == max(len(xl.text), len(absolute.text))
    assert rows[420]["character, Transformer-XL"] in xl.text[420]
    assert "".join(map(chr, files["xl_characters"])) == xl.text
    np.testing.assert_allclose(files["absolute_nats"], absolute.nats, rtol=1e-6)
    exact = readings.rows(xl, 1, 2, [420])[0][: len(xl.text)]
    # of each character, not of the key that carries it
    np.testing.assert_allclose(files["weights"][:-1], exact[1:], atol=1e-4)
    files = Picture(page, "reach").arrays()
    assert files["xl_weight_by_band"].shape == (
        readings.LAYERS,
        readings.HEADS,
        len(files["xl_bands"]) - 1,
    )
    expect(picture.words).to_have_text(re.compile(claim(xl, 420, 2, 3)))
    share = readings.rows(xl, 1, 2, [420])[0][:384].sum()
    picture.says(
        f"(Without a memory paid {absolute.nats[420] / np.log(2):.2f})",
        f"{round(100 * share)} % of its attention goes to the memory",
    )
    picture.click(spot(picture, 6))
    picture.drawn("model=xl head=2.3 pos=426")
    picture.click(spot(picture, -3), shift=True)
    picture.drawn("model=xl head=2.3 pos=426,423")
    picture.says("2 characters are chosen")
    picture.click(spot(picture, -1, 2))
    picture.drawn("model=absolute")
    opened(page, site, "lang=en&_model=absolute&_pos=500").drawn("model=absolute head=2.3 pos=500")
    expect(picture.words).to_have_text(re.compile(claim(absolute, 500, 2, 3)))
    picture.says(f"Transformer-XL has “{xl.text[500]}” here")
    picture.walks(
        "model=absolute head={} pos={}",
        "ArrowRight 2.3 501, ArrowLeft 2.3 500, ArrowDown 2.4 500, ArrowUp 2.3 500",
    )


def test_a_head_is_chosen_among_the_profiles(page: Page, picture: Picture) -> None:
    reach = Picture(page, "reach")
    reach.says("beyond a segment of 128")
    reach.find("canvas").click(position={"x": 30, "y": 26})
    picture.drawn("model=xl head=1.1 pos=420")
    for key, head in (("ArrowDown", "2.1"), ("ArrowRight", "2.2")):
        reach.press(key)
        picture.drawn(f"model=xl head={head} pos=420")
    reach.says("Half of the weight of head 2·2 lies within")
    listen(page, "nothing")
    page.evaluate('window.view.set({ pos: "none", head: "mean" })')
    picture.drawn("model=xl head=2.3 read=592")
    picture.says("Choose a character")
    page.evaluate('window.view.set({ pos: "12", head: "4.4" })')
    picture.drawn("model=xl head=4.4 pos=12")
    assert picture.find(".tfe-stage-board").evaluate("(it) => it.scrollTop") == 0, (
        "what is locked comes into view"
    )


def test_a_text_is_replayed_and_nothing_is_asked_of_the_server(new_page: NEW, site: str) -> None:
    page, faults = new_page()
    picture = opened(page, site)
    asked = len(faults.requests)
    play, count = picture.find(".is-play"), picture.find(".tfe-stage-count")
    picture.press(" ")
    expect(play).to_have_attribute("aria-label", "Pause")
    page.wait_for_function(
        "parseInt(document.querySelector('.tfe-reading .tfe-stage-count').textContent) < 400",
        timeout=9000,
    )
    page.keyboard.press(" ")
    expect(play).to_have_attribute("aria-label", "Play")
    picture.find(".tfe-range").fill("300")
    expect(count).to_have_text("300 / 592 · segment 3")
    addressed(page, _read="300")
    shown = picture.find("canvas").screenshot()
    picture.find(".tfe-stage-step").first.click()
    expect(count).to_contain_text("1 / 592")
    picture.drawn("model=xl head=2.3 pos=420 read=1")
    assert picture.find("canvas").screenshot() != shown
    assert len(faults.requests) == asked


def test_another_books_memory_is_told_apart(page_watch: Page, site: str) -> None:
    picture = opened(page_watch, site, "lang=en&_pos=900&_head=1.2", "long")
    picture.drawn("model=xl head=1.2 pos=900")
    picture.says("40 % of its attention goes to another book’s memory")
    picture.find(".tfe-segmented [data-key=absolute]").click()
    picture.drawn("model=absolute head=1.2 pos=900")
    expect(picture.words).not_to_contain_text("memory.")


def test_a_phone_shows_one_model_at_a_time(new_page: NEW, site: str) -> None:
    page, _ = new_page(360, 780, has_touch=True)
    picture = opened(page, site, "lang=zh")
    xl = readings.run()[0][0]
    picture.says(f"字符“{xl.text[420]}”（420）花了 {xl.nats[420] / np.log(2):.2f} 比特")
    assert picture.texts(weight=650) == ["Transformer-XL"]
