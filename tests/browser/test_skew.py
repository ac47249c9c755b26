"""Skewing and its memory in a real browser: one number followed through every tensor, steps, heads, sizes, files, phones, languages."""

from __future__ import annotations

import re
from typing import Any

import gradio as gr
import numpy as np
from playwright.sync_api import Page, expect

from explorer.figures import skew
from explorer.lab import Lab
from explorer.labs.music.deeper import meter
from explorer.labs.music.deeper.skew import PANEL, wished
from explorer.widgets.base import address
from explorer.widgets.folded import Question, shown
from tests.browser.staged import NEW, Picture
from tests.browser.waiting import stands

HOSTILE = "<img src=x onerror=alert(1)>"
LAYERS, HEADS = 2, 3


def tensors(length: int, layer: int, head: int) -> dict[str, Any]:
    """Every tensor of one skewing, worked out with indices alone."""
    random = np.random.default_rng((length, layer, head))
    product = random.normal(size=(length, length)).astype(np.float32)
    padded = np.concatenate((np.zeros((length, 1), np.float32), product), 1)
    reshaped = padded.reshape(length + 1, length)
    i, j = np.indices((length, length))
    direct = np.where(j <= i, product[i, np.clip(length - 1 - (i - j), 0, length - 1)], 0).astype(np.float32)
    return {"product": product, "padded": padded, "reshaped": reshaped, "sliced": reshaped[1:], "direct": direct, "allowed": j <= i}


def page_of(lab: Lab, engine: object) -> None:
    """Both panels; the first answers with the head, the size and the beginning that are asked for."""
    first, second = PANEL.place(None), meter.PANEL.place(None)

    def answer(event: gr.EventData) -> Any:
        question = Question.of(event._data)
        wish = wished(question)
        layer, head = wish.place or (0, 1)
        length = wish.queries
        names = [{"en": f"note {wish.first + i}", "zh": f"音 {wish.first + i}"} for i in range(length)]
        names[0] = {"en": HOSTILE, "zh": HOSTILE}
        drawn = skew.steps(
            {"en": "Music Transformer", "zh": "音乐模型"},
            (layer, head),
            (LAYERS, HEADS),
            **tensors(length, layer, head),
            first=wish.first,
            events=64,
            distances=512,
            makes=names,
            reads=names,
            other={"en": "Absolute", "zh": "绝对位置"} if wish.model == "absolute" else None,
        )
        return shown(question, **drawn)

    def weigh(event: gr.EventData) -> Any:
        question = Question.of(event._data)
        return shown(question, **meter.value(meter.wished(question), meter.measured()))

    how: dict[str, Any] = {"show_progress": "hidden", "trigger_mode": "multiple", "api_visibility": "private"}
    first.ask(answer, None, first, **how)
    second.ask(weigh, None, second, **how)


PAGES = {"trial": page_of}


def opened(page: Page, site: str, query: str = "lang=en&_skew=open") -> Page:
    """The page with a panel open and drawn."""
    page.goto(f"{site}/trial?{query}")
    stands(page, ".tfe-skew .tfe-stage[data-drawn]" if "skew" in query else ".tfe-meter [data-drawn]")
    return page


def drawn(page: Page, what: str) -> None:
    """Waits until the boards of skewing stand so: "head=1.2 sstep=all squeries=12 sfrom=0"."""
    page.wait_for_selector(f".tfe-skew .tfe-stage[data-drawn^='{what} ']:not([data-drawn$=waits])", state="attached")


def cell(page: Page, board: int, row: int, column: int, shape: tuple[int, int]) -> tuple[float, float]:
    """Where a cell of a board stands on the screen."""
    box = page.evaluate(
        """([board, row, column, rows, columns]) => { const stage = document.querySelector(".tfe-skew canvas");
            const cells = stage.marks.filter((one) => one.kind === "rect" && !one.line); let from = 0;
            for (let b = 0; b < board; b += 1) from += b === 1 ? 12 * 13 : b === 2 ? 13 * 12 : 144;
            const { box } = cells[from + row * columns + column]; const paper = stage.getBoundingClientRect();
            return [paper.x + (box.x0 + box.x1) / 2, paper.y + (box.y0 + box.y1) / 2]; }""",
        [board, row, column, *shape],
    )
    return box[0], box[1]


def test_the_boards_agree_with_numpy_on_where_every_number_goes(page_watch: Page, site: str) -> None:
    page = opened(page_watch, site)
    found = page.evaluate(
        """async (address) => {
            const { places, placeOf, kind } = await import(address);
            const all = [];
            for (let p = 0; p < 5 * 6; p += 1) all.push([places(p, 5), kind(p, 5)]);
            const back = ["product", "padded", "reshaped", "sliced"].every((board) =>
                all.every(([where], p) => !where[board] || placeOf(board, ...where[board], 5) === p));
            return { all, back };
        }""",
        address("labs/music/skew.js"),
    )
    assert found["back"]
    made = tensors(5, 0, 0)
    values = np.arange(30).reshape(5, 6)
    for place, (where, kind) in enumerate(found["all"]):
        for board, tensor in (("padded", values), ("reshaped", values.reshape(6, 5)), ("sliced", values.reshape(6, 5)[1:])):
            assert np.argwhere(tensor == place).tolist() == ([] if where[board] is None else [where[board]])
        row, column = divmod(place, 6)
        distance = 5 - column
        assert kind == ("pad" if column == 0 else "garbage" if distance > row else "term")
        if kind == "term":
            assert where["direct"] == [row, row - distance]
            assert made["direct"][row, row - distance] == made["product"][tuple(where["product"])]


