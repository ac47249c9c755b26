"""The trained model as it is shipped."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from models import checkpoint
from models.device import device
from models.multi30k import Tokenizer
from models.pretrained import once
from models.translation.decode import laid_out
from models.translation.model import Config, Transformer


@dataclass(frozen=True)
class Pretrained:
    """A model ready to run, its vocabulary, and what model.json says of it."""

    model: Transformer
    tokenizer: Tokenizer
    facts: dict[str, Any]


def read(where: Path, on: str | None = None) -> Pretrained:
    """Read a checkpoint's folder, strictly; CheckpointError where anything does not fit."""
    facts = checkpoint.read_facts(where)
    config = checkpoint.config_of(Config, facts["config"])
    model = Transformer(config)
    checkpoint.restore(where, model)
    tokenizer = Tokenizer.load(where / "tokenizer.json")
    if len(tokenizer) != config.vocabulary:
        raise checkpoint.CheckpointError(f"{len(tokenizer)} pieces for a model of {config.vocabulary}")
    model.requires_grad_(False)
    return Pretrained(laid_out(model.eval().to(device(on))), tokenizer, facts)


load = once("translation", read, "base")
