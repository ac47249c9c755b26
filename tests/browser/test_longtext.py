"""The labs on long texts as a visitor meets them: a text of one's own, the memory cut, a span dragged, what cannot be read."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from explorer.lab import Lab
from explorer.labs.adaptive_span.page import LAB as SPAN
from explorer.labs.transformer_xl.page import LAB as XL
from tests.browser.visiting import error, finished, go
from tests.browser.waiting import addressed
from tests.visits import Visit

OWN = "<img src=x onerror=alert(1)> 漢字 שלום, he said, and went on. The captain went down to the harbour. "
LABS = pytest.mark.parametrize("lab", [XL, SPAN], ids=["transformer_xl", "adaptive_span"])
MECHANISM = {XL.slug: "segments", SPAN.slug: "masks"}


@LABS
def test_a_text_of_one_s_own_is_read_whatever_is_in_it_and_what_cannot_be_read_is_refused(visit: Visit, lab: Lab) -> None:
    page = visit(lab.path)
    box = page.locator(".tfe-ask-box")
    box.fill(OWN)
    box.press("Control+Enter")
    finished(page)
    addressed(page, text=OWN)
    for view in ("reading", MECHANISM[lab.slug]):
        page.wait_for_selector(f".tfe-{view}[data-drawn]:not([data-drawn$=waits])", state="attached")
    expect(page.locator(".tfe-reading")).to_contain_text(f"The first {len(OWN)} characters were given")
    expect(box).to_have_value(OWN)
    expect(page.locator(".tfe-ask-note")).to_contain_text("漢")  # which no book holds
    assert page.locator("img[onerror], img[src=x]").count() == 0
    for text, said in ((" \n\t ", "white space"), ("a" * 100_000, "100,000 characters")):
        box.fill(text)
        go(page).click()
        expect(error(page)).to_contain_text(said)
        expect(box).to_have_value(text)
        expect(page.locator(".tfe-reading .tfe-words")).to_contain_text("bits")
