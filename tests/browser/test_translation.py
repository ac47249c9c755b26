"""The translation lab as a visitor meets it: typing, clicking, silencing, hiding, walking through the steps, in a real browser."""

from __future__ import annotations

import json
import re
from urllib.parse import quote

import pytest
from playwright.sync_api import Page, Response, expect

from explorer.labs.translation import views
from explorer.labs.translation.page import LAB
from models.translation.records import EXAMPLES
from tests.browser.staged import Picture, numbers
from tests.browser.waiting import addressed, asked, becomes

PATH = LAB.path
LIVE = re.compile(r"live · [\d.]+ m?s|remembered")
SLOW = 120_000  # milliseconds that a run may take while the machine does other things
expect.set_options(timeout=60_000)  # five seconds, Playwright's own patience, are too few beside a training run


def opened(page: Page, site: str, query: str = "") -> Page:
    """The lab, drawn and listening."""
    page.goto(f"{site}{PATH}" + (f"?{query}" if query else ""))
    expect(page.locator(".tfe-ask-story")).to_be_visible()
    expect(page.locator(".tfe-change-item").first).to_be_visible()
    return page


def badge(page: Page) -> str:
    return page.locator(".tfe-ask .tfe-badge").inner_text()


def translate(page: Page, sentence: str) -> None:
    """Types a sentence, presses Enter, and waits for the live result."""
    page.locator(".tfe-ask-story").fill(sentence)
    page.locator(".tfe-ask-story").press("Enter")
    expect(page.locator(".tfe-ask .tfe-badge")).to_have_text(LIVE, timeout=SLOW)


def pieces(page: Page) -> list[str]:
    return page.locator(".tfe-pieces-piece").all_inner_texts()


def test_a_typed_sentence_comes_back_with_every_head_in_view(site: str, page_watch: Page) -> None:
    opened(page_watch, site)
    translate(page_watch, "Two dogs run through the snow.")
    assert pieces(page_watch)[-1] == "</s>"
    assert len(pieces(page_watch)) > 1
    addressed(page_watch, sentence="Two dogs run through the snow.")
    expect(page_watch.locator(".tfe-attention .tfe-words")).to_contain_text("the row")
    assert page_watch.locator(".tfe-pieces-nats").inner_text().startswith("log P −")


def test_words_appear_while_they_are_made(site: str, page_watch: Page) -> None:
    opened(page_watch, site)
    page_watch.evaluate(
        """() => {
            window.seen = [];
            const badge = document.querySelector('.tfe-ask .tfe-badge');
            const note = () => window.seen.push(badge.textContent);
            new MutationObserver(note).observe(badge, {childList: true, subtree: true, characterData: true});
        }"""
    )
    translate(page_watch, "A man in a red shirt and a woman in a blue dress are walking along a street with their small dog.")
    seen = page_watch.evaluate("window.seen")
    assert any("live · running" in text or "live · word" in text for text in seen), seen


def test_shift_enter_writes_a_line_and_enter_sends(site: str, page_watch: Page) -> None:
    opened(page_watch, site)
    box = page_watch.locator(".tfe-ask-story")
    box.fill("A dog")
    box.press("Shift+Enter")
    box.press_sequentially("runs.")
    expect(box).to_have_value("A dog\nruns.")
    assert badge(page_watch) == "not run yet"
    box.press("Enter")
    expect(page_watch.locator(".tfe-ask .tfe-badge")).to_have_text(LIVE, timeout=SLOW)


def test_an_example_is_one_click_away(site: str, page_watch: Page) -> None:
    opened(page_watch, site)
    page_watch.locator(".tfe-ask-example").nth(1).click()
    expect(page_watch.locator(".tfe-ask-story")).to_have_value(EXAMPLES[1].sentence)
    expect(page_watch.locator(".tfe-ask-example").nth(1)).to_have_attribute("aria-pressed", "true", timeout=SLOW)
    assert "Hunde" in pieces(page_watch)


