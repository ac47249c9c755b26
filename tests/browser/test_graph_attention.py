"""The pictures of attention on graphs in a real browser."""

from __future__ import annotations

from typing import Any

from playwright.sync_api import Page

from explorer.labs.graph_attention import texts, views
from models.graph_attention.explain import explain
from models.graph_attention.records import EXAMPLES, Request
from tests.browser.staged import alone, opening

PAPER, GAT, GATV2 = EXAMPLES[:3]


def draw(request: Request, view: str) -> Any:
    (run,) = explain([request])
    return getattr(views, f"draw_{view}")(run, request, "live")


def place(request: Request, view: str, words: Any) -> Any:
    """A page of one picture."""
    picture = f"graph_attention/{view}"
    return alone(view, lambda: draw(request, view), words, picture)


PAGES = {
    "paper": place(PAPER, "neighbours", texts.NEIGHBOURS),
    "gat": place(GAT, "ranking", texts.RANKING),
    "gatv2": place(GATV2, "ranking", texts.RANKING),
}


def test_a_neighbour_is_locked_and_told(page_watch: Page, site: str) -> None:
    picture = opening("neighbours", "paper")(page_watch, site)
    picture.says("In head 2·1 paper 1762 attends to 8 nodes", "The answer is Genetic algorithms")
    picture.press("ArrowRight")
    picture.says("paper 5 gets 0.127")
    asks = picture.find(".tfe-button[data-set]").all_inner_texts()
    assert asks == ["Move to paper 5", "Cut the edge to paper 5"]
    picture.press("ArrowUp")
    picture.says("In head 1·8")


def test_weights_leave_by_edge_with_names(page_watch: Page, site: str) -> None:
    picture = opening("neighbours", "paper")(page_watch, site)
    rows = picture.rows()
    assert len(rows) == 8 and {row["node"] for row in rows} == {"1762"}
    assert abs(sum(float(row["α 2.1"]) for row in rows) - 1) < 1e-3
    assert picture.arrays()["weights"].shape == (9, 8)


def test_one_ranking_against_many(page_watch: Page, site: str) -> None:
    opening("ranking", "gat")(page_watch, site).says("all 16 queries rank the keys alike")
    picture = opening("ranking", "gatv2")(page_watch, site)
    picture.says("16 queries make")
    picture.press("ArrowRight", "ArrowRight")
    picture.says("B? gives the right key B=")
