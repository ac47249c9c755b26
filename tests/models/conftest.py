"""Small real models from fixed seeds: nothing here is a stand-in that behaves unlike a model."""

from __future__ import annotations

import gzip
from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path

import pytest
import torch

from models.checkpoints import checkpoint
from models.data.multi30k import Tokenizer
from models.layers import fused, fused_library
from models.networks.encoder import Config
from models.networks.encoder_decoder import Transformer
from models.translation.pretrained import Pretrained


@pytest.fixture(params=["fused", "plain"])
def way(request: pytest.FixtureRequest) -> Iterator[str]:
    """How a decoder's step is computed: by models/layers/fused.cpp in two threads, or by torch
    alone."""
    said, before = fused_library.build_library(), torch.get_num_threads()
    assert fused.can_fuse(torch.zeros(1), 1, 4), said
    torch.set_num_threads(2)
    try:
        with fused.without_fusion() if request.param == "plain" else nullcontext():
            yield request.param
    finally:
        torch.set_num_threads(before)


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


ENGLISH = ("A man stands on a ladder.", "Two dogs run.", "A girl climbs a tree.", "A woman sings.")
GERMAN = (
    "Ein Mann steht auf einer Leiter.",
    "Zwei Hunde rennen.",
    "Ein Mädchen klettert auf einen Baum.",
    "Eine Frau singt.",
)


@pytest.fixture
def captions(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Four captions as training set, validation set and test set; assets go to an own folder."""
    (tmp_path / "multi30k").mkdir()
    for split in ("train", "val", "test_2016_flickr"):
        for language, lines in (("en", ENGLISH), ("de", GERMAN)):
            with gzip.open(
                tmp_path / "multi30k" / f"{split}.{language}.gz", "wt", encoding="utf-8"
            ) as file:
                file.write("".join(line + "\n" for line in lines))
    monkeypatch.setattr(checkpoint, "ASSETS", tmp_path / "assets")
    return tmp_path
