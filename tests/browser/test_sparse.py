"""The lab of sparse attention as a visitor meets it: a digit finished by every model, a wrong stride, a drawing, a link kept."""

from __future__ import annotations

import re

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, expect

from explorer.labs.sparse_transformer import about
from explorer.labs.sparse_transformer.page import LAB
from tests.browser.staged import Picture, numbers
from tests.browser.waiting import addressed, becomes

LIVE = re.compile(r"live · [\d.]+ m?s|remembered")
SLOW = 240_000  # milliseconds that a run may take while the machine does other things
expect.set_options(timeout=60_000)  # five seconds, Playwright's own patience, are too few beside a training run


def opened(page: Page, site: str, query: str = "") -> Page:
    """The lab, drawn and listening."""
    page.goto(f"{site}{LAB.path}" + (f"?{query}" if query else ""))
    expect(page.locator(".tfe-ask-go")).to_be_visible(timeout=SLOW)
    page.wait_for_selector(".tfe-patterns[data-drawn]:not([data-drawn$=waits])", state="attached", timeout=SLOW)
    page.wait_for_selector(".tfe-digits[data-drawn]:not([data-drawn$=waits])", state="attached", timeout=SLOW)
    expect(page.locator(".tfe-change-knobs")).to_be_visible()
    return page


def finished(page: Page) -> None:
    """Waits for the live result."""
    expect(page.locator(".tfe-ask .tfe-badge")).to_have_text(LIVE, timeout=SLOW)


def test_another_seed_makes_another_digit_live(site: str, page_watch: Page) -> None:
    opened(page_watch, site)
    page_watch.locator(".tfe-ask-seed").fill("12")
    page_watch.locator(".tfe-ask-go").click()
    finished(page_watch)
    addressed(page_watch, seed="12")
    expect(page_watch.locator(".tfe-digits .tfe-words")).to_contain_text("given rows cost")


def test_a_stride_that_misses_the_column_makes_the_same_digit_dearer(site: str, page_watch: Page) -> None:
    opened(page_watch, site, "v=1&keep=28")
    finished(page_watch)
    digits, chip = Picture(page_watch, "digits"), page_watch.locator(".tfe-changed-chip")
    stride = page_watch.locator(".tfe-change [data-field=stride]:visible")
    stride.focus()
    stride.press("ArrowLeft")  # 27
    addressed(page_watch, stride="27")
    expect(page_watch.locator(".tfe-change")).to_contain_text("With stride 27", timeout=SLOW)
    becomes(page_watch, lambda: len(numbers(page_watch)), sum(one["config"]["kind"] != "full" for one in about.facts().values()))
    expect(page_watch.locator(".tfe-change")).to_contain_text("nats more")
    # The digits are those of the changed models; B shows the run before, Esc takes the change off, and the locked pixel stays.
    digits.shows("row and column, stride 27")
    expect(chip).to_contain_text("changed: with stride 27")
    locked = digits.find().get_attribute("data-drawn")
    assert locked is not None and re.search(r" pos=\d+$", locked), locked
    page_watch.keyboard.press("b")
    digits.shows("row and column, stride 28")
    digits.drawn(locked)
    page_watch.keyboard.press("b")
    digits.shows("row and column, stride 27")
    page_watch.keyboard.press("Escape")
    addressed(page_watch, stride=None)
    expect(chip).to_be_hidden()
    digits.drawn(locked)


def test_a_text_takes_the_place_of_the_digits_and_gives_it_back(site: str, page_watch: Page) -> None:
    opened(page_watch, site)
    of_digit, of_text = page_watch.locator(".tfe-digits"), page_watch.locator(".tfe-reading")
    expect(of_digit).to_be_visible()
    expect(of_text).to_be_hidden()
    page_watch.locator(".tfe-ask [data-key=text]").click()
    page_watch.locator(".tfe-ask-box").fill("It was a dark and stormy night; the rain fell")
    page_watch.locator(".tfe-ask-box").press("Control+Enter")
    finished(page_watch)
    expect(of_digit).to_be_hidden()
    page_watch.wait_for_selector(".tfe-reading[data-drawn]:not([data-drawn$=waits])", timeout=SLOW)
    expect(page_watch.locator(".tfe-reading .tfe-words")).to_contain_text(
        re.compile(r"its pattern lets it look at \d+ of the \d+ before it")
    )
    page_watch.locator(".tfe-change [data-knob=pattern] [data-key=strided]").click()
    addressed(page_watch, pattern="strided")
    expect(page_watch.locator(".tfe-change .tfe-words")).to_contain_text("With the strided pattern, the fixed model", timeout=SLOW)
    found = Axe().run(page_watch)
    assert found.violations_count == 0, found.generate_report()
    page_watch.locator(".tfe-ask [data-key=digit]").click()
    page_watch.locator(".tfe-ask-example").first.click()
    expect(of_digit).to_be_visible(timeout=SLOW)
    expect(of_text).to_be_hidden()
    expect(page_watch.locator(".tfe-change")).to_contain_text("as trained")


def test_what_cannot_be_read_is_refused_in_one_sentence_and_the_digit_stays(site: str, page_watch: Page) -> None:
    page_watch.goto(f"{site}{LAB.path}?v=1&drawing=test%3A99")
    expect(page_watch.locator(".tfe-ask-error")).to_contain_text("There is no held-out digit 99; there are 0 to 19.", timeout=SLOW)
