"""The panel about training says what model.json and the training log say, and what is published is drawn as published."""

from __future__ import annotations

import json
import re

import pytest
import torch

from explorer.figures import training as drawing
from explorer.labs import about
from explorer.labs.translation.deeper import training as panel
from models.encoder import Config
from models.encoder_decoder import Transformer
from models.layers.dropout import Dropout
from models.layers.loss import smoothed_loss
from models.training import Schedule

KNOWN, LOG = about.facts("translation"), about.log("translation")
SCHEDULE = KNOWN["recipe"]["schedule"]


def test_the_rate_is_that_of_the_training_loop_and_of_its_log() -> None:
    schedule = Schedule(**SCHEDULE)
    for step in (1, 2, 599, 600, 601, 5000, schedule.steps - schedule.cooldown, schedule.steps - 1, schedule.steps):
        assert panel.rate(SCHEDULE, step) == pytest.approx(schedule.rate(step), rel=1e-12)
    for entry in LOG:
        assert panel.rate(SCHEDULE, entry["step"]) == pytest.approx(entry["rate"], rel=1e-9)


def test_the_averaged_checkpoints_are_the_last_ones_that_were_kept() -> None:
    assert panel.averaged(SCHEDULE) == list(range(7050, 8401, 150))
    assert panel.averaged({"every": 150, "steps": 400, "average": 2}) == [300, 400]


def test_what_is_asked_for_is_what_the_loss_is_measured_against() -> None:
    torch.manual_seed(0)
    known = {"recipe": {"smoothing": 0.1}, "config": {"vocabulary": 30}}
    right, each = panel.smoothed(known)
    hidden, readout, wanted = torch.randn(1, 8), torch.randn(30, 8), torch.tensor([7])
    target = torch.full((30,), each)
    target[7] = right
    target[[0, 2]] = 0
    assert float(target.sum()) == pytest.approx(1)
    expected = -(target * (hidden @ readout.T)[0].log_softmax(0)).sum()
    assert float(smoothed_loss(hidden, readout, wanted, 0.1, never=(0, 2))) == pytest.approx(float(expected), abs=1e-4)
    assert panel.floor(known) == pytest.approx(-float((target * target.clamp_min(1e-30).log()).sum()), abs=1e-6)
    assert all(entry["loss"] > panel.floor(KNOWN) for entry in LOG)


def test_dropout_stands_at_as_many_places_as_are_said() -> None:
    config = Config(**KNOWN["config"])
    model = Transformer(config)
    places = 0

    def count(module: torch.nn.Module, given: object, made: object) -> None:
        nonlocal places
        places += 1

    for module in model.modules():
        if isinstance(module, Dropout):
            module.register_forward_hook(count)
    tokens = torch.zeros(1, 2, dtype=torch.long)
    model(tokens, tokens, torch.ones_like(tokens, dtype=torch.bool))
    assert panel.dropouts(KNOWN) == places


def test_the_operations_are_six_for_each_parameter_and_position() -> None:
    assert panel.operations(KNOWN) == 6 * KNOWN["parameters"] * KNOWN["recipe"]["batch"] * SCHEDULE["steps"]


def test_the_published_rows_are_those_of_the_paper() -> None:
    assert [(row.german, row.french, row.german_cost) for row in panel.TABLE] == [
        (24.6, 39.92, 2.3e19),
        (25.16, 40.46, 9.6e18),
        (27.3, 38.1, 3.3e18),
        (28.4, 41.8, 2.3e19),
    ]


def test_published_bars_are_dashed_outlines_and_ours_is_solid() -> None:
    made = drawing.compared([drawing.System("old", 20, 1e19), drawing.System("ours", 30, 1e14, ours=True)], ("a", "b"))
    assert [bar["marker"]["color"] for bar in made["data"]] == [[drawing.CLEAR, drawing.OURS]] * 2
    assert [(shape["xref"], shape["x1"]) for shape in made["layout"]["shapes"]] == [("x", 20), ("x2", 1e19)]
    assert all("dash" in shape["line"] for shape in made["layout"]["shapes"])
    with pytest.raises(ValueError, match="0 systems"):
        drawing.compared([], ("a", "b"))


def test_a_score_on_another_test_is_no_bar_among_the_published_ones() -> None:
    for language, figure in panel.value(KNOWN, LOG)["figures"][0]["figure"]["figures"].items():  # type: ignore[index]
        assert list(figure["data"][0]["x"]) == [*(row.german for row in panel.TABLE), None]
        (words,) = figure["layout"]["annotations"]
        assert words["text"].startswith(f"{KNOWN['figure']['value']:.1f}") and "Multi30k" in words["text"]
        assert "newstest2014" in panel.COST_AXES[language][0]


def test_everything_is_said_in_both_languages_with_the_numbers_of_model_json() -> None:
    value = panel.value(KNOWN, LOG)
    figures = [each["figure"] for each in value["figures"]]  # type: ignore[attr-defined]
    said = {**value, "figures": [{**each, "figures": None} for each in figures]}
    assert not re.search(r"\{[a-z_]+\}", json.dumps(said, ensure_ascii=False))
    for language, word in (("en", "Transformer"), ("zh", "运算")):
        assert word in figures[0]["sentence"][language]
        assert f"{SCHEDULE['warmup']:,}" in figures[1]["sentence"][language]
        assert "0.9000" in figures[2]["sentence"][language]
    rows = value["table"]["rows"]  # type: ignore[index]
    assert [row["ours"] for row in rows] == [False] * 4 + [True]
    assert rows[-1]["cells"][1] == f"{KNOWN['figure']['value']:.1f}"
    assert "no rival" in value["notes"][0]["en"]  # type: ignore[index]


def test_without_a_log_the_rate_is_drawn_all_the_same() -> None:
    assert panel.value(KNOWN, [])["figures"][1]["figure"]["figures"]["en"]["data"][1]["x"] == []  # type: ignore[index]
