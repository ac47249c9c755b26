"""The figure widget in a real browser; a folded panel is not done while what stands in it answers
an older question."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
from playwright.sync_api import Page, Route, expect

from explorer.components.figure import place_folded_figures
from explorer.components.folded import Question, show_answer
from tests.browser.attending import page_of
from tests.browser.staged import Picture, answering
from tests.browser.waiting import stands

JOIN = re.compile("/queue/join")  # where an event goes
TITLE = {"en": "Which position?", "zh": "哪个位置？"}


def answer(question: Question) -> Any:
    """Words that name the position that is asked about."""
    at = question.read_number("pos")
    return show_answer(question, heading={"en": f"position {at}", "zh": f"位置 {at}"})


PAGES = {
    "figures": page_of("figures"),
    "trial": answering((lambda: place_folded_figures("place", TITLE, asks=("pos",)), answer)),
}


def test_a_figure_has_its_sentence_its_table_and_its_exports(page_watch: Page, site: str) -> None:
    page, part = page_watch, Picture(page_watch, "figure")
    page.goto(f"{site}/figures?lang=en")
    stands(page, ".tfe-figure [data-plot=stands]")
    part.says("After 5 epochs the held-out loss is 1.00.")
    part.find("[data-kind=table]").click()
    expect(part.find("tbody tr")).to_have_count(5)
    rows = part.rows()
    assert list(rows[0]) == ["epoch", "loss", "held out"] and rows[4]["held out"] == "1"
    np.testing.assert_allclose(part.arrays()["column_1"], [6, 3, 2, 1.5, 1.2])
    page.evaluate("document.body.classList.toggle('dark')")
    page.wait_for_function(
        "document.querySelector('.tfe-figure-plot').data[0].line.color.toUpperCase() === '#588CFF'"
    )


def test_a_panel_waits_for_its_new_answer(page_watch: Page, site: str) -> None:
    page = page_watch
    page.goto(f"{site}/trial?lang=en&_place=open&_pos=1")
    panel = page.locator("[data-view=place]")
    expect(panel).to_contain_text("position 1")
    expect(panel).to_have_attribute("data-state", "shown")
    held: list[Route] = []
    page.route(JOIN, lambda route: held.append(route))
    page.evaluate("""() => {
      history.pushState({}, "", location.href.replace("_pos=1", "_pos=2"));
      dispatchEvent(new PopStateEvent("popstate", { state: {} }));
    }""")
    expect(panel).to_have_attribute("data-state", "ready")
    expect(panel).to_contain_text("position 1")
    for route in held:
        route.continue_()
    page.unroute(JOIN)
    expect(panel).to_contain_text("position 2")
    expect(panel).to_have_attribute("data-state", "shown")
