"""The panel about what spans save in a real browser: nothing before it is opened, then bars, words and the table, large and small."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

import gradio as gr
import pytest
from playwright.sync_api import Page, expect

from explorer.lab import Lab
from explorer.widgets.folded import Question, shown
from explorer.widgets.saving import saving
from tests.bench import Bench
from tests.browser.waiting import addressed
from tests.explorer import spanned
from tests.explorer.test_saving import MEASURED, value

NEW = Callable[..., tuple[Page, Any]]


def page_of(lab: Lab, engine: object) -> None:
    """The panel, answered with a run of numbers of a fixed seed."""
    panel = saving()

    def answer(event: gr.EventData) -> Any:
        return shown(Question.of(event._data), figure=value(spanned.run().saved, measured=MEASURED))

    panel.ask(answer, None, panel, show_progress="hidden", trigger_mode="multiple", api_visibility="private")  # type: ignore[attr-defined]


@pytest.fixture(scope="module")
def site(bench: Bench) -> str:
    """The address of the bench pages."""
    return bench.put(__name__, {"trial": page_of}, year=2019)


def opened(page: Page, site: str, query: str = "lang=en&_saving=open") -> Page:
    """The page with its panel open and drawn."""
    page.goto(f"{site}/trial?{query}")
    page.wait_for_selector(".tfe-saving .tfe-figure[data-drawn=saving]")
    return page


def test_the_panel_is_answered_when_it_is_opened_and_taken_along(page_watch: Page, site: str) -> None:
    page = page_watch
    page.goto(f"{site}/trial?lang=en")
    summary = page.locator(".tfe-saving summary")
    expect(summary).to_have_text("What does it save?")
    expect(page.locator(".tfe-saving .tfe-words")).to_be_hidden()
    summary.click()
    page.wait_for_selector(".tfe-saving .tfe-figure[data-drawn=saving]")
    addressed(page, _saving="open")
    expect(page.locator(".tfe-saving .tfe-words")).to_contain_text("reading is 1.90 × as fast")
    assert page.locator(".tfe-saving .barlayer .point").count() == 11
    with page.expect_download() as download:
        page.locator(".tfe-saving .tfe-export[data-kind=CSV]").click()
    rows = list(csv.reader(io.StringIO(Path(download.value.path()).read_text("utf-8-sig"))))
    assert len(rows) == 4 and rows[2][0] == "S" and rows[2][2] == "512"


@pytest.mark.parametrize(("width", "scheme", "lang"), [(1280, "dark", "zh"), (360, "light", "en")])
def test_no_word_is_cut_off(new_page: NEW, site: str, width: int, scheme: str, lang: str) -> None:
    page, _ = new_page(width=width, height=800, color_scheme=scheme)
    opened(page, site, f"lang={lang}&_saving=open")
    assert page.evaluate("document.documentElement.scrollWidth") <= page.evaluate("document.documentElement.clientWidth")
    over = page.evaluate(
        """() => { const box = document.querySelector(".tfe-saving .tfe-figure-plot").getBoundingClientRect();
            const boxes = [...document.querySelectorAll(".tfe-saving .annotation")].map((one) => one.getBoundingClientRect());
            const cut = boxes.filter((one) => one.left < box.left - 1 || one.right > box.right + 1).length;
            const meet = boxes.some((a, i) => boxes.some((b, j) => j > i && a.left < b.right - 4 && b.left < a.right - 4
                && a.top < b.bottom - 8 && b.top < a.bottom - 8));
            return [cut, meet]; }"""
    )
    assert over == [0, False]
