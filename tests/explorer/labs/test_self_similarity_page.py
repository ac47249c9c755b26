"""The page of self-similarity without a browser: what its views hold, and what a change says."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pytest

from explorer.labs.self_similarity import about, change, texts, views
from models.explaining.errors import InputError
from models.self_similarity.explain import explain
from models.self_similarity.records import (
    EXAMPLES,
    METHODS,
    SIGMA,
    Explanation,
    Request,
    spell_picture,
)
from tests.explorer.wishes import program_of


def run(request: Request) -> Explanation:
    (seen,) = explain([request])
    assert not isinstance(seen, InputError)
    return seen


@pytest.fixture(scope="module")
def wall() -> Explanation:
    kept = views.first()
    assert kept is not None and kept.request == EXAMPLES[0]
    return kept.seen


def test_the_first_run_is_stored_as_it_is(wall: Explanation) -> None:
    again = run(EXAMPLES[0]).denoised
    assert wall.denoised is not None and again is not None
    assert again.psnr == pytest.approx(wall.denoised.psnr, abs=0.01)


def test_views_hold_what_they_draw(wall: Explanation) -> None:
    likes: Any = views.draw_likes(wall, EXAMPLES[0], "stored")
    assert likes["noisy"]["shape"] == [96, 96] and likes["block"]["shape"] == [16, 3, 3]
    assert 0 <= likes["pick"] < 96 * 96
    silent: Any = views.draw_likes(wall, dataclasses.replace(EXAMPLES[0], block=False), "live")
    assert silent["block"] is None
    denoised: Any = views.draw_denoised(wall, EXAMPLES[0], "stored")
    assert denoised["pictures"]["shape"] == [2 + len(METHODS), 96, 96]
    assert denoised["psnr"][0] is None and len(denoised["psnr"]) == len(denoised["names"])
    matrix: Any = views.draw_matrix(wall, EXAMPLES[0], "stored")
    assert matrix["likeness"]["shape"] == [64, 64] and matrix["bars"]["shape"] == [16, 16]


def test_a_growth_has_its_copy_map() -> None:
    grown: Any = views.draw_grown(run(EXAMPLES[3]), EXAMPLES[3], "live")
    assert grown["source"]["shape"] == [64, 64, 2] and grown["sample"]["shape"] == [40, 40, 3]
    corners = views.colour_places(40)[[0, 0, -1, -1], [0, -1, 0, -1]]
    assert (corners == views.CORNERS.reshape(4, 3)).all() and grown["map"]["shape"] == [64, 64, 3]
    assert grown["window"] == EXAMPLES[3].window and grown["side"] == 64


@pytest.mark.parametrize(
    ("field", "value", "method"), [("bias", False, "dot"), ("block", False, "block")]
)
def test_a_change_names_whom_it_hits(
    wall: Explanation, field: str, value: bool, method: str
) -> None:
    request = dataclasses.replace(EXAMPLES[0], **{field: value})  # type: ignore[arg-type]
    found = change.describe_change((wall, run(request)), (None, None), request, texts.SAYS[field])
    assert found.number.after < found.number.before - 1
    assert texts.METHODS[method]["en"] in found.sentence["en"]
    assert [row.key for row in found.rows] == [*METHODS]


def test_a_window_changes_how_a_texture_coheres() -> None:
    request = dataclasses.replace(EXAMPLES[3], window=5)
    pair = run(EXAMPLES[3]), run(request)
    found = change.describe_change(pair, (None, None), request, texts.SAYS["window"])
    assert found.number.before != found.number.after and "%" in found.sentence["zh"]


def test_unlearned_noise_is_said(wall: Explanation) -> None:
    assert views.describe_warning(EXAMPLES[0], wall) is None
    said = views.describe_warning(dataclasses.replace(EXAMPLES[0], sigma=50), wall)
    assert said is not None and "50" in said["en"] and str(SIGMA) in said["zh"]


def test_own_pictures_share_no_drawing() -> None:
    noise = np.random.default_rng(1).integers(0, 256, (2, 96, 96, 3), np.uint8)
    own = [Request(picture=spell_picture(one)) for one in noise]
    drawn = dataclasses.replace(program_of("self_similarity"), slug="self_similarity")
    assert [drawn.drawing_key(one) for one in own] == ["", ""]
    assert drawn.drawing_key(EXAMPLES[0]) != drawn.drawing_key(EXAMPLES[1]) != ""


def test_the_telling_pixel_is_away_from_edges() -> None:
    clean = np.zeros((96, 96), np.float32)
    clean[40:, 50:] = 1
    row, column = views.find_telling_pixel(clean)
    assert abs(row - 40) <= 4 or abs(column - 50) <= 4
    assert 10 <= row < 86 and 10 <= column < 86


def test_the_card_holds_measured_figures() -> None:
    known = about.facts()
    pairs = about.pairs()
    assert len(pairs) == 4 and f"{known['block']['figure']['value']:.2f}" in str(pairs[2].value)
    assert about.curves() is not None
    assert known["block"]["figure"]["value"] > known["block_without"]["figure"]["value"]


def test_steps_say_what_the_runs_show(wall: Explanation) -> None:
    assert len(views.steps()) == 8
    grass, seen = run(EXAMPLES[1]).denoised, wall.denoised
    assert grass is not None and seen is not None
    gains = [one.psnr[1] - one.psnr[0] for one in (seen, grass)]
    assert gains[0] > 2 * gains[1]
    silenced = run(dataclasses.replace(EXAMPLES[0], block=False)).denoised
    assert silenced is not None and silenced.psnr[3] < silenced.psnr[4]
    assert (wall.bars[:4, 4:8].diagonal() == 1).all()
    assert views.thumbnail(wall).levels.shape == (96, 96)
