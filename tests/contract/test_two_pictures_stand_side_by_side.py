"""`/compare`: two heads, two inputs or two labs beside each other, both alive, and their difference
where the maps have one shape."""

from __future__ import annotations

import re
from typing import Any
from urllib.parse import quote

import numpy as np
import pytest
from playwright.sync_api import Page, Route, expect

from explorer.labs import LABS
from explorer.web.site import COMPARE
from tests.browser.waiting import becomes, measure_box
from tests.fitting import refused_by_axe, scrolls_sideways

TRANSLATION = next(lab for lab in LABS if lab.slug == "translation")

# Something is locked in the frame, whose height is then the mark of the next look at it.
MOVED = """(frame) => {
  frame.contentWindow.history.replaceState(null, "", `${frame.contentWindow.location.href}&_row=2`);
  frame.style.height = "1px";
}"""
# Somebody presses a key on the left just as the right is told to show the row of the left.
PRESSED = """addEventListener("message", ({ data }) => data?.look && parent.frames[1] === window &&
  parent.frames[0].document.querySelector(".tfe-attention .tfe-stage-board").dispatchEvent(
    new KeyboardEvent("keydown", { key: "ArrowRight", bubbles: true })), { once: true })"""
SENTENCE = "v=1&sentence=Children+are+playing+soccer+on+a+green+field."


def compared(page: Page, site: str, left: str, right: str, more: str = "") -> None:
    """Both sides drawn."""
    page.goto(f"{site}{COMPARE}?left={quote(left, safe='')}&right={quote(right, safe='')}{more}")
    for at in (0, 1):
        expect(
            page.frame_locator(f"iframe >> nth={at}")
            .locator(".tfe-lone [data-drawn], [data-drawn].tfe-lone")
            .first
        ).to_be_attached()


def settled(page: Page, language: str, waits: str) -> None:
    """Waits until both sides show their sentence in a language, and the difference is one of
    both."""
    for at in (0, 1):
        expect(
            page.frame_locator(f"iframe >> nth={at}")
            .locator(f"html[lang={language}] [data-run*=Children]")
            .first
        ).to_be_attached()
    expect(page.locator(".tfe-difference")).not_to_contain_text(waits)


def test_the_difference_of_two_locked_heads(page_watch: Page, site: str) -> None:
    page = page_watch
    page.add_init_script(PRESSED)
    page.goto(f"{site}/translation?_head=3.1&_row=5")
    page.locator(".tfe-attention .tfe-stage-take summary").click()
    page.locator(".tfe-attention .tfe-stage-take a").first.click()
    words = page.locator(".tfe-difference .tfe-words")
    expect(words).to_contain_text("The rows share")
    sides = [page.frame_locator(f"iframe >> nth={at}").locator(".tfe-attention") for at in (0, 1)]
    expect(sides[1]).to_have_attribute("data-drawn", re.compile(r"head=3\.2"))
    for side in sides:
        expect(side).to_have_attribute("data-drawn", re.compile(r"row=5\b"))

    def apart() -> float:
        """How far the map of the difference is from the difference of the maps, at most."""
        a, b = (
            np.array(side.evaluate("(node) => Array.from(node.files().shown.data)"))
            for side in sides
        )
        shown = page.locator(".tfe-difference").evaluate(
            "(node) => Array.from(node.files().difference.data)"
        )
        return float(np.abs(a - b - shown).max()) if a.shape == b.shape else np.inf

    becomes(page, lambda: apart() < 1e-6, True)
    expect(page, "the address is that of both sides as they are").to_have_url(
        re.compile(r"(_row%3D5\b.*){2}")
    )


def test_unequal_maps_have_no_difference(page_watch: Page, site: str) -> None:
    page = page_watch
    compared(page, site, f"/rnn_attention?{SENTENCE}", f"/translation?{SENTENCE}")
    expect(page.locator(".tfe-difference .tfe-words")).to_contain_text("The rows share")
    right = page.locator(".tfe-compare-side").nth(1)
    right.locator("input").fill("Two dogs are running.")
    right.locator("input").press("Enter")
    expect(page.locator(".tfe-difference")).to_contain_text("different shapes")
    left = page.locator(".tfe-compare-side").nth(0)
    right.locator("select").first.select_option(index=0)
    expect(right.locator("input")).to_have_value("Two dogs are running.")
    expect(left.locator("input")).to_have_value("Children are playing soccer on a green field.")


