"""A decoder with attention by hashing, in reversible layers (Kitaev et al., 2020).

p(x) = Π_i p(x_i | x_<i). The residual stream is a pair: both begin as the embedding, attention reads the second and adds to the first, the
feed-forward network reads the first and adds to the second; the readout sees both.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from models.layers.lsh import LSHSelfAttention, rotations
from models.layers.reversible import ChunkedFeedForward, Pair, reversible, step
from models.trace import OFF, Trace

FULL = 0  # in place of a number of rounds: attention to everything before, no hashing


@dataclass(frozen=True)
class Config:
    """What the network is."""

    vocabulary: int  # kinds of token
    length: int  # positions at most
    rounds: int  # of hashing, as trained; 0: attention to everything before
    chunk: int  # places of a chunk of the sorted order
    buckets: int  # of a round of hashing, an even number
    row: int  # positions of a row: a position is the embedding of its row beside that of its column
    d_model: int = 128  # width of a position, in each half of the stream
    d_ff: int = 256  # width inside the feed-forward network
    n_heads: int = 4  # attention heads of each layer
    n_layers: int = 1  # layers
    ff_chunks: int = 1  # parts in which the feed-forward network is computed
    letters: str = ""  # of a model of text: letter i has the number i + 1; empty where tokens are no letters


class Layer(nn.Module):
    """F(x) = attention(LayerNorm(x)), G(x) = feed-forward(LayerNorm(x))."""

    def __init__(self, config: Config) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(config.d_model)
        self.attention = LSHSelfAttention(config.d_model, config.n_heads, config.chunk)
        self.feedforward_norm = nn.LayerNorm(config.d_model)
        self.feedforward = ChunkedFeedForward(config.d_model, config.d_ff, config.ff_chunks)

    def g(self, x: Tensor) -> Tensor:
        """The feed-forward branch: (batch, position, d_model), the same comes back."""
        return self.feedforward(self.feedforward_norm(x))  # type: ignore[no-any-return]


class Turn:
    """A layer for one pass: with its rotations, and with what is changed and watched. rotation: (head, round, d_head, half) or None."""

    def __init__(self, layer: Layer, rotation: Tensor | None, gain: Tensor | None = None, trace: Trace = OFF) -> None:
        self.layer, self.rotation, self.gain, self.trace = layer, rotation, gain, trace
        self.parameters = layer.parameters
        self.g = layer.g

    @torch.no_grad()
    def memo(self, x: Tensor) -> Tensor | None:
        """The buckets of x: a vector near a border may fall to its other side once it is computed again."""
        if self.rotation is None:
            return None
        buckets = self.layer.attention.hashes(self.layer.norm(x), self.rotation)
        return buckets.to(torch.uint8) if 2 * self.rotation.shape[3] <= 256 else buckets

    def f(self, x: Tensor, memo: Tensor | None) -> Tensor:
        """The attention branch, its hashes given."""
        return self.layer.attention(self.layer.norm(x), memo, self.gain, self.trace)  # type: ignore[no-any-return]


class Reformer(nn.Module):
    """Embedding, reversible layers, readout."""

    def __init__(self, config: Config) -> None:
        super().__init__()
        if config.d_model % 2 or config.row < 1:
            raise ValueError(f"positions of {config.d_model} numbers in rows of {config.row}: half are a row's, half a column's")
        self.config = config
        self.token = nn.Embedding(config.vocabulary, config.d_model)
        self.row = nn.Embedding(-(-config.length // config.row), config.d_model // 2)
        self.column = nn.Embedding(config.row, config.d_model // 2)
        self.layers = nn.ModuleList(Layer(config) for _ in range(config.n_layers))
        self.norm = nn.LayerNorm(2 * config.d_model)
        self.readout = nn.Linear(2 * config.d_model, config.vocabulary)
        for table in (self.token, self.row, self.column):
            nn.init.normal_(table.weight, std=0.5)

    def rotations(self, rounds: int, buckets: int, generator: torch.Generator | None = None) -> list[Tensor | None]:
        """Those of every layer for one pass; None for each where `rounds` is FULL. ValueError for such as there cannot be."""
        config = self.config
        if rounds == FULL:
            return [None] * config.n_layers
        return [rotations(config.n_heads, config.d_model // config.n_heads, rounds, buckets, generator) for _ in self.layers]

    def embedded(self, tokens: Tensor, positions: Tensor | None = None) -> Tensor:
        """tokens: (batch, position) -> (batch, position, d_model). positions: whole numbers that broadcast to them, by default 0, 1, 2, …

        ValueError where there are more than the network has embeddings for.
        """
        config = self.config
        if positions is None:
            positions = torch.arange(tokens.shape[1], device=tokens.device)[None]
        if tokens.shape[1] > config.length:
            raise ValueError(f"{tokens.shape[1]:,} positions: this network has {config.length:,}")
        place = torch.cat((self.row(positions // config.row), self.column(positions % config.row)), -1)
        return self.token(tokens) + place  # type: ignore[no-any-return]

    def turns(self, rotation: Sequence[Tensor | None], gains: Tensor | Sequence[Tensor] | None = None, trace: Trace = OFF) -> list[Turn]:
        """The layers for one pass. rotation: of every layer, as `rotations` gives them. gains: (layer, batch, head)."""
        found = []
        for i, (layer, one) in enumerate(zip(self.layers, rotation, strict=True)):
            assert isinstance(layer, Layer)
            found.append(Turn(layer, one, None if gains is None else gains[i], trace.within(i, "self")))
        return found

    def read(self, pair: Pair) -> Tensor:
        """Logits (batch, position, token) of what both halves of the stream have come to."""
        return self.readout(self.norm(torch.cat(pair, -1)))  # type: ignore[no-any-return]

    def forward(
        self,
        tokens: Tensor,
        rotation: Sequence[Tensor | None],
        positions: Tensor | None = None,
        gains: Tensor | Sequence[Tensor] | None = None,
        trace: Trace = OFF,
    ) -> Tensor:
        """Logits (batch, position, token) of what comes after each of `tokens`, (batch, position).

        rotation, gains: as in `turns`; positions: as in `embedded`. Taps `<layer>/self/queries` and `<layer>/self/buckets`.
        """
        x = self.embedded(tokens, positions)
        turns = self.turns(rotation, gains, trace)
        if torch.is_grad_enabled() and x.requires_grad:
            return self.read(reversible(turns, x, x))
        pair = (x, x)
        for turn in turns:
            pair = step(turn, *pair, turn.memo(pair[1]))
        return self.read(pair)
