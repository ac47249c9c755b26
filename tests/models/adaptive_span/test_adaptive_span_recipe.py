"""Training and measuring, on a shelf of a few thousand characters."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest
import torch

from models import checkpoint
from models.adaptive_span import recipe
from models.adaptive_span.model import Config
from models.adaptive_span.pretrained import read
from models.adaptive_span.recipe import VARIANTS, Recipe, Size, evaluate, task_of, train
from models.training import Schedule
from tests.models.networks import trained

CPU = torch.device("cpu")


@pytest.fixture(autouse=True)
def small(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every variant with a tiny network and a tiny recipe; its assets in a folder of its own."""
    schedule = Schedule(steps=6, warmup=1, decay=0.0, cooldown=2, average=2, every=2, precision="32-true")
    size = Size(
        Config("", span=24, ramp=4, d_model=16, d_ff=16, n_heads=2, n_layers=2), Recipe(schedule, batch=2, window=48, round=3, rate=3e-3)
    )
    tiny = {name: dataclasses.replace(task, sizes={"cpu": size}) for name, task in VARIANTS.items()}
    monkeypatch.setattr(recipe.LAB, "variants", tiny)
    monkeypatch.setattr(checkpoint, "ASSETS", tmp_path / "assets")


@pytest.mark.parametrize("variant", ["adaptive", "dynamic", "fixed"])
def test_a_variant_is_trained_measured_and_read_back(variant: str, data: Path) -> None:
    found, pretrained = trained(recipe, read, data, variant)
    facts = pretrained.facts
    assert facts["recipe"]["penalty"] == (0 if variant == "fixed" else recipe.PENALTY)
    assert "Q" not in facts["config"]["letters"] and "e" in facts["config"]["letters"]
    assert (found["split"], found["metric"], found["n"], found["unknown"]) == ("test", "bits per character", 300, 1)
    assert found["by_reading"].keys() == {"half_overlap", "cold", "memory"}
    assert (found["heads_beyond_200"], found["median_span"]) == (0, pytest.approx(24 if variant == "fixed" else 0, abs=12))
    layers = found["span_by_layer"]
    assert found["mean_span"] == pytest.approx(sum(layers) / 2, abs=0.02)
    assert found["share"] == pytest.approx(found["mean_span"] / 24, abs=1e-3)
    assert all(
        0 <= z <= used <= min(24, z + 4.1)
        for zs, row in zip(found["z"], found["spans"], strict=True)
        for z, used in zip(zs, row, strict=True)
    )
    if variant == "fixed":
        assert layers == [24, 24]
    else:
        assert max(layers) < 12


def test_only_the_reported_split_is_recorded(data: Path, tmp_path: Path) -> None:
    train(data, tmp_path / "runs", "fixed", device=CPU)
    assert evaluate(data, "fixed", split="valid", device=CPU)["n"] == 400
    with pytest.raises(ValueError, match="not of valid"):
        evaluate(data, "fixed", split="valid", record=True, device=CPU)


def test_all_variants_of_a_device_have_the_same_sizes_and_examples() -> None:
    for kind, least in (("cpu", 512), ("cuda", 1024)):
        sizes = [VARIANTS[name].on(torch.device(kind)) for name in ("adaptive", "fixed", "dynamic")]
        assert len({size.config for size in sizes}) == 1
        assert len({dataclasses.replace(size.recipe, penalty=0.0) for size in sizes}) == 1
        assert sizes[0].config.span >= least and sizes[0].recipe.window >= 2 * sizes[0].config.span
    assert task_of("adaptive").target == 2.1
