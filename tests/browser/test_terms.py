"""The four terms of the relative score in a real browser: one cell told of in six maps, heads, queries, files, phones, languages."""

from __future__ import annotations

import csv
import io
from typing import Any

import gradio as gr
import numpy as np
import pytest
from playwright.sync_api import Page, expect

from explorer.figures import terms
from explorer.lab import Lab
from explorer.labs.transformer_xl.deeper.terms import place, wished
from explorer.widgets.folded import Question, refused, shown
from tests.browser.staged import AT_ONCE, NEW, Picture
from tests.browser.waiting import addressed
from tests.explorer import segmented

SIZES: dict[str, Any] = {"length": 200, "segment": 64, "memory": 160, "layers": 2, "heads": 3}
NAMES = ("content", "position", "global_content", "global_position", "scores", "weights")


def page_of(lab: Lab, engine: object) -> None:
    """The panel; it answers with the head, the character and the number of queries that are asked for."""
    panel = place()

    def answer(event: gr.EventData) -> Any:
        question = Question.of(event._data)
        wish = wished(question)
        layer, head = wish.place or (0, 1)
        if wish.pos == 199:
            return refused(question, {"en": "The run has left the server.", "zh": "运行已不在。"})
        drawn = terms.boards(
            {"en": "Transformer-XL", "zh": "Transformer-XL"},
            (layer, head),
            (2, 3),
            **segmented.cut(segmented.reading(**SIZES), layer, head, wish.pos or 180, wish.queries),
            other={"en": "Transformer", "zh": "Transformer"} if wish.model == "absolute" else None,
        )
        return shown(question, **drawn)

    panel.ask(answer, None, panel, **AT_ONCE)


PAGES = {"trial": page_of}


def opened(page: Page, site: str, query: str = "lang=en&_terms=open") -> Page:
    """The page with the panel open and drawn."""
    page.goto(f"{site}/trial?{query}")
    page.wait_for_selector(".tfe-terms .tfe-stage[data-drawn]")
    return page


def drawn(page: Page, head: str, tcell: str) -> None:
    """Waits until the maps of a head tell of a cell: "11.57", so many queries before the last, so far back."""
    what = f"head={head} tqueries=32 tcell={tcell.replace('.', ',')}"
    page.wait_for_selector(f".tfe-terms .tfe-stage[data-drawn='{what}']", state="attached")


def expected(last: int = 180, queries: int = 32, layer: int = 0, head: int = 1) -> dict[str, Any]:
    """The numbers of the page, at most the last 160 keys."""
    found = segmented.cut(segmented.reading(**SIZES), layer, head, last, queries)
    return {**found, **{name: found[name][:, -terms.KEYS :] for name in NAMES}}


def point(page: Page, name: str, query: int, key: int, shape: tuple[int, int]) -> tuple[float, float]:
    """The middle of a cell on the screen."""
    box, paper = (
        Picture(page, "terms .tfe-asked").marks("cells")[NAMES.index(name)]["box"],
        page.locator(".tfe-terms .tfe-stage-paper").bounding_box(),
    )
    assert paper
    wide, tall = box["x1"] - box["x0"], box["y1"] - box["y0"]
    return paper["x"] + box["x0"] + wide * (key + 0.5) / shape[1], paper["y"] + box["y0"] + tall * (query + 0.5) / shape[0]


def said(value: float) -> str:
    """A number as the page writes it."""
    return f"{value:.2f}".replace("-0.00", "0.00").replace("-", "−")


