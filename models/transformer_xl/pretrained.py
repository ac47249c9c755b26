"""The trained networks as they are shipped."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from models import checkpoint
from models.pretrained import Pretrained, once, restored
from models.transformer_xl import absolute, model
from models.transformer_xl.absolute import AbsoluteTransformer
from models.transformer_xl.model import TransformerXL

SLUG = "transformer_xl"
ABSOLUTE = "absolute"  # the variant without a memory

Network = TransformerXL | AbsoluteTransformer


def empty(facts: dict[str, Any]) -> Network:
    """The network that model.json describes, with nothing learned. CheckpointError for a config that does not fit."""
    if facts["variant"] == ABSOLUTE:
        return AbsoluteTransformer(checkpoint.config_of(absolute.Config, facts["config"]))
    return TransformerXL(checkpoint.config_of(model.Config, facts["config"]))


def read(where: Path, on: str | None = None) -> Pretrained[Network]:
    """Read a checkpoint's folder, strictly; CheckpointError where anything does not fit."""
    return restored(where, empty, on)


load = once(SLUG, read, "xl")