def test_a_beam_lists_all_its_guesses(site: str, page_watch: Page) -> None:
    opened(page_watch, site)
    expect(page_watch.locator(".tfe-ask-setting.is-number")).to_be_hidden()
    page_watch.locator(".tfe-ask .tfe-select").select_option("beam 3")
    page_watch.locator(".tfe-ask-go").click()
    expect(page_watch.locator(".tfe-pieces-guesses tbody tr")).to_have_count(3, timeout=SLOW)
    expect(page_watch.locator(".tfe-ask-setting.is-number")).to_be_visible()
    addressed(page_watch, beam="3")
    scores = [float(text.replace("−", "-")) for text in page_watch.locator(".tfe-pieces-guesses td:last-child").all_inner_texts()]
    assert scores == sorted(scores, reverse=True)


def test_a_piece_of_the_translation_locks_its_row(site: str, page_watch: Page) -> None:
    opened(page_watch, site)
    piece = page_watch.locator(".tfe-pieces-piece").nth(1)
    piece.click()
    expect(piece).to_have_attribute("aria-pressed", "true")
    addressed(page_watch, _row="1")
    expect(page_watch.locator(".tfe-attention .tfe-words")).to_contain_text(f"“{piece.inner_text()}” (1)")
    piece.press("ArrowRight")
    addressed(page_watch, _row="2")


def number(page: Page) -> float:
    """The one number, once the answer stands."""
    becomes(page, lambda: len(numbers(page)), 1)
    expect(page.locator(".tfe-change-panel")).to_have_attribute("aria-busy", "false", timeout=SLOW)
    return float(next(iter(numbers(page).values()))[0].replace("−", "-"))


def test_silencing_a_head_prints_a_number_and_restoring_takes_it_back(site: str, page_watch: Page) -> None:
    opened(page_watch, site)
    page_watch.locator("[data-knob=silenced] button").click()
    first = number(page_watch)
    expect(page_watch.locator(".tfe-change .tfe-words")).to_contain_text("Without cross head")
    becomes(page_watch, lambda: "silenced" in asked(page_watch), True)
    before, after = next(iter(numbers(page_watch).values()))[1].replace("−", "-").split(" → ")
    assert float(after) - float(before) == pytest.approx(first, abs=0.011)
    page_watch.locator(".tfe-change-restore").click()
    expect(page_watch.locator(".tfe-change-picture")).to_be_hidden(timeout=SLOW)
    addressed(page_watch, silenced=None)


def test_hiding_a_word_changes_the_number(site: str, page_watch: Page) -> None:
    opened(page_watch, site)
    chips = page_watch.locator("[data-knob=hidden] .tfe-change-item")
    chips.nth(1).click()
    first = number(page_watch)
    addressed(page_watch, hidden="1")
    expect(page_watch.locator(".tfe-change .tfe-words")).to_contain_text("hidden")
    chips.nth(2).click()
    becomes(page_watch, lambda: number(page_watch) != first, True)
    chips.nth(2).press("Escape")
    expect(page_watch.locator(".tfe-change-picture")).to_be_hidden(timeout=SLOW)


@pytest.mark.parametrize(
    ("part", "says"), [(0, "the largest weight"), (1, "what comes later"), (2, "encoder head")], ids=["scale", "mask", "position"]
)
def test_leaving_a_part_out_changes_the_number(site: str, page_watch: Page, part: int, says: str) -> None:
    opened(page_watch, site)
    chip = page_watch.locator("[data-knob=without] .tfe-change-item").nth(part)
    chip.click()
    assert abs(number(page_watch)) > 0.005
    addressed(page_watch, without=("scale", "mask", "position")[part])
    expect(page_watch.locator(".tfe-change .tfe-words")).to_contain_text(says)
    expect(chip).to_have_attribute("aria-pressed", "true")
    page_watch.locator(".tfe-change-restore").click()
    expect(page_watch.locator(".tfe-change-picture")).to_be_hidden(timeout=SLOW)
    addressed(page_watch, without=None)


def test_before_after_and_difference_have_one_shape(site: str, page_watch: Page) -> None:
    opened(page_watch, site)
    page_watch.locator("[data-knob=silenced] button").click()
    number(page_watch)
    kept = views.first()
    assert kept is not None
    picture = Picture(page_watch, "change")

    def shapes() -> list[tuple[int, int]]:
        return [(mark["rows"], mark["columns"]) for mark in picture.marks("cells")]

    becomes(page_watch, shapes, [(len(kept.seen.target), len(kept.seen.source))] * 3)
    picture.find(".tfe-select").select_option("encoder.1")
    becomes(page_watch, shapes, [(len(kept.seen.source), len(kept.seen.source))] * 3)


