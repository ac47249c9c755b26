"""The lab of sparse attention as a visitor meets it: a digit finished by every model, a wrong stride, a text in its place."""

from __future__ import annotations

import re

from playwright.sync_api import expect

from explorer.labs.sparse_transformer import about
from explorer.labs.sparse_transformer.page import LAB
from tests.browser.conftest import Visit
from tests.browser.staged import Picture, numbers
from tests.browser.visiting import chip, error, finished, go
from tests.browser.waiting import addressed, becomes
from tests.fitting import refused_by_axe


def test_another_seed_makes_another_digit_live(visit: Visit) -> None:
    page = visit(f"{LAB.path}?v=1&keep=27")
    page.locator(".tfe-ask-seed").fill("12")
    go(page).click()
    finished(page)
    addressed(page, seed="12")
    expect(page.locator(".tfe-digits .tfe-words")).to_contain_text("given rows cost")


def test_a_stride_that_misses_the_column_makes_the_same_digit_dearer(visit: Visit) -> None:
    page = visit(f"{LAB.path}?v=1&keep=28")
    finished(page)
    digits = Picture(page, "digits")
    page.locator(".tfe-change [data-field=stride]:visible").press("ArrowLeft")  # 27
    addressed(page, stride="27")
    expect(page.locator(".tfe-change")).to_contain_text("With stride 27")
    becomes(page, lambda: len(numbers(page)), sum(one["config"]["kind"] != "full" for one in about.facts().values()))
    expect(page.locator(".tfe-change")).to_contain_text("nats more")
    # The digits are those of the changed models; B shows the run before, Esc takes the change off, and the locked pixel stays.
    digits.shows("row and column, stride 27")
    expect(chip(page)).to_contain_text("changed: with stride 27")
    locked = digits.find().get_attribute("data-drawn")
    assert locked is not None and re.search(r" pos=\d+$", locked), locked
    page.keyboard.press("b")
    digits.shows("row and column, stride 28")
    digits.drawn(locked)
    page.keyboard.press("b")
    digits.shows("row and column, stride 27")
    page.keyboard.press("Escape")
    addressed(page, stride=None)
    expect(chip(page)).to_be_hidden()
    digits.drawn(locked)


def test_a_text_takes_the_place_of_the_digits_and_gives_it_back(visit: Visit) -> None:
    page = visit(LAB.path)
    of_digit, of_text = page.locator(".tfe-digits"), page.locator(".tfe-reading")
    expect(of_digit).to_be_visible()
    expect(of_text).to_be_hidden()
    page.locator(".tfe-ask [data-key=text]").click()
    page.locator(".tfe-ask [data-field=length]").fill("20")
    page.locator(".tfe-ask-box").fill("It was a dark and stormy night; the rain fell")
    page.locator(".tfe-ask-box").press("Control+Enter")
    finished(page)
    expect(of_digit).to_be_hidden()
    page.wait_for_selector(".tfe-reading[data-drawn]:not([data-drawn$=waits])")
    expect(of_text.locator(".tfe-words")).to_contain_text(re.compile(r"its pattern lets it look at \d+ of the \d+ before it"))
    page.locator(".tfe-change [data-knob=pattern] [data-key=strided]").click()
    addressed(page, pattern="strided")
    expect(page.locator(".tfe-change .tfe-words")).to_contain_text("With the strided pattern, the fixed model")
    assert refused_by_axe(page, ".tfe-main") == []
    page.locator(".tfe-ask [data-key=digit]").click()
    page.locator(".tfe-ask-example").first.click()
    expect(of_digit).to_be_visible()
    expect(of_text).to_be_hidden()
    expect(page.locator(".tfe-change")).to_contain_text("as trained")


def test_what_cannot_be_read_is_refused_in_one_sentence(visit: Visit) -> None:
    page = visit(f"{LAB.path}?v=1&drawing=test%3A99")
    expect(error(page)).to_contain_text("There is no held-out picture 99; there are 0 to 19.")
