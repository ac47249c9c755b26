"""An encoder alone that reads a text from both sides (Devlin et al., 2019), with or without the head that says what is hidden.

h ← LayerNorm(h + Sublayer(h)) around every sublayer, as in Vaswani et al. (2017); what a position starts with is LayerNorm(word + place).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from models import encoder
from models.layers.dropout import Dropout
from models.layers.feedforward import FeedForward
from models.layers.masks import keys_allowed
from models.layers.positional import sinusoids
from models.trace import OFF, Trace

EPSILON = 1e-12  # what BERT adds to a variance
BRANCH = 0.2  # size of what leads out of a sublayer at the start of training, against Xavier's


@dataclass(frozen=True)
class Config(encoder.Config):
    """What the network is."""

    types: int = 0  # kinds of segments that it tells apart
    predicts: bool = True  # has it a head that says which piece is hidden?


class Gelu(FeedForward):
    """W2 · gelu(W1 x + b1) + b2, the same at every position."""

    def forward(self, x: Tensor) -> Tensor:
        """x: (..., d_model) -> (..., d_model)."""
        return self.outer(F.gelu(self.inner(x)))  # type: ignore[no-any-return]


class Layer(encoder.EncoderLayer):
    """Self-attention, then feed-forward with GELU, each with residual and layer normalisation behind it."""

    def __init__(self, config: Config) -> None:
        super().__init__(config)
        self.feed_forward = Gelu(config.d_model, config.d_ff)
        self.norms = nn.ModuleList(nn.LayerNorm(config.d_model, EPSILON) for _ in range(2))


class Encoder(nn.Module):
    """P(piece | all others that are read), or a vector for each piece."""

    def __init__(self, config: Config) -> None:
        super().__init__()
        self.config = config
        self.words = nn.Embedding(config.vocabulary, config.d_model)
        self.places = nn.Embedding(config.max_positions, config.d_model)
        self.types = nn.Embedding(config.types, config.d_model) if config.types else None
        self.norm = nn.LayerNorm(config.d_model, EPSILON)
        self.dropout = Dropout(config.dropout)
        self.layers: Any = nn.ModuleList(Layer(config) for _ in range(config.n_layers))
        if config.predicts:
            self.dense = nn.Linear(config.d_model, config.d_model)
            self.dense_norm = nn.LayerNorm(config.d_model, EPSILON)
            self.bias = nn.Parameter(torch.zeros(config.vocabulary))
        self.reset()

    def reset(self) -> None:
        """Xavier's sizes with quiet branches, as `models.encoder_decoder`; embeddings so small that logits begin at unit size.

        Positions are learned, but begin as sinusoids: at random ones, who stands beside whom would be learned for each place anew.
        """
        nn.init.normal_(self.words.weight, std=self.config.d_model**-0.5)
        with torch.no_grad():
            self.places.weight.copy_(sinusoids(self.config.max_positions, self.config.d_model) * (2 / self.config.d_model) ** 0.5)
        for layer in self.layers:
            attention, outer = layer.self_attention, layer.feed_forward.outer
            out, projected = (attention.project_out.weight, outer.weight), attention.project_in.weight.chunk(3)
            for weight, gain in zip((*out, *projected), (BRANCH, BRANCH, 1.0, 1.0, BRANCH), strict=True):
                nn.init.xavier_uniform_(weight, gain)
            for linear in (attention.project_in, attention.project_out, outer):
                nn.init.zeros_(linear.bias)

    def climb(
        self, pieces: Tensor, allowed: Tensor | None = None, gains: Tensor | None = None, trace: Trace = OFF, positions: bool = True
    ) -> Iterator[Tensor]:
        """(batch, position, d_model) below the first layer, then after each. Arguments as in `forward`."""
        length = pieces.shape[1]
        if length > self.config.max_positions:
            raise ValueError(f"{length} pieces: the model reads {self.config.max_positions} at once")
        x = self.words(pieces) + self.places.weight[:length] if positions else self.words(pieces)
        x = self.dropout(self.norm(x if self.types is None else x + self.types.weight[0]))
        yield x
        mask = None if allowed is None else keys_allowed(allowed)
        for i, layer in enumerate(self.layers):
            x = layer(x, mask, None if gains is None else gains[i], trace.within(i))
            yield x

    def forward(self, pieces: Tensor, *how: Any, **named: Any) -> Tensor:
        """pieces: (batch, position); (batch, position, d_model) behind the last layer.

        allowed: (batch, position), False where nobody may read; None: all are read. gains: (layer, batch, head), what a head's output is
        multiplied by. positions: are they added? Taps `<layer>/self/…` and `<layer>/output`. ValueError past the last position.
        """
        *_, last = self.climb(pieces, *how, **named)
        return last

    def logits(self, x: Tensor) -> Tensor:
        """x: (…, d_model) behind the last layer; (…, piece): dense, GELU, LayerNorm, then each piece scored by its embedding."""
        return F.linear(self.dense_norm(F.gelu(self.dense(x))), self.words.weight, self.bias)
