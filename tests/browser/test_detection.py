"""The lab of detection as a visitor meets it: boxes and tokens asked, an object moved until another
query takes it, a scene composed, a photo brought."""

from __future__ import annotations

import io
from typing import Any

import numpy as np
import pytest
import torch
from PIL import Image
from playwright.sync_api import Page, expect

from explorer.labs import LABS
from explorer.labs.detection import about, texts, views
from models.detection.loss import compare_boxes
from models.detection.matching import match_rows
from models.detection.records import EXAMPLES, Explanation
from models.detection.scenes import SIDE
from tests.browser.staged import Picture, alone, opening
from tests.browser.visiting import settled
from tests.browser.waiting import addressed, becomes
from tests.visits import Visit

LAB = next(lab for lab in LABS if lab.slug == "detection")

SCENE = EXAMPLES[0]


def stored() -> Explanation:
    """The run of the first example, as it is shipped."""
    kept = views.first()
    assert kept is not None
    return kept.seen


def draw(name: str) -> Any:
    """What makes the value of a picture."""
    return lambda: getattr(views, f"draw_{name}")(stored(), SCENE, "stored")


PAGES = {
    "seen": alone("scene", draw("scene"), texts.SCENE, "detection/scene"),
    "agree": alone("agreement", draw("agreement"), texts.AGREEMENT, "detection/agreement"),
    "board": alone("matching", draw("matching"), texts.MATCHING, "detection/matching"),
    "places": alone(
        "territories", about.draw_territories, texts.TERRITORIES, "detection/territories"
    ),
}


def find_owners(right: int = 0) -> list[int]:
    """The query of each object, the first moved right by so many pixels."""
    seen = stored()
    boxes = torch.from_numpy(seen.boxes.round(4).copy())
    boxes[0, 0] += right / SIDE
    found = torch.from_numpy(seen.found[-1].copy())
    cost = 5 * (found[:, None] - boxes).abs().sum(-1) - 2 * compare_boxes(found[:, None], boxes)[1]
    return match_rows((cost.numpy() - seen.chances[-1][:, seen.kinds]).T.tolist())


@pytest.mark.parametrize("right", [0, 48, 60])
def test_matching_equals_the_python_one(page_watch: Page, site: str, right: int) -> None:
    board = opening("matching", "board", f"lang=en&_right={right}")(page_watch, site)
    columns = list(zip(*(list(row.values())[1:] for row in board.rows()), strict=True))
    owners = [next(q for q, cell in enumerate(one) if cell.endswith("*")) for one in columns]
    assert owners == find_owners(right)


def test_a_click_asks_a_query_or_a_token(page_watch: Page, site: str) -> None:
    scene = opening("scene", "seen")(page_watch, site)
    other = next(
        query
        for query in np.flatnonzero(stored().answers[1][-1] >= 0.5).tolist()
        if query != views.find_surest_query(stored())
    )
    scene.click(scene.point(query=other))
    scene.stands(f"query={other}", "kind=cross")
    addressed(page_watch, _query=str(other))
    scene.find("[data-key=encoder]").click()
    scene.stands("kind=encoder")
    scene.click(scene.point(cell=0))
    addressed(page_watch, _cell="0,0")
    scene.says("The token in row 0, column 0")
    assert scene.arrays()["encoder"].shape == (3, 4, 144, 144)


def test_queries_are_walked_through(page_watch: Page, site: str) -> None:
    agree = opening("agreement", "agree", "lang=en&_query=3&_head=2.1")(page_watch, site)
    agree.press("ArrowRight")
    agree.stands("query=4")
    agree.says("In head 2·1, query 4 looks most at")
    assert len(agree.rows()) == 12
    places = opening("territories", "places", "lang=en&_query=3")(page_watch, site)
    places.says("query 3")


def test_a_scene_is_composed(visit: Visit) -> None:
    page: Page = visit(f"{LAB.path}?lang=en")
    settled(page)
    sheet = page.locator(".tfe-scene-sheet")
    sheet.focus()
    for key in ("PageDown", "Shift+ArrowRight", "+"):
        page.keyboard.press(key)
    x, y, size = (int(part) for part in SCENE.scene.split(",")[1].split(".")[2:5])
    moved = SCENE.scene.replace(f".{x}.{y}.{size}.", f".{x + 8}.{y}.{size + 1}.", 1)
    addressed(page, scene=moved)
    settled(page)
    page.locator(".tfe-scene-tools select").select_option("9")
    page.get_by_role("button", name="Add", exact=True).click()
    becomes(page, lambda: "9.0." in page.url, True)
    settled(page)
    assert len(Picture(page, "matching").rows()[0]) == 1 + 5


def test_a_photo_is_answered_with_a_warning(visit: Visit, tmp_path: Any) -> None:
    page: Page = visit(f"{LAB.path}?lang=en")
    settled(page)
    noise = np.random.default_rng(0).integers(0, 256, (90, 120, 3)).astype(np.uint8)
    out = io.BytesIO()
    Image.fromarray(noise).resize((400, 300)).save(out, "JPEG")
    path = tmp_path / "photo.jpg"
    path.write_bytes(out.getvalue())
    page.locator(".tfe-scene-composer input[type=file]").set_input_files(path)
    expect(page.locator(".tfe-ask-note")).to_contain_text("nothing but composed scenes")
    page.get_by_role("button", name="Back to the scene").click()
    expect(page.locator(".tfe-ask-note")).to_be_hidden()
