"""The panel about word order in a real browser: the signal, another order, hostile words, phones and the dark."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any
from urllib.parse import quote_plus

from playwright.sync_api import Page, expect

from tests.browser.waiting import addressed, quiet, stands

NewPage = Callable[..., tuple[Page, Any]]
PANEL = ".tfe-positions"
LIVE = re.compile(r"live · [\d.]+ m?s|remembered")
DRAWN = f"{PANEL} [data-drawn=shuffled]"
HOSTILE = (
    "<img src=x onerror=alert(1)> {size} ⟦q:x⟧ &lt;b&gt; </details> \u202ex",
    "<svg/onload=alert(5)> '-alert(6)-' <a href=//e.example> <iframe> {{x}} %00",
)


def opened(page: Page, site: str, query: str = "") -> Page:
    """The page with the panel open and drawn."""
    page.goto(f"{site}/translation?{query}&_positions=open" if query else f"{site}/translation?_positions=open")
    stands(page, DRAWN)
    return page


def order(page: Page) -> list[str]:
    """The shuffled sentence, piece by piece."""
    return page.locator(f"{PANEL} .tfe-opened-pieces").nth(1).locator("bdi").all_inner_texts()


def test_another_order_changes_what_is_read_with_the_signal_alone(new_page: NewPage, site: str) -> None:
    page, faults = new_page()
    page.goto(f"{site}/translation")
    summary = page.locator(f"{PANEL} summary")
    expect(summary).to_have_text("What tells the model where a word stands?")
    asked = sum("/queue/join" in address for address in faults.requests)
    summary.focus()
    page.keyboard.press("Enter")
    stands(page, DRAWN)
    assert sum("/queue/join" in address for address in faults.requests) == asked + 1
    rows = page.locator(f"{PANEL} .tfe-opened-table tbody tr")
    assert "× 10⁻" in rows.nth(1).inner_text()
    without = rows.nth(1).locator("td.text").all_inner_texts()
    assert without[0] == without[1]
    before = order(page)
    page.locator(f"{PANEL} button", has_text="Shuffle again").focus()
    page.keyboard.press("Enter")
    expect(page.locator(f"{PANEL} .tfe-opened-pieces").nth(1).locator("bdi")).not_to_have_text(before)
    assert sorted(order(page)) == sorted(before)
    addressed(page, _order="2")
    # The two other looks are in the browser already.
    quiet(page, faults)
    asked = len(faults.requests)
    page.locator(f"{PANEL} [role=radio]", has_text="As in the texts").click()
    stands(page, f"{PANEL} [data-drawn=signal-textbook]")
    page.locator(f"{PANEL} [role=radio]", has_text="All pairs").click()
    stands(page, f"{PANEL} [data-drawn=alike-map-textbook]")
    numbers = page.evaluate("document.querySelector('.tfe-positions [data-drawn=alike-map-textbook] .js-plotly-plot').data[0].z")
    assert len(numbers) == 32 and numbers[3][3] == 1 and numbers[3][7] == numbers[20][16]
    assert len(faults.requests) == asked
    addressed(page, _signal="textbook", _alike="map")


def test_hostile_words_stay_words(page_watch: Page, site: str) -> None:
    for sentence in HOSTILE:
        page = opened(page_watch, site, f"v=1&sentence={quote_plus(sentence)}")
        assert page.locator(f"{PANEL} :is(img, iframe, script, a[href])").count() == 0
        assert "alert" in "".join(order(page))
        expect(page.locator(".tfe-ask .tfe-badge")).to_have_text(LIVE)  # nothing is on its way when the page is left
    page.locator(f"{PANEL} [data-drawn=shuffled] .tfe-export[data-kind=table]").click()
    expect(page.locator(f"{PANEL} [data-drawn=shuffled] tbody tr").first).to_be_visible()
    for kind in ("SVG", "HTML", "CSV", "NPZ"):
        with page.expect_download() as saved:
            page.locator(f"{PANEL} [data-drawn=shuffled] .tfe-export[data-kind={kind}]").click()
        if kind in {"SVG", "HTML"}:
            assert "<svg/onload" not in saved.value.path().read_text("utf-8").split("<script>")[0]


def test_one_word_cannot_be_shuffled_and_the_panel_says_so(page_watch: Page, site: str) -> None:
    page_watch.goto(f"{site}/translation?v=1&sentence=dog&_positions=open&lang=zh")
    expect(page_watch.locator(f"{PANEL} .tfe-error")).to_contain_text("无法打乱")
