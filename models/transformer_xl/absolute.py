"""The same Transformer with absolute positions and no memory: it reads every segment without a past
(Al-Rfou et al., 2019)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from models.data.characters import Spelling
from models.explaining.trace import OFF, Trace
from models.layers import fused
from models.layers.positional import sinusoids
from models.networks.decoder import Decoder, Layer, initialise_quietly


@dataclass(frozen=True)
class Config:
    """The sizes of a network."""

    letters: str  # the known characters, numbered from 1; 0 is any other
    # Characters read at once; positions count from the beginning of each segment.
    segment: int = 128
    d_model: int = 128  # width of a position
    # Width inside the feed-forward sublayer: larger, to match the parameters of W_{k,R}.
    d_ff: int = 576
    n_heads: int = 4  # attention heads of each layer
    n_layers: int = 4  # layers


class AbsoluteTransformer(Spelling, Decoder):
    """A decoder whose input holds the position in the segment as sinusoids."""

    memory = 0  # states that it remembers

    def __init__(self, config: Config) -> None:
        super().__init__()
        self.config = config
        self.letter = nn.Embedding(len(self.alphabet), config.d_model)
        self.build_layers(
            (Layer(config.d_model, config.d_ff, config.n_heads) for _ in range(config.n_layers)),
            config.d_model,
            len(self.alphabet),
        )
        self.place: Tensor
        self.register_buffer("place", sinusoids(config.segment, config.d_model), persistent=False)
        initialise_quietly([self.letter], self.layers)

    def embed_symbols(self, before: Tensor, first: int = 0) -> Tensor:
        """Return the embeddings of characters, (batch, position, d_model).

        before: characters, (batch, position); the first has position `first` of its segment. Raise
        ValueError beyond the end of a segment, because no position there is trained.
        """
        end = first + before.shape[1]
        if end > self.config.segment:
            raise ValueError(f"position {end}: a segment has {self.config.segment}")
        return self.letter(before) + self.place[first:end]  # type: ignore[no-any-return]

    def step(self, cache: Any, tables: None) -> fused.Step:
        """Return the step that reads one character.

        cache: a `models.decoding.sampling.SamplingCache`.
        """
        return fused.fuse_decoder(self, cache.as_fused())

    def forward(
        self,
        before: Tensor,
        past: Any = None,
        tables: Sequence[Tensor] | None = None,
        window: int | None = None,
        trace: Trace = OFF,
    ) -> Tensor:
        """Return the logits as `TransformerXL.forward` does.

        There are no tables, and `past` holds this segment alone. Raise ValueError as
        `embed_symbols` does.
        """
        x = self.run_layers(
            self.embed_symbols(before, 0 if past is None else past.place),
            past,
            None,
            trace,
            window=window,
        )
        return self.readout(x)  # type: ignore[no-any-return]

    def stretch(self, before: Tensor) -> Tensor:
        """Return the logits for a stretch of text, with its segments side by side, because they are
        independent."""
        segment = self.config.segment
        if before.shape[1] % segment:
            return torch.cat([self(part) for part in torch.split(before, segment, 1)], 1)
        logits: Tensor = self(before.reshape(-1, segment))
        return logits.view(*before.shape, -1)
