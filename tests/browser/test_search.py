"""The panels on the search and on the visitor's own German, in a real browser: the same numbers as the model's, by hand and by keyboard."""

from __future__ import annotations

import re
from urllib.parse import quote

import pytest
from playwright.sync_api import Page, expect

from explorer.labs.translation.deeper import forced
from models.translation.forced_records import Forced, Reading
from models.translation.records import EXAMPLES, Request
from models.translation.search_records import Search, Tree, outcome, score
from tests.browser.staged import Picture
from tests.browser.waiting import addressed, asked, becomes, quiet
from tests.visits import Visit

pytestmark = pytest.mark.xdist_group("translation walk", 2)  # on the page of the promises that hold for every lab

SENTENCE = "Three people sit at a table in front of a restaurant."
RUN = f"v=1&sentence={quote(SENTENCE)}&beam=3"


def opened(visit: Visit, panel: str, query: str = "") -> Page:
    """The translation page with a panel open and drawn."""
    page = visit(f"/translation?_{panel}=open&{query}")
    page.wait_for_selector(f".tfe-{panel} .tfe-stage[data-drawn]:not([data-drawn$=waits])")
    return page


def searched(page: Page, what: str) -> None:
    """Waits until the tree stands so: "btree=3 balpha=0.6 bstep=11"."""
    page.wait_for_selector(f".tfe-beam .tfe-stage[data-drawn^='{what}']:not([data-drawn$=waits])", state="attached")


def last_step(page: Page) -> int:
    """The step in view."""
    return int(re.findall(r"bstep=(\d+)", page.locator(".tfe-beam .tfe-stage").get_attribute("data-drawn") or "")[0])


def number(text: str) -> float:
    return float(text.replace("−", "-"))


def test_length_penalties_rank_the_finished_ones_as_the_model_does_and_ask_the_server_nothing(visit: Visit) -> None:
    from models.translation.explain import explain
    from models.translation.search import search

    (tree,) = search([Search(SENTENCE, 3)])
    assert isinstance(tree, Tree)
    page = opened(visit, "beam", RUN)
    expect(page.locator(".tfe-ask .tfe-badge")).to_have_text(
        re.compile(r"live · [\d.]+ m?s|remembered")
    )  # the run itself may come after its panel
    quiet(page, visit.faults)
    visit.faults.requests.clear()
    for alpha in (0.6, 0.0, 1.2, 2.0):
        page.locator(".tfe-beam input[max='2']").evaluate(
            "(slide, alpha) => { slide.value = alpha; slide.dispatchEvent(new Event('input')); }", alpha
        )
        found = outcome(tree, alpha)
        searched(page, f"btree=3 balpha={alpha:g} bstep={found.last}")
        rows = page.locator(".tfe-beam .tfe-stage-beside tbody tr").all()[: len(found.ranking)]
        shown = [row.locator("td").all_inner_texts() for row in rows]
        assert [cells[0] for cells in shown] == [tree.texts[node] for node in found.ranking]
        assert [number(cells[-1]) for cells in shown] == pytest.approx([score(tree, node, alpha) for node in found.ranking], abs=0.0051)
        (seen,) = explain([Request(SENTENCE, 3, alpha)])
        assert [cells[0] for cells in shown] == [text for text, _, _ in seen.hypotheses]
    assert not [asked for asked in visit.faults.requests if "/qr" not in asked]


def test_steps_nodes_and_playing_work_by_keyboard(visit: Visit) -> None:
    page = opened(visit, "beam", RUN)
    last = last_step(page)
    for said in ("were pruned", "greedy"):
        expect(page.locator(".tfe-beam .tfe-words")).to_contain_text(said)
    page.locator(".tfe-beam .tfe-stage-board").focus()
    page.keyboard.press("ArrowLeft")
    searched(page, f"btree=3 balpha=0.6 bstep={last - 1}")
    detail = page.locator(".tfe-beam .tfe-stage-below")
    page.keyboard.press("ArrowDown")
    expect(detail).to_contain_text(f"rank 1 in step {last - 1}")
    page.keyboard.press("ArrowDown")
    expect(detail).to_contain_text("rank 2")
    becomes(page, lambda: {"_bnode", "_bstep"} <= asked(page).keys(), True)
    page.keyboard.press("Space")  # plays the last step
    searched(page, f"btree=3 balpha=0.6 bstep={last}")
    page.keyboard.press("Escape")
    addressed(page, _bnode=None)
    box = page.evaluate(
        """() => document.querySelector(".tfe-beam canvas").marks.filter(({ kind, radius, box }) => kind === "rect" && radius === 6 &&
            Math.round(box.x1 - box.x0) === 76).at(-1).box"""
    )
    page.locator(".tfe-beam canvas").click(position={"x": box["x0"] + 30, "y": box["y0"] + 12})
    expect(detail).to_contain_text(f"in step {last}")


