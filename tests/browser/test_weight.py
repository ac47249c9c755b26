"""The arithmetic of one weight in a real browser: it follows the locked cell, and comes to the weight that the attention view shows."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from playwright.sync_api import Page, expect

from explorer.figures import theme
from explorer.widgets.base import asset
from explorer.widgets.weight import head
from tests.browser.waiting import becomes, quiet

NEW = Callable[..., tuple[Page, Any]]
PANEL = ".tfe-weight"
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


def opened(page: Page, site: str, query: str) -> Page:
    """The translation page with the panel open and drawn."""
    page.goto(f"{site}/translation?_weight=open&{query}")
    settled(page, "")
    return page


def settled(page: Page, what: str) -> None:
    """Waits until the panel draws what the attention view has in view, and that is `what` ("cross 3.5")."""
    page.wait_for_function(
        """([panel, what]) => (document.querySelector(panel)?.dataset.drawn ?? '').startsWith(what || ' ') ||
            (!what && document.querySelector(panel)?.dataset.drawn)""",
        arg=[PANEL, what],
    )


def saved(page: Page, where: str, kind: str) -> bytes:
    """What an export bar saves."""
    if page.locator(f"{where} .tfe-stage-take:not([open])").count():
        page.locator(f"{where} .tfe-stage-take summary").click()
    with page.expect_download() as download:
        page.locator(f"{where} .tfe-export[data-kind={kind}]").click()
    return Path(download.value.path()).read_bytes()


def table(page: Page, where: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(saved(page, where, "CSV").decode("utf-8-sig"))))


def test_it_comes_to_the_weight_of_the_map_in_every_kind(site: str, page_watch: Page) -> None:
    page = opened(page_watch, site, "_kind=encoder&_head=2.3&_row=3&_col=1")
    for at, (kind, place) in enumerate([("encoder", "2.3 3 1"), ("decoder", "4.8"), ("cross", "1.2")]):
        if at:
            page.locator(".tfe-attention [role=radio]").nth(at).click()
            page.locator(".tfe-attention .tfe-stage-board").focus()
            page.keyboard.press("ArrowUp" if kind == "decoder" else "ArrowDown")
            place = page.evaluate("new URL(location).searchParams.get('_head')")
        settled(page, f"{kind} {place}")
        weights = {(row["query_index"], row["key_index"]): float(row["weight"] or 0) for row in table(page, ".tfe-attention")}
        mine = table(page, PANEL)
        for row in mine:
            assert float(row["weight"]) == pytest.approx(weights[row["query_index"], row["key_index"]], abs=1e-4), kind
        if kind == "decoder":
            assert [row["score"] for row in mine].count("masked") == len(mine) - 1 - int(mine[0]["query_index"])
        drawn = page.locator(PANEL).get_attribute("data-drawn") or ""
        column = int(drawn.split()[3])
        assert float(page.locator(PANEL).get_attribute("data-weight") or "nan") == pytest.approx(float(mine[column]["weight"]), abs=1e-9)


def test_rows_and_heads_already_fetched_ask_the_server_nothing(site: str, new_page: NEW) -> None:
    page, faults = new_page()
    opened(page, site, "_kind=cross&_head=1.1&_row=1&_col=1&_wstep=4")
    settled(page, "cross 1.1")
    page.locator(".tfe-weight-frame").focus()
    page.keyboard.press("ArrowDown")
    settled(page, "cross 1.2 1 1")  # the same cell of the next head
    quiet(page, faults)
    faults.requests.clear()
    page.keyboard.press("ArrowUp")
    settled(page, "cross 1.1 1 1")
    page.locator(".tfe-attention .tfe-stage-board").focus()
    page.keyboard.press("ArrowRight")
    settled(page, "cross 1.1 2")
    assert faults.requests == []


def test_the_five_steps_are_walked_by_keys_and_projected(site: str, page_watch: Page) -> None:
    page = opened(page_watch, site, "_kind=cross&_head=1.1&_row=1&_col=1")
    sentences = set()
    page.locator(".tfe-weight-frame").focus()
    for step in ("multiply", "sum", "mask", "softmax", "average"):
        settled(page, f"cross 1.1 1 1 {step}")
        sentences.add(page.locator(f"{PANEL} .tfe-words").inner_text())
        page.keyboard.press("ArrowRight")
    assert len(sentences) == 5
    weight = float(page.locator(PANEL).get_attribute("data-weight") or "nan")
    assert any(f"{weight:.4f}" in text for text in sentences)
    page.locator(".tfe-weight-frame").focus()
    page.keyboard.press("p")
    expect(page.locator(".tfe-projector-title")).to_have_text("What does the query take home?")
    # The title comes at once, the drawing with the browser's next picture.
    smallest = "all => Math.min(...all.map((one) => parseFloat(getComputedStyle(one).fontSize)))"
    becomes(page, lambda: 20 <= page.locator(f"{PANEL} svg text").evaluate_all(smallest) < 100, True)
    expect(page.locator(f"{PANEL} summary")).to_be_hidden()


def test_a_phone_needs_no_sideways_scrolling(site: str, new_page: NEW) -> None:
    page, _ = new_page(width=360, height=780, has_touch=True)
    opened(page, site, "_wstep=5")
    settled(page, "cross")
    assert page.evaluate("document.documentElement.scrollWidth") <= 360


@pytest.mark.parametrize("causal", [False, True], ids=["open", "causal"])
def test_hostile_tokens_are_text_in_every_step_and_in_what_is_taken_along(site: str, new_page: NEW, causal: bool) -> None:
    page, faults = new_page()
    page.goto(f"{site}/translation")
    page.wait_for_selector(".tfe-weight summary", state="attached")
    random = np.random.default_rng(3)
    arrays = {name: random.normal(size=(len(HOSTILE), 8)).astype(np.float32) for name in ("query", "key", "value")}
    drawn = head("cross", (0, 0), (1, 1), **arrays, queries=HOSTILE, keys=HOSTILE, causal=causal)
    page.evaluate(
        """async ([address, bus, value, signed]) => {
            const [{ mount }, { bus: messages, request, view }] = await Promise.all([import(address), import(bus)]);
            const root = document.createElement("div");
            root.className = "tfe tfe-weight hostile";
            document.querySelector(".tfe-weight").parentElement.append(root);
            const props = { value: { state: "shown", run: request.get(), wish: { kind: "cross", layer: 0, head: 0 }, ...value }, signed };
            view.set({ weight: "open" });
            mount(root, props, { ask() {} }, () => {});
            window.look = (row, col) => messages.fire("looked", { kind: "cross", layer: 0, head: 0, row, col });
            window.step = (n) => view.set({ wstep: n });
        }""",
        [asset("weight.js"), asset("lib/state.js"), drawn, {mode: list(stops) for mode, stops in theme.SIGNED.items()}],
    )
    for place in range(len(HOSTILE)):
        page.evaluate("([row, col]) => { look(row, col); step(1 + (row % 5)); }", [place, (place * 7) % len(HOSTILE)])
    page.evaluate("look(19, 0)")
    for step in range(1, 6):
        page.evaluate("(n) => step(n)", step)
        page.wait_for_function("() => document.querySelector('.hostile').dataset.drawn?.startsWith('cross 1.1 19 0')")
    shown = page.locator(".hostile").inner_text()
    assert HOSTILE[0].replace(" ", "␠") in shown
    assert page.locator(".hostile :is(img, script, b b, a, iframe)").count() == 0
    for kind in ("SVG", "HTML"):
        text = saved(page, ".hostile", kind).decode()
        assert "<img" not in text and "<script" not in text and "onload=alert(3)>" not in text.replace("&lt;svg/onload=alert(3)&gt;", "")
    assert b"PNG" in saved(page, ".hostile", "PNG")[:8]
    assert faults.all() == []
