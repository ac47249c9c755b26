"""A word said twice in a real browser: letters locked and marked, models chosen, a text, files,
phones, languages."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import pytest
from playwright.sync_api import Page

from explorer.labs.reformer import texts, views
from models.reformer.records import Request
from tests.browser.staged import Picture, alone, opening
from tests.browser.waiting import addressed
from tests.explorer import duplicated

WORD = "locality sensitive hashing"
LONG = "the quick brown fox jumps over the lazy dog, and the dog - lazy as it is - sleeps on."
PROSE = "It was late.\n<img src=x onerror=alert(1)> “Yes,” she said. " * 3


def value(given: str, mode: str) -> dict[str, object]:
    """What models made of a word or a text."""
    seen = duplicated.book(given) if mode == "text" else duplicated.word(given)
    if mode == "text":
        seen = replace(seen, read=(replace(seen.read[0], said="é" + seen.read[0].said[1:]),))
    return views.draw_spelling(seen, Request(mode, given), "live")


GIVEN = {"word": (WORD, "word"), "long": (LONG[:80], "word"), "book": (PROSE, "text")}
PAGES = {
    slug: alone("spelling", partial(value, *given), texts.SPELLING, "reformer/spelling")
    for slug, given in GIVEN.items()
}
opened = opening("spelling", "word")


def test_wrong_letters_are_marked_and_a_locked_one_is_told_of(picture: Picture) -> None:
    assert len(picture.marks("text", face="mono", colour="bad")) == 3 and "0.885" in picture.texts()
    picture.says("Letter 4 is “a”, said at position 30", "LSH-1 “b”, p of “a” 0.050")
    picture.click(picture.point(pos=36, model="lsh_2"))
    addressed(picture.page, _pos="36", _model="lsh_2")
    assert len(picture.marks("rect", fill="query-soft")) == 5
    picture.click(picture.point(pos=29, model="full"), shift=True)
    addressed(picture.page, _pos="36,29", _model="full")


def test_keys_move_the_letter_choose_the_model_and_give_back(site: str, page_watch: Page) -> None:
    picture = opened(page_watch, site, "lang=en&_pos=27")
    picture.press("ArrowRight", "ArrowRight", "ArrowDown", "ArrowDown", "ArrowUp")
    picture.drawn("pos=29 model=full")
    picture.walks("pos={} model=full", "End 52, Home 27, Escape 30")
    # A position of the first word stands for its letter.
    opened(page_watch, site, "lang=en&_pos=4").says("Letter 4 is “a”")
    opened(page_watch, site, "lang=en&_pos=none").says("LSH-1 23 of 26")


def test_a_text_is_coloured_by_loss_and_never_becomes_markup(site: str, page_watch: Page) -> None:
    picture = opened(page_watch, site, slug="book")
    letters = picture.marks("text", face="mono")
    assert len(letters) == len(PROSE)
    picture.click(picture.spot(letters[7]))
    addressed(page_watch, _pos="7")
    picture.says("Character 8, “l”, cost 4.33 bits: p = 0.050")
    rows = [list(row.values()) for row in picture.rows()]
    assert (
        len(rows) == len(PROSE)
        and rows[7][:3] == ["8", "7", "l"]
        and float(rows[7][4]) == pytest.approx(3.0)
    )
    assert picture.find("img").count() == 0 and b"<img" not in picture.saved("HTML")[1]