def test_six_maps_tell_of_one_cell_and_the_terms_add_up(page_watch: Page, site: str) -> None:
    page = opened(page_watch, site)
    found = expected()
    back = found["weights"].shape[1] - 1 - int(found["weights"][-1][:-1].argmax())
    drawn(page, "1.2", f"0.{back}")
    distance = found["weights"].shape[1] - 32 + 20 - 100
    page.mouse.click(*point(page, "content", 20, 100, (32, 160)))
    drawn(page, "1.2", f"11.{distance}")
    addressed(page, _tcell=f"11.{distance}")
    numbers = [said(float(found[name][20, 100])) for name in NAMES]
    texts = [one["text"] for one in Picture(page, "terms .tfe-asked").marks("text")]
    assert all(number in texts for number in numbers), numbers
    assert len(Picture(page, "terms .tfe-asked").marks("cells")) == 8
    words = page.locator(".tfe-terms .tfe-words")
    expect(words).to_contain_text(f"Query “{found['queries'][20][1].replace(' ', '␣')}” (169), key")
    expect(words).to_contain_text(f", {distance} back: {numbers[0]} ")
    expect(words).to_contain_text(f"= {numbers[4]}, weight ")
    left = len(found["keys"]) - 160
    expect(words).to_contain_text(f"The {left} keys farther back get ")


def test_keys_walk_queries_keys_and_heads_and_what_was_fetched_is_not_asked_again(site: str, new_page: NEW) -> None:
    page, faults = new_page()
    opened(page, site, "lang=en&_terms=open&_tcell=2.5")
    drawn(page, "1.2", "2.5")
    page.locator(".tfe-terms .tfe-stage-board").focus()
    for key, head, cell in (
        ("ArrowLeft", "1.2", "3.5"),
        ("ArrowRight", "1.2", "2.5"),
        ("Shift+ArrowLeft", "1.2", "2.6"),
        ("ArrowDown", "1.3", "2.6"),
        ("ArrowUp", "1.2", "2.6"),
    ):
        page.keyboard.press(key)
        drawn(page, head, cell)
    asked = sum("/queue/join" in address for address in faults.requests)
    page.keyboard.press("ArrowDown")
    drawn(page, "1.3", "2.6")
    assert sum("/queue/join" in address for address in faults.requests) == asked
    page.keyboard.press("Escape")
    addressed(page, _tcell=None)


def test_another_character_and_fewer_queries_are_fetched_and_a_refusal_is_one_sentence(page_watch: Page, site: str) -> None:
    page = opened(page_watch, site, "lang=en&_terms=open&_pos=9,140&_model=absolute")
    note = page.locator(".tfe-terms .tfe-stage-below")
    expect(note).to_contain_text("13 queries up to character 140, 141 keys")
    expect(note).to_contain_text("Transformer in view has no such terms.")
    assert "farther back" not in page.locator(".tfe-terms .tfe-words").inner_text()
    page.goto(f"{site}/trial?lang=en&_terms=open&_pos=190")
    expect(note).to_contain_text("32 queries up to character 190")
    page.locator(".tfe-terms [role=radio]", has_text="16").click()
    expect(note).to_contain_text("16 queries up to character 190")
    addressed(page, _tqueries="16")
    page.goto(f"{site}/trial?lang=en&_terms=open&_pos=199")
    expect(page.locator(".tfe-terms .tfe-error")).to_have_text("The run has left the server.")


def test_the_terms_are_taken_along(page_watch: Page, site: str) -> None:
    page = opened(page_watch, site)
    found = expected()
    files = Picture(page, "terms .tfe-asked").arrays()
    for name in NAMES:
        np.testing.assert_allclose(files[name], found[name], atol=1e-5)
    np.testing.assert_array_equal(files["u"], found["u"])
    np.testing.assert_allclose(files["weights"].sum(1) + files["elsewhere"], 1, atol=2e-3)
    rows = list(csv.reader(io.StringIO(Picture(page, "terms .tfe-asked").saved("CSV")[1].decode("utf-8-sig"))))
    assert len(rows) == 1 + int(found["allowed"][:, -160:].sum())
    for one in rows[1::500]:
        assert sum(map(float, one[3:7])) == pytest.approx(float(one[7]), abs=1e-4)
    assert "var(--" not in Picture(page, "terms .tfe-asked").saved("SVG")[1].decode()
