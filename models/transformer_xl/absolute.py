"""The same Transformer with absolute positions and no memory: every segment is read as if nothing came before it (Al-Rfou et al., 2019)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from models import fused
from models.characters import Spelling
from models.decoder import Decoder, Layer, quiet_start
from models.layers.positional import sinusoids
from models.trace import OFF, Trace


@dataclass(frozen=True)
class Config:
    """What the network is."""

    letters: str  # the characters that it knows, by number from 1; 0 is any other
    segment: int = 128  # characters that are read at once; positions are counted from each segment's beginning
    d_model: int = 128  # width of a position
    d_ff: int = 576  # width inside the feed-forward sublayer: as many parameters more as W_{k,R} takes
    n_heads: int = 4  # attention heads of each layer
    n_layers: int = 4  # layers


class AbsoluteTransformer(Spelling, Decoder):
    """Sinusoids in the input say where in the segment a character stands."""

    memory = 0  # states that it remembers

    def __init__(self, config: Config) -> None:
        super().__init__()
        self.config = config
        self.letter = nn.Embedding(len(self.alphabet), config.d_model)
        self.stack((Layer(config.d_model, config.d_ff, config.n_heads) for _ in range(config.n_layers)), config.d_model, len(self.alphabet))
        self.place: Tensor
        self.register_buffer("place", sinusoids(config.segment, config.d_model), persistent=False)
        quiet_start([self.letter], self.layers)

    def embedded(self, before: Tensor, first: int = 0) -> Tensor:
        """(batch, position, d_model) of characters, (batch, position), the first of them at position `first` of its segment.

        ValueError past the end of a segment: no position there was ever trained.
        """
        end = first + before.shape[1]
        if end > self.config.segment:
            raise ValueError(f"position {end}: there are {self.config.segment} in a segment")
        return self.letter(before) + self.place[first:end]  # type: ignore[no-any-return]

    def step(self, cache: Any, tables: None) -> fused.Step:
        """What reads one character alone; cache: a `models.sampling.Cache`."""
        return fused.of_decoder(self, cache.own())

    def forward(
        self,
        before: Tensor,
        past: Any = None,
        tables: Sequence[Tensor] | None = None,
        window: int | None = None,
        trace: Trace = OFF,
    ) -> Tensor:
        """As `TransformerXL.forward`; there are no tables, and `past` holds this segment alone. ValueError as of `embedded`."""
        x = self.through(self.embedded(before, 0 if past is None else past.place), past, None, trace, window=window)
        return self.readout(x)  # type: ignore[no-any-return]

    def stretch(self, before: Tensor) -> Tensor:
        """The same for a stretch of text, its segments side by side, for none knows of another."""
        segment = self.config.segment
        if before.shape[1] % segment:
            return torch.cat([self(part) for part in torch.split(before, segment, 1)], 1)
        logits: Tensor = self(before.reshape(-1, segment))
        return logits.view(*before.shape, -1)
