"""A folded panel in a real browser: while what stands in it answers an older question, it says that it is not done."""

from __future__ import annotations

import re
from typing import Any

from playwright.sync_api import Page, Route, expect

from explorer.widgets.figure import opened
from explorer.widgets.folded import Question, shown
from tests.browser.staged import answering

JOIN = re.compile("/queue/join")  # where an event goes
TITLE = {"en": "Which position?", "zh": "哪个位置？"}


def answer(question: Question) -> Any:
    """Words that name the position that is asked about."""
    at = question.number("pos")
    return shown(question, heading={"en": f"position {at}", "zh": f"位置 {at}"})


PAGES = {"trial": answering((lambda: opened("place", TITLE, asks=("pos",)), answer))}


def test_a_panel_that_asks_anew_is_not_done_before_it_is_answered(page_watch: Page, site: str) -> None:
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
