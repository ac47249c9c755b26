"""Data, training and measuring, on a folder of a few digits and a short book."""

from __future__ import annotations

import dataclasses
import math
from pathlib import Path

import numpy as np
import pytest
import torch

from models import checkpoint
from models.characters import UNKNOWN
from models.layers.patterns import Pattern
from models.sparse_transformer import recipe
from models.sparse_transformer.data import alphabet, binarised, characters, digits, drawn_digits, drawn_text
from models.sparse_transformer.examples import choose
from models.sparse_transformer.model import SparseTransformer
from models.sparse_transformer.pretrained import read
from models.sparse_transformer.recipe import VARIANTS, Recipe, costs, nats_per_character, task_of
from models.training import Schedule
from tests.models.networks import trained

CPU = torch.device("cpu")


@pytest.fixture(autouse=True)
def small(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, networks: dict[str, SparseTransformer]) -> None:
    """Every variant with a tiny network and a tiny recipe; its assets in a folder of its own."""
    short = Recipe(Schedule(steps=4, warmup=1, decay=0.0, cooldown=2, average=2, every=2, precision="32-true"), 2, 2, round=2, rate=3e-3)
    tasks = {
        name: dataclasses.replace(task, recipe=short, config=dataclasses.replace(networks[name].config, letters=""))
        for name, task in VARIANTS.items()
    }
    monkeypatch.setattr(recipe.LAB, "variants", tasks)
    monkeypatch.setattr(checkpoint, "ASSETS", tmp_path / "assets")


def test_pixels_are_drawn_once_with_the_grey_as_their_probability() -> None:
    levels = np.full((3000, 4, 4), 51, np.uint8)
    levels[:, 0], levels[:, 1] = 0, 255
    pixels = binarised(levels)
    assert not pixels[:, 0].any()
    assert pixels[:, 1].all()
    assert pixels[:, 2:].mean() == pytest.approx(0.2, abs=0.01)
    assert np.array_equal(pixels, binarised(levels))
    assert np.array_equal(pixels, np.random.default_rng(0).random(levels.shape) < levels / 255)  # one stream, whatever the parts


def test_splits_of_digits_share_no_digit(data: Path) -> None:
    train_, val, test = (digits(data, split) for split in ("train", "val", "test"))
    assert (len(train_), len(val), len(test)) == (12, 20, 6)
    assert val.kinds[0] == 12 % 10
    with pytest.raises(ValueError, match="not all"):
        digits(data, "all")


def test_the_alphabet_is_that_of_the_books_learned_from(data: Path) -> None:
    letters = alphabet(data).letters
    read_ = characters(data, "test", letters)
    assert read_.min() > UNKNOWN
    assert UNKNOWN in characters(data, "test", letters.replace("z", "").replace("w", ""))
    batch = drawn_text(read_, 3, 20)(np.random.default_rng(1), 0.0)
    assert batch.symbols.shape == (3, 20)
    again = drawn_text(read_, 3, 20)(np.random.default_rng(1), 0.5)
    assert torch.equal(batch.symbols, again.symbols)
    assert drawn_digits(digits(data, "train").pixels, 5)(np.random.default_rng(1), 0.0).symbols.shape == (5, 784)


def test_characters_cost_the_same_however_windows_are_put_together(networks: dict[str, SparseTransformer]) -> None:
    model = networks["text_strided"]
    text = np.random.default_rng(1).integers(1, 9, 150).astype(np.uint8)
    found = nats_per_character(model, text)
    np.testing.assert_allclose(found[:64], costs(model, text[None, :64])[0], atol=1e-5)
    np.testing.assert_allclose(found[64:96], costs(model, text[None, 32:96])[0, 32:], atol=1e-5)
    np.testing.assert_allclose(found[128:], costs(model, text[None, 96:])[0, 32:], atol=1e-5)


@pytest.mark.parametrize("variant", ["strided", "text_fixed"])
def test_a_variant_is_trained_measured_and_read_back(variant: str, data: Path) -> None:
    found, pretrained = trained(recipe, read, data, variant)
    text = variant == "text_fixed"
    assert (found["metric"], found["n"]) == (("bits per character", 243) if text else ("nats per image", 6))
    low, high = (1, 7) if text else (100, 1000)  # nothing learned yet: about log₂ 30, about 784 · log 2
    assert low < found["value"] < high
    assert pretrained.facts["surprising_above"] > 0
    assert bool(pretrained.model.config.letters) == text


def test_a_figure_is_that_of_a_sum_by_hand(data: Path, networks: dict[str, SparseTransformer]) -> None:
    model = networks["fixed"]
    pixels = torch.from_numpy(digits(data, "test").pixels.reshape(6, -1).astype(np.int64))
    p = model(model.after(pixels)).softmax(-1).gather(2, pixels[..., None])
    expected = -p.log().sum() / 6
    assert recipe.measured(model, task_of("fixed"), data, "test")["value"] == pytest.approx(float(expected), rel=1e-4)


def test_held_out_digits_are_two_of_each_kind(data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = dataclasses.replace(digits(data, "val"), kinds=np.random.default_rng(1).permutation(20) % 10)
    monkeypatch.setattr("models.sparse_transformer.examples.digits", lambda data, split: found)
    choose(data, tmp_path / "held" / "examples.npz")
    with np.load(tmp_path / "held" / "examples.npz") as file:
        assert file["kinds"].tolist() == [*range(10), *range(10)]
        assert file["pixels"].shape == (20, 28, 28)


def test_networks_of_a_comparison_differ_in_their_pattern_alone() -> None:
    for names in (("strided", "dense", "fixed"), ("text_fixed", "text_strided")):
        tasks = [VARIANTS[name] for name in names]
        configs = {dataclasses.replace(task.config, kind="full") for task in tasks}
        assert len(configs) == len({task.recipe for task in tasks}) == 1
        assert len({task.config.kind for task in tasks}) == len(tasks)
        config = dataclasses.replace(tasks[0].config, symbols=100)
        assert sum(p.numel() for p in SparseTransformer(config).parameters()) * 2 < checkpoint.LARGEST
        assert config.pattern == Pattern(config.kind, config.stride, config.summary)
    assert math.isqrt(VARIANTS["text_fixed"].config.length) == VARIANTS["text_fixed"].config.stride
