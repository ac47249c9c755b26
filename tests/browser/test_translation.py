"""The translation lab as a visitor meets it: typing, clicking, silencing, hiding, what cannot be
read, in a real browser."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, Response, expect

from explorer.labs import LABS
from explorer.labs.translation import views
from models.translation.explain import explain
from models.translation.records import Explanation
from tests.browser.staged import Picture, numbers
from tests.browser.visiting import badge, finished, go, number, restored
from tests.browser.waiting import addressed, asked, becomes, note, noted
from tests.visits import Visit

LAB = next(lab for lab in LABS if lab.slug == "translation")

# on the page of the promises that hold for every lab
pytestmark = pytest.mark.xdist_group("translation walk", 2)


def translate(page: Page, sentence: str) -> None:
    """Types a sentence, presses Enter, and waits for the live result."""
    page.locator(".tfe-ask-story").fill(sentence)
    page.locator(".tfe-ask-story").press("Enter")
    finished(page)


def pieces(page: Page) -> list[str]:
    return page.locator(".tfe-pieces-piece").all_inner_texts()


def test_a_sentence_comes_back_word_by_word(
    page: Page,
) -> None:
    note(page)
    sizes: list[int] = []

    def counted(answer: Response) -> None:
        # what a browser fetches for later, when it has nothing to do, is no part of a run
        if "/vendor/" not in answer.url:
            sizes.append(int(answer.headers.get("content-length", "0") or 0))

    page.on("response", counted)
    long = (
        "A man in a red shirt and a woman in a blue dress are walking along a street with their"
        " small dog."
    )
    translate(page, long)
    assert sum(sizes) < 300_000, sizes
    page.remove_listener("response", counted)
    assert any("live · running" in text or "live · word" in text for text in noted(page)), noted(
        page
    )
    assert pieces(page)[-1] == "</s>" and len(pieces(page)) > 10
    addressed(page, sentence=long)
    expect(page.locator(".tfe-attention .tfe-words")).to_contain_text("the row")
    expect(page.locator(".tfe-pieces-nats:not(.tfe-ask-ended)")).to_have_text(
        re.compile("^log P −")
    )


def test_shift_enter_writes_a_line_and_enter_sends(page: Page) -> None:
    box = page.locator(".tfe-ask-story")
    box.fill("A dog")
    box.press("Shift+Enter")
    box.press_sequentially("runs.")
    expect(box).to_have_value("A dog\nruns.")
    expect(badge(page)).to_have_text("not run yet")
    box.press("Enter")
    finished(page)


def test_a_beam_lists_all_its_guesses(page: Page) -> None:
    expect(page.locator(".tfe-ask-setting.is-number")).to_be_hidden()
    page.locator(".tfe-ask .tfe-select").select_option("beam 3")
    go(page).click()
    expect(page.locator(".tfe-pieces-guesses tbody tr")).to_have_count(3)
    expect(page.locator(".tfe-ask-setting.is-number")).to_be_visible()
    addressed(page, beam="3")
    scores = [
        float(text.replace("−", "-"))
        for text in page.locator(".tfe-pieces-guesses td:nth-last-child(2)").all_inner_texts()
    ]
    assert scores == sorted(scores, reverse=True)


def test_a_piece_of_the_translation_locks_its_row(page: Page) -> None:
    piece = page.locator(".tfe-pieces-piece").nth(1)
    piece.click()
    expect(piece).to_have_attribute("aria-pressed", "true")
    addressed(page, _row="1")
    expect(page.locator(".tfe-attention .tfe-words")).to_contain_text(f"“{piece.inner_text()}” (1)")
    for key, row in (("Alt+ArrowRight", "1"), ("ArrowRight", "2")):
        piece.press(key)
        addressed(page, _row=row)


def test_a_silenced_head_is_compared(page: Page) -> None:
    page.locator("[data-knob=silenced] button").click()
    first = number(page)
    expect(page.locator(".tfe-change .tfe-words")).to_contain_text("Without cross head")
    becomes(page, lambda: "silenced" in asked(page), True)
    before, after = next(iter(numbers(page).values()))[1].replace("−", "-").split(" → ")
    assert float(after) - float(before) == pytest.approx(first, abs=0.011)
    kept, picture = views.first(), Picture(page, "change")
    assert kept is not None

    def shapes() -> list[tuple[int, int]]:
        return [(mark["rows"], mark["columns"]) for mark in picture.marks("cells")]

    becomes(page, shapes, [(len(kept.seen.target), len(kept.seen.source))] * 3)
    picture.find(".tfe-select").select_option("encoder.1")
    becomes(page, shapes, [(len(kept.seen.source), len(kept.seen.source))] * 3)
    restored(page)
    addressed(page, silenced=None)


def test_unknown_keys_of_a_link_are_named(visit: Visit) -> None:
    page = visit(f"{LAB.path}?v=1&sentence=A+dog+runs.&colour=blue")
    expect(page.locator(".tfe-ask-note")).to_contain_text("“colour”")
    addressed(page, colour=None)


def test_the_step_opens_a_head_at_its_cell(
    visit: Visit,
) -> None:
    (seen,) = explain([views.ASKING])
    assert isinstance(seen, Explanation)
    who, whom = (
        next(
            job for job in views.find_jobs(seen) if job["kind"] == "encoder" and job["job"] == name
        )
        for name in ("who", "whom")
    )
    page = visit(LAB.path)
    page.locator(".tfe-shell-tour li:nth-child(3) button").click()
    expect(page.locator(".tfe-attention-jobs button[aria-pressed=true]")).to_contain_text(
        who["name"]["en"]
    )
    words = page.locator(".tfe-attention .tfe-words")
    expect(words).to_contain_text(f"“{seen.source[who['row']]}” ({who['row']})")
    expect(words).to_contain_text(f"“{seen.source[who['col']]}” ({who['col']})")
    page.locator(".tfe-attention-jobs button", has_text=whom["name"]["en"]).click()
    expect(words).to_contain_text(f"“{seen.source[whom['col']]}” ({whom['col']})")
    addressed(
        page,
        _head=f"{whom['layer'] + 1}.{whom['head'] + 1}",
        _row=str(whom["row"]),
        _col=str(whom["col"]),
    )
