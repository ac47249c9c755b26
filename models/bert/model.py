"""An encoder that reads a text from both sides (Devlin et al., 2019), with or without the head that
predicts hidden pieces.

Every sublayer is h ← LayerNorm(h + Sublayer(h)), as in Vaswani et al. (2017); the input of a
position is LayerNorm(word + place).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from models.explaining.trace import OFF, Trace
from models.layers.dropout import Dropout
from models.layers.feedforward import FeedForward
from models.layers.masks import broadcast_key_mask
from models.layers.positional import sinusoids
from models.networks import encoder

EPSILON = 1e-12  # the constant that BERT adds to a variance
BRANCH = 0.2  # scale of a sublayer's output weights at the start of training, relative to Xavier's


@dataclass(frozen=True)
class Config(encoder.Config):
    """The sizes of a network."""

    types: int = 0  # kinds of segments
    predicts: bool = True  # whether it has a head that predicts hidden pieces


class Gelu(FeedForward):
    """The feed-forward sublayer W2 · gelu(W1 x + b1) + b2, the same at every position."""

    def forward(self, x: Tensor) -> Tensor:
        """Return the output, (..., d_model).

        x: (..., d_model).
        """
        return self.outer(F.gelu(self.inner(x)))  # type: ignore[no-any-return]


class Layer(encoder.EncoderLayer):
    """Self-attention, then feed-forward with GELU, each followed by the residual sum and layer
    normalisation."""

    def __init__(self, config: Config) -> None:
        super().__init__(config)
        self.feed_forward = Gelu(config.d_model, config.d_ff)
        self.norms = nn.ModuleList(nn.LayerNorm(config.d_model, EPSILON) for _ in range(2))


class Encoder(nn.Module):
    """An encoder for P(piece | all other readable pieces), or for a vector of each piece."""

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
        """Initialise with Xavier's sizes and small branches, as in
        `models.networks.encoder_decoder`.

        Embeddings are so small that logits start at unit size. Positions are learned, but start as
        sinusoids: from random ones, the network would have to learn neighbourhoods for each place
        anew.
        """
        nn.init.normal_(self.words.weight, std=self.config.d_model**-0.5)
        with torch.no_grad():
            self.places.weight.copy_(
                sinusoids(self.config.max_positions, self.config.d_model)
                * (2 / self.config.d_model) ** 0.5
            )
        for layer in self.layers:
            attention, outer = layer.self_attention, layer.feed_forward.outer
            out, projected = (
                (attention.project_out.weight, outer.weight),
                attention.project_in.weight.chunk(3),
            )
            for weight, gain in zip(
                (*out, *projected), (BRANCH, BRANCH, 1.0, 1.0, BRANCH), strict=True
            ):
                nn.init.xavier_uniform_(weight, gain)
            for linear in (attention.project_in, attention.project_out, outer):
                nn.init.zeros_(linear.bias)

    def climb(
        self,
        pieces: Tensor,
        allowed: Tensor | None = None,
        gains: Tensor | None = None,
        trace: Trace = OFF,
        positions: bool = True,
    ) -> Iterator[Tensor]:
        """Yield the hidden vectors below the first layer, then after each layer, (batch, position,
        d_model).

        The arguments are those of `forward`.
        """
        length = pieces.shape[1]
        if length > self.config.max_positions:
            raise ValueError(
                f"{length} pieces: the model reads {self.config.max_positions} at once"
            )
        x = self.words(pieces) + self.places.weight[:length] if positions else self.words(pieces)
        x = self.dropout(self.norm(x if self.types is None else x + self.types.weight[0]))
        yield x
        mask = None if allowed is None else broadcast_key_mask(allowed)
        for i, layer in enumerate(self.layers):
            x = layer(x, mask, None if gains is None else gains[i], trace.within(i))
            yield x

    def forward(self, pieces: Tensor, *how: Any, **named: Any) -> Tensor:
        """Return the last layer, (batch, position, d_model).

        pieces: (batch, position). allowed: False where no position may read, (batch, position);
        None if every position may be read. gains: factors of the heads' outputs, (layer, batch,
        head). positions: whether positions are added. The taps are `<layer>/self/…` and
        `<layer>/output`. Raise ValueError beyond the last position.
        """
        *_, last = self.climb(pieces, *how, **named)
        return last

    def logits(self, x: Tensor) -> Tensor:
        """Return the scores of every piece, (…, piece): dense, GELU, LayerNorm, then a product with
        each embedding.

        x: the last layer, (…, d_model).
        """
        return F.linear(self.dense_norm(F.gelu(self.dense(x))), self.words.weight, self.bias)
