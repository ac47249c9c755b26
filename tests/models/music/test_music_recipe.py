"""Training and measuring, on a data folder of a few seconds of music."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path

import numpy as np
import pytest
import torch

from models import checkpoint
from models.__main__ import main
from models.music import chorales, events, lstm, recipe
from models.music.lstm import PerformanceRNN
from models.music.model import Config, MusicTransformer
from models.music.performances import cut_at_notes, performances
from models.music.pretrained import read
from models.music.recipe import VARIANTS, Recipe, costs, evaluate, task_of, train, windows
from models.own import Own
from models.training import Schedule
from tests.models.networks import trained

SMALL = {"d_model": 16, "d_ff": 16, "n_heads": 2, "n_layers": 1}
CPU = torch.device("cpu")


@pytest.fixture(autouse=True)
def small(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every variant with a tiny network and a tiny recipe; its assets in a folder of its own."""
    schedule = Schedule(steps=6, warmup=1, decay=0.0, cooldown=2, average=2, every=2, precision="32-true")
    short = Recipe(schedule, batch=2, round=3, rate=3e-3)
    chorale = dataclasses.replace(task_of("jsb_relative"), build=lambda: MusicTransformer(Config(chorales.CELLS, 8, **SMALL)), recipe=short)
    piano = dataclasses.replace(
        task_of("relative"),
        build=lambda: MusicTransformer(Config(events.EVENTS, 8, **SMALL)),
        recipe=dataclasses.replace(short, window=16, augmentation=recipe.PIANO.recipe.augmentation),
    )
    networks = {"jsb_relative": chorale, "relative": piano}
    networks["transformer"] = dataclasses.replace(piano, build=lambda: MusicTransformer(Config(events.EVENTS, 0, longest=64, **SMALL)))
    recurrent = dataclasses.replace(VARIANTS["lstm"], recipe=piano.recipe)
    networks["lstm"] = dataclasses.replace(recurrent, build=lambda: PerformanceRNN(lstm.Config(events.EVENTS, d_model=16)))
    monkeypatch.setattr(recipe.LAB, "variants", networks)
    monkeypatch.setattr(checkpoint, "ASSETS", tmp_path / "assets")


@pytest.mark.parametrize("variant", ["jsb_relative", "lstm"])
def test_a_variant_is_trained_measured_and_read_back(variant: str, data: Path) -> None:
    found, _ = trained(recipe, read, data, variant)
    assert (found["split"], found["metric"]) == (
        ("valid", "nats per grid cell") if variant == "jsb_relative" else ("test", "nats per event")
    )


def test_every_cell_of_every_chorale_counts_and_nothing_else(data: Path, tmp_path: Path) -> None:
    train(data, tmp_path / "runs", "jsb_relative", device=CPU)
    found = evaluate(data, "jsb_relative", device=CPU)
    assert found["n"] == sum(len(piece) for piece in chorales.chorales(data, "valid"))
    assert evaluate(data, "jsb_relative", split="test", device=CPU)["split"] == "test"
    with pytest.raises(ValueError, match="read whole"):
        evaluate(data, "jsb_relative", times=2, device=CPU)
    with pytest.raises(ValueError, match="not of test"):
        evaluate(data, "jsb_relative", split="test", record=True, device=CPU)


def test_twice_the_length_tells_the_loss_of_both_halves(data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    train(data, tmp_path / "runs", "relative", device=CPU)
    assert main(["evaluate", "music", "--variant", "relative", "--data", str(data), "--device", "cpu", "--times", "2", "--json"]) == 0
    found = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert found["times"] == 2
    assert found["ratio"] == pytest.approx(found["second_half"] / found["first_half"], abs=1e-3)
    assert np.mean(found["by_position"]) == pytest.approx((found["first_half"] + found["second_half"]) / 2, abs=1e-3)
    assert found["bits_per_second"] > 0


def test_distances_that_few_queries_met_are_left_out_after_training(data: Path, tmp_path: Path) -> None:
    whole = read(train(data, tmp_path / "runs", "relative", device=CPU, own=Own(tmp_path / "whole")), "cpu").model
    recipe_of_less = dataclasses.replace(task_of("relative").recipe, kept=4)
    found = read(train(data, tmp_path / "again", "relative", device=CPU, own=Own(tmp_path / "less"), recipe=recipe_of_less), "cpu")
    assert isinstance(found.model, MusicTransformer) and isinstance(whole, MusicTransformer)
    assert found.facts["config"]["distances"] == 4 and found.facts["recipe"]["kept"] == 4
    before = torch.arange(12)[None]
    assert torch.equal(found.model(before), whole(before, farthest=3)), "what lies beyond shares the last one"
    assert not torch.equal(found.model(before), whole(before))
    assert train(data, tmp_path / "runs", "transformer", device=CPU, recipe=recipe_of_less).is_dir(), (
        "without E_r there is nothing to leave out"
    )


def test_costs_do_not_depend_on_how_pieces_are_put_together() -> None:
    torch.manual_seed(1)
    model = MusicTransformer(Config(9, 8, **SMALL))
    pieces = [np.random.default_rng(i).integers(0, 9, n) for i, n in enumerate((5, 12, 3, 9))]
    for one, other in zip(costs(model, pieces, 4), costs(model, pieces, 1), strict=True):
        np.testing.assert_allclose(one, other, atol=1e-5)


def test_windows_hold_every_event_once() -> None:
    cut = windows([np.arange(10), np.arange(3)], 4)
    assert [one.tolist() for one in cut] == [[0, 1, 2, 3], [4, 5, 6, 7], [8, 9], [0, 1, 2]]


def test_a_performance_is_cut_at_notes_as_in_training_and_holds_each_once(data: Path) -> None:
    (played,) = performances(data, "train")
    cut = cut_at_notes(played, 16)
    begun: list[int] = []
    for window in cut:
        assert len(window) <= 16 and window[0] >= events.VELOCITY and window[1] < events.NOTE_OFF, "loudness, then the first note"
        on: set[int] = set()
        for event in window.tolist():
            if event < events.NOTE_OFF:
                on.add(event)
                begun.append(event)
            elif event < events.SHIFT:
                assert event - events.NOTE_OFF in on, "no note ends that did not begin here"
    whole = played.events()
    assert begun == whole[whole < events.NOTE_OFF].tolist()


def test_both_ways_of_cutting_a_performance_are_told(data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    train(data, tmp_path / "runs", "relative", device=CPU)
    found = evaluate(data, "relative", device=CPU)
    model = read(checkpoint.folder("music", "relative"), "cpu").model
    whole = [one.events() for one in performances(data, "test")]
    assert found["cut_anywhere"] == pytest.approx(np.concatenate(costs(model, windows(whole, 16))).mean(), abs=1e-4)
    at_notes = [window for one in performances(data, "test") for window in cut_at_notes(one, 16)]
    assert found["value"] == pytest.approx(np.concatenate(costs(model, at_notes)).mean(), abs=1e-4)
    assert found["n"] == sum(map(len, at_notes)) and "cut anywhere" in capsys.readouterr().out


def test_baselines_are_as_large_as_what_they_stand_beside() -> None:
    sizes = {name: sum(p.numel() for p in task.build().parameters()) for name, task in VARIANTS.items()}
    assert max(sizes.values()) * 2 < checkpoint.LARGEST
    assert 0.8 < sizes["lstm"] / sizes["relative"] < 1.25
