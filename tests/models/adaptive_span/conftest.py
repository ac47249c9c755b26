"""A tiny shelf of books in the layout of the real data, and small networks that have learned nothing."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from models.adaptive_span.model import SpanTransformer
from tests.models.networks import LETTERS, shelve, spanned


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """Three books of a few thousand letters."""
    generator = np.random.default_rng(1)
    lengths = (("train", 3000), ("train", 1500), ("valid", 400), ("test", 300))
    texts = [(split, "".join(generator.choice(list(LETTERS), length))) for split, length in lengths]
    texts[3] = ("test", "Q" + texts[3][1][1:])
    return shelve(tmp_path, texts)


@pytest.fixture
def networks() -> dict[str, SpanTransformer]:
    """One of each variant."""
    return {variant: spanned(variant) for variant in ("adaptive", "fixed", "dynamic")}
