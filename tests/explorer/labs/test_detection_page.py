"""The page of the detector without a browser: its values, its changes and its files."""

from __future__ import annotations

import base64
import io
from typing import Any

import numpy as np
import pytest
from PIL import Image

from explorer.labs.detection import about, texts, views
from explorer.labs.detection.lab import LAB
from explorer.page.runs import ResultOrigin
from models.detection.boxes import judge_answers
from models.detection.explain import explain
from models.detection.records import EXAMPLES, HEADS, LAYERS, QUERIES, Explanation, Request
from models.detection.scenes import KINDS, SIDE
from models.explaining.errors import InputError
from tests.explorer.wishes import program_of

SCENE = EXAMPLES[0]


def run_scene(**fields: Any) -> Explanation:
    """The explanation of a request to the shipped network."""
    (seen,) = explain([Request(**fields)])
    assert isinstance(seen, Explanation), seen
    return seen


def picture_text(side: tuple[int, int] = (120, 96), kind: str = "PNG") -> str:
    """A picture file of a slope, as a request carries it."""
    out = io.BytesIO()
    levels = np.linspace(0, 255, side[0] * side[1]).reshape(side).astype(np.uint8)
    Image.fromarray(levels).save(out, kind)
    return base64.urlsafe_b64encode(out.getvalue()).decode().rstrip("=")


def test_a_scene_comes_with_all_its_maps() -> None:
    seen = run_scene()
    assert seen.kinds.tolist() == [2, 8, 6, 0] and seen.picture.shape == (SIDE, SIDE)
    assert seen.encoder.shape == (LAYERS, HEADS, 144, 144)
    assert seen.cross.shape == (LAYERS, HEADS, QUERIES, 144)
    assert seen.among.shape == (LAYERS, HEADS, QUERIES, QUERIES)
    assert seen.chances.shape == (LAYERS, QUERIES, len(KINDS) + 1)
    np.testing.assert_allclose(seen.chances.sum(-1), 1, atol=1e-5)
    assert len(set(seen.pairs[-1].tolist())) == 4
    cost = seen.cost.sum(-1)[-1]
    assert cost[np.arange(4), seen.pairs[-1]].sum() <= np.trace(cost[:, :4])


def test_company_changes_nothing() -> None:
    requests = [Request(), Request(agree=False), Request(silenced=(("cross", 2, 1),))]
    together = explain(requests)
    for alone, seen in zip(map(explain, ([one] for one in requests)), together, strict=True):
        assert isinstance(seen, Explanation) and isinstance(alone[0], Explanation)
        np.testing.assert_allclose(seen.chances, alone[0].chances, atol=1e-5)
    plain, apart, silent = together
    assert not np.allclose(plain.chances, apart.chances, atol=1e-3)  # type: ignore[union-attr]
    assert not np.allclose(plain.chances, silent.chances, atol=1e-4)  # type: ignore[union-attr]


def test_fewer_layers_and_queries_are_used() -> None:
    seen = run_scene(depth=1, queries=3)
    assert seen.found.shape == (1, 3, 4) and seen.among.shape == (1, HEADS, 3, 3)
    assert seen.pairs.shape == (1, 3), "there are as many pairs as queries"
    assert judge_answers(seen).overlap <= judge_answers(run_scene()).overlap


def test_a_drawn_digit_is_placed() -> None:
    bits = np.zeros((28, 28), np.uint8)
    bits[4:24, 12:16] = 1
    drawing = base64.urlsafe_b64encode(np.packbits(bits).tobytes()).decode().rstrip("=")
    seen = run_scene(scene="4,4.d.30.20.40.1", drawing=drawing)
    np.testing.assert_allclose(seen.boxes[0] * SIDE, [34, 40, 8, 40], atol=1e-4)
    assert seen.picture[25:55, 33:36].min() > 200
    with pytest.raises(InputError, match="empty"):
        raise explain([Request("4,4.d.30.20.40.1")])[0]  # type: ignore[misc]


def test_a_picture_is_cropped_and_warned_of() -> None:
    request = Request(picture=picture_text())
    seen = run_scene(picture=request.picture)
    assert seen.picture.shape == (SIDE, SIDE) and not len(seen.kinds) and seen.cost.size == 0
    assert views.notice(request, seen) and views.describe_warning(request, seen) == texts.UNSEEN
    assert judge_answers(seen).overlap == 0


@pytest.mark.parametrize("picture", ["!", "AAAA", picture_text(kind="BMP")])
def test_what_is_no_picture_is_refused(picture: str) -> None:
    (refusal,) = explain([Request(picture=picture)])
    assert isinstance(refusal, InputError) and refusal.text["zh"]


@pytest.mark.parametrize(
    ("scene", "word"),
    [("0" + ",1.0.5.5.20.1" * 8, "8 objects"), ("0,1.0.5.5.80.1", "80 px"), ("0", "")],
)
def test_unusual_scenes_are_warned_of(scene: str, word: str) -> None:
    request = Request(scene)
    said = views.describe_warning(request, run_scene(scene=scene))
    assert said is None if not word else said is not None and word in said["en"]


def test_a_head_that_is_not_there_is_refused() -> None:
    (refusal,) = explain([Request(silenced=(("cross", 3, 0),))])
    assert isinstance(refusal, InputError) and refusal.code == "silenced"


def test_a_run_draws_every_view() -> None:
    seen = run_scene()
    drawn: Any = program_of("detection").render_run(seen, SCENE, ResultOrigin("live", 5.0, "cpu"))
    assert set(drawn) == {"ask", "scene", "agreement", "matching"}
    assert drawn["scene"]["pick"]["query"] == int(seen.answers[1][-1].argmax())
    assert drawn["scene"]["pick"]["head"].startswith("3.")
    assert drawn["matching"]["placed"] == [2, 8, 6, 0] and len(drawn["agreement"]["names"]) == 10


@pytest.mark.parametrize("name", LAB.interventions)
def test_a_change_moves_its_number(name: str) -> None:
    fields: dict[str, Any] = {
        "agree": {"agree": False},
        "depth": {"depth": 1},
        "queries": {"queries": 3},
        "silence": {"silenced": (("cross", 2, 0),)},
    }
    after = run_scene(**fields[name])
    told = views.difference((run_scene(), after), (None, None), SCENE, {"en": "a", "zh": "b"})
    assert told.number.before != told.number.after and told.sentence["zh"]


def test_territories_are_drawn_as_stored() -> None:
    value: Any = about.draw_territories()
    assert value["state"] == "stored" and value["queries"] == QUERIES
    assert value["scenes"] > 0 and value["of"]["shape"][0] == value["box"]["shape"][0]


def test_every_figure_comes_from_a_file() -> None:
    figure, pairs = about.find_figure(), about.pairs()
    said = " ".join(str(one.value) for one in pairs)
    assert not figure or f"{figure['value']:.3f}" in said
    assert len(views.steps()) == len(texts.STEPS) == 8
