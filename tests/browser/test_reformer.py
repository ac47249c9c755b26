"""The Reformer's lab as a visitor meets it: words said twice, rounds taken away, heads silenced,
panels opened, letters it cannot read."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

from explorer.labs import LABS
from tests.browser.staged import Picture
from tests.browser.visiting import answer, chip, finished, restored
from tests.browser.waiting import addressed, becomes, measure_box
from tests.visits import Visit

LAB = next(lab for lab in LABS if lab.slug == "reformer")

# on the page of the promises that hold for every lab
pytestmark = pytest.mark.xdist_group("reformer walk", 2)

MAP = (
    "document.querySelector('.tfe-attention canvas').marks?.findLast((mark) => mark.kind ==="
    " 'cells' && mark.rows === mark.columns)"
)


def test_a_word_is_given_and_one_round_is_compared_with_training(visit: Visit) -> None:
    page = visit(LAB.path)
    page.locator(".tfe-ask-line").fill("tweedledum and tweedledee")
    page.locator(".tfe-ask-line").press("Enter")
    finished(page)
    addressed(page, text="tweedledum and tweedledee", rounds=None)
    becomes(page, lambda: "".join(Picture(page, "spelling").texts(face="mono"))[:10], "tweedledum")
    place = page.locator(".tfe-hashing").get_attribute("data-drawn")
    assert place is not None
    page.locator(".tfe-knob[data-knob=rounds] input").press("ArrowRight")
    addressed(page, rounds="1")
    expect(page.locator(".tfe-change .tfe-words")).to_contain_text("With 1 round of hashing")
    becomes(page, lambda: "share of right letters" in Picture(page, "change").texts(), True)
    expect(chip(page)).to_contain_text("changed: with 1 round of hashing")
    model, head, position, *_ = place.split(" ")  # the change leaves in view what was looked at
    expect(page.locator(".tfe-hashing")).to_have_attribute(
        "data-drawn", re.compile(rf"^{model} {re.escape(head)} {position} ")
    )
    restored(page)
    addressed(page, rounds=None)
    expect(chip(page)).to_be_hidden()


def test_a_single_round_costs_a_text_bits(visit: Visit) -> None:
    page = visit(LAB.path)
    page.locator(".tfe-ask-head").get_by_text("Read a text").click()
    # longer than the two chunks that anybody sees
    text = "The rain had gone, and the captain came up the road. " * 6
    page.locator(".tfe-ask-story").fill(text)
    page.locator(".tfe-ask-story").press("Enter")
    finished(page)
    expect(answer(page)).to_contain_text("bits per character")
    expect(page.locator(".tfe-spelling .tfe-words").first).to_contain_text("bits")
    expect(chip(page)).to_be_hidden()
    expect(page.locator(".tfe-attention-exact")).to_be_visible()
    # The sentence speaks of the rows that stand there, once they have come.
    told = re.compile(r"weights of queries .* gives key .*; the row sums to 1.00")
    expect(page.locator(".tfe-attention .tfe-words")).to_contain_text(told)
    page.locator(".tfe-knob[data-knob=rounds] input").press("ArrowRight")
    expect(page.locator(".tfe-change .tfe-words")).to_contain_text("With 1 round of hashing")
    expect(page.locator(".tfe-change .tfe-words")).to_contain_text("bits per character instead of")


def test_long_words_fit_one_screen(visit: Visit) -> None:
    word = "to be or not to be that is the question " * 2
    page = visit(f"{LAB.path}?v=1&text={word.strip().replace(' ', '+')}")
    finished(page)
    page.wait_for_function(f"{MAP}?.rows === 159")
    box = measure_box(page.locator(".tfe-attention"))
    assert box["height"] < 1100
    place = page.evaluate(f"{MAP}.box")
    x, y = (
        place[f"{side}0"] * (1 - share) + place[f"{side}1"] * share
        for side, share in (("x", 0.1), ("y", 0.9))
    )
    page.locator(".tfe-attention canvas").click(position={"x": x, "y": y})
    page.wait_for_function(
        "document.querySelector('.tfe-attention canvas').marks.some(({ text }) => /^Row 1[34]\\d,"
        " all 159 keys/.test(text))"
    )
    expect(page.locator(".tfe-attention .tfe-words")).to_contain_text(
        re.compile("gives key .*; the row sums to 1.00")
    )


def test_both_panels_answer_for_the_run_in_view(visit: Visit) -> None:
    page = visit(f"{LAB.path}?_missed=open&_rewind=open")
    for panel in (".tfe-missed [data-drawn]", ".tfe-rewind .tfe-asked[data-drawn]"):
        expect(page.locator(panel).first).to_be_attached()
    assert page.locator(".tfe-folded .tfe-error:visible").count() == 0
