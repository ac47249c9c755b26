"""The labs on long texts as a visitor meets them: a text of one's own, the memory cut, a span dragged, a link kept, what cannot be read."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect

from explorer.lab import Lab
from explorer.labs.adaptive_span.page import LAB as SPAN
from explorer.labs.transformer_xl.page import LAB as XL
from tests.browser.staged import numbers
from tests.browser.waiting import addressed, becomes

LIVE = re.compile(r"live · [\d.]+ m?s|remembered")
NUMBER = re.compile(r"^[+−]?\d\.\d{2,3}$")
SLOW = 240_000  # milliseconds that a run may take while the machine does other things
SENTENCE = "The captain went down to the harbour, and nobody saw him come back. "
expect.set_options(timeout=60_000)  # five seconds, Playwright's own patience, are too few beside a training run
LABS = pytest.mark.parametrize("lab", [XL, SPAN], ids=["transformer_xl", "adaptive_span"])
MECHANISM = {XL.slug: "segments", SPAN.slug: "masks"}


def opened(page: Page, site: str, lab: Lab, query: str = "") -> Page:
    """The lab, drawn and listening."""
    page.goto(f"{site}{lab.path}" + (f"?{query}" if query else ""))
    expect(page.locator(".tfe-ask-go")).to_be_visible(timeout=SLOW)
    page.wait_for_selector(".tfe-reading[data-drawn]:not([data-drawn$=waits])", state="attached", timeout=SLOW)
    page.wait_for_selector(f".tfe-{MECHANISM[lab.slug]}[data-drawn]", state="attached", timeout=SLOW)
    expect(page.locator(".tfe-change-knobs")).to_be_visible()
    return page


def finished(page: Page) -> None:
    """Waits for the live result."""
    expect(page.locator(".tfe-ask .tfe-badge")).to_have_text(LIVE, timeout=SLOW)


def number(page: Page) -> float:
    """What the change costs, in bits per character, once it is known."""
    becomes(page, lambda: any(NUMBER.fullmatch(said) for said, _ in numbers(page).values()), True)
    return float(next(iter(numbers(page).values()))[0].replace("−", "-"))


@LABS
def test_a_text_of_one_s_own_is_read_and_written_on_and_stands_in_the_link(site: str, page_watch: Page, lab: Lab) -> None:
    opened(page_watch, site, lab)
    page_watch.locator(".tfe-ask-box").fill(SENTENCE * 4)
    page_watch.locator(".tfe-ask-box").press("Control+Enter")
    finished(page_watch)
    addressed(page_watch, text=SENTENCE * 4)
    page_watch.wait_for_selector(".tfe-reading[data-drawn]:not([data-drawn$=waits])", state="attached", timeout=SLOW)
    expect(page_watch.locator(".tfe-reading")).to_contain_text(f"The first {len(SENTENCE) * 4} characters were given")
    page_watch.reload()
    opened(page_watch, site, lab, page_watch.url.split("?", 1)[1])
    finished(page_watch)
    expect(page_watch.locator(".tfe-ask-box")).to_have_value(SENTENCE * 4)


def test_cutting_the_memory_makes_the_text_dearer_and_restoring_it_brings_it_back(site: str, page_watch: Page) -> None:
    opened(page_watch, site, XL)
    page_watch.locator("[data-knob=intervention]").get_by_role("radio", name="nothing").click()
    assert number(page_watch) > 0.01
    addressed(page_watch, intervention="cut")
    expect(page_watch.locator(".tfe-segments .tfe-words")).to_contain_text("cut", timeout=SLOW)
    expect(page_watch.locator(".tfe-change")).to_contain_text("nothing remembered")
    page_watch.locator(".tfe-change").get_by_role("button", name=re.compile("Restore")).click()
    addressed(page_watch, intervention=None)
    expect(page_watch.locator(".tfe-segments .tfe-words")).to_contain_text("memory", timeout=SLOW)
    expect(page_watch.locator(".tfe-change-picture")).to_be_hidden()


def test_a_shorter_memory_costs_less_than_none(site: str, page_watch: Page) -> None:
    opened(page_watch, site, XL, "v=1&intervention=cut")
    cut = number(page_watch)
    page_watch.goto(f"{site}{XL.path}?v=1&memory=64")
    page_watch.wait_for_selector(".tfe-reading[data-drawn]:not([data-drawn$=waits])", state="attached", timeout=SLOW)
    assert 0 < number(page_watch) < cut


def test_dragging_a_span_moves_the_loss(site: str, page_watch: Page) -> None:
    opened(page_watch, site, SPAN)
    page_watch.locator(".tfe-masks").get_by_role("radio", name="all heads").click()
    handle = page_watch.get_by_role("slider", name=re.compile("^Span z of all heads"))
    handle.focus()
    page_watch.keyboard.press("Home")  # every head sees its ramp alone
    assert number(page_watch) > 0.005
    assert "spans=" in page_watch.evaluate("location.search")
    expect(page_watch.locator(".tfe-change")).to_contain_text("With every head at z = 0")


@LABS
@pytest.mark.parametrize(("text", "said"), [(" \n\t ", "white space"), ("a" * 100_000, "100,000 characters")], ids=["blank", "too long"])
def test_what_cannot_be_read_is_refused_in_one_sentence(site: str, page_watch: Page, lab: Lab, text: str, said: str) -> None:
    opened(page_watch, site, lab)
    page_watch.locator(".tfe-ask-box").fill(text)
    page_watch.locator(".tfe-ask-go").click()
    expect(page_watch.locator(".tfe-ask-error")).to_contain_text(said, timeout=SLOW)
    expect(page_watch.locator(".tfe-ask-box")).to_have_value(text)
    expect(page_watch.locator(".tfe-reading .tfe-words")).to_contain_text("bits")


@LABS
def test_characters_that_no_book_holds_are_named_and_never_markup(site: str, page_watch: Page, lab: Lab) -> None:
    opened(page_watch, site, lab)
    page_watch.locator(".tfe-ask-box").fill("<img src=x onerror=alert(1)> 漢字 שלום, he said, and went on.")
    page_watch.locator(".tfe-ask-go").click()
    finished(page_watch)
    expect(page_watch.locator(".tfe-ask-note")).to_contain_text("漢")
    assert page_watch.locator("img[onerror], img[src=x]").count() == 0
