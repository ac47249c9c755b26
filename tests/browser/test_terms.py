"""The four terms of the relative score in a real browser: one cell told of in six maps, heads,
queries, files, phones, languages."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from playwright.sync_api import Page, expect

from explorer.components.folded import Question, show_answer, show_refusal
from explorer.labs.transformer_xl.figures import terms
from explorer.labs.transformer_xl.panels.terms import PANEL, read_question
from tests.browser.staged import answering, opening
from tests.browser.waiting import addressed
from tests.explorer import segmented

SIZES: dict[str, Any] = {"length": 200, "segment": 64, "memory": 160, "layers": 2, "heads": 3}
NAMES = ("content", "position", "global_content", "global_position", "scores", "weights")


def answer(question: Question) -> Any:
    """The head, the character and the number of queries that are asked for."""
    wish = read_question(question)
    layer, head = wish.place or (0, 1)
    if wish.pos == 199:
        return show_refusal(question, {"en": "The run has left the server.", "zh": "运行已不在。"})
    made = segmented.cut(segmented.reading(**SIZES), layer, head, wish.pos or 180, wish.queries)
    other = {"en": "Transformer", "zh": "Transformer"} if wish.model == "absolute" else None
    return show_answer(
        question,
        **terms.draw_boards(
            {"en": "Transformer-XL", "zh": "Transformer-XL"},
            (layer, head),
            (2, 3),
            **made,
            other=other,
        ),
    )


page_of = answering((lambda: PANEL.place(None), answer))
PAGES = {"trial": page_of}
opened = opening("terms .tfe-asked", query="lang=en&_terms=open")


def expected(last: int = 180, queries: int = 32, layer: int = 0, head: int = 1) -> dict[str, Any]:
    """The numbers of the page, at most the last 160 keys."""
    found = segmented.cut(segmented.reading(**SIZES), layer, head, last, queries)
    return {**found, **{name: found[name][:, -terms.KEYS :] for name in NAMES}}


def said(value: float) -> str:
    """A number as the page writes it."""
    return f"{value:.2f}".replace("-0.00", "0.00").replace("-", "−")


def test_six_maps_tell_of_one_cell_and_the_terms_add_up(page_watch: Page, site: str) -> None:
    page, picture, found = page_watch, opened(page_watch, site), expected()
    back = found["weights"].shape[1] - 1 - int(found["weights"][-1][:-1].argmax())
    picture.drawn(f"head=1.2 tqueries=32 tcell=0,{back}")
    distance = found["weights"].shape[1] - 32 + 20 - 100
    picture.click(picture.point(tcell=f"11,{distance}"))
    picture.drawn(f"head=1.2 tqueries=32 tcell=11,{distance}")
    addressed(page, _tcell=f"11.{distance}")
    numbers = [said(float(found[name][20, 100])) for name in NAMES]
    assert set(numbers) <= set(picture.texts()), numbers
    assert len(picture.marks("cells")) == 8
    picture.says(
        f"Query “{found['queries'][20][1].replace(' ', '␣')}” (169), key",
        f", {distance} back: {numbers[0]} ",
        f"= {numbers[4]}, weight ",
        f"The {len(found['keys']) - 160} keys farther back get ",
    )


def test_keys_walk_queries_keys_and_heads(page_watch: Page, site: str) -> None:
    picture = opened(page_watch, site, "lang=en&_terms=open&_tcell=2.5")
    walk = (
        "ArrowLeft 1.2 3,5, ArrowRight 1.2 2,5, Shift+ArrowLeft 1.2 2,6, ArrowDown 1.3 2,6, ArrowUp"
        " 1.2 2,6"
    )
    picture.walks("head={} tqueries=32 tcell={}", walk)


def test_another_character_or_fewer_queries(page_watch: Page, site: str) -> None:
    page, picture = (
        page_watch,
        opened(page_watch, site, "lang=en&_terms=open&_pos=9,140&_model=absolute"),
    )
    note = picture.find(".tfe-stage-below")
    expect(note).to_contain_text("13 queries up to character 140, 141 keys")
    expect(note).to_contain_text("Transformer in view has no such terms.")
    expect(picture.words).not_to_contain_text("farther back")
    opened(page, site, "lang=en&_terms=open&_pos=190")
    expect(note).to_contain_text("32 queries up to character 190")
    picture.find("[role=radio]", has_text="16").click()
    expect(note).to_contain_text("16 queries up to character 190")
    addressed(page, _tqueries="16")
    page.goto(f"{site}/trial?lang=en&_terms=open&_pos=199")
    expect(page.locator(".tfe-terms .tfe-error")).to_have_text("The run has left the server.")


def test_the_terms_are_taken_along(page_watch: Page, site: str) -> None:
    picture, found = opened(page_watch, site), expected()
    files = picture.arrays()
    for name in NAMES:
        np.testing.assert_allclose(files[name], found[name], atol=1e-5)
    np.testing.assert_array_equal(files["u"], found["u"])
    np.testing.assert_allclose(files["weights"].sum(1) + files["elsewhere"], 1, atol=2e-3)
    rows = [list(row.values()) for row in picture.rows()]
    assert len(rows) == int(found["allowed"][:, -160:].sum())
    for one in rows[::500]:
        assert sum(map(float, one[3:7])) == pytest.approx(float(one[7]), abs=1e-4)
