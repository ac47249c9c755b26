"""A decoder over symbols, pixels of a binarised digit or characters of a book, with sparse attention (Child et al., 2019).

p(x) = Π_i p(x_i | x_<i). x ← x + Sublayer(LayerNorm(x)) around every sublayer, and a last LayerNorm before the readout.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from models import decoder
from models.decoder import Decoder, Past, quiet_start
from models.layers.dropout import Dropout
from models.layers.patterns import Pattern
from models.layers.sparse import sparse_attention
from models.trace import OFF, Trace


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


class Layer(decoder.Layer):
    """Sparse self-attention."""

    def __init__(self, config: Config) -> None:
        super().__init__(config.d_model, config.d_ff, config.n_heads, config.dropout)
        self.use = config.use

    def attend(  # type: ignore[override]
        self, query: Tensor, key: Tensor, value: Tensor, number: int, gain: Tensor | None, trace: Trace, *, pattern: Pattern
    ) -> Tensor:
        """As `sparse_attention`; past its first positions, one at a time."""
        return sparse_attention(query, key, value, pattern.of_heads(self.use, number, query.shape[1]), gain, trace)


class SparseTransformer(Decoder):
    """The network; with the full pattern, its dense twin."""

    def __init__(self, config: Config) -> None:
        super().__init__()
        self.config = config
        self.symbol = nn.Embedding(config.symbols + 1, config.d_model)
        self.row = nn.Embedding(-(-config.length // config.width), config.d_model)
        self.column = nn.Embedding(config.width, config.d_model)
        self.stack((Layer(config) for _ in range(config.n_layers)), config.d_model, config.symbols)
        self.dropout = Dropout(config.dropout)
        quiet_start((self.symbol, self.row, self.column), *([layer] for layer in self.layers))

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

    def step(self, cache: Any, *how: Any) -> None:
        """None: each position sees keys of its own."""

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
        x = self.through(self.embedded(before, first), past, gains, trace, pattern=pattern or self.config.pattern)
        return self.readout(x)  # type: ignore[no-any-return]

    def after(self, symbols: Tensor) -> Tensor:
        """What stands before each symbol: (batch, position) -> (batch, position), `start` first."""
        return torch.cat((symbols.new_full((len(symbols), 1), self.start), symbols[:, :-1]), 1)
