"""From two text files to a shipped, measured model, on a small scale."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path

import pytest
import torch

from models import checkpoint
from models.encoder import Config
from models.training import Schedule
from models.translating import bleu
from models.translation import pretrained, recipe
from models.translation.recipe import Recipe
from tests.models.conftest import GERMAN

SMALL = Config(vocabulary=150, d_model=16, d_ff=32, n_heads=2, n_layers=1, dropout=0.0)
QUICK = Recipe(Schedule(steps=60, warmup=5, cooldown=10, average=2, every=5, precision="32-true"), batch=64, rate=1e-2)
CPU = torch.device("cpu")


@pytest.fixture
def data(captions: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Four captions, and small networks."""
    monkeypatch.setattr(recipe.LAB, "variants", {"base": dataclasses.replace(recipe.VARIANTS["base"], config=SMALL)})
    return captions


def test_four_captions_are_learned_shipped_and_measured(data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    where = recipe.train(data, data / "runs", device=CPU, recipe=QUICK)
    facts = checkpoint.read_facts(where)
    assert facts["finished"] and facts["steps"] == 60 and facts["seed"] == 1
    assert facts["recipe"]["schedule"]["steps"] == 60 and facts["licence"] and facts["published"]["comparable"] is False
    assert len(json.loads((where / "training.json").read_text())) >= 10
    assert pretrained.read(where).model.config.d_model == 16
    found = recipe.evaluate(data, device=CPU, record=True)
    assert found["value"] > 50 and found["n"] == 4 and found["seeds"] == [{"seed": 1, "value": found["value"]}]
    recipe.evaluate(data, device=CPU, split="val", record=True)
    facts = checkpoint.read_facts(where)
    assert facts["figure"]["value"] == found["value"] and facts["surprising_below"] < 0
    assert "tok:13a" in capsys.readouterr().out
    with pytest.raises(ValueError, match="not of train"):
        recipe.evaluate(data, device=CPU, split="train", record=True)


def test_a_run_cut_short_is_shipped_as_unfinished_and_goes_on_later(data: Path) -> None:
    long = dataclasses.replace(QUICK, schedule=dataclasses.replace(QUICK.schedule, steps=100_000))
    where = recipe.train(data, data / "runs", device=CPU, recipe=long, minutes=0.005)
    first = checkpoint.read_facts(where)
    assert not first["finished"]
    where = recipe.train(data, data / "runs", device=CPU, recipe=long, minutes=0.005, resume=True)
    assert checkpoint.read_facts(where)["steps"] > first["steps"]


def test_bleu_is_that_of_whole_corpora_with_case() -> None:
    assert bleu(GERMAN, GERMAN)[0] == pytest.approx(100)
    assert bleu([text.lower() for text in GERMAN], GERMAN)[0] < 90
