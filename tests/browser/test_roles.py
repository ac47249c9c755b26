"""Heads that ask who did what to whom, in a real browser: listed on a caption, opened at their cell, silent where no verb is found."""

from __future__ import annotations

from playwright.sync_api import Page, expect

from explorer.labs.translation import views
from tests.browser.waiting import addressed

JOBS = ".tfe-attention-jobs button"


def test_a_head_that_asks_who_is_opened_at_its_cell_by_the_step_and_by_a_click(page_watch: Page, site: str) -> None:
    start = views.first()
    assert start is not None
    who, whom = (next(job for job in views.jobs(start.seen) if job["kind"] == "encoder" and job["job"] == name) for name in ("who", "whom"))
    page_watch.goto(f"{site}/translation?step=3")
    expect(page_watch.locator(f"{JOBS}[aria-pressed=true]")).to_contain_text(who["name"]["en"])
    words = page_watch.locator(".tfe-attention .tfe-words")
    expect(words).to_contain_text(f"“{start.seen.source[who['row']]}” ({who['row']})")
    expect(words).to_contain_text(f"“{start.seen.source[who['col']]}” ({who['col']})")
    page_watch.locator(JOBS, has_text=whom["name"]["en"]).click()
    expect(words).to_contain_text(f"“{start.seen.source[whom['col']]}” ({whom['col']})")
    addressed(page_watch, _head=f"{whom['layer'] + 1}.{whom['head'] + 1}", _row=str(whom["row"]), _col=str(whom["col"]))
