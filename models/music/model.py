"""A decoder over musical events, with relative attention (Huang et al., 2018) or with positions added to its input.

p(piece) = Π_i p(x_i | x_<i). x ← x + Sublayer(LayerNorm(x)) around every sublayer, and a last LayerNorm before the readout.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from models import decoder, fused
from models.decoder import Decoder, Past, quiet_start
from models.layers.attention import MultiHeadAttention
from models.layers.dropout import Dropout
from models.layers.positional import sinusoids
from models.layers.relative import relative_attention
from models.trace import OFF, Trace


@dataclass(frozen=True)
class Config:
    """What the network is."""

    events: int  # kinds of event; one more, with the number `events`, stands before the first
    distances: int  # E_r has an embedding for so many distances, 0 among them; 0: no E_r, but sinusoids added to the input
    cycles: tuple[int, ...] = ()  # periods of the order of events, each with embeddings of its own: of voices and bars on a grid
    longest: int = 8192  # positions that sinusoids are there for
    d_model: int = 128  # width of a position
    d_ff: int = 512  # width inside the feed-forward sublayer
    n_heads: int = 4  # attention heads of each layer
    n_layers: int = 5  # layers
    dropout: float = 0.2  # of the input and of what each sublayer adds


class Layer(decoder.Layer):
    """Relative attention, or plain attention where there are no distances."""

    table: nn.Parameter | None

    def __init__(self, config: Config) -> None:
        attention = MultiHeadAttention(config.d_model, config.n_heads)
        d_head = config.d_model // config.n_heads
        table = nn.Parameter(torch.randn(config.n_heads, config.distances, d_head) * d_head**-0.5) if config.distances else None
        super().__init__(config.d_model, config.d_ff, config.n_heads, config.dropout, attention, table=table)

    def attend(  # type: ignore[override]
        self, query: Tensor, key: Tensor, value: Tensor, number: int, gain: Tensor | None, trace: Trace, *, farthest: int | None = None
    ) -> Tensor:
        """farthest: as in `reaching`. Taps as in `relative_attention`."""
        return relative_attention(query, key, value, self.reaching(farthest), gain, trace)

    def reaching(self, farthest: int | None) -> Tensor | None:
        """E_r, (head, distance, d_head); distances beyond `farthest` count as it does, 0 leaves the relative term out."""
        if self.table is None or farthest is None:
            return self.table
        return self.table[:, : farthest + 1] if farthest else None


class MusicTransformer(Decoder):
    """Every layer with relative attention, or, with `distances` 0, with sinusoids in the input and plain attention."""

    def __init__(self, config: Config) -> None:
        super().__init__()
        self.config = config
        self.event = nn.Embedding(config.events + 1, config.d_model)
        self.cycles = nn.ModuleList(nn.Embedding(period, config.d_model) for period in config.cycles)
        self.stack((Layer(config) for _ in range(config.n_layers)), config.d_model, config.events)
        self.dropout = Dropout(config.dropout)
        self.place: Tensor
        self.register_buffer("place", sinusoids(0 if config.distances else config.longest, config.d_model), persistent=False)
        quiet_start((self.event, *self.cycles), *([layer] for layer in self.layers))

    @property
    def start(self) -> int:
        """The event that stands before the first."""
        return self.config.events

    def embedded(self, before: Tensor, first: int = 0) -> Tensor:
        """before: (batch, position) events, the first of them read at position `first`. (batch, position, d_model).

        ValueError where sinusoids do not reach that far.
        """
        end = first + before.shape[1]
        x: Tensor = self.event(before)
        place = torch.arange(first, end, device=before.device)
        for period, table in zip(self.config.cycles, self.cycles, strict=True):
            x = x + table(place % period)
        if not self.config.distances:
            if end > self.config.longest:
                raise ValueError(f"position {end:,}: there are sinusoids for {self.config.longest:,}")
            x = x + self.place[first:end]
        return self.dropout(x)  # type: ignore[no-any-return]

    def step(self, cache: Any, gains: Any = None, farthest: int | None = None) -> fused.Step:
        """What reads one event alone; cache: a `models.sampling.Cache`."""
        told = (layer.reaching(farthest) for layer in self.layers if isinstance(layer, Layer))
        tables = [None if table is None else fused.by_distance(table, cache.room) for table in told]
        return fused.of_decoder(self, cache.own(gains, table=tables))

    def forward(
        self,
        before: Tensor,
        first: int = 0,
        past: Past | None = None,
        gains: Tensor | Sequence[Tensor] | None = None,
        farthest: int | None = None,
        trace: Trace = OFF,
    ) -> Tensor:
        """Logits (batch, position, event) of what comes after each event of `before`, (batch, position), `start` at the beginning.

        first: position of the first of them; past: what was read before it. gains: (layer, batch, head). farthest: as in `Layer`.
        Taps `<layer>/self/queries`, `<layer>/self/keys` and, for the heads and queries that the trace keeps, `<layer>/self/weights`.
        """
        x = self.through(self.embedded(before, first), past, gains, trace, farthest=farthest)
        return self.readout(x)  # type: ignore[no-any-return]
