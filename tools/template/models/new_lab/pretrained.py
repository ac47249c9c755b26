"""The trained network as it is shipped."""

from __future__ import annotations

from pathlib import Path

from models.checkpoint import config_of
from models.new_lab.model import Config, Reverser
from models.pretrained import Pretrained, once, restored

SLUG = "new_lab"


def read(where: Path, on: str | None = None) -> Pretrained[Reverser]:
    """Read a checkpoint's folder, strictly; CheckpointError where anything does not fit."""
    return restored(where, lambda facts: Reverser(config_of(Config, facts["config"])), on)


load = once(SLUG, read)
