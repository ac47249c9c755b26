"""The shipped networks."""

from __future__ import annotations

from models.checkpoints.pretrained import Build, build_by_variant, describe_builder, make_loader
from models.music import lstm, model
from models.music.lstm import PerformanceRNN
from models.music.model import MusicTransformer

SLUG = "music"
RECURRENT = "lstm"  # the variant that is not a Transformer

Network = MusicTransformer | PerformanceRNN

EMPTY: Build[Network] = build_by_variant(
    describe_builder(MusicTransformer, model.Config),
    {RECURRENT: describe_builder(PerformanceRNN, lstm.Config)},
)
read, load = make_loader(SLUG, EMPTY, "jsb_relative")
