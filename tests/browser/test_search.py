"""The panels on the search and on the visitor's own German, in a real browser: the same numbers as
the model's, by hand and by keyboard."""

from __future__ import annotations

import re
from urllib.parse import quote

import pytest
from playwright.sync_api import expect

from explorer.labs.translation.panels import forced
from models.translation.forced_records import Forced, Reading
from models.translation.records import EXAMPLES, Request
from models.translation.search_records import Search, Tree, outcome, score
from tests.browser.staged import Picture
from tests.browser.visiting import finished
from tests.browser.waiting import addressed, asked, becomes, quiet
from tests.visits import Visit

# on the page of the promises that hold for every lab
pytestmark = pytest.mark.xdist_group("translation walk", 2)

SENTENCE = "Three people sit at a table in front of a restaurant."
RUN = f"v=1&sentence={quote(SENTENCE)}&beam=3"


def opened(visit: Visit, panel: str, query: str = "") -> Picture:
    """A panel of the translation page, open and drawn."""
    return Picture(visit(f"/translation?_{panel}=open&{query}"), f"{panel} .tfe-stage").stands()


def last_step(tree: Picture) -> int:
    """The step in view."""
    return int(re.findall(r"bstep=(\d+)", tree.shown())[0])


def number(text: str) -> float:
    return float(text.replace("−", "-"))


def test_length_penalties_rank_as_the_model(
    visit: Visit,
) -> None:
    from models.translation.explain import explain
    from models.translation.search import search

    (tree,) = search([Search(SENTENCE, 3)])
    assert isinstance(tree, Tree)
    picture = opened(visit, "beam", RUN)
    finished(picture.page)  # the run itself may come after its panel
    quiet(picture.page, visit.faults)
    visit.faults.requests.clear()
    for alpha in (0.6, 0.0, 1.2, 2.0):
        picture.find("input[max='2']").fill(str(alpha))
        found = outcome(tree, alpha)
        picture.stands("btree=3", f"balpha={alpha:g}", f"bstep={found.last}")
        rows = picture.find(".tfe-stage-beside tbody tr").all()[: len(found.ranking)]
        shown = [row.locator("td").all_inner_texts() for row in rows]
        assert [cells[0] for cells in shown] == [tree.texts[node] for node in found.ranking]
        assert [number(cells[-2]) for cells in shown] == pytest.approx(
            [score(tree, node, alpha) for node in found.ranking], abs=0.0051
        )
        assert {cells[-1] for cells in shown} == {"stop token"}
        (seen,) = explain([Request(SENTENCE, 3, alpha)])
        assert [cells[0] for cells in shown] == [text for text, *_ in seen.hypotheses]
    assert not [asked for asked in visit.faults.requests if "/qr" not in asked]


def test_a_limit_is_not_told_as_an_end(visit: Visit) -> None:
    picture = opened(visit, "beam", "v=1&sentence=dog")
    picture.says("ends at step 51, its limit", "0 finished, 4 were cut off at 51 pieces")
    assert {
        row.locator("td").last.inner_text()
        for row in picture.find(".tfe-stage-beside tbody tr").all()
    } == {"limit"}
    assert picture.arrays()["fate"].tolist().count(3) == 4
    page = picture.page
    expect(page.locator(".tfe-ask-ended")).to_have_text("limit 51")
    expect(page.locator(".tfe-ask-note")).to_have_text("The limit of 51 pieces ended it.")
    expect(page.locator(".tfe-roles")).to_be_hidden()  # no verb: no card either
    with page.expect_download() as saved:
        page.locator(".tfe-ask-take").click()
    assert "The limit of 51 pieces ended it." in saved.value.path().read_text("utf-8")