def test_another_width_and_no_stop_token_are_other_searches(visit: Visit) -> None:
    page = opened(visit, "beam", RUN)
    page.locator(".tfe-beam [data-key='2']").first.click()
    searched(page, "btree=2 ")
    page.locator(".tfe-beam [data-key='2.endless']").click()
    searched(page, "btree=2.endless ")
    addressed(page, _btree="2.endless")
    limit = last_step(page)
    expect(page.locator(".tfe-beam-tokens .tfe-token")).to_have_count(limit - 1)
    expect(page.locator(".tfe-beam .tfe-words")).to_contain_text(f"the limit of {limit} pieces")


def test_a_german_sentence_is_scored_as_the_model_scores_it(visit: Visit) -> None:
    from models.translation.forced import forced as judge

    page = opened(visit, "forced")
    expect(page.locator(".tfe-forced-box")).to_have_value(forced.FIRST)
    (expected,) = judge([Reading(EXAMPLES[0].sentence, "Zwei Katzen spielen Fußball.")])
    assert isinstance(expected, Forced)
    page.locator(".tfe-forced-box").fill("Zwei Katzen spielen Fußball.")
    page.locator(".tfe-forced-box").press("Enter")
    picture = Picture(page, "forced .tfe-asked")
    becomes(page, lambda: len(picture.marks("rect", radius=6)), len(expected.target))
    rows = picture.rows()
    assert [row["given word"] for row in rows] == list(expected.target)
    assert [float(row["log p, nats"]) for row in rows] == pytest.approx(expected.log_probabilities.tolist(), abs=1e-3)
    assert [int(row["rank"]) for row in rows] == expected.ranks.tolist()
    addressed(page, _german="Zwei Katzen spielen Fußball.")
    page.mouse.click(*picture.spot(expected.target[1]))
    expect(page.locator(".tfe-forced-five li .piece").first).to_have_text(expected.favourites[1][0])
    picture.find(".tfe-stage-board").focus()
    page.keyboard.press("ArrowRight")
    expect(page.locator(".tfe-forced .tfe-words")).to_contain_text("(2)")
    picture.find(".tfe-select").select_option("2.3")
    page.wait_for_selector(".tfe-forced .tfe-asked[data-drawn='fword=2 fhead=2.3']", state="attached")
    (cells,) = picture.marks("cells")
    wide, high = (cells["box"][f"{side}1"] - cells["box"][f"{side}0"] for side in "xy")
    at = {"left": cells["left"] + 4.5 * wide / cells["columns"], "top": cells["top"] + 2.5 * high / cells["rows"]}
    page.mouse.move(*picture.spot(at))
    expect(page.locator(".tfe-forced .tfe-hover")).to_contain_text(f"weight {expected.cross[1, 2, 2, 4]:.2f}")
    page.get_by_role("button", name="The model's own").click()
    expect(page.locator(".tfe-forced .tfe-words")).to_contain_text("what the model itself says")


def test_german_that_cannot_be_scored_gets_one_sentence_and_stays(visit: Visit) -> None:
    page = opened(visit, "forced")
    for german, says in (("", "empty"), ("Hund " * 70, "70 word pieces"), ("狗", "never writes “狗”"), ("x" * 3000, "3,000")):
        page.locator(".tfe-forced-box").fill(german)
        page.get_by_role("button", name="Score it").click()
        expect(page.locator(".tfe-forced .tfe-error:visible").filter(has_text=says)).to_have_count(1)
        expect(page.locator(".tfe-forced-box")).to_have_value(german)
    page.locator(".tfe-forced-box").fill("Ein Hund.")
    page.get_by_role("button", name="Score it").click()
    becomes(page, lambda: Picture(page, "forced .tfe-asked").texts()[:2], ["Ein", "0"])
    expect(page.locator(".tfe-forced .tfe-error:visible")).to_have_count(0)
