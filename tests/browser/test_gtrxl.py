"""The pictures of the agent with a memory in a real browser: the stored walk, its switches, its
gates, and a corridor for the visitor."""

from __future__ import annotations

import io
from typing import Any

import numpy as np
from playwright.sync_api import Page

from explorer.labs.gtrxl import texts, views
from models.gtrxl.records import EXAMPLES
from tests.browser.staged import Picture, alone

START = EXAMPLES[0]


def draw(name: str) -> Any:
    """The value of a picture of the stored walk."""
    kept = views.first()
    assert kept is not None
    return getattr(views, f"draw_{name}")(kept.seen, START, "stored")


TEXTS = {"walk": texts.WALK, "switches": texts.SWITCHES, "gates": texts.GATES, "own": texts.OWN}
PAGES = {
    name: alone(name, lambda name=name: draw(name), words, picture=f"gtrxl/{name}")
    for name, words in TEXTS.items()
}


def test_threads_lead_back_to_the_lamp(page_watch: Page, site: str) -> None:
    picture = Picture(page_watch, "walk").open(f"{site}/walk?lang=en&_head=2.2")
    picture.says("Step 13 of 13", "cell 12", "head 2·2", "where lamp B hangs", "the right turn.")
    picture.press("ArrowLeft")
    picture.stands("step=12")
    picture.says("Step 12 of 13", "right")
    picture.click(picture.point(head="1.3"))
    picture.stands("head=1.3")
    picture.says("head 1·3")
    name, saved = picture.saved("NPZ")
    arrays = np.load(io.BytesIO(saved))
    assert name.endswith(".npz") and arrays["weights"].shape == (2, 4, 13, 13)
    assert arrays["policy"].shape == (13, 4)


def test_a_switch_tells_what_it_is_worth(page_watch: Page, site: str) -> None:
    picture = Picture(page_watch, "switches").open(f"{site}/switches?lang=en")
    picture.says("head 2·2", "0.60", "stored")
    picture.click(picture.point(switch="2a"))
    picture.stands("switch=2a")
    picture.says("layer 2, attention", "0.50")
    assert len(picture.rows()) == 12


def test_gates_are_told_by_step_and_unit(page_watch: Page, site: str) -> None:
    picture = Picture(page_watch, "gates").open(f"{site}/gates?lang=en")
    picture.says("step 13", "layer 2, attention", "born at 0.12")
    picture.press("ArrowDown", "ArrowLeft")
    picture.stands("gate=2m", "step=12")
    picture.says("layer 2, MLP")


def test_the_visitor_walks_and_scores(page_watch: Page, site: str) -> None:
    picture = Picture(page_watch, "own").open(f"{site}/own?lang=en")
    picture.says("Corridor 1 of 8")
    picture.press("ArrowUp", *["ArrowRight"] * 3)
    picture.stands("cell=3", "turn=none")
    picture.says("You are at cell 3")
    picture.press(*["ArrowRight"] * 12)
    picture.says("This is the junction")
    right = draw("own")["games"][0]["answer"]
    picture.press("ArrowUp" if right == "up" else "ArrowDown")
    picture.stands(f"turn={right}")
    picture.says("right.", "So far you 1, the agent 1, of 1 corridor.")
    picture.press("ArrowLeft")
    picture.stands("cell=12")
    page_watch.get_by_role("button", name="Next corridor").click()
    picture.stands("corridor=2", "cell=0", "turn=none")
