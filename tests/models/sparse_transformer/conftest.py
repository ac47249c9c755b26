"""A few digits and a short book in the layout of the real data, and small networks that have learned nothing."""

from __future__ import annotations

import dataclasses
import gzip
from pathlib import Path

import numpy as np
import pytest
import torch

from models.characters import Alphabet
from models.pretrained import Pretrained
from models.sparse_transformer.model import Config, SparseTransformer
from tests.models.networks import shelve

SMALL = {"d_model": 16, "d_ff": 16, "n_heads": 2, "n_layers": 2}
TEXT = "It was a dark night.\nNobody spoke, and the rain went on and on; then it stopped. "


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Two tiny data sets in the layout of the real ones."""
    monkeypatch.setattr("models.pixels.HELD_OUT", 20)
    generator = np.random.default_rng(1)
    (tmp_path / "mnist").mkdir()
    for name, count in (("train", 32), ("t10k", 6)):
        levels = np.zeros((count, 28, 28), np.uint8)
        levels[:, 8:20, 8:20] = generator.integers(0, 256, (count, 12, 12))
        for kind, header, values in (("images-idx3", 16, levels), ("labels-idx1", 8, np.arange(count) % 10)):
            with gzip.open(tmp_path / "mnist" / f"{name}-{kind}-ubyte.gz", "wb", 1) as file:
                file.write(bytes(header) + values.astype(np.uint8).tobytes())
    return shelve(tmp_path, [(split, TEXT * n) for split, n in (("train", 4), ("valid", 2), ("test", 3))])


@pytest.fixture
def networks() -> dict[str, SparseTransformer]:
    """Every variant, small."""
    torch.manual_seed(8)
    digit = Config(symbols=2, kind="strided", **SMALL)
    letters = Alphabet.of([TEXT]).letters
    text = Config(symbols=len(letters) + 1, kind="fixed", stride=8, summary=2, length=64, width=8, letters=letters, **SMALL)
    configs = {
        "strided": digit,
        "dense": dataclasses.replace(digit, kind="full"),
        "fixed": dataclasses.replace(digit, kind="fixed"),
        "text_fixed": text,
        "text_strided": dataclasses.replace(text, kind="strided"),
    }
    return {name: SparseTransformer(config).eval().requires_grad_(False) for name, config in configs.items()}


@pytest.fixture
def small(networks: dict[str, SparseTransformer], monkeypatch: pytest.MonkeyPatch) -> dict[str, SparseTransformer]:
    """They stand in the places of the shipped ones, with held-out digits beside them."""
    shipped = {name: Pretrained(network, {"variant": name, "surprising_above": 0.1}) for name, network in networks.items()}
    monkeypatch.setattr("models.sparse_transformer.explain.load", lambda variant, seed=1: shipped[variant])
    pixels = (np.random.default_rng(2).random((4, 28, 28)) < 0.3).astype(np.uint8)
    monkeypatch.setattr("models.pixels.shipped", lambda _slug: {"pixels": pixels, "kinds": np.arange(4)})
    return networks
