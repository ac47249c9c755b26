"""A decoder over symbols, pixels of a binarised digit or characters of a book, with sparse
attention (Child et al., 2019).

p(x) = Π_i p(x_i | x_<i). Every sublayer is x ← x + Sublayer(LayerNorm(x)), and a last LayerNorm
precedes the readout.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from models.explaining.trace import OFF, Trace
from models.layers.dropout import Dropout
from models.layers.patterns import Pattern
from models.layers.sparse import sparse_attention
from models.networks import decoder
from models.networks.decoder import Decoder, Past, initialise_quietly


@dataclass(frozen=True)
class Config:
    """The sizes and the pattern of a network."""

    symbols: int  # kinds of symbol; the additional number `symbols` precedes the first
    kind: str  # of pattern: full, strided or fixed
    stride: int = 28  # of the pattern, positions: a row of the picture
    summary: int = 4  # columns at the end of each block that later blocks see, in the fixed pattern
    # Use of the two factors: interleaved by layer, merged in every head, or split over heads.
    use: str = "merged"
    length: int = 784  # positions
    width: int = 28  # positions in a row of the position table, whatever the stride
    letters: str = ""  # the alphabet, if symbols are characters
    d_model: int = 128  # width of a position
    d_ff: int = 512  # width inside the feed-forward sublayer
    n_heads: int = 4  # attention heads of each layer
    n_layers: int = 4  # layers
    dropout: float = 0.0  # of the input and of the output of each sublayer

    @property
    def pattern(self) -> Pattern:
        """The pattern of training."""
        return Pattern(self.kind, self.stride, self.summary)


class Layer(decoder.Layer):
    """A layer with sparse self-attention."""

    def __init__(self, config: Config) -> None:
        super().__init__(config.d_model, config.d_ff, config.n_heads, config.dropout)
        self.use = config.use

    def attend(  # type: ignore[override]
        self,
        query: Tensor,
        key: Tensor,
        value: Tensor,
        number: int,
        gain: Tensor | None,
        trace: Trace,
        *,
        pattern: Pattern,
    ) -> Tensor:
        """Return `sparse_attention`; after the first positions, one position at a time."""
        return sparse_attention(
            query, key, value, pattern.assign_heads(self.use, number, query.shape[1]), gain, trace
        )


class SparseTransformer(Decoder):
    """A decoder with sparse attention, or with the full pattern as its dense twin."""

    def __init__(self, config: Config) -> None:
        super().__init__()
        self.config = config
        self.symbol = nn.Embedding(config.symbols + 1, config.d_model)
        self.row = nn.Embedding(-(-config.length // config.width), config.d_model)
        self.column = nn.Embedding(config.width, config.d_model)
        self.build_layers(
            (Layer(config) for _ in range(config.n_layers)), config.d_model, config.symbols
        )
        self.dropout = Dropout(config.dropout)
        initialise_quietly(
            (self.symbol, self.row, self.column), *([layer] for layer in self.layers)
        )

    @property
    def start(self) -> int:
        """The symbol before the first."""
        return self.config.symbols

    def embed_symbols(self, before: Tensor, first: int = 0) -> Tensor:
        """Return E[x_(i−1)] + R[⌊i / width⌋] + C[i mod width], (batch, position, d_model): learned
        tables encode the place of the next symbol.

        before: symbols, (batch, position); the first of them precedes position `first`. Raise
        ValueError beyond the last position.
        """
        end = first + before.shape[1]
        if end > self.config.length:
            raise ValueError(f"position {end:,}: the network has places for {self.config.length:,}")
        place = torch.arange(first, end, device=before.device)
        width = self.config.width
        return self.dropout(  # type: ignore[no-any-return]
            self.symbol(before) + self.row(place // width) + self.column(place % width)
        )

    def step(self, cache: Any, *how: Any) -> None:
        """Return None, because each position sees its own keys."""

    def forward(
        self,
        before: Tensor,
        first: int = 0,
        past: Past | None = None,
        gains: Tensor | Sequence[Tensor] | None = None,
        pattern: Pattern | None = None,
        trace: Trace = OFF,
    ) -> Tensor:
        """Return the logits of the symbol after each position, (batch, position, symbol).

        before: symbols, `start` at the beginning, (batch, position). first: the position that the
        first logits predict. past: the symbols read earlier; `before` then holds one symbol. gains:
        (layer, batch, head). pattern: another than that of training. The taps are
        `<layer>/self/queries` and `<layer>/self/keys`.
        """
        x = self.run_layers(
            self.embed_symbols(before, first),
            past,
            gains,
            trace,
            pattern=pattern or self.config.pattern,
        )
        return self.readout(x)  # type: ignore[no-any-return]

    def after(self, symbols: Tensor) -> Tensor:
        """Return the symbol before each symbol, `start` first, (batch, position)."""
        return torch.cat((symbols.new_full((len(symbols), 1), self.start), symbols[:, :-1]), 1)
