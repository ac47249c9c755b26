"""Panels with pieces that look like markup: they are text on the page and in every file."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import gradio as gr
import numpy as np
import pytest
from playwright.sync_api import Page

from explorer.figures.weight import head
from explorer.lab import Lab
from explorer.labs.translation.deeper import beam, forced, weight
from explorer.widgets.base import asset
from explorer.widgets.folded import Question, shown
from tests.browser.staged import AT_ONCE
from tests.browser.test_search import hostile_reading, hostile_tree
from tests.browser.test_weight import PANEL, STAGE, saved, settled

NEW = Callable[..., tuple[Page, Any]]
HOSTILE = [
    "</script><img src=x onerror=alert(1)>",
    "<b>bold</b>",
    '<a href="javascript:alert(2)">x</a>',
    "<svg/onload=alert(3)>",
    "&lt;img src=x onerror=alert(4)&gt;",
    "${alert(5)}",
    "{{alert(6)}}",
    "{k}",
    "⟦q:x⟧",
    "%{z}",
    "\u202eevil",
    "שלום",
    "\n",
    "a\x00b",
    "=cmd()",
    "]]>",
    "<!--",
    "'\"><script>alert(7)</script>",
    "url(https://outside.example/x)",
    "var(--ink)",
]


def page_of(lab: Lab, engine: object) -> None:
    """The panels alone; they answer with a head, a tree and a reading whose pieces are hostile."""
    panel, searching, reading = weight.place(), beam.place(), forced.PANEL.place(None)
    random = np.random.default_rng(3)
    arrays = {name: random.normal(size=(len(HOSTILE), 8)).astype(np.float32) for name in ("query", "key", "value")}

    def answer(event: gr.EventData) -> Any:
        drawn = head("cross", (0, 0), (1, 1), **arrays, queries=HOSTILE, keys=HOSTILE, causal=True)
        return shown(Question.of(event._data), **drawn)

    def search(event: gr.EventData) -> Any:
        return shown(Question.of(event._data), **hostile_tree())

    def judge(event: gr.EventData) -> Any:
        return shown(Question.of(event._data), **hostile_reading())

    reading.ask(judge, None, reading, **AT_ONCE)
    searching.ask(search, None, searching, **AT_ONCE)
    panel.ask(answer, None, panel, **AT_ONCE)


PAGES = {"trial": page_of}


def test_hostile_tokens_are_text_in_every_step_and_in_what_is_taken_along(site: str, new_page: NEW) -> None:
    page, faults = new_page()
    page.goto(f"{site}/trial?lang=en&_weight=open&_kind=cross&_head=1.1")
    page.wait_for_selector(f"{STAGE}[data-drawn]")
    for row in range(len(HOSTILE)):
        page.evaluate(
            """async ([bus, patch]) => { const { view } = await import(bus); view.set(patch); }""",
            [asset("lib/state.js"), {"row": row, "col": (row * 7) % len(HOSTILE), "wstep": 1 + row % 5}],
        )
        settled(page, f"cross 1.1 {row} {(row * 7) % len(HOSTILE)}")
    assert page.locator(f"{PANEL} :is(img, script, b b, a:not(.tfe-stage-take > a), iframe)").count() == 0
    page.evaluate("async ([bus]) => { (await import(bus)).view.set({ row: 0, col: 0, wstep: 4 }); }", [asset("lib/state.js")])
    settled(page, "cross 1.1 0 0 4")
    assert HOSTILE[0].replace(" ", "␣") in page.locator(PANEL).inner_text()
    for kind in ("SVG", "HTML"):
        text = saved(page, PANEL, kind).decode()
        assert "<img" not in text and HOSTILE[0] not in text
    alone = page.context.new_page()
    alone.on("pageerror", lambda error: pytest.fail(str(error)))
    alone.set_content(text)
    alone.wait_for_selector("[data-drawn='kind=cross head=1.1 row=0 col=0 wstep=4']")
    alone.locator(".tfe-stage-board").focus()
    alone.keyboard.press("ArrowRight")
    alone.wait_for_selector("[data-drawn$='wstep=5']")
    assert faults.all() == []


@pytest.mark.parametrize(("panel", "key", "places"), [("beam", "bnode", range(1, 21)), ("forced", "fword", range(20))])
def test_hostile_tokens_are_text_in_every_place_and_in_what_is_taken_along(
    site: str, new_page: NEW, panel: str, key: str, places: range
) -> None:
    page, faults = new_page()
    page.goto(f"{site}/trial?lang=en&_{panel}=open")
    stage = f".tfe-{panel} .tfe-stage"
    page.wait_for_selector(f"{stage}[data-drawn]")
    for place in places:
        page.evaluate("async ([bus, patch]) => { (await import(bus)).view.set(patch); }", [asset("lib/state.js"), {key: place}])
        page.wait_for_selector(f"{stage}[data-drawn*='{key}={place}']", state="attached")
    for kind in ("SVG", "HTML"):
        text = saved(page, f".tfe-{panel}", kind).decode()
        assert "<img" not in text and HOSTILE[0] not in text
    assert "'=cmd()" in saved(page, f".tfe-{panel}", "CSV").decode("utf-8-sig")
    page.locator(f".tfe-{panel} .tfe-export[data-kind=table]").click()
    assert HOSTILE[0] in page.locator(f".tfe-{panel} .tfe-stage-table").inner_text().replace("␣", " ")
    assert page.locator(f".tfe-{panel} :is(img, script, iframe, a:not(.tfe-stage-take > a), link, base)").count() == 0
    alone = page.context.new_page()
    alone.on("pageerror", lambda error: pytest.fail(str(error)))
    alone.set_content(text)
    alone.wait_for_selector(f"[data-drawn*='{key}=']")
    before = alone.locator("[data-drawn]").get_attribute("data-drawn")
    alone.locator(".tfe-stage-board").focus()
    alone.keyboard.press("ArrowLeft")
    alone.wait_for_function("(before) => document.querySelector('[data-drawn]').dataset.drawn !== before", arg=before)
    assert faults.all() == []
