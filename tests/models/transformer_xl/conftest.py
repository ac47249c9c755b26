"""Small networks from fixed seeds, and books of a few sentences."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import nn

from models.transformer_xl import absolute, model
from models.transformer_xl.absolute import AbsoluteTransformer
from models.transformer_xl.model import TransformerXL

LETTERS = " etaonihsrdlu\nmwcfgy,pb."
SIZES = {"segment": 16, "d_model": 24, "d_ff": 32, "n_heads": 3, "n_layers": 2}


@pytest.fixture
def xl() -> TransformerXL:
    """A small network that has learned nothing, its biases far from 0."""
    torch.manual_seed(4)
    found = TransformerXL(model.Config(LETTERS, memory=32, distances=48, **SIZES))
    for layer in found.layers:
        nn.init.normal_(layer.attention.u)
        nn.init.normal_(layer.attention.v)
    return found.eval()


@pytest.fixture
def plain() -> AbsoluteTransformer:
    """The one without a memory."""
    torch.manual_seed(5)
    return AbsoluteTransformer(absolute.Config(LETTERS, **SIZES)).eval()


@pytest.fixture
def text() -> np.ndarray:
    """(character,) some text by number."""
    return np.random.default_rng(3).integers(1, len(LETTERS) + 1, 1000).astype(np.uint8)


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """Books in the layout of the real ones."""
    generator = np.random.default_rng(1)
    words = ["the", "ship", "of", "a", "captain", "went", "out", "and", "she", "listened", "at", "home"]
    entries = []
    for i, (split, count) in enumerate((("train", 900), ("train", 400), ("valid", 200), ("test", 300))):
        sentence = " ".join(words[j] for j in generator.integers(0, len(words), count))
        entries.append({"id": i, "title": f"T{i}", "author": "A", "year": 1850, "split": split, "text": sentence + ".\n"})
    (tmp_path / "text").mkdir()
    with gzip.open(tmp_path / "text" / "classics19.json.gz", "wt") as file:
        json.dump(entries, file)
    return tmp_path
