"""A word said twice in a real browser: letters locked and marked, models chosen, a text, files, phones, languages."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from explorer.lab import Lab
from explorer.labs.reformer import texts, views
from explorer.widgets.stage import stage
from models.reformer.records import Request
from tests.browser.staged import Picture
from tests.browser.waiting import addressed
from tests.explorer import duplicated

WORD = "locality sensitive hashing"
LONG = "the quick brown fox jumps over the lazy dog, and the dog - lazy as it is - sleeps on."
PROSE = "It was late.\n<img src=x onerror=alert(1)> “Yes,” she said. " * 3


def page_of(given: str, mode: str) -> Callable[[Lab, object], None]:
    """The picture alone, with what models made of a word or a text."""

    def page(lab: Lab, engine: object) -> None:
        request = Request(mode, given)
        seen = duplicated.book(given) if mode == "text" else duplicated.word(given)
        if mode == "text":
            seen = replace(seen, read=(replace(seen.read[0], said="é" + seen.read[0].said[1:]),))
        stage("spelling", views.spelling_of(seen, request, "live"), texts=texts.SPELLING, picture="reformer/spelling")

    return page


PAGES = {"word": page_of(WORD, "word"), "long": page_of(LONG[:80], "word"), "book": page_of(PROSE, "text")}


def opened(page: Page, site: str, slug: str = "word", query: str = "lang=en") -> Picture:
    """The page with the letters drawn."""
    return Picture(page, "spelling").open(f"{site}/{slug}?{query}")


def letter(picture: Picture, row: int, i: int) -> dict[str, Any]:
    """A letter of a row, from 0: the given one, then each model's."""
    return picture.marks("text", face="mono")[row * len(WORD) + i]


def test_wrong_letters_are_marked_and_a_locked_one_is_told_of(site: str, page_watch: Page) -> None:
    picture = opened(page_watch, site)
    assert len(picture.marks("text", face="mono", colour="bad")) == 3 and "0.885" in picture.texts()
    expect(picture.find(".tfe-words")).to_contain_text("Letter 4 is “a”, said at position 30")
    expect(picture.find(".tfe-words")).to_contain_text("LSH-1 “b”, p of “a” 0.050")
    page_watch.mouse.click(*picture.spot(letter(picture, 3, 9)))
    addressed(page_watch, _pos="36", _model="lsh_2")
    assert len(picture.marks("rect", fill="query-soft")) == 5
    page_watch.keyboard.down("Shift")
    page_watch.mouse.click(*picture.spot(letter(picture, 2, 2)))
    addressed(page_watch, _pos="36,29", _model="full")


def test_keys_move_the_letter_choose_the_model_and_give_back(site: str, page_watch: Page) -> None:
    picture = opened(page_watch, site, query="lang=en&_pos=27")
    picture.find(".tfe-stage-board").focus()
    for key in ("ArrowRight", "ArrowRight", "ArrowDown", "ArrowDown", "ArrowUp"):
        page_watch.keyboard.press(key)
    picture.drawn("pos=29 model=full")
    for key, pos in (("End", "52"), ("Home", "27"), ("Escape", "30")):
        page_watch.keyboard.press(key)
        picture.drawn(f"pos={pos} model=full")


def test_a_position_of_the_first_word_stands_for_its_letter(site: str, page_watch: Page) -> None:
    picture = opened(page_watch, site, query="lang=en&_pos=4")
    expect(picture.find(".tfe-words")).to_contain_text("Letter 4 is “a”")
    picture = opened(page_watch, site, query="lang=en&_pos=none")
    expect(picture.find(".tfe-words")).to_contain_text("LSH-1 23 of 26")


def test_a_text_is_coloured_by_loss_and_never_becomes_markup(site: str, page_watch: Page) -> None:
    picture = opened(page_watch, site, "book")
    letters = picture.marks("text", face="mono")
    assert len(letters) == len(PROSE)
    page_watch.mouse.click(*picture.spot(letters[7]))
    addressed(page_watch, _pos="7")
    expect(picture.find(".tfe-words")).to_contain_text("Character 8, “l”, cost 4.33 bits: p = 0.050")
    rows = list(csv.reader(io.StringIO(picture.saved("CSV")[1].decode("utf-8-sig"))))
    assert rows[0][:3] == ["letter", "said at position", "given"] and len(rows) == len(PROSE) + 1
    assert rows[8][:3] == ["8", "7", "l"] and float(rows[8][4]) == pytest.approx(3.0)
    assert b"<svg" in picture.saved("SVG")[1] and picture.saved("PNG")[1].startswith(b"\x89PNG")
    assert picture.find("img").count() == 0 and b"<img" not in picture.saved("HTML")[1]
