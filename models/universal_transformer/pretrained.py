"""The trained networks as they are shipped."""

from __future__ import annotations

from typing import Any

from models.pretrained import described, loader
from models.universal_transformer.model import Config, OrdinaryConfig, OrdinaryTransformer, UniversalTransformer

SLUG = "universal_transformer"
ORDINARY = "_ordinary"  # what the name of a variant with a stack of layers ends in
FIXED = "_fixed"  # and of one whose positions all take the same number of steps

Model = UniversalTransformer | OrdinaryTransformer


def empty(facts: dict[str, Any]) -> Model:
    """The network that model.json describes, with nothing learned. CheckpointError for a config that does not fit."""
    if facts["variant"].endswith(ORDINARY):
        return described(OrdinaryTransformer, OrdinaryConfig)(facts)
    return described(UniversalTransformer, Config)(facts)


read, load = loader(SLUG, empty, "stories")
