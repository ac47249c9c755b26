"""The trained networks as they are shipped."""

from __future__ import annotations

from typing import Any

from models.music import lstm, model
from models.music.lstm import PerformanceRNN
from models.music.model import MusicTransformer
from models.pretrained import described, loader

SLUG = "music"
RECURRENT = "lstm"  # the variant that is no Transformer

Network = MusicTransformer | PerformanceRNN


def empty(facts: dict[str, Any]) -> Network:
    """The network that model.json describes, with nothing learned. CheckpointError for a config that does not fit."""
    if facts["variant"] == RECURRENT:
        return described(PerformanceRNN, lstm.Config)(facts)
    return described(MusicTransformer, model.Config)(facts)


read, load = loader(SLUG, empty, "jsb_relative")
