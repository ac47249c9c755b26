"""A pre-norm Transformer encoder that knows where each digit stands, counted from both ends (after
Vaswani et al., 2017, §3).

    x_i = E[d_i] + P[i] + Q[n − 1 − i]
    in each layer x ← x + MultiHead(LN(x)), then x ← x + FFN(LN(x))
    p(answer) = softmax(W LN(x) + b)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from models.explaining.trace import OFF, Trace
from models.layers.attention import MultiHeadAttention
from models.layers.feedforward import FeedForward
from models.layers.masks import broadcast_key_mask

KINDS = 10  # ten digits
NONE = -1  # stands where a shorter input has no digit


@dataclass(frozen=True)
class Config:
    """The sizes of the network."""

    longest: int = 8  # positions
    d_model: int = 32  # width of a position
    d_ff: int = 64  # width inside the feed-forward sublayer
    n_heads: int = 2  # attention heads of a layer
    n_layers: int = 2  # layers


class Layer(nn.Module):
    """One pre-norm layer: x ← x + MultiHead(LN(x)); x ← x + FFN(LN(x))."""

    def __init__(self, config: Config) -> None:
        super().__init__()
        self.attention = MultiHeadAttention(config.d_model, config.n_heads)
        self.feed_forward = FeedForward(config.d_model, config.d_ff)
        self.norms = nn.ModuleList(nn.LayerNorm(config.d_model) for _ in range(2))

    def forward(
        self, x: Tensor, mask: Tensor, gain: Tensor | None = None, trace: Trace = OFF
    ) -> Tensor:
        """Return x after the layer. x: (batch, position, d_model); mask broadcasts to (batch, head,
        query, key); gain: (batch, head). Taps `weights`."""
        x = x + self.attention(self.norms[0](x), mask=mask, gain=gain, trace=trace)
        return x + self.feed_forward(self.norms[1](x))  # type: ignore[no-any-return]


class Reverser(nn.Module):
    """An encoder that gives p(digit of the answer at each position)."""

    def __init__(self, config: Config) -> None:
        super().__init__()
        self.config = config
        self.digits = nn.Embedding(KINDS, config.d_model)
        self.from_start = nn.Embedding(config.longest, config.d_model)
        self.from_end = nn.Embedding(config.longest, config.d_model)
        self.layers = nn.ModuleList(Layer(config) for _ in range(config.n_layers))
        self.norm = nn.LayerNorm(config.d_model)
        self.readout = nn.Linear(config.d_model, KINDS)

    def forward(
        self,
        digits: Tensor,
        gains: Sequence[Tensor] | None = None,
        used: Tensor | None = None,
        trace: Trace = OFF,
    ) -> Tensor:
        """Return the logits (batch, position, digit). digits: (batch, position), `NONE` behind the
        last.

        gains: for each layer (batch, head), the factor of a head's output. used: (batch,) how many
        layers, all where None. Taps, within `layer/<i>`, those of `attend`.
        """
        there = digits != NONE
        place = torch.arange(digits.shape[1], device=digits.device).expand_as(digits)
        left = (there.sum(1, keepdim=True) - 1 - place).clamp(min=0)
        x = self.digits(digits.clamp(min=0)) + self.from_start(place) + self.from_end(left)
        mask = broadcast_key_mask(there)
        for i, layer in enumerate(self.layers):
            after = layer(x, mask, None if gains is None else gains[i], trace.within("layer", i))
            x = after if used is None else torch.where(used[:, None, None] > i, after, x)
        return self.readout(self.norm(x))  # type: ignore[no-any-return]
