"""The trained networks as they are shipped."""

from __future__ import annotations

from models.music import lstm, model
from models.music.lstm import PerformanceRNN
from models.music.model import MusicTransformer
from models.pretrained import Build, by_variant, described, loader

SLUG = "music"
RECURRENT = "lstm"  # the variant that is no Transformer

Network = MusicTransformer | PerformanceRNN

EMPTY: Build[Network] = by_variant(described(MusicTransformer, model.Config), {RECURRENT: described(PerformanceRNN, lstm.Config)})
read, load = loader(SLUG, EMPTY, "jsb_relative")
