"""Small real models from fixed seeds: nothing here is a stand-in that behaves unlike a model."""

from __future__ import annotations

import pytest
import torch

from models.multi30k import Tokenizer
from models.translation.model import Config, Transformer
from models.translation.pretrained import Pretrained

SENTENCES = (
    "A man in a blue shirt is standing on a ladder.",
    "Two dogs are running through the snow.",
    "A little girl climbs a tree, and her friend looks on.",
    "Ein Mann in einem blauen Hemd steht auf einer Leiter.",
    "Zwei Hunde rennen durch den Schnee.",
    "Ein kleines Mädchen klettert auf einen Baum, und ihre Freundin sieht zu.",
)


@pytest.fixture(scope="session")
def tokenizer() -> Tokenizer:
    """A vocabulary learned from six sentences."""
    return Tokenizer.train(SENTENCES, 200)


@pytest.fixture(scope="session")
def tiny(tokenizer: Tokenizer) -> Transformer:
    """A small network that has learned nothing."""
    torch.manual_seed(5)
    config = Config(vocabulary=len(tokenizer), d_model=32, d_ff=48, n_heads=4, n_layers=2)
    return Transformer(config).eval().requires_grad_(False)


@pytest.fixture
def shipped(tiny: Transformer, tokenizer: Tokenizer, monkeypatch: pytest.MonkeyPatch) -> Pretrained:
    """The small network in the place of the shipped one."""
    small = Pretrained(tiny, tokenizer, {"surprising_below": -1.0})
    monkeypatch.setattr("models.translation.explain.load", lambda: small)
    return small