@pytest.mark.parametrize(("text", "says"), [("x" * 1_000_000, "1,000,000 characters"), ("🎈🎈🎈", "no letter")], ids=["million", "emoji"])
def test_bad_input_gets_one_sentence_and_stays_in_the_box(site: str, page_watch: Page, text: str, says: str) -> None:
    opened(page_watch, site)
    page_watch.evaluate(
        "text => { const box = document.querySelector('.tfe-ask-story'); box.value = text; box.dispatchEvent(new Event('input')); "
        "box.form.requestSubmit(); }",
        text,
    )
    refusal = page_watch.locator(".tfe-ask-error")
    expect(refusal).to_be_visible(timeout=SLOW)
    expect(refusal).to_contain_text(says)
    assert badge(page_watch) == "refused"
    assert page_watch.locator(".tfe-ask-story").evaluate("(box, text) => box.value === text", text)
    translate(page_watch, "A dog runs.")  # nothing is broken


@pytest.mark.parametrize("text", ["שלום world", "A dog \x00 runs.", "e\u0301tude 👩‍👩‍👧 ok"], ids=["right-to-left", "nul", "combined"])
def test_unusual_text_is_read(site: str, page_watch: Page, text: str) -> None:
    opened(page_watch, site, f"v=1&sentence={quote(text)}")
    expect(page_watch.locator(".tfe-ask .tfe-badge")).to_have_text(LIVE, timeout=SLOW)


def test_markup_in_a_sentence_stays_text(site: str, page_watch: Page) -> None:
    hostile = "A dog </script><img src=x onerror=alert(1)> runs."
    opened(page_watch, site)
    translate(page_watch, hostile)
    assert page_watch.locator(".tfe-main img[src=x]").count() == 0
    shown = "".join(re.sub(r"\s*·\d+$", "", text) for text in page_watch.locator("[data-knob=hidden] .tfe-change-item").all_inner_texts())
    assert "</script>" in shown


def test_unknown_keys_of_a_link_are_named(site: str, page_watch: Page) -> None:
    opened(page_watch, site, "v=1&sentence=A+dog+runs.&colour=blue")
    expect(page_watch.locator(".tfe-ask-note")).to_contain_text("“colour”", timeout=SLOW)
    addressed(page_watch, colour=None)


def test_the_model_card_unfolds_with_the_curve_of_the_training(site: str, page_watch: Page) -> None:
    opened(page_watch, site)
    more = page_watch.get_by_role("button", name="About this model")
    expect(page_watch.locator(".tfe-card-curve")).to_be_hidden()
    more.click()
    expect(page_watch.locator(".tfe-card-curve .tfe-words")).to_contain_text("held-out loss", timeout=SLOW)
    page_watch.locator(".tfe-card-more").click()
    expect(page_watch.locator(".tfe-card-curve")).to_be_hidden()


def test_input_mechanism_sentence_and_knob_fit_one_screen(site: str, page_watch: Page) -> None:
    opened(page_watch, site)
    for part in (".tfe-ask-story", ".tfe-attention", ".tfe-attention .tfe-words", "[data-knob=silenced] button"):
        box = page_watch.locator(part).first.bounding_box()
        assert box is not None, part
        assert box["y"] + (0 if part == ".tfe-attention" else box["height"]) <= 900, part


def test_what_travels_for_one_run_is_small(site: str, page_watch: Page) -> None:
    opened(page_watch, site)
    sizes: list[int] = []

    def counted(answer: Response) -> None:
        if "/vendor/" not in answer.url:  # what a browser fetches for later, when it has nothing to do, is no part of a run
            sizes.append(int(answer.headers.get("content-length", "0") or 0))

    page_watch.on("response", counted)
    translate(page_watch, "A dog runs.")
    assert sum(sizes) < 300_000, json.dumps(sizes)
