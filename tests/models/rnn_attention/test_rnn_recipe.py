"""From two text files to four trained, measured models, on a small scale."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest
import torch

from models import checkpoint
from models.rnn_attention import pretrained, recipe
from models.rnn_attention.model import Config
from models.rnn_attention.recipe import Recipe
from models.training import Schedule
from models.translating import by_length, paired
from tests.models.conftest import GERMAN

SMALL = Config(d_model=16, d_state=24, dropout=0.0)
QUICK = Recipe(Schedule(steps=50, peak=2e-2, warmup=5, decay=0.0, cooldown=20, average=2, every=5, precision="32-true"), 64, rate=2e-2)
CPU = torch.device("cpu")


@pytest.fixture
def data(captions: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Four captions, and small networks."""
    small = {name: dataclasses.replace(task, config=dataclasses.replace(SMALL, score=name)) for name, task in recipe.VARIANTS.items()}
    monkeypatch.setattr(recipe.LAB, "variants", small)
    return captions


def test_captions_are_learned_trained_measured_and_compared(data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for variant in ("additive", "none"):
        where = recipe.train(data, data / "runs", variant, device=CPU, recipe=QUICK)
        facts = checkpoint.read_facts(where)
        assert facts["finished"] and facts["chosen_on"] == "val" and facts["config"]["score"] == variant
        assert pretrained.read(where).model.config.d_state == 24
        found = recipe.evaluate(data, variant, device=CPU, beam=2, record=True)
        assert found["value"] > 50 and sum(group["n"] for group in found["bleu_by_length"]) == 4
        recipe.evaluate(data, variant, device=CPU, beam=2, split="val", record=True)
        facts = checkpoint.read_facts(where)
        assert facts["figure"]["value"] == found["value"] and facts["surprising_below"] < 0 and facts["reported_on"] == "test_2016_flickr"
    assert set(found["paired"]) == {"additive"} and 0 < found["paired"]["additive"]["p"] <= 1
    assert "additive:" in capsys.readouterr().out
    with pytest.raises(ValueError, match="not of train"):
        recipe.evaluate(data, device=CPU, split="train", record=True)


def test_sentences_are_grouped_by_their_length() -> None:
    groups = by_length([10, 11, 15, 30], GERMAN, [GERMAN[0], GERMAN[1], "Katzen schlafen nie.", GERMAN[3]])
    assert [(one["least"], one["most"], one["n"]) for one in groups] == [(1, 10, 1), (11, 15, 2), (16, 20, 0), (21, None, 1)]
    assert groups[0]["value"] == pytest.approx(100) and groups[1]["value"] < 90


def test_a_bootstrap_tells_apart_what_differs_and_nothing_else() -> None:
    right = [f"Der Hund {n} läuft über die grüne Wiese." for n in range(30)]

    def wrong(*rows: int) -> list[str]:
        return [text.replace("läuft über", "sitzt auf") if n in rows else text for n, text in enumerate(right)]

    found = paired(wrong(3), {"near": wrong(5), "worse": wrong(*range(0, 30, 2))}, right)
    assert found["worse"]["p"] < 0.05 < found["near"]["p"] and found["worse"]["value"] < 90
    assert paired(right, {}, right) == {}
