"""Training and measuring, on books of a few sentences."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path

import numpy as np
import pytest
import torch

from models import bits, checkpoint
from models.characters import UNKNOWN, Alphabet
from models.training import Schedule
from models.transformer_xl import absolute, model, recipe
from models.transformer_xl.absolute import AbsoluteTransformer
from models.transformer_xl.data import STRANGE, costs, numbers, windowed
from models.transformer_xl.model import TransformerXL
from models.transformer_xl.pretrained import read
from models.transformer_xl.recipe import VARIANTS, Recipe, evaluate, train
from models.windows import drawn_windows

SMALL = {"segment": 16, "d_model": 16, "d_ff": 16, "n_heads": 2, "n_layers": 1}
CPU = torch.device("cpu")


@pytest.fixture(autouse=True)
def small(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Both variants with a tiny network and a tiny recipe; their assets in a folder of their own."""
    schedule = Schedule(steps=6, warmup=1, decay=0.0, cooldown=2, average=2, every=2, precision="32-true")
    short = Recipe(schedule, lanes=2, segments=3, round=3, rate=3e-3)
    tiny = {
        "xl": lambda letters: TransformerXL(model.Config(letters, memory=32, distances=48, **SMALL)),
        "absolute": lambda letters: AbsoluteTransformer(absolute.Config(letters, **SMALL)),
    }
    monkeypatch.setattr(
        recipe.LAB, "variants", {name: dataclasses.replace(VARIANTS[name], build=build, recipe=short) for name, build in tiny.items()}
    )
    monkeypatch.setattr(checkpoint, "ASSETS", tmp_path / "assets")


@pytest.mark.parametrize("variant", ["xl", "absolute"])
def test_a_variant_is_trained_measured_and_read_back(variant: str, data: Path, tmp_path: Path) -> None:
    where = train(data, tmp_path / "runs", variant, device=CPU)
    facts = checkpoint.read_facts(where)
    assert (facts["finished"], facts["steps"]) == (True, 6)
    assert facts["recipe"]["schedule"]["peak"] == 3e-3
    found = evaluate(data, variant, device=CPU, record=True)
    assert checkpoint.read_facts(where)["figure"]["value"] == found["value"]
    assert found["seeds"] == [{"seed": 1, "value": found["value"]}]
    assert (found["split"], found["memory"], found["metric"]) == ("test", 32 if variant == "xl" else 0, "bits per character")
    pretrained = read(where)
    assert pretrained.facts["sha256"] == facts["sha256"]
    assert found["n"] == sum(map(len, numbers(data, "test", Alphabet(pretrained.model.config.letters))))
    readings = {"half_overlap", "cold", "memory"} if variant == "xl" else {"half_overlap", "cold"}
    assert (found["by_reading"].keys(), found["window"]) == (readings, bits.WINDOW if variant == "xl" else 16)
    json.dumps(found)


def test_windows_cost_what_they_cost_one_by_one(data: Path, tmp_path: Path) -> None:
    network = read(train(data, tmp_path / "runs", "xl", device=CPU)).model
    text = np.random.default_rng(1).integers(1, 9, 80).astype(np.uint8)
    rows = windowed(network, text, 32)(np.array([0, 20]), 40)
    np.testing.assert_allclose(rows[0], costs(network, text[:40]), atol=1e-5)
    alone = costs(network, text[19:60])  # one character more, so that the same character stands before the window
    assert abs(rows[1] - alone[1:]).max() < 0.2 and not np.allclose(rows[0], rows[1])


def test_another_memory_is_measured_but_not_recorded(data: Path, tmp_path: Path) -> None:
    train(data, tmp_path / "runs", "xl", device=CPU)
    values = {memory: evaluate(data, "xl", device=CPU, memory=memory)["value"] for memory in (0, 8, 32)}
    assert values[0] != values[32]
    assert values[32] == evaluate(data, "xl", device=CPU)["value"]
    with pytest.raises(ValueError, match="memory of training, 32"):
        evaluate(data, "xl", device=CPU, memory=8, record=True)
    train(data, tmp_path / "runs", "absolute", device=CPU)
    with pytest.raises(ValueError, match="has none"):
        evaluate(data, "absolute", device=CPU, memory=8)


def test_stretches_come_from_one_book_each_and_hold_a_few_unknowns() -> None:
    texts = [np.full(300, 1, np.uint8), np.full(900, 2, np.uint8)]
    batch = drawn_windows(texts, 200, 100, STRANGE, np.random.default_rng(1))
    assert batch.before.shape == batch.wanted.shape == (200, 100)
    assert torch.equal(batch.before[:, 1:], batch.wanted[:, :-1])
    known = torch.where(batch.wanted == UNKNOWN, batch.wanted.amax(1, keepdim=True), batch.wanted)
    assert (known == known[:, :1]).all()
    assert 100 < int((known[:, 0] == 2).sum()) < 190  # four of five places are in the longer book
    assert 0 < int((batch.wanted == UNKNOWN).sum()) < 40


def test_both_variants_are_of_one_size() -> None:
    sizes = {name: sum(p.numel() for p in task.build("x" * 90).parameters()) for name, task in VARIANTS.items()}
    assert max(sizes.values()) / min(sizes.values()) < 1.01
    assert max(sizes.values()) * 2 < checkpoint.LARGEST
