"""The trained networks as they are shipped."""

from __future__ import annotations

from typing import Any

from models.pretrained import described, loader
from models.transformer_xl import absolute, model
from models.transformer_xl.absolute import AbsoluteTransformer
from models.transformer_xl.model import TransformerXL

SLUG = "transformer_xl"
ABSOLUTE = "absolute"  # the variant without a memory

Network = TransformerXL | AbsoluteTransformer


def empty(facts: dict[str, Any]) -> Network:
    """The network that model.json describes, with nothing learned. CheckpointError for a config that does not fit."""
    if facts["variant"] == ABSOLUTE:
        return described(AbsoluteTransformer, absolute.Config)(facts)
    return described(TransformerXL, model.Config)(facts)


read, load = loader(SLUG, empty, "xl")
