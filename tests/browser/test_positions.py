"""The panel about word order in a real browser: the signal, another order, hostile words, phones
and the dark."""

from __future__ import annotations

from urllib.parse import quote_plus

from playwright.sync_api import Page, expect

from tests.browser.staged import joined
from tests.browser.visiting import finished
from tests.browser.waiting import addressed, quiet, stands
from tests.visits import Visit

PANEL = ".tfe-positions"
DRAWN = f"{PANEL} [data-drawn=shuffled]"
HOSTILE = "<svg/onload=alert(5)> '-alert(6)-' <iframe> {{x}} \u202ex"


def order(page: Page) -> list[str]:
    """The shuffled sentence, piece by piece."""
    return page.locator(f"{PANEL} .tfe-opened-pieces").nth(1).locator("bdi").all_inner_texts()


def test_only_the_signal_tells_the_order(
    visit: Visit,
) -> None:
    # the panel has shown nothing yet
    page, faults = (
        visit(f"/translation?v=1&sentence={quote_plus(HOSTILE)}", anew=True),
        visit.faults,
    )
    panel = page.locator(PANEL)
    expect(panel.locator("summary")).to_have_text("What tells the model where a word stands?")
    finished(page)
    asked = joined(faults)
    panel.locator("summary").press("Enter")
    stands(page, DRAWN)
    assert joined(faults) == asked + 1
    assert panel.locator(":is(img, iframe, script, a[href])").count() == 0
    before = order(page)
    assert "alert" in "".join(before)
    rows = panel.locator(".tfe-opened-table tbody tr")
    assert "10⁻" in rows.nth(1).inner_text()
    without = rows.nth(1).locator("td.text").all_inner_texts()
    assert without[0] == without[1]
    panel.locator("button", has_text="Shuffle again").press("Enter")
    expect(panel.locator(".tfe-opened-pieces").nth(1).locator("bdi")).not_to_have_text(before)
    assert sorted(order(page)) == sorted(before)
    addressed(page, _order="2")
    # The two other looks are in the browser already.
    quiet(page, faults)
    asked = len(faults.requests)
    panel.locator("[role=radio]", has_text="As in the lecture").click()
    stands(page, f"{PANEL} [data-drawn=signal-textbook]")
    panel.locator("[role=radio]", has_text="All pairs").click()
    stands(page, f"{PANEL} [data-drawn=alike-map-textbook]")
    numbers = page.evaluate(
        "document.querySelector('.tfe-positions [data-drawn=alike-map-textbook]"
        " .js-plotly-plot').data[0].z"
    )
    assert len(numbers) == 32 and numbers[3][3] == 1 and numbers[3][7] == numbers[20][16]
    assert len(faults.requests) == asked
    addressed(page, _signal="textbook", _alike="map")
    visit("/translation?v=1&sentence=dog&_positions=open")
    expect(panel.locator(".tfe-error:visible")).to_contain_text("nothing to shuffle")
