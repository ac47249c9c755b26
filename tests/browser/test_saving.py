"""The panel about what spans save in a real browser: nothing before it is opened, then bars, words and the table, large and small."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from playwright.sync_api import Page, expect

from explorer.labs.adaptive_span.deeper import saving
from explorer.widgets.folded import Question, shown
from tests.browser.staged import answering
from tests.browser.waiting import addressed
from tests.explorer import spanned
from tests.explorer.test_saving import MEASURED, value


def answer(question: Question) -> Any:
    """A run of numbers of a fixed seed."""
    return shown(question, figure=value(spanned.run().saved, measured=MEASURED))


PAGES = {"trial": answering((lambda: saving.PANEL.place(None), answer))}


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
    rows = Path(download.value.path()).read_text("utf-8-sig").splitlines()
    assert len(rows) == 4 and re.match("S,[^,]*,512,", rows[2])
