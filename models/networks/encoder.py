"""The encoder's half of the Transformer (Vaswani et al., 2017): the sizes of the network, and one
of its layers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from models.explaining.trace import OFF, Trace
from models.layers.attention import MultiHeadAttention
from models.layers.dropout import Dropout
from models.layers.feedforward import FeedForward


@dataclass(frozen=True)
class Config:
    """The sizes of the network."""

    vocabulary: int = 6000  # pieces of the joint vocabulary, special ones included
    d_model: int = 192  # width of a position
    d_ff: int = 512  # width inside the feed-forward sublayer
    n_heads: int = 8  # attention heads of each attention sublayer
    n_layers: int = 4  # layers of the encoder, and as many of the decoder
    dropout: float = 0.1  # probability, on embeddings and on every sublayer's output
    max_positions: int = 256  # positions for which sinusoids are kept


class EncoderLayer(nn.Module):
    """Self-attention, then feed-forward, each with residual and layer normalisation behind it
    (§3.1)."""

    def __init__(self, config: Config) -> None:
        super().__init__()
        self.self_attention = MultiHeadAttention(config.d_model, config.n_heads)
        self.feed_forward = FeedForward(config.d_model, config.d_ff)
        self.norms = nn.ModuleList(nn.LayerNorm(config.d_model) for _ in range(2))
        self.dropout = Dropout(config.dropout)

    def forward(
        self,
        x: Tensor,
        mask: Tensor | None,
        gain: Tensor | None = None,
        trace: Trace = OFF,
        scale: float | None = None,
        paths: Sequence[float] = (1, 1),
    ) -> Tensor:
        """Apply the layer to x, (batch, source, d_model).

        mask: (batch, 1, 1, source).
        gain: (batch, head).
        scale: as in `attend`.
        paths: of `Paths`.

        Taps `self/weights`, and `output` (batch, source, d_model).
        """
        own = self.self_attention(x, mask=mask, gain=gain, trace=trace.within("self"), scale=scale)
        x = self.norms[0](torch.add(self.dropout(own), x, alpha=paths[0]))
        x = self.norms[1](torch.add(self.dropout(self.feed_forward(x)), x, alpha=paths[1]))
        trace.tap("output", "batch source d_model", x)
        return x
