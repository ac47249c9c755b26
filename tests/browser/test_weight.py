"""The arithmetic of one weight in a real browser: it follows the locked cell, and comes to the weight that the attention view shows."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.browser.waiting import quiet
from tests.visits import Visit

pytestmark = pytest.mark.xdist_group("translation walk", 2)  # on the page of the promises that hold for every lab

PANEL = ".tfe-weight"
STAGE = f"{PANEL} .tfe-stage"
BOARD = f"{PANEL} .tfe-stage-board"


def opened(visit: Visit, query: str) -> Page:
    """The translation page with the panel open and drawn."""
    page = visit(f"/translation?_weight=open&{query}")
    settled(page, "")
    return page


def settled(page: Page, what: str) -> None:
    """Waits until the panel draws what the attention view has in view, and that is `what` ("cross 3.5 1 1 4": as far as it is known)."""
    named = zip(("kind", "head", "row", "col", "wstep"), what.split(), strict=False)
    said = " ".join("=".join(pair) for pair in named) or "kind="
    page.wait_for_selector(f"{STAGE}[data-drawn^='{said}']:not([data-drawn$=waits])", state="attached")


def saved(page: Page, where: str, kind: str) -> bytes:
    """What an export bar saves."""
    if page.locator(f"{where} .tfe-stage-take:not([open])").count():
        page.locator(f"{where} .tfe-stage-take summary").click()
    with page.expect_download() as download:
        page.locator(f"{where} .tfe-export[data-kind={kind}]").click()
    return Path(download.value.path()).read_bytes()


def table(page: Page, where: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(saved(page, where, "CSV").decode("utf-8-sig"))))


def test_it_comes_to_the_weight_of_the_map_in_every_kind(visit: Visit) -> None:
    page = opened(visit, "_kind=encoder&_head=2.3&_row=3&_col=1")
    for at, (kind, cell) in enumerate([("encoder", "2.3 3 1"), ("decoder", "4.8"), ("cross", "1.2")]):
        if at:
            page.locator(".tfe-attention [role=radio]").nth(at).click()
            page.locator(".tfe-attention .tfe-stage-board").focus()
            page.keyboard.press("ArrowUp" if kind == "decoder" else "ArrowDown")
            cell = page.evaluate("new URL(location).searchParams.get('_head')")
        settled(page, f"{kind} {cell}")
        weights = {(row["query_index"], row["key_index"]): float(row["weight"] or 0) for row in table(page, ".tfe-attention")}
        mine = table(page, PANEL)
        for row in mine:
            assert float(row["weight"]) == pytest.approx(weights[row["query_index"], row["key_index"]], abs=1e-4), kind
        if kind == "decoder":
            assert [row["score"] for row in mine].count("masked") == len(mine) - 1 - int(mine[0]["query_index"])


def test_rows_and_heads_already_fetched_ask_the_server_nothing(visit: Visit) -> None:
    page = opened(visit, "_kind=cross&_head=1.1&_row=1&_col=1&_wstep=4")
    settled(page, "cross 1.1")
    page.locator(BOARD).focus()
    page.keyboard.press("ArrowDown")
    settled(page, "cross 1.2 1 1")  # the same cell of the next head
    quiet(page, visit.faults)
    visit.faults.requests.clear()
    page.keyboard.press("ArrowUp")
    settled(page, "cross 1.1 1 1")
    page.locator(".tfe-attention .tfe-stage-board").focus()
    page.keyboard.press("ArrowRight")
    settled(page, "cross 1.1 2")
    assert visit.faults.requests == []


def test_the_five_steps_are_walked_by_keys_and_projected(visit: Visit) -> None:
    page = opened(visit, "_kind=cross&_head=1.1&_row=1&_col=1")
    sentences = set()
    page.locator(BOARD).focus()
    for step in range(1, 6):
        settled(page, f"cross 1.1 1 1 {step}")
        sentences.add(page.locator(f"{PANEL} .tfe-words").inner_text())
        page.keyboard.press("ArrowRight")
    assert len(sentences) == 5
    weight = next(float(row["weight"]) for row in table(page, PANEL) if row["key_index"] == "1")
    assert any(f"{weight:.4f}" in text for text in sentences)
    page.locator(BOARD).focus()
    page.keyboard.press("p")
    expect(page.locator(".tfe-projector-title")).to_have_text("What does the query take home?")
    # The title comes at once, the drawing with the browser's next picture.
    page.wait_for_function(
        f"() => document.querySelector('{PANEL} canvas').marks.every((one) => one.kind !== 'text' || (one.size >= 20 && one.size < 100))"
    )
    expect(page.locator(f"{PANEL} .tfe-folded > summary")).to_be_hidden()
    page.keyboard.press("Escape")


def test_a_click_on_a_key_locks_it_in_the_map_too(visit: Visit) -> None:
    page = opened(visit, "_kind=cross&_head=1.1&_row=1&_col=1&_wstep=4")
    settled(page, "cross 1.1 1 1 4")
    page.locator(f"{PANEL} canvas").click(position={"x": 300, "y": 12})  # the first of the rows
    settled(page, "cross 1.1 1 0 4")
    page.wait_for_selector(".tfe-attention[data-drawn*='row=1 col=0']", state="attached")
