"""A link that names a head, a row, a place or a step that is not there: the page says so, shows its
usual view and mends the address."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from explorer.contract.lab import OpenLab
from explorer.labs import LABS
from tests.browser.waiting import addressed
from tests.known import known

# What each lab's link can look at, of the things that the other labs name too.
LOOKS = {
    "cost": {},
    "translation": {"_head": "99.99", "_row": "1e9"},
    "image_transformer": {"_head": "99.99", "_pos": "99999"},
    "music": {"_head": "99.99", "_note": "1e9"},
    "transformer_xl": {"_head": "99.99", "_pos": "99999"},
    "adaptive_span": {"_head": "0.1", "_pos": "-1", "_change_of": "nobody"},
    "sparse_transformer": {"_head": "99.99", "_pos": "1e9"},
    "reformer": {"_head": "99.99", "_pos": "99999"},
    "act_rnn": {"_step": "99", "_pos": "1e9"},
    "universal_transformer": {"_head": "99.99", "_pos": "99999"},
} | known("LOOKS")
# The same inside panels that the link unfolds.
FOLDED = {
    "translation": {
        "weight": {"wstep": "99"},
        "beam": {"bstep": "99", "bnode": "9999", "balpha": "77", "btree": "9"},
        "forced": {"fword": "99", "fhead": "9.9"},
    },
    "music": {"skew": {"squeries": "77", "sstep": "nowhere", "sfrom": "99999", "scell": "1e9"}},
    "transformer_xl": {
        "terms": {"tqueries": "77", "tcell": "999.1"},
        "memories": {"bmemory": "77"},
    },
    "reformer": {"rewind": {"rewindstep": "99"}},
}


@pytest.mark.parametrize("lab", LABS, ids=lambda lab: lab.slug)
def test_unknown_names_leave_the_address(lab: OpenLab, site: str, page_watch: Page) -> None:
    folded = FOLDED.get(lab.slug, {})
    looks = LOOKS[lab.slug] | {
        f"_{key}": value for panel in folded.values() for key, value in panel.items()
    }
    unfolds = {f"_{panel}": "open" for panel in folded}
    page_watch.goto(
        f"{site}{lab.path}?lang=en&step=77&"
        + "&".join(f"{key}={value}" for key, value in (unfolds | looks).items())
    )
    said = page_watch.locator(".tfe-shell-told")
    for key, value in {"step": "77", **looks}.items():
        expect(said).to_contain_text(
            f"The link's “{key}” is “{value}”, which is not on this page: its usual view is shown."
        )
    expect(said.locator("p")).to_have_count(1 + len(looks))
    addressed(page_watch, step=None, **unfolds, **dict.fromkeys(looks))
    expect(page_watch.locator(".tfe-shell-note")).to_be_hidden()
    expect(page_watch.locator(".tfe-badge").first).to_have_text("stored")
    if lab is LABS[0]:  # the sentence is the frame's
        page_watch.locator(".tfe-shell-lang").click()
        expect(said).to_contain_text("链接中的“step”是“77”，本页没有")


def test_what_a_link_says_is_text_and_never_long(site: str, page_watch: Page) -> None:
    page_watch.goto(
        f"{site}/translation?lang=en&_head=%3Cimg+src%3Dx+onerror%3Dalert(1)%3E" + "9" * 200
    )
    said = page_watch.locator(".tfe-shell-told p")
    expect(said).to_contain_text("<img src=x onerror=alert(1)>")
    assert len(said.inner_text()) < 160
    assert said.locator("img").count() == 0
