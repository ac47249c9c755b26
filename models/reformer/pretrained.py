"""The trained networks as they are shipped."""

from __future__ import annotations

from pathlib import Path

from models import checkpoint
from models.pretrained import Pretrained, once, restored
from models.reformer.model import Config, Reformer

SLUG = "reformer"


def read(where: Path, on: str | None = None) -> Pretrained[Reformer]:
    """Read a checkpoint's folder, strictly; CheckpointError where anything does not fit."""
    return restored(where, lambda facts: Reformer(checkpoint.config_of(Config, facts["config"])), on)


load = once(SLUG, read, "lsh_4")
