"""The trained networks as they are shipped."""

from __future__ import annotations

from pathlib import Path

from models import checkpoint
from models.act_rnn.model import Config, PonderingNetwork
from models.pretrained import Pretrained, once, restored

SLUG = "act_rnn"


def read(where: Path, on: str | None = None) -> Pretrained[PonderingNetwork]:
    """Read a checkpoint's folder, strictly; CheckpointError where anything does not fit."""
    return restored(where, lambda facts: PonderingNetwork(checkpoint.config_of(Config, facts["config"])), on)


load = once(SLUG, read, "parity")
