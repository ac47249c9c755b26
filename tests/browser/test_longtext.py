"""The labs on long texts as a visitor meets them: a text of one's own, the memory cut, a span dragged, what cannot be read."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from explorer.lab import Lab
from explorer.labs.adaptive_span.page import LAB as SPAN
from explorer.labs.transformer_xl.page import LAB as XL
from tests.browser.conftest import Visit
from tests.browser.visiting import error, finished, go
from tests.browser.waiting import addressed

SENTENCE = "The captain went down to the harbour, and nobody saw him come back. "
LABS = pytest.mark.parametrize("lab", [XL, SPAN], ids=["transformer_xl", "adaptive_span"])
MECHANISM = {XL.slug: "segments", SPAN.slug: "masks"}


def opened(visit: Visit, lab: Lab, query: str = "") -> Page:
    """The lab, its text and its mechanism drawn."""
    page = visit(f"{lab.path}?{query}")
    page.wait_for_selector(".tfe-reading[data-drawn]:not([data-drawn$=waits])", state="attached")
    page.wait_for_selector(f".tfe-{MECHANISM[lab.slug]}[data-drawn]", state="attached")
    return page


@LABS
def test_a_text_of_one_s_own_is_read_and_written_on_and_what_cannot_be_read_is_refused(visit: Visit, lab: Lab) -> None:
    page = opened(visit, lab)
    box = page.locator(".tfe-ask-box")
    box.fill(SENTENCE * 4)
    box.press("Control+Enter")
    finished(page)
    addressed(page, text=SENTENCE * 4)
    expect(page.locator(".tfe-reading")).to_contain_text(f"The first {len(SENTENCE) * 4} characters were given")
    expect(box).to_have_value(SENTENCE * 4)
    for text, said in ((" \n\t ", "white space"), ("a" * 100_000, "100,000 characters")):
        box.fill(text)
        go(page).click()
        expect(error(page)).to_contain_text(said)
        expect(box).to_have_value(text)
        expect(page.locator(".tfe-reading .tfe-words")).to_contain_text("bits")


@LABS
def test_characters_that_no_book_holds_are_named_and_never_markup(visit: Visit, lab: Lab) -> None:
    page = opened(visit, lab)
    page.locator(".tfe-ask-box").fill("<img src=x onerror=alert(1)> 漢字 שלום, he said, and went on.")
    go(page).click()
    finished(page)
    expect(page.locator(".tfe-ask-note")).to_contain_text("漢")
    assert page.locator("img[onerror], img[src=x]").count() == 0
