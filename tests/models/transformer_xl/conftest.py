"""Small networks from fixed seeds, and books of a few sentences."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from models.transformer_xl.absolute import AbsoluteTransformer
from models.transformer_xl.model import TransformerXL
from tests.models.networks import segmented, shelve

LETTERS = " etaonihsrdlu\nmwcfgy,pb."


@pytest.fixture
def xl() -> TransformerXL | AbsoluteTransformer:
    """A small network that has learned nothing, its biases far from 0."""
    return segmented("xl")


@pytest.fixture
def plain() -> TransformerXL | AbsoluteTransformer:
    """The one without a memory."""
    return segmented("absolute")


@pytest.fixture
def text() -> np.ndarray:
    """(character,) some text by number."""
    return np.random.default_rng(3).integers(1, len(LETTERS) + 1, 1000).astype(np.uint8)


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """Books in the layout of the real ones."""
    generator = np.random.default_rng(1)
    words = ["the", "ship", "of", "a", "captain", "went", "out", "and", "she", "listened", "at", "home"]
    texts = []
    for split, count in (("train", 900), ("train", 400), ("valid", 200), ("test", 300)):
        texts.append((split, " ".join(words[j] for j in generator.integers(0, len(words), count)) + ".\n"))
    return shelve(tmp_path, texts)