def test_a_refused_side_draws_no_difference(page_watch: Page, site: str) -> None:
    page = page_watch
    # what a side goes on showing whose input is refused
    first = f"/translation?{TRANSLATION.examples[0]}"
    compared(page, site, first, first)
    right = page.locator(".tfe-compare-side").nth(1)
    refusal, picture, difference = (
        right.get_by_role("alert"),
        right.locator("iframe"),
        page.locator(".tfe-difference"),
    )
    expect(difference.locator(".tfe-words")).to_contain_text("The two are alike")
    expect(refusal).to_be_hidden()
    right.locator("input").fill("dog " * 100)
    right.locator("input").press("Enter")
    expect(refusal).to_contain_text("at most")
    expect(picture, "what it still shows is marked").to_have_css("opacity", "0.45")
    expect(page.locator(".tfe-compare-side").nth(0).get_by_role("alert")).to_be_hidden()
    expect(difference.locator(".tfe-words")).to_be_hidden()
    expect(difference).to_contain_text("once both sides show their result")
    right.locator("input").fill("Two dogs are running.")
    right.locator("input").press("Enter")
    expect(page.frame_locator("iframe >> nth=1").locator(".tfe-attention")).to_have_attribute(
        "data-run", re.compile("dogs")
    )
    expect(refusal).to_be_hidden()
    expect(picture).to_have_css("opacity", "1")
    expect(difference, "of a sentence of another length").to_contain_text("different shapes")


def test_two_sentences_of_one_s_own_go_through_one_lab(page_watch: Page, site: str) -> None:
    said = ("A cat sits here.", "A dog runs.")
    compared(
        page_watch, site, *(f"/rnn_attention?v=1&sentence={one.replace(' ', '+')}" for one in said)
    )
    for at, one in enumerate(said):
        drawn = page_watch.frame_locator(f"iframe >> nth={at}").locator(".tfe-attention[data-run]")
        expect(drawn, "each side asks for its own").to_have_attribute(
            "data-run", re.compile(one.replace(" ", r"\+"))
        )
        expect(page_watch.locator(".tfe-compare-side").nth(at).locator("input")).to_have_value(one)


def test_one_sentence_through_both_decoders(page_watch: Page, site: str) -> None:
    page = page_watch
    compared(page, site, f"/rnn_attention?{SENTENCE}", f"/translation?{SENTENCE}")
    right = page.locator(".tfe-compare-side").nth(1)
    expect(right.locator("select").nth(1), "the Transformer has one picture here").to_be_hidden()
    held: list[Route] = []
    page.route("**/nonautoregressive?*", lambda route: held.append(route))
    right.locator("select").first.select_option("Non-autoregressive")
    expect(right.locator("input")).to_have_value("Children are playing soccer on a green field.")
    right.locator("iframe").evaluate(MOVED)
    expect(
        right.locator("iframe"), "what the sides show has been looked at once more"
    ).not_to_have_css("height", "1px")
    right.locator("select").nth(1).select_option("passes")
    expect(page, "the page that is being left does not take it back").to_have_url(
        re.compile("right=%2Fnonautoregressive")
    )
    becomes(page, lambda: len(held), 2)
    held[-1].continue_()
    page.unroute("**/nonautoregressive?*")
    drawn = page.frame_locator("iframe >> nth=1").locator(
        ".tfe-passes.tfe-lone, .tfe-lone .tfe-passes"
    )
    expect(drawn).to_have_attribute("data-run", re.compile("Children"))
    expect(drawn.locator(".tfe-words"), "piece by piece beside all at once").to_contain_text(
        "one after the other"
    )
    expect(page, "the picture stands in the address").to_have_url(re.compile("figure%3Dpasses"))


def test_both_arrive_on_the_first_screen(new_page: Any, site: str) -> None:
    page, _ = new_page(width=1440, height=900)
    page.goto(site + COMPARE)
    expect(
        page.locator(".tfe-difference .tfe-words"), "a sentence about one row of both"
    ).to_contain_text("In row")
    sides = [page.frame_locator(f"iframe >> nth={at}").locator(".tfe-attention") for at in (0, 1)]

    def same_row() -> bool:
        left, right = (
            re.search(r"\brow=\d+", str(side.get_attribute("data-drawn"))) for side in sides
        )
        return left is not None and right is not None and left[0] == right[0]

    becomes(page, same_row, True)
    for side in sides:
        map_ = measure_box(side.locator("canvas").last)
        assert map_["y"] + map_["height"] <= 900
    said = measure_box(page.locator(".tfe-difference .tfe-words"))
    assert said["y"] + said["height"] <= 900
    row = re.search(r"\brow=\d+\b", str(sides[1].get_attribute("data-drawn")))
    link, frame = (
        page.locator(".tfe-compare-side").nth(1).get_by_text("Open lab"),
        page.locator("iframe >> nth=1"),
    )
    # The link follows the address within the frame a moment after what is drawn there.
    here, there = (
        f"one => new URL({of}).searchParams.get('_row')"
        for of in ("one.closest('a').href", "one.contentWindow.location.href")
    )
    becomes(page, lambda: link.evaluate(here) == frame.evaluate(there), True)
    link.click()
    assert row is not None
    expect(page.locator(".tfe-attention"), "its lab with the same row").to_have_attribute(
        "data-drawn", re.compile(rf"{row[0]}\b")
    )


