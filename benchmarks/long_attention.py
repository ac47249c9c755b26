"""A run of 2,048 positions in a real browser: its maps pooled, and the exact rows of a block that a
visitor selects.

The page is the benchmark's own (`visitors/long_page.py`); its view is the one that every lab has.
"""

from __future__ import annotations

import torch
from playwright.sync_api import Page

from benchmarks.measure import ROUNDS, Bound, Report, median
from benchmarks.sizes import size
from tests.support.visitors.browser import page
from tests.support.visitors.long_page import BLOCK, HEADS, LAYERS, LENGTH, SIDE, SLUG
from tests.support.visitors.served import Served

CHOICES = size(24, 1)  # blocks that are selected
VIEW = "document.querySelector('.tfe-attention')"
EXACT = "(document.querySelector('.tfe-attention-exact')?.dataset.exact ?? '')"
# The place of the large map in the page: left, top, width.
MAP = """(() => {
    const canvas = document.querySelector('.tfe-attention canvas');
    const { box } = canvas.marks.findLast(
        (mark) => mark.kind === 'cells' && mark.rows === mark.columns);
    const { left, top } = canvas.getBoundingClientRect();
    return [left + box.x0, top + box.y0, box.x1 - box.x0];
})()"""


def measure(device: torch.device) -> Report:
    """Measure medians over five pages and over 24 blocks."""
    with (
        Served(command=("-m", "tests.support.visitors.long_page", "PORT")) as served,
        page() as tab,
    ):
        served.until("/healthz")
        firsts = [first(tab, served.url) for _ in range(ROUNDS + 1)]
        looks = [drilldown(tab, turn) for turn in range(CHOICES + 1)]
    return Report.of(
        figures={
            "first_pooled_map_s": (median(firsts[1:]) / 1000, Bound(1)),
            "row_drilldown_ms": (median(looks[1:]), Bound(50)),
            "first_slowest_s": max(firsts[1:]) / 1000,
            "row_drilldown_slowest_ms": max(looks[1:]),
        },
        notes={
            "first": (
                f"button down → {LAYERS} × {HEADS} maps of {LENGTH:,} positions, pooled to {SIDE}²"
                " by the server, are painted"
            ),
            "drill-down": (
                f"a click on a block → its {BLOCK} exact rows of {LENGTH:,} keys, fetched from the"
                " server, are painted"
            ),
        },
    )


def first(tab: Page, url: str) -> float:
    """Return the milliseconds from the button to the painted map, on a page newly opened."""
    tab.goto(f"{url}/{SLUG}")
    tab.wait_for_selector(".tfe-attention .tfe-empty:not([hidden])", state="attached")
    tab.wait_for_load_state("networkidle")
    tab.evaluate(f"stopwatch.begin('pointerdown', () => {VIEW}.dataset.drawn, {VIEW})")
    tab.locator("#show").click()
    milliseconds: float = tab.evaluate("stopwatch.milliseconds()")
    return milliseconds


def drilldown(tab: Page, turn: int) -> float:
    """Return the milliseconds from a click on another block of the map to its exact rows."""
    tab.evaluate(
        f"() => {{ const before = {EXACT}; stopwatch.begin('pointerdown', () => {EXACT} !== before,"
        f" {VIEW}); }}"
    )
    left, top, side = tab.evaluate(MAP)
    row = (turn * 37 + 100) % SIDE  # never the same rows twice, so that none is remembered
    column = row * (turn % 5) // 5
    tab.mouse.click(left + (column + 0.5) * side / SIDE, top + (row + 0.5) * side / SIDE)
    milliseconds: float = tab.evaluate("stopwatch.milliseconds()")
    return milliseconds
