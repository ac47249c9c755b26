"""The panel about training in a real browser: figures drawn from model.json, published ones dashed, on phones and in the dark."""

from __future__ import annotations

from playwright.sync_api import Page, expect

from explorer.labs import about
from explorer.labs.translation.deeper import training
from tests.browser.waiting import addressed, becomes, stands

PANEL = ".tfe-training"


def test_the_panel_draws_its_figures_without_the_model_and_takes_them_along(page_watch: Page, site: str) -> None:
    page = page_watch
    page.goto(f"{site}/translation")
    summary = page.locator(f"{PANEL} summary")
    expect(summary).to_have_text(training.TITLE["en"])
    summary.focus()
    page.keyboard.press("Enter")
    stands(page, f"{PANEL} [data-drawn=smoothing]")
    addressed(page, _training="open")
    known = about.facts("translation")
    row = page.locator(f"{PANEL} .tfe-opened-table .ours")
    expect(row).to_contain_text(f"{known['figure']['value']:.1f}")
    figures = page.locator(f"{PANEL} .tfe-figure")
    expect(figures).to_have_count(3)
    # Eight dashed outlines: two for each system of the paper.
    paths, dashed = figures.nth(0).locator(".shapelayer path"), "(paths) => paths.filter((path) => path.style.strokeDasharray).length"
    becomes(page, lambda: paths.evaluate_all(dashed), 2 * len(training.TABLE))
    with page.expect_download() as saved:
        figures.nth(1).locator(".tfe-export[data-kind=CSV]").click()
    lines = saved.value.path().read_text("utf-8-sig").splitlines()
    assert len(lines) == 1 + len(about.log("translation"))
