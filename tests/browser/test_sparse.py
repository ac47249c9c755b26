"""The lab of sparse attention as a visitor meets it: a digit finished by every model, a wrong stride, a text in its place."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

from explorer.labs.sparse_transformer.page import LAB
from tests.browser.visiting import finished
from tests.browser.waiting import addressed
from tests.visits import Visit

pytestmark = pytest.mark.xdist_group("sparse_transformer walk", 2)  # on the page of the promises that hold for every lab


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
    page.locator(".tfe-ask [data-key=digit]").click()
    page.locator(".tfe-ask-example").first.click()
    expect(of_digit).to_be_visible()
    expect(of_text).to_be_hidden()
    expect(page.locator(".tfe-change")).to_contain_text("as trained")
