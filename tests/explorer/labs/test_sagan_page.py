"""The page of the self-attention GAN without a browser: what its pictures are given."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from explorer.components.change_panel import Difference
from explorer.labs import LABS
from explorer.labs.sagan import about, texts, views
from models.sagan.records import (
    EXAMPLES,
    FACTORS,
    STOPS,
    ErasedCell,
    Explanation,
    GammaEffect,
    GeneratorRun,
    Judgement,
    Request,
)
from tests.explorer.wishes import program_of

LAB = next(lab for lab in LABS if lab.slug == "sagan")

PICTURE = np.full((32, 32), 100, np.uint8)


def look_at(key: int) -> np.ndarray[Any, Any]:
    """Attention in which every cell looks at one, and the last cell a little at the first."""
    weights = np.zeros((64, 64), np.float32)
    weights[:, key] = 1
    weights[63, [0, key]] = 0.25, 0.75
    return weights


def explanation(request: Request) -> Explanation:
    """A run whose verdicts are 0.1 each."""
    verdicts = np.full((4, 4), 0.1, np.float32)
    judged = Judgement(PICTURE, verdicts, 1.5, look_at(9))
    inside = np.zeros((4, 4), np.bool_)
    inside[:2, :2] = True
    erased = ErasedCell(replace(judged, logit=1.2), inside, np.zeros((4, 4), np.float32))
    strip = np.zeros((9, 32, 32), np.uint8)
    scores = np.linspace(-1, 1, 9, dtype=np.float32)
    made = GeneratorRun(
        look_at(0),
        strip,
        scores,
        strip,
        scores,
        np.zeros((10, 32, 32), np.uint8),
        np.ones(10, "f4"),
    )
    return Explanation(
        judged=judged,
        bias=-0.1,
        made=made if request.task == "make" else None,
        erased=erased if request.erase else None,
        gamma_g=0.21,
        gamma_d=-0.2,
    )


@pytest.mark.parametrize("request_", EXAMPLES)
def test_every_example_can_be_drawn(request_: Request) -> None:
    seen = explanation(request_)
    for view in program_of("sagan").views:
        if view.draw is not None and view.draws_request(request_):
            drawn = view.draw(seen, request_, "live")
            assert drawn is None or drawn["state"] == "live"
            json.dumps(drawn)


def test_both_networks_stand_on_one_scale() -> None:
    drawn: Any = views.draw_glance(explanation(Request()), Request(), "live")
    assert [side["key"] for side in drawn["sides"]] == ["generator", "discriminator"]
    assert [side["gamma"] for side in drawn["sides"]] == ["0.21", "−0.20"]
    judged = Request(task="judge")
    drawn = views.draw_glance(explanation(judged), judged, "live")
    assert [side["key"] for side in drawn["sides"]] == ["discriminator"]


def test_the_cell_on_arrival_looks_far() -> None:
    weights = np.eye(64, dtype=np.float32)
    weights[10, [10, 60]] = 0.4, 0.6
    dark = PICTURE.copy()
    assert views.find_telling_cell(weights, dark) == 10
    dark[4:8, 8:12] = 0  # cell 10 is black now
    assert views.find_telling_cell(weights, dark) != 10


def test_an_erased_cell_brings_its_reach() -> None:
    request = Request(erase=1)
    drawn: Any = views.draw_verdict(explanation(request), request, "live")
    assert drawn["number"] == 1 and drawn["erased"]["logit"] == 1.2
    assert views.draw_verdict(explanation(Request()), Request(), "live")["erased"] is None


def test_strips_know_what_they_set() -> None:
    request = Request(gamma_g=-0.5, walk=0.25, kind=4)
    drawn: Any = views.draw_strips(explanation(request), request, "live")
    strips = drawn["strips"]
    assert {key: (one["field"], one["here"]) for key, one in strips.items()} == {
        "gamma": ("gamma_g", FACTORS.index(-0.5)),
        "walk": ("walk", STOPS.index(0.25)),
        "kinds": ("kind", 4),
    }
    assert strips["gamma"]["labels"][0] == "−2" and strips["walk"]["values"][1] == "0.125"


@pytest.mark.parametrize(
    ("changed", "before"), [({"gamma_g": 0.0}, 10.0), ({"gamma_d": 0.0}, -1.0)]
)
def test_a_change_prints_what_it_moves(changed: dict[str, float], before: float) -> None:
    request = Request(**changed)  # type: ignore[arg-type]
    measured = (GammaEffect(10.0, -1.0, 0.0, 500), GammaEffect(20.0, -2.0, 3.0, 500))
    seen = explanation(request)
    drawn = views.draw_change((seen, seen), measured, request, {"en": "0 γ", "zh": "0 γ"})
    assert isinstance(drawn, Difference) and drawn.number.before == before
    assert f"{drawn.number.after:.2f}".replace("-", "−") in drawn.sentence["en"]
    assert len(drawn.rows) == 3


def test_the_control_never_outruns_attention(monkeypatch: pytest.MonkeyPatch) -> None:
    logs = {
        "attention": [{"step": 50, "loss_d": 1.0}, {"step": 100, "distance": 9.0}],
        "residual": [{"step": 100, "distance": 8.0}, {"step": 200, "distance": 5.0}],
    }
    monkeypatch.setattr(about.card_facts, "read_training_log", lambda _slug, name: logs[name])
    curves = about.list_curves()
    assert curves == {"loss_d": [(50, 1.0)], "distance": [(100, 9.0)], "control": [(100, 8.0)]}


def test_the_card_speaks_of_what_is_shipped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(about, "facts", dict)
    assert about.pairs() == ()


def test_the_family_map_shows_query_and_key() -> None:
    drawn = views.thumbnail(explanation(Request()))
    assert [role for role, _ in drawn.outlines] == ["key", "query"]
    assert drawn.outlines[0][1] == (0, 0, 4, 4)


def test_steps_have_their_words() -> None:
    assert len(LAB.steps) == len(texts.STEPS) == 8
    assert set(texts.STEP_RANKS) | set(texts.STEP_GUESSES) <= set(texts.STEPS)
