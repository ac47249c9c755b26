"""A decoder over musical events, with relative attention (Huang et al., 2018) or with positions
added to its input.

p(piece) = Π_i p(x_i | x_<i). Every sublayer is x ← x + Sublayer(LayerNorm(x)), and a last LayerNorm
precedes the readout.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from models.explaining.trace import OFF, Trace
from models.layers import fused
from models.layers.attention import MultiHeadAttention
from models.layers.dropout import Dropout
from models.layers.positional import sinusoids
from models.layers.relative import relative_attention
from models.networks import decoder
from models.networks.decoder import Decoder, Past, initialise_quietly


@dataclass(frozen=True)
class Config:
    """The sizes of a network."""

    events: int  # kinds of event; the additional number `events` precedes the first
    # The number of distances in E_r, 0 included; 0: no E_r, but sinusoids added to the input.
    distances: int
    # Periods of the order of events, such as voices and bars on a grid, each with its own
    # embeddings.
    cycles: tuple[int, ...] = ()
    longest: int = 8192  # positions with sinusoids
    d_model: int = 128  # width of a position
    d_ff: int = 512  # width inside the feed-forward sublayer
    n_heads: int = 4  # attention heads of each layer
    n_layers: int = 5  # layers
    dropout: float = 0.2  # of the input and of the output of each sublayer


class Layer(decoder.Layer):
    """A layer with relative attention, or with plain attention if there are no distances."""

    table: nn.Parameter | None

    def __init__(self, config: Config) -> None:
        attention = MultiHeadAttention(config.d_model, config.n_heads)
        d_head = config.d_model // config.n_heads
        table = (
            nn.Parameter(torch.randn(config.n_heads, config.distances, d_head) * d_head**-0.5)
            if config.distances
            else None
        )
        super().__init__(
            config.d_model, config.d_ff, config.n_heads, config.dropout, attention, table=table
        )

    def attend(  # type: ignore[override]
        self,
        query: Tensor,
        key: Tensor,
        value: Tensor,
        number: int,
        gain: Tensor | None,
        trace: Trace,
        *,
        farthest: int | None = None,
    ) -> Tensor:
        """Return the output of attention.

        farthest: as in `clip_distances`. The taps are those of `relative_attention`.
        """
        return relative_attention(query, key, value, self.clip_distances(farthest), gain, trace)

    def clip_distances(self, farthest: int | None) -> Tensor | None:
        """Return E_r, (head, distance, d_head); distances beyond `farthest` share its embedding,
        and 0 removes the relative term."""
        if self.table is None or farthest is None:
            return self.table
        return self.table[:, : farthest + 1] if farthest else None


class MusicTransformer(Decoder):
    """A decoder with relative attention in every layer, or, if `distances` is 0, with sinusoids in
    the input and plain attention."""

    def __init__(self, config: Config) -> None:
        super().__init__()
        self.config = config
        self.event = nn.Embedding(config.events + 1, config.d_model)
        self.cycles = nn.ModuleList(
            nn.Embedding(period, config.d_model) for period in config.cycles
        )
        self.build_layers(
            (Layer(config) for _ in range(config.n_layers)), config.d_model, config.events
        )
        self.dropout = Dropout(config.dropout)
        self.place: Tensor
        self.register_buffer(
            "place",
            sinusoids(0 if config.distances else config.longest, config.d_model),
            persistent=False,
        )
        initialise_quietly((self.event, *self.cycles), *([layer] for layer in self.layers))

    @property
    def start(self) -> int:
        """The event before the first."""
        return self.config.events

    def embed_symbols(self, before: Tensor, first: int = 0) -> Tensor:
        """Return the embeddings of events, (batch, position, d_model).

        before: events, (batch, position); the first has position `first`. Raise ValueError beyond
        the sinusoids.
        """
        end = first + before.shape[1]
        x: Tensor = self.event(before)
        place = torch.arange(first, end, device=before.device)
        for period, table in zip(self.config.cycles, self.cycles, strict=True):
            x = x + table(place % period)
        if not self.config.distances:
            if end > self.config.longest:
                raise ValueError(
                    f"position {end:,}: there are sinusoids for {self.config.longest:,}"
                )
            x = x + self.place[first:end]
        return self.dropout(x)  # type: ignore[no-any-return]

    def step(self, cache: Any, gains: Any = None, farthest: int | None = None) -> fused.Step:
        """Return the step that reads one event.

        cache: a `models.decoding.sampling.SamplingCache`.
        """
        told = (layer.clip_distances(farthest) for layer in self.layers if isinstance(layer, Layer))
        tables = [
            None if table is None else fused.lay_out_by_distance(table, cache.capacity)
            for table in told
        ]
        return fused.fuse_decoder(self, cache.as_fused(gains, table=tables))

    def forward(
        self,
        before: Tensor,
        first: int = 0,
        past: Past | None = None,
        gains: Tensor | Sequence[Tensor] | None = None,
        farthest: int | None = None,
        trace: Trace = OFF,
    ) -> Tensor:
        """Return the logits of the event after each position, (batch, position, event).

        before: events, `start` at the beginning, (batch, position). first: position of the first of
        them. past: the events read earlier. gains: (layer, batch, head). farthest: as in `Layer`.
        The taps are `<layer>/self/queries`, `<layer>/self/keys` and, for the heads and queries that
        the trace keeps, `<layer>/self/weights`.
        """
        x = self.run_layers(
            self.embed_symbols(before, first), past, gains, trace, farthest=farthest
        )
        return self.readout(x)  # type: ignore[no-any-return]
