"""A text of one's own in labs that read any: it is read whatever is in it, and never becomes
markup; too long a one is refused."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests.browser.visiting import error, finished, go
from tests.browser.waiting import addressed
from tests.visits import Visit

SENTENCE = "A dog שלום </script><img src=x onerror=alert(1)> 漢字 runs e\u0301 👩‍👩‍👧."
PASSAGE = (
    "<img src=x onerror=alert(1)> 漢字 שלום, he said, and went on. The captain went down to the"
    " harbour. "
)
# By lab the field of its text and what is written there, its box, and the views that it leads to.
LABS = {
    "translation": ("sentence", SENTENCE, ".tfe-ask-story", ("attention",)),
    "transformer_xl": ("text", PASSAGE, ".tfe-ask-box", ("reading", "segments")),
    "adaptive_span": ("text", PASSAGE, ".tfe-ask-box", ("reading", "masks")),
}


@pytest.mark.parametrize(
    "slug", [pytest.param(slug, marks=pytest.mark.xdist_group(f"{slug} walk", 2)) for slug in LABS]
)
def test_any_text_is_read_or_refused(visit: Visit, slug: str) -> None:
    field, own, name, views = LABS[slug]
    page = visit(f"/{slug}")
    box = page.locator(name)
    box.fill(own)
    go(page).click()
    finished(page)
    addressed(page, **{field: own})
    for view in views:
        page.wait_for_selector(
            f".tfe-{view}[data-drawn]:not([data-drawn$=waits])", state="attached"
        )
    assert page.locator(".tfe-main :is(img[src=x], script)").count() == 0
    for text in (" \n\t ", "a" * 100_000):
        box.fill(text)
        go(page).click()
        expect(error(page)).to_contain_text(
            "100,000 characters" if text.strip() else "white space" if field == "text" else "empty"
        )
        expect(box).to_have_value(text)
