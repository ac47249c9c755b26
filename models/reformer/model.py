"""A decoder with attention by hashing in reversible layers (Kitaev et al., 2020).

p(x) = Π_i p(x_i | x_<i). The residual stream is a pair: both halves start as the embedding,
attention reads the second and adds to the first, the feed-forward network reads the first and adds
to the second; the readout sees both.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from models.explaining.trace import OFF, Trace
from models.layers.lsh import LSHSelfAttention, draw_rotations
from models.layers.reversible import ChunkedFeedForward, Pair, run_reversible, step_forward

FULL = 0  # instead of a number of rounds: full attention, no hashing


@dataclass(frozen=True)
class Config:
    """The sizes of a network."""

    vocabulary: int  # kinds of token
    length: int  # the most positions
    rounds: int  # of hashing, as trained; 0: full attention
    chunk: int  # places of a chunk in the sorted order
    buckets: int  # of a round of hashing, an even number
    row: int  # positions of a row: a position joins the embeddings of its row and column
    d_model: int = 128  # width of a position, in each half of the stream
    d_ff: int = 256  # width inside the feed-forward network
    n_heads: int = 4  # attention heads of each layer
    n_layers: int = 1  # layers
    ff_chunks: int = 1  # parts in which the feed-forward network is computed
    # For a model of text: letter i has the number i + 1; empty if tokens are no letters.
    letters: str = ""


class Layer(nn.Module):
    """A layer with F(x) = attention(LayerNorm(x)) and G(x) = feed-forward(LayerNorm(x))."""

    def __init__(self, config: Config) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(config.d_model)
        self.attention = LSHSelfAttention(config.d_model, config.n_heads, config.chunk)
        self.feedforward_norm = nn.LayerNorm(config.d_model)
        self.feedforward = ChunkedFeedForward(config.d_model, config.d_ff, config.ff_chunks)

    def g(self, x: Tensor) -> Tensor:
        """Return the feed-forward branch, (batch, position, d_model).

        x: (batch, position, d_model).
        """
        return self.feedforward(self.feedforward_norm(x))  # type: ignore[no-any-return]


class Turn:
    """A layer in one pass, with its rotations, changes and trace.

    rotation: (head, round, d_head, half) or None.
    """

    def __init__(
        self, layer: Layer, rotation: Tensor | None, gain: Tensor | None = None, trace: Trace = OFF
    ) -> None:
        self.layer, self.rotation, self.gain, self.trace = layer, rotation, gain, trace
        self.parameters = layer.parameters
        self.g = layer.g

    @torch.no_grad()
    def memo(self, x: Tensor) -> Tensor | None:
        """Return the buckets of x, to be kept: a vector near a border may fall on its other side
        when it is recomputed."""
        if self.rotation is None:
            return None
        buckets = self.layer.attention.hash_inputs(self.layer.norm(x), self.rotation)
        return buckets.to(torch.uint8) if 2 * self.rotation.shape[3] <= 256 else buckets

    def f(self, x: Tensor, memo: Tensor | None) -> Tensor:
        """Return the attention branch with given hashes."""
        return self.layer.attention(self.layer.norm(x), memo, self.gain, self.trace)  # type: ignore[no-any-return]


class Reformer(nn.Module):
    """A decoder of an embedding, reversible layers and a readout."""

    def __init__(self, config: Config) -> None:
        super().__init__()
        if config.d_model % 2 or config.row < 1:
            raise ValueError(
                f"positions of {config.d_model} numbers in rows of {config.row}: half are a row's,"
                " half a column's"
            )
        self.config = config
        self.token = nn.Embedding(config.vocabulary, config.d_model)
        self.row = nn.Embedding(-(-config.length // config.row), config.d_model // 2)
        self.column = nn.Embedding(config.row, config.d_model // 2)
        self.layers = nn.ModuleList(Layer(config) for _ in range(config.n_layers))
        self.norm = nn.LayerNorm(2 * config.d_model)
        self.readout = nn.Linear(2 * config.d_model, config.vocabulary)
        for table in (self.token, self.row, self.column):
            nn.init.normal_(table.weight, std=0.5)

    def rotations(
        self, rounds: int, buckets: int, generator: torch.Generator | None = None
    ) -> list[Tensor | None]:
        """Draw the rotations of every layer for one pass; None for each if `rounds` is FULL.

        Raise ValueError for invalid numbers.
        """
        config = self.config
        if rounds == FULL:
            return [None] * config.n_layers
        return [
            draw_rotations(
                config.n_heads, config.d_model // config.n_heads, rounds, buckets, generator
            )
            for _ in self.layers
        ]

    def embed_tokens(self, tokens: Tensor, positions: Tensor | None = None) -> Tensor:
        """Return the embeddings of tokens, (batch, position, d_model).

        tokens: (batch, position). positions: integers that broadcast to them, by default 0, 1, 2, …
        Raise ValueError if there are more than the network's positions.
        """
        config = self.config
        if positions is None:
            positions = torch.arange(tokens.shape[1], device=tokens.device)[None]
        if tokens.shape[1] > config.length:
            raise ValueError(f"{tokens.shape[1]:,} positions: this network has {config.length:,}")
        place = torch.cat(
            (self.row(positions // config.row), self.column(positions % config.row)), -1
        )
        return self.token(tokens) + place  # type: ignore[no-any-return]

    def turns(
        self,
        rotation: Sequence[Tensor | None],
        gains: Tensor | Sequence[Tensor] | None = None,
        trace: Trace = OFF,
    ) -> list[Turn]:
        """Return the layers for one pass.

        rotation: of every layer, as returned by `rotations`. gains: (layer, batch, head).
        """
        found = []
        for i, (layer, one) in enumerate(zip(self.layers, rotation, strict=True)):
            assert isinstance(layer, Layer)
            found.append(
                Turn(layer, one, None if gains is None else gains[i], trace.within(i, "self"))
            )
        return found

    def read(self, pair: Pair) -> Tensor:
        """Return the logits from both halves of the stream, (batch, position, token)."""
        return self.readout(self.norm(torch.cat(pair, -1)))  # type: ignore[no-any-return]

    def forward(
        self,
        tokens: Tensor,
        rotation: Sequence[Tensor | None],
        positions: Tensor | None = None,
        gains: Tensor | Sequence[Tensor] | None = None,
        trace: Trace = OFF,
    ) -> Tensor:
        """Return the logits of the token after each position, (batch, position, token).

        tokens: (batch, position). rotation, gains: as in `turns`. positions: as in `embed_tokens`.
        The taps are `<layer>/self/queries` and `<layer>/self/buckets`.
        """
        x = self.embed_tokens(tokens, positions)
        turns = self.turns(rotation, gains, trace)
        if torch.is_grad_enabled() and x.requires_grad:
            return self.read(run_reversible(turns, x, x))
        pair = (x, x)
        for turn in turns:
            pair = step_forward(turn, *pair, turn.memo(pair[1]))
        return self.read(pair)