def test_another_picture_is_offered_by_name(page_watch: Page, site: str) -> None:
    page = page_watch
    compared(page, site, "/bert?figure=arrows", f"/translation?{SENTENCE}", "&lang=zh")
    left, right = (page.locator(".tfe-compare-side").nth(at) for at in (0, 1))
    picture = left.locator("select").nth(1)
    expect(picture).to_have_value("arrows")
    expect(picture.locator("option:checked")).to_contain_text(re.compile("[一-鿿]"))
    for link in (left, right):
        expect(link.locator("a"), "the lab opens in the same language").to_have_attribute(
            "href", re.compile("lang=zh")
        )


def test_a_row_locked_keeps_the_address(page_watch: Page, site: str) -> None:
    page = page_watch
    compared(page, site, f"/rnn_attention?{SENTENCE}", f"/translation?{SENTENCE}")
    page.locator(".tfe-compare-side").nth(1).locator("select").first.select_option(index=0)
    expect(page.locator(".tfe-difference .tfe-words")).to_contain_text("The two are alike")
    page.locator(".tfe-difference .tfe-stage-board").focus()
    page.keyboard.press("ArrowDown")
    expect(page).to_have_url(re.compile("_drow="))
    expect(page).to_have_url(re.compile("right=%2Frnn_attention"))


def test_a_draft_outlasts_another_language(page_watch: Page, site: str) -> None:
    page = page_watch
    page.goto(f"{site}/lecture")
    compared(page, site, f"/rnn_attention?{SENTENCE}", f"/translation?{SENTENCE}")
    left, right = (page.locator(".tfe-compare-side").nth(at) for at in (0, 1))
    right.locator("select").first.select_option("Non-autoregressive")
    expect(page).to_have_url(re.compile("right=%2Fnonautoregressive"))
    settled(page, "en", "once both sides show")
    left.locator("input").fill("A draft")
    page.locator(".tfe-shell-lang").click()
    expect(page.locator("h1")).to_have_text("并排对比")
    settled(page, "zh-CN", "两边都显示")
    expect(left.locator("input")).to_have_value("A draft")
    page.go_back()
    page.wait_for_url("**/lecture*")


def test_a_lab_of_book_pages_takes_a_text(page_watch: Page, site: str) -> None:
    compared(page_watch, site, "/transformer_xl?v=1&length=0", "/adaptive_span?v=1&length=0")
    left = page_watch.locator(".tfe-compare-side").nth(0)
    left.locator("input").fill("It is a truth universally acknowledged")
    left.locator("input").press("Enter")
    shown = page_watch.frame_locator("iframe >> nth=0").locator(".tfe-lone")
    expect(shown).to_have_attribute(
        "data-run", re.compile("text=It(%20|[+])is(%20|[+])a(%20|[+])truth")
    )


def test_a_change_stands_beside_the_run_before(page_watch: Page, site: str) -> None:
    page = page_watch
    page.goto(f"{site}/translation?{SENTENCE}&without=scale&_head=2.3")
    page.locator(".tfe-changed-beside").click()
    expect(page.locator(".tfe-difference .tfe-words")).to_contain_text("The rows share")
    left, right = (frame.url for frame in page.frames[1:])
    assert "without=scale" in str(right) and "without=scale" not in str(left)
    assert "_head=2.3" in str(left) and "_head=2.3" in str(right)


def test_a_side_that_is_no_lab_is_an_example_instead(page_watch: Page, site: str) -> None:
    compared(page_watch, site, "https://elsewhere.example/translation", "/nowhere")
    assert (
        page_watch.frame_locator("iframe >> nth=0")
        .locator("body")
        .evaluate("() => location.origin")
        == site
    )


@pytest.mark.parametrize(
    ("width", "more"),
    [(1440, ""), (360, "&lang=zh&__theme=dark")],
    ids=["desk", "phone dark Chinese"],
)
def test_the_page_is_whole_in_every_mode(new_page: Any, site: str, width: int, more: str) -> None:
    page, faults = new_page(width=width, height=780)
    compared(page, site, "/act_rnn", "/universal_transformer", more)
    assert (
        page.frame_locator("iframe >> nth=1")
        .locator(".tfe-ponder.tfe-lone, .tfe-lone .tfe-ponder")
        .count()
        == 1
    ), "the same picture on both sides"
    assert scrolls_sideways(page) == 0
    assert refused_by_axe(page) == []
    dark = (
        page.frame_locator("iframe >> nth=0")
        .locator("body")
        .evaluate("(body) => body.classList.contains('dark')")
    )
    assert dark == ("dark" in more)
    assert not faults.all()