def test_steps_nodes_and_playing_work_by_keyboard(visit: Visit) -> None:
    picture = opened(visit, "beam", RUN)
    last, detail = last_step(picture), picture.find(".tfe-stage-below")
    picture.says("were pruned", "greedy")
    picture.press("ArrowLeft")
    picture.stands("btree=3", f"bstep={last - 1}")
    for rank in (1, 2):
        picture.press("ArrowDown")
        expect(detail).to_contain_text(f"rank {rank} in step {last - 1}")
    becomes(picture.page, lambda: {"_bnode", "_bstep"} <= asked(picture.page).keys(), True)
    picture.press("Space")  # plays the last step
    picture.stands(f"bstep={last}")
    picture.press("Escape")
    addressed(picture.page, _bnode=None)


def test_another_width_and_no_stop_token_are_other_searches(visit: Visit) -> None:
    picture = opened(visit, "beam", RUN)
    picture.find("[data-key='2']").first.click()
    picture.stands("btree=2")
    picture.find("[data-key='2.endless']").click()
    picture.stands("btree=2.endless")
    addressed(picture.page, _btree="2.endless")
    limit = last_step(picture)
    expect(picture.page.locator(".tfe-beam-tokens .tfe-token")).to_have_count(limit - 1)
    picture.says(f"the limit of {limit} pieces")


def test_a_german_sentence_is_scored_as_the_model_scores_it(visit: Visit) -> None:
    from models.translation.forced import score_forced as judge

    picture = opened(visit, "forced")
    box = picture.page.locator(".tfe-forced-box")
    expect(box).to_have_value(forced.FIRST)
    (expected,) = judge([Reading(EXAMPLES[0].sentence, "Zwei Katzen spielen Fußball.")])
    assert isinstance(expected, Forced)
    box.fill("Zwei Katzen spielen Fußball.")
    box.press("Enter")
    becomes(picture.page, lambda: len(picture.marks("rect", radius=6)), len(expected.target))
    rows = picture.rows()
    assert [row["given word"] for row in rows] == list(expected.target)
    assert [float(row["log p, nats"]) for row in rows] == pytest.approx(
        expected.log_probabilities.tolist(), abs=1e-3
    )
    assert [int(row["rank"]) for row in rows] == expected.ranks.tolist()
    addressed(picture.page, _german="Zwei Katzen spielen Fußball.")
    picture.click(picture.spot(expected.target[1]))
    expect(picture.page.locator(".tfe-forced-five li .piece").first).to_have_text(
        expected.favourites[1][0]
    )
    picture.press("ArrowRight")
    picture.says("(2)")
    picture.find(".tfe-select").select_option("2.3")
    picture.stands("fword=2", "fhead=2.3")
    (cells,) = picture.marks("cells")
    wide, high = (cells["box"][f"{side}1"] - cells["box"][f"{side}0"] for side in "xy")
    at = {
        "left": cells["left"] + 4.5 * wide / cells["columns"],
        "top": cells["top"] + 2.5 * high / cells["rows"],
    }
    picture.page.mouse.move(*picture.spot(at))
    expect(picture.page.locator(".tfe-forced .tfe-hover")).to_contain_text(
        f"weight {expected.cross[1, 2, 2, 4]:.2f}"
    )
    picture.page.get_by_role("button", name="The model's own").click()
    picture.says("what the model itself says")


def test_unscorable_german_is_refused(visit: Visit) -> None:
    picture = opened(visit, "forced")
    box, error = (
        picture.page.locator(".tfe-forced-box"),
        picture.page.locator(".tfe-forced .tfe-error:visible"),
    )
    for german, says in (
        ("", "empty"),
        ("Hund " * 70, "70 word pieces"),
        ("狗", "never writes “狗”"),
        ("x" * 3000, "3,000"),
    ):
        box.fill(german)
        picture.page.get_by_role("button", name="Score it").click()
        expect(error.filter(has_text=says)).to_have_count(1)
        expect(box).to_have_value(german)
    box.fill("Ein Hund.")
    box.press("Enter")
    becomes(picture.page, lambda: picture.texts()[:2], ["Ein", "0"])
    expect(error).to_have_count(0)
