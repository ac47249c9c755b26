"""A decoder over symbols, pixels of a binarised digit or characters of a book, with sparse attention (Child et al., 2019).

p(x) = Π_i p(x_i | x_<i). x ← x + Sublayer(LayerNorm(x)) around every sublayer, and a last LayerNorm before the readout.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import torch
from torch import Tensor, nn

from models.layers.attention import MultiHeadAttention
from models.layers.dropout import Dropout
from models.layers.feedforward import FeedForward
from models.layers.patterns import Factor, Pattern
from models.layers.sparse import sparse_attention
from models.trace import OFF, Trace

BRANCH = 0.3  # size of what leads out of a sublayer at the start of training, against Xavier's


@dataclass(frozen=True)
class Config:
    """What the network is."""

    symbols: int  # kinds of symbol; one more, with the number `symbols`, stands before the first
    kind: str  # of pattern: full, strided or fixed
    stride: int = 28  # of the pattern, positions: a row of the picture
    summary: int = 4  # columns at the end of each block that later blocks see, of the fixed pattern
    use: str = "merged"  # of the two factors: interleaved by layer, merged in every head, split over heads
    length: int = 784  # positions
    width: int = 28  # positions in a row of the table that tells places, whatever the stride
    letters: str = ""  # the alphabet, where symbols are characters
    d_model: int = 128  # width of a position
    d_ff: int = 512  # width inside the feed-forward sublayer
    n_heads: int = 4  # attention heads of each layer
    n_layers: int = 4  # layers
    dropout: float = 0.0  # of the input and of what each sublayer adds

    @property
    def pattern(self) -> Pattern:
        """The pattern that it is trained with."""
        return Pattern(self.kind, self.stride, self.summary)


class Past(Protocol):
    """Keys and values of the positions that were read before."""

    def extend(self, layer: int, x: Tensor, key: Tensor, value: Tensor) -> tuple[Tensor, Tensor]:
        """Add those of new positions, (batch, head, position, d_head); keys and values of all positions come back."""


class Layer(nn.Module):
    """Sparse self-attention, then the feed-forward network, each in its residual branch."""

    def __init__(self, config: Config) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(config.d_model)
        self.attention = MultiHeadAttention(config.d_model, config.n_heads)
        self.feedforward_norm = nn.LayerNorm(config.d_model)
        self.feedforward = FeedForward(config.d_model, config.d_ff)
        self.dropout = Dropout(config.dropout)

    def forward(
        self,
        x: Tensor,
        heads: Sequence[tuple[int, Factor]],
        number: int = 0,
        past: Past | None = None,
        gain: Tensor | None = None,
        trace: Trace = OFF,
    ) -> Tensor:
        """x: (batch, position, d_model), the same comes back. heads, gain and the taps, within `self`, as in `sparse_attention`.

        number: of the layer, for `past`; with it, x holds the first positions, or one.
        """
        query, key, value = self.attention.self_projections(self.norm(x))
        if past is not None:
            key, value = past.extend(number, x, key, value)
        x = x + self.dropout(self.attention.join(sparse_attention(query, key, value, heads, gain, trace.within("self"))))
        return x + self.dropout(self.feedforward(self.feedforward_norm(x)))  # type: ignore[no-any-return]


class SparseTransformer(nn.Module):
    """The network; with the full pattern, its dense twin."""

    def __init__(self, config: Config) -> None:
        super().__init__()
        self.config = config
        self.symbol = nn.Embedding(config.symbols + 1, config.d_model)
        self.row = nn.Embedding(-(-config.length // config.width), config.d_model)
        self.column = nn.Embedding(config.width, config.d_model)
        self.layers = nn.ModuleList(Layer(config) for _ in range(config.n_layers))
        self.norm = nn.LayerNorm(config.d_model)
        self.readout = nn.Linear(config.d_model, config.symbols)
        self.dropout = Dropout(config.dropout)
        self._start()

    def _start(self) -> None:
        """Xavier's sizes, with quiet branches: the residual stream begins as the embedding, and each sublayer earns its voice."""
        for table in (self.symbol, self.row, self.column):
            nn.init.normal_(table.weight, std=0.5)
        for layer in self.layers:
            assert isinstance(layer, Layer)
            for block in layer.attention.project_in.weight.chunk(3):
                nn.init.xavier_uniform_(block)
            nn.init.zeros_(layer.attention.project_in.bias)
            for linear in (layer.attention.project_out, layer.feedforward.outer):
                nn.init.xavier_uniform_(linear.weight, BRANCH)
                nn.init.zeros_(linear.bias)

    @property
    def start(self) -> int:
        """The symbol that stands before the first."""
        return self.config.symbols

    def embedded(self, before: Tensor, first: int = 0) -> Tensor:
        """E[x_(i−1)] + R[⌊i / width⌋] + C[i mod width], (batch, position, d_model): where a symbol is to come is told by learned tables.

        before: (batch, position) symbols, the first of them what stands before position `first`. ValueError beyond the last position.
        """
        end = first + before.shape[1]
        if end > self.config.length:
            raise ValueError(f"position {end:,}: the network has places for {self.config.length:,}")
        place = torch.arange(first, end, device=before.device)
        width = self.config.width
        return self.dropout(self.symbol(before) + self.row(place // width) + self.column(place % width))  # type: ignore[no-any-return]

    def forward(
        self,
        before: Tensor,
        first: int = 0,
        past: Past | None = None,
        gains: Tensor | Sequence[Tensor] | None = None,
        pattern: Pattern | None = None,
        trace: Trace = OFF,
    ) -> Tensor:
        """Logits (batch, position, symbol) of what comes after each symbol of `before`, (batch, position), `start` at the beginning.

        first: position that the first logits speak of; past: what was read before it, and then `before` holds one symbol.
        gains: (layer, batch, head). pattern: another one than that of training. Taps `<layer>/self/queries` and `<layer>/self/keys`.
        """
        x = self.embedded(before, first)
        pattern = pattern or self.config.pattern
        for i, layer in enumerate(self.layers):
            heads = pattern.of_heads(self.config.use, i, self.config.n_heads)
            x = layer(x, heads, i, past, None if gains is None else gains[i], trace.within(i))
        return self.readout(self.norm(x))  # type: ignore[no-any-return]

    def after(self, symbols: Tensor) -> Tensor:
        """What stands before each symbol: (batch, position) -> (batch, position), `start` first."""
        return torch.cat((symbols.new_full((len(symbols), 1), self.start), symbols[:, :-1]), 1)
