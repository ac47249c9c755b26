"""The arithmetic of one weight in a real browser: it follows the locked cell, and comes to the
weight that the attention view shows."""

from __future__ import annotations

import pytest

from tests.browser.staged import Picture
from tests.browser.waiting import quiet
from tests.visits import Visit

# on the page of the promises that hold for every lab
pytestmark = pytest.mark.xdist_group("translation walk", 2)


def opened(visit: Visit, query: str) -> tuple[Picture, Picture]:
    """The translation page with the panel open and drawn, and its attention."""
    page = visit(f"/translation?_weight=open&{query}")
    picture = Picture(page, "weight .tfe-stage")
    shows(picture, "")
    return picture, Picture(page, "attention")


def shows(picture: Picture, what: str) -> None:
    """Waits until the panel draws what the attention view has in view, and that is `what` ("cross
    3.5 1 1 4": as far as it is known)."""
    picture.stands(
        *map("=".join, zip(("kind", "head", "row", "col", "wstep"), what.split(), strict=False))
    )


def test_it_comes_to_the_weight_of_the_map_in_every_kind(visit: Visit) -> None:
    picture, attention = opened(visit, "_kind=encoder&_head=2.3&_row=3&_col=1")
    for at, (kind, head) in enumerate([("encoder", "2.3"), ("decoder", ""), ("cross", "")]):
        if at:
            attention.find("[role=radio]").nth(at).click()
            attention.press("ArrowUp" if kind == "decoder" else "ArrowDown")
            head = picture.page.evaluate("new URL(location).searchParams.get('_head')")
        shows(picture, f"{kind} {head}")
        weights = {
            (row["query_index"], row["key_index"]): float(row["weight"] or 0)
            for row in attention.rows()
        }
        mine = picture.rows()
        for row in mine:
            assert float(row["weight"]) == pytest.approx(
                weights[row["query_index"], row["key_index"]], abs=1e-4
            ), kind
        if kind == "decoder":
            assert [row["score"] for row in mine].count("masked") == len(mine) - 1 - int(
                mine[0]["query_index"]
            )


def test_rows_and_heads_already_fetched_ask_the_server_nothing(visit: Visit) -> None:
    picture, attention = opened(visit, "_kind=cross&_head=1.1&_row=1&_col=1&_wstep=4")
    picture.press("ArrowDown")
    shows(picture, "cross 1.2 1 1")  # the same cell of the next head
    quiet(picture.page, visit.faults)
    visit.faults.requests.clear()
    picture.press("ArrowUp")
    shows(picture, "cross 1.1 1 1")
    attention.press("ArrowRight")
    shows(picture, "cross 1.1 2")
    assert visit.faults.requests == []


def test_keys_walk_and_a_click_locks_a_key(
    visit: Visit,
) -> None:
    picture, attention = opened(visit, "_kind=cross&_head=1.1&_row=1&_col=1")
    weight = next(float(row["weight"]) for row in picture.rows() if row["key_index"] == "1")
    sentences = set()
    for step in range(1, 6):
        shows(picture, f"cross 1.1 1 1 {step}")
        sentences.add(picture.words.inner_text())
        picture.press("ArrowRight")
    assert len(sentences) == 5 and any(f"{weight:.4f}" in text for text in sentences)
    picture.press("ArrowLeft")
    shows(picture, "cross 1.1 1 1 4")
    picture.click(picture.point(col=0))
    shows(picture, "cross 1.1 1 0 4")
    attention.stands("row=1", "col=0")


def test_a_row_without_keys_names_none(visit: Visit) -> None:
    query = "sentence=Two+dogs+run.&hidden=0,1,2,3&_kind=cross&_head=1.1"
    picture, attention = opened(visit, f"{query}&_row=1&_wstep=3")
    attention.says("(1) has nothing left to look at: its row sums to 0.")
    assert (
        attention.page.locator("tfe-change, .tfe-change").first.inner_text().count("turns from")
        == 0
    )
    for says in ("all 4 keys are hidden", "the row sums to 0", "is 24 times 0"):
        picture.says(says)
        assert {row["weight"] for row in picture.rows()} == {"0"}
        picture.press("ArrowRight")
    _, attention = opened(visit, f"{query}&_row=none&_col=none")
    attention.says("no query has anything left to look at: every row sums to 0.")
