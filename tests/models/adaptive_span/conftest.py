"""A tiny shelf of books in the layout of the real data, and small networks that have learned nothing."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import numpy as np
import pytest
import torch

from models.adaptive_span.model import Config, LearnedSpan, SpanTransformer, network

LETTERS = "etaoin shrdlu\nTHIm.,cwfgypbvk"
SMALL = Config(LETTERS, span=40, ramp=8, d_model=24, d_ff=32, n_heads=3, n_layers=2)


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """Three books of a few thousand letters."""
    generator = np.random.default_rng(1)
    (tmp_path / "text").mkdir()
    entries = [
        {"title": f"Book {i}", "author": "A", "year": 1850 + i, "split": split, "text": "".join(generator.choice(list(LETTERS), length))}
        for i, (split, length) in enumerate((("train", 3000), ("train", 1500), ("valid", 400), ("test", 300)))
    ]
    entries[3]["text"] = "Q" + str(entries[3]["text"])[1:]
    with gzip.open(tmp_path / "text" / "classics19.json.gz", "wt", encoding="utf-8") as file:
        json.dump(entries, file)
    return tmp_path


def small(variant: str) -> SpanTransformer:
    """A network whose spans are all different, and whose weights are from a fixed seed."""
    torch.manual_seed(6)
    model = network(variant, SMALL).eval()
    with torch.no_grad():
        for i, layer in enumerate(model.spans):
            if isinstance(layer, LearnedSpan):
                layer.share.copy_(torch.tensor([0.013, 0.26, 0.71 + 0.2 * i]))
        if variant == "dynamic":
            for layer in model.layers:
                layer.span.v.normal_(std=0.4)
                layer.span.b.add_(3)
    return model.requires_grad_(False)


@pytest.fixture
def networks() -> dict[str, SpanTransformer]:
    """One of each variant."""
    return {variant: small(variant) for variant in ("adaptive", "fixed", "dynamic")}
