"""A word said twice in a real browser: letters locked and marked, models chosen, the table of rounds, a text, files, phones, languages."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, expect

from explorer.figures import spelling as drawing
from explorer.lab import Lab
from explorer.labs.reformer import texts, views
from explorer.widgets.spelling import spelling
from models.reformer.records import Request
from tests.bench import Bench
from tests.browser.waiting import addressed
from tests.explorer import duplicated

NEW = Callable[..., tuple[Page, Any]]
WORD = "locality sensitive hashing"
LONG = "the quick brown fox jumps over the lazy dog, and the dog - lazy as it is - sleeps on."
PROSE = "It was late.\n<img src=x onerror=alert(1)> “Yes,” she said. " * 3
COLUMNS = ("full", "8", "4", "2", "1")
HERE = {"en": "Here <b>LSH-4</b> leads.", "zh": "这里 LSH-4 领先。"}


def table() -> dict[str, object]:
    """Figures of two models, one seed of the first failed."""
    rows = [
        drawing.Row("lsh_4", texts.NAMES["lsh_4"], (0.9, 0.999, 0.998, 0.95, 0.8), (0.008, 1.0, 0.999, 0.994, 0.919)),
        drawing.Row("lsh_1", texts.NAMES["lsh_1"], (0.9, 0.98, None, 0.96, 0.9), (0.008, 0.999, 0.996, 0.948, 0.779)),
    ]
    seeds = [drawing.Seed(1, rows[0].ours, True), drawing.Seed(2, (0.04,) * 5, False)]
    return drawing.table(COLUMNS, rows, seeds, name=texts.NAMES["lsh_4"], sentence=HERE, why=HERE)


def page_of(given: str, mode: str) -> Callable[[Lab, object], None]:
    """The widget alone, with what models made of a word or a text."""

    def page(lab: Lab, engine: object) -> None:
        request = Request(mode, given)
        seen = duplicated.book(given) if mode == "text" else duplicated.word(given)
        if mode == "text":
            seen = replace(seen, read=(replace(seen.read[0], said="é" + seen.read[0].said[1:]),))
        spelling(views.spelling_of(seen, request, "live"), table=table() if mode == "word" else None)

    return page


@pytest.fixture(scope="module")
def site(bench: Bench) -> str:
    """The address of the bench pages."""
    return bench.put(
        __name__, {"word": page_of(WORD, "word"), "long": page_of(LONG[:80], "word"), "book": page_of(PROSE, "text")}, year=2020
    )


def opened(page: Page, site: str, slug: str = "word", query: str = "lang=en") -> Page:
    """The page with the letters drawn."""
    page.goto(f"{site}/{slug}?{query}")
    page.wait_for_selector(".tfe-spelling[data-drawn]")
    return page


def row(page: Page, model: str) -> Any:
    return page.locator(f".tfe-spelling-row[data-model={model}]")


def saved(page: Page, kind: str) -> bytes:
    """What the export bar saves."""
    with page.expect_download() as download:
        page.locator(f".tfe-spelling-run .tfe-export[data-kind={kind}]").click()
    return Path(download.value.path()).read_bytes()


def test_wrong_letters_are_marked_and_a_locked_one_is_told_of(site: str, page_watch: Page) -> None:
    opened(page_watch, site)
    expect(row(page_watch, "lsh_1").locator(".is-wrong")).to_have_count(3)
    expect(row(page_watch, "lsh_4").locator(".is-wrong")).to_have_count(0)
    expect(row(page_watch, "lsh_1").locator(".tfe-spelling-share")).to_have_text("0.885")
    words = page_watch.locator(".tfe-spelling-run .tfe-words")
    expect(words).to_contain_text("Letter 4 is “a”, said at position 30")
    expect(words).to_contain_text("LSH-1 “b”, p of “a” 0.050")
    row(page_watch, "lsh_2").locator("[data-i='9']").click()
    addressed(page_watch, _pos="36", _model="lsh_2")
    expect(page_watch.locator(".tfe-spelling-letter.is-locked")).to_have_count(5)
    row(page_watch, "lsh_4").locator("[data-i='2']").click(modifiers=["Shift"])
    addressed(page_watch, _pos="36,29", _model="lsh_4")


def test_keys_move_the_letter_choose_the_model_and_give_back(site: str, page_watch: Page) -> None:
    opened(page_watch, site, query="lang=en&_pos=27")
    page_watch.locator(".tfe-spelling-board").focus()
    for key in ("ArrowRight", "ArrowRight", "ArrowDown"):
        page_watch.keyboard.press(key)
    addressed(page_watch, _pos="29", _model="full")
    page_watch.keyboard.press("End")
    addressed(page_watch, _pos="52")
    page_watch.keyboard.press("Escape")
    addressed(page_watch, _pos=None)
    expect(page_watch.locator(".tfe-spelling-run .tfe-words")).to_contain_text("Letter 4")


def test_a_position_of_the_first_word_stands_for_its_letter(site: str, page_watch: Page) -> None:
    opened(page_watch, site, query="lang=en&_pos=4")
    expect(page_watch.locator(".tfe-spelling-run .tfe-words")).to_contain_text("Letter 4 is “a”")
    page_watch.goto(f"{site}/word?lang=en&_pos=none")
    expect(page_watch.locator(".tfe-spelling-run .tfe-words")).to_contain_text("LSH-1 23 of 26")


def test_the_table_marks_the_run_in_view_and_lists_every_seed(site: str, page_watch: Page) -> None:
    opened(page_watch, site, query="lang=en&_model=lsh_4")
    here = page_watch.locator(".tfe-spelling-table td.is-cell")
    expect(here).to_have_text("0.998 / 0.999")
    expect(page_watch.locator(".tfe-spelling-table tbody tr").nth(1).locator("td").nth(2)).to_have_text("– / 0.996")
    expect(page_watch.locator(".tfe-spelling-rounds .tfe-words")).to_have_text("Here <b>LSH-4</b> leads.")
    page_watch.locator(".tfe-spelling-seeds summary").click()
    expect(page_watch.locator(".tfe-spelling-seeds tbody tr").nth(1)).to_contain_text("seed 2 · stopped early0.040")


def test_a_text_is_coloured_by_loss_and_never_becomes_markup(site: str, page_watch: Page) -> None:
    opened(page_watch, site, "book")
    assert page_watch.locator(".tfe-spelling img").count() == 0
    letters = page_watch.locator(".tfe-spelling-character")
    expect(letters).to_have_count(len(PROSE))
    letters.nth(7).click()
    addressed(page_watch, _pos="7")
    expect(page_watch.locator(".tfe-spelling-run .tfe-words")).to_contain_text("Character 8, “l”, cost 4.33 bits: p = 0.050")
    rows = list(csv.reader(io.StringIO(saved(page_watch, "CSV").decode("utf-8-sig"))))
    assert rows[0] == ["letter", "said_at_position", "given", "text_says", "text_nats"] and len(rows) == len(PROSE) + 1
    assert rows[8][:3] == ["8", "7", "l"] and float(rows[8][4]) == pytest.approx(3.0)
    assert b"<svg" in saved(page_watch, "SVG") and saved(page_watch, "PNG").startswith(b"\x89PNG")


@pytest.mark.parametrize("slug", ["word", "long", "book"])
def test_a_phone_in_the_dark_and_in_chinese_fits_and_axe_finds_nothing(new_page: NEW, site: str, slug: str) -> None:
    page, _ = new_page(width=360, height=780, color_scheme="dark", locale="zh-CN")
    opened(page, site, slug, "lang=zh")
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    expect(page.locator(".tfe-spelling-run .tfe-words")).to_have_text(re.compile("第 \\d+ 个"))
    found = Axe().run(page, context=".tfe-spelling")
    assert found.violations_count == 0, found.generate_report()
