"""The Reformer's lab as a visitor meets it: words said twice, rounds taken away, heads silenced, panels opened, letters it cannot read."""

from __future__ import annotations

import re

from playwright.sync_api import Page, expect

from explorer.labs.reformer import about
from explorer.labs.reformer.page import LAB
from explorer.labs.reformer.texts import NAMES
from tests.browser.staged import Picture
from tests.browser.waiting import addressed, becomes

LIVE = re.compile(r"live · [\d.]+ m?s|remembered")
SLOW = 240_000  # milliseconds that a run may take while the machine does other things
MAP = "document.querySelector('.tfe-attention canvas').marks?.findLast((mark) => mark.kind === 'cells' && mark.rows === mark.columns)"
expect.set_options(timeout=60_000)  # five seconds, Playwright's own patience, are too few beside a training run


def opened(page: Page, site: str, query: str = "") -> Page:
    """The lab, drawn and listening."""
    page.goto(f"{site}{LAB.path}" + (f"?{query}" if query else ""))
    expect(page.locator(".tfe-ask-go")).to_be_visible(timeout=SLOW)
    expect(page.locator(".tfe-spelling[data-drawn]")).to_be_attached(timeout=SLOW)
    expect(page.locator(".tfe-knob").first).to_be_visible()
    return page


def finished(page: Page) -> None:
    """Waits for the live result."""
    expect(page.locator(".tfe-ask .tfe-badge")).to_have_text(LIVE, timeout=SLOW)


def test_a_word_is_given_and_one_round_is_compared_with_training(site: str, page_watch: Page) -> None:
    opened(page_watch, site)
    page_watch.locator(".tfe-ask-line").fill("tweedledum and tweedledee")
    page_watch.locator(".tfe-ask-line").press("Enter")
    finished(page_watch)
    addressed(page_watch, text="tweedledum and tweedledee", rounds=None)
    becomes(page_watch, lambda: "".join(Picture(page_watch, "spelling").texts(face="mono"))[:10], "tweedledum")
    place = page_watch.locator(".tfe-hashing").get_attribute("data-drawn")
    slider = page_watch.locator(".tfe-knob[data-knob=rounds] input")
    slider.focus()
    page_watch.keyboard.press("ArrowRight")
    addressed(page_watch, rounds="1")
    expect(page_watch.locator(".tfe-change .tfe-words")).to_contain_text("With 1 round of hashing")
    becomes(page_watch, lambda: "share of right letters" in Picture(page_watch, "change").texts(), True)
    chip = page_watch.locator(".tfe-changed-chip")
    expect(chip).to_contain_text("changed: with 1 round of hashing")
    assert place is not None
    model, head, position, *_ = place.split(" ")  # the change leaves in view what was looked at
    expect(page_watch.locator(".tfe-hashing")).to_have_attribute("data-drawn", re.compile(rf"^{model} {re.escape(head)} {position} "))
    page_watch.locator(".tfe-change-restore").click()
    addressed(page_watch, rounds=None)
    expect(chip).to_be_hidden(timeout=SLOW)


def test_a_text_is_read_letter_by_letter_and_a_single_round_costs_it_bits(site: str, page_watch: Page) -> None:
    opened(page_watch, site)
    page_watch.locator(".tfe-ask-head").get_by_text("Read a text").click()
    text = "The rain had gone, and the captain came up the road. " * 6  # longer than the two chunks that anybody sees
    page_watch.locator(".tfe-ask-story").fill(text)
    page_watch.locator(".tfe-ask-story").press("Enter")
    finished(page_watch)
    expect(page_watch.locator(".tfe-ask-answer")).to_contain_text("bits per character")
    expect(page_watch.locator(".tfe-spelling .tfe-words").first).to_contain_text("bits")
    expect(page_watch.locator(".tfe-changed-chip")).to_be_hidden()
    exact = page_watch.locator(".tfe-attention-exact")
    expect(exact).to_be_visible()
    first = (exact.get_attribute("data-exact") or "").split()[1]
    words = page_watch.locator(".tfe-attention .tfe-words")
    expect(words).to_contain_text(re.compile(rf"weights of queries {first}–\d+ on keys .* gives key .*; the row sums to 1.00"))
    slider = page_watch.locator(".tfe-knob[data-knob=rounds] input")
    slider.focus()
    page_watch.keyboard.press("ArrowRight")
    expect(page_watch.locator(".tfe-change .tfe-words")).to_contain_text("With 1 round of hashing", timeout=SLOW)
    expect(page_watch.locator(".tfe-change .tfe-words")).to_contain_text("bits per character instead of")


def test_the_attention_of_a_long_word_stands_on_one_screen_and_tells_any_row(site: str, page_watch: Page) -> None:
    word = "to be or not to be that is the question " * 2
    opened(page_watch, site, f"v=1&text={word.strip().replace(' ', '+')}")
    finished(page_watch)
    page_watch.wait_for_function(f"{MAP}?.rows === 159", timeout=SLOW)
    box = page_watch.locator(".tfe-attention").bounding_box()
    assert box is not None and box["height"] < 1100
    place = page_watch.evaluate(f"{MAP}.box")
    x, y = (place[f"{side}0"] * (1 - share) + place[f"{side}1"] * share for side, share in (("x", 0.1), ("y", 0.9)))
    page_watch.locator(".tfe-attention canvas").click(position={"x": x, "y": y})
    page_watch.wait_for_function(
        "document.querySelector('.tfe-attention canvas').marks.some(({ text }) => /^Row 1[34]\\d, all 159 keys/.test(text))"
    )
    expect(page_watch.locator(".tfe-attention .tfe-words")).to_contain_text(re.compile("gives key .*; the row sums to 1.00"))


def test_the_head_in_view_is_silenced_and_given_back(site: str, page_watch: Page) -> None:
    model = list(about.sizes("word"))[-1]
    name = NAMES[model]["en"]
    opened(page_watch, site, f"lang=en&_model={model}&_head=1.3")
    knob = page_watch.locator(".tfe-knob[data-knob=silenced]")
    knob.get_by_role("button", name=f"Silence head 1·3 of {name}").click()
    addressed(page_watch, silenced=f"{model}.0.2")
    expect(page_watch.locator(".tfe-change .tfe-words")).to_contain_text(f"Without head 1·3 of {name}", timeout=SLOW)
    expect(page_watch.locator(".tfe-change-picture")).to_be_visible()  # four heads that do one job: without one, maybe nothing changes
    knob.locator(".tfe-knob-chip").click()
    addressed(page_watch, silenced=None)


def test_a_letter_that_no_word_has_is_named_and_the_last_answer_stays(site: str, page_watch: Page) -> None:
    opened(page_watch, site)
    before = page_watch.locator(".tfe-ask-answer").inner_text()
    page_watch.locator(".tfe-ask-line").fill("<b>Word</b>")
    page_watch.locator(".tfe-ask-line").press("Enter")
    error = page_watch.locator(".tfe-ask-error")
    expect(error).to_contain_text("but not: / < > W", timeout=SLOW)
    assert error.locator("b").count() == 0
    assert page_watch.locator(".tfe-ask-answer").inner_text() == before


def test_both_panels_answer_for_the_run_in_view(site: str, page_watch: Page) -> None:
    opened(page_watch, site, "lang=en&_missed=open&_rewind=open")
    expect(page_watch.locator(".tfe-missed [data-drawn]")).to_be_attached(timeout=SLOW)
    expect(page_watch.locator(".tfe-rewind .tfe-asked[data-drawn]")).to_be_attached(timeout=SLOW)
    assert page_watch.locator(".tfe-folded .tfe-error:visible").count() == 0
