"""The figure widget in a real browser, on a bench page."""

from __future__ import annotations

import csv
import io

import numpy as np
from playwright.sync_api import Page, expect

from tests.browser.attending import opened, page_of, saved

PAGES = {"figures": page_of("figures")}


def test_a_figure_has_its_sentence_its_table_and_its_exports(page_watch: Page, site: str) -> None:
    page = opened(page_watch, site, "figures", "")
    part = page.locator(".tfe-figure")
    expect(part.locator(".tfe-words")).to_have_text("After 5 epochs the held-out loss is 1.00.")
    part.locator("[data-kind=table]").click()
    expect(part.locator("tbody tr")).to_have_count(5)
    name, content = saved(page, "CSV")
    rows = list(csv.reader(io.StringIO(content.decode("utf-8-sig"))))
    assert name == "figures-training.csv" and rows[0] == ["epoch", "loss", "held out"] and rows[5][2] == "1"
    _, content = saved(page, "NPZ")
    assert np.allclose(np.load(io.BytesIO(content))["column_1"], [6, 3, 2, 1.5, 1.2])
    _, content = saved(page, "SVG")
    assert b"After 5 epochs" in content
    page.locator(".gradio-container").evaluate("() => document.body.classList.toggle('dark')")
    page.wait_for_function("document.querySelector('.tfe-figure-plot').data[0].line.color.toUpperCase() === '#588CFF'")