def test_a_number_is_followed_through_all_boards_and_kept_by_a_click(page_watch: Page, site: str) -> None:
    page = opened(page_watch, site)
    drawn(page, "head=1.2 sstep=all squeries=12 sfrom=0")
    page.mouse.click(*cell(page, 0, 7, 9, (12, 12)))  # query 7, distance 2
    words = page.locator(".tfe-skew .tfe-words")
    expect(words).to_contain_text("Query 7 (makes note 7) times the embedding of distance 2")
    value = float(tensors(12, 0, 1)["product"][7, 9])
    expect(words).to_contain_text(f"{value:.3f}".replace("-", "−"))
    expect(words).to_contain_text("row 7, column 5: the key 2 events before, key 5 (has read note 5)")
    expect(words).to_contain_text("Of 144 numbers 78 are the relative term; there skewing and the direct formula differ by 0 at most.")
    rings = "document.querySelector('.tfe-skew canvas').marks.filter((one) => one.line === 'query').length"
    assert page.evaluate(rings) == 6
    assert f"_scell={7 * 13 + 10}" in page.url
    page.mouse.click(*cell(page, 1, 1, 0, (12, 13)))  # the zero of the second row
    expect(words).to_contain_text("A zero that padding put in comes to stand at row 0, column 1, above the diagonal")
    page.mouse.click(*cell(page, 1, 0, 3, (12, 13)))
    expect(words).to_contain_text("It falls into the first row, which is cut away.")
    assert page.locator(".tfe-skew img").count() == 0
    page.locator(".tfe-skew .tfe-stage-board").focus()
    page.keyboard.press("Escape")
    expect(words).to_contain_text("times the embedding")
    assert "_scell" not in page.url


def test_keys_walk_steps_and_heads_and_what_was_fetched_is_not_asked_again(site: str, new_page: NEW) -> None:
    page, faults = new_page()
    opened(page, site)
    page.locator(".tfe-skew .tfe-stage-board").focus()
    titles = set()
    for step in ("all", "pad", "reshape", "slice", "mask"):
        drawn(page, f"head=1.2 sstep={step} squeries=12 sfrom=0")
        titles.add(page.locator(".tfe-skew .tfe-stage-name .tfe-units").inner_text())
        page.keyboard.press("ArrowRight")
    assert len(titles) == 5 and "_sstep=mask" in page.url
    for key, head in (("ArrowDown", "1.3"), ("ArrowUp", "1.2")):
        page.keyboard.press(key)
        drawn(page, f"head={head} sstep=mask squeries=12 sfrom=0")
    asked = sum("/queue/join" in address for address in faults.requests)
    page.keyboard.press("ArrowDown")
    drawn(page, "head=1.3 sstep=mask squeries=12 sfrom=0")
    assert sum("/queue/join" in address for address in faults.requests) == asked


def test_fewer_queries_and_a_later_beginning_are_fetched(page_watch: Page, site: str) -> None:
    page = opened(page_watch, site)
    page.locator(".tfe-skew [role=radio]", has_text="6 queries").click()
    drawn(page, "head=1.2 sstep=all squeries=6 sfrom=0")
    texts = page.evaluate("document.querySelector('.tfe-skew canvas').marks.filter((one) => one.kind === 'text').map((one) => one.text)")
    assert len([text for text in texts if re.fullmatch(r"−?\d\.\d+", text)]) >= 21, "six queries leave room for numbers"
    page.locator(".tfe-skew [data-key=sfrom]").fill("20")
    drawn(page, "head=1.2 sstep=all squeries=6 sfrom=20")
    expect(page.locator(".tfe-skew .tfe-words")).to_contain_text("makes note 2")


def test_the_model_without_a_relative_term_is_named(page_watch: Page, site: str) -> None:
    page = opened(page_watch, site, "lang=en&_skew=open&_model=absolute")
    expect(page.locator(".tfe-skew .tfe-stage-below")).to_contain_text("The Absolute in view has no relative term.")


def test_the_tensors_are_taken_along(page_watch: Page, site: str) -> None:
    page = opened(page_watch, site, "lang=en&_skew=open&_squeries=8")
    drawn(page, "head=1.2 sstep=all squeries=8 sfrom=0")
    expected = tensors(8, 0, 1)
    arrays = Picture(page, "skew .tfe-asked").arrays()
    for name in ("product", "padded", "reshaped", "sliced", "direct"):
        np.testing.assert_array_equal(arrays[name], expected[name])
    rows = Picture(page, "skew .tfe-asked").rows()
    assert len(rows) == 36 and all(row["skewed"] == row["direct"] for row in rows)
    assert "var(--" not in Picture(page, "skew .tfe-asked").saved("SVG")[1].decode()


def test_the_meter_asks_anew_for_the_sizes_that_are_chosen(page_watch: Page, site: str) -> None:
    page = opened(page_watch, site, "lang=en&_meter=open")
    words = page.locator(".tfe-meter .tfe-words")
    expect(words).to_contain_text("At L = 2,048 and D = 512")
    page.locator(".tfe-meter [data-key='4096']").click()
    expect(words).to_contain_text("At L = 4,096 and D = 512 the direct formula’s R takes 34.4 GB in each layer.")
    assert "_mlength=4096" in page.url
    page.locator(".tfe-meter button", has_text="Sizes of the paper").click()
    expect(words).to_contain_text("L = 2,048")
