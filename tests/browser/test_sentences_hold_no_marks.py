"""What a page says in words holds nothing that nobody sees, whatever a visitor has typed."""

from __future__ import annotations

import re
from urllib.parse import quote

import pytest
from playwright.sync_api import expect

from tests.explorer.test_true_sentences import MARKS, RAW, TYPED
from tests.visits import BUSY, Visit

SAID = (
    ".tfe-words, .tfe-ask-note, .tfe-error, .tfe-note, .tfe-units, .tfe-ask-given, .tfe-ask-answer"
)
MORE = {
    "reformer": "&mode=text",
    "sparse_transformer": "&task=text&length=9",
    "language_model": "&length=9",
}
ENDED = re.compile("live|remembered|stored|refused")


@pytest.mark.parametrize("slug", TYPED)
def test_a_hostile_text_reaches_no_sentence_raw(slug: str, visit: Visit) -> None:
    text = quote(f"Two {MARKS} dogs \x07run on the grass.")
    page = visit(f"/{slug}?v=1&{TYPED[slug]}={text}{MORE.get(slug, '')}")
    expect(page.locator(BUSY)).to_have_count(0)
    expect(page.locator(".tfe-badge").first).to_have_text(ENDED)
    said = page.locator(SAID).evaluate_all(
        "(all) => all.filter((one) => one.checkVisibility()).map((one) => one.textContent)"
    )
    assert said and not [one for one in said if RAW.search(one)], [
        one for one in said if RAW.search(one)
    ]
