"""The trained networks as they are shipped."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from models import checkpoint
from models.pretrained import Pretrained, once, restored
from models.universal_transformer.model import Config, OrdinaryConfig, OrdinaryTransformer, UniversalTransformer

SLUG = "universal_transformer"
ORDINARY = "_ordinary"  # what the name of a variant with a stack of layers ends in
FIXED = "_fixed"  # and of one whose positions all take the same number of steps

Model = UniversalTransformer | OrdinaryTransformer


def empty(facts: dict[str, Any]) -> Model:
    """The network that model.json describes, with nothing learned. CheckpointError for a config that does not fit."""
    if facts["variant"].endswith(ORDINARY):
        return OrdinaryTransformer(checkpoint.config_of(OrdinaryConfig, facts["config"]))
    return UniversalTransformer(checkpoint.config_of(Config, facts["config"]))


def read(where: Path, on: str | None = None) -> Pretrained[Model]:
    """Read a checkpoint's folder, strictly; CheckpointError where anything does not fit."""
    return restored(where, empty, on)


load = once(SLUG, read, "stories")
