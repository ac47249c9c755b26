"""The trained networks as they are shipped."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from models import checkpoint
from models.music import lstm, model
from models.music.lstm import PerformanceRNN
from models.music.model import MusicTransformer
from models.pretrained import Pretrained, once, restored

SLUG = "music"
RECURRENT = "lstm"  # the variant that is no Transformer

Network = MusicTransformer | PerformanceRNN


def empty(facts: dict[str, Any]) -> Network:
    """The network that model.json describes, with nothing learned. CheckpointError for a config that does not fit."""
    values = {key: tuple(value) if isinstance(value, list) else value for key, value in facts["config"].items()}
    if facts["variant"] == RECURRENT:
        return PerformanceRNN(checkpoint.config_of(lstm.Config, values))
    return MusicTransformer(checkpoint.config_of(model.Config, values))


def read(where: Path, on: str | None = None) -> Pretrained[Network]:
    """Read a checkpoint's folder, strictly; CheckpointError where anything does not fit."""
    return restored(where, empty, on)


load = once(SLUG, read, "jsb_relative")
