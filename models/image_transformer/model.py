"""The Image Transformer's decoder: a picture as a sequence of grey levels with local attention
(Parmar et al., 2018).

p(picture) = Π_i p(x_i | x_<i), with 256 levels as 256 symbols. The order is raster order with 1D
blocks, or tile order with 2D blocks; it belongs to the pattern of attention, and pixels are
reordered before positions are added. Every sublayer is x ← x + Sublayer(LayerNorm(x)), and a last
LayerNorm precedes the readout.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from models.explaining.trace import OFF, Trace
from models.layers.local import Block, blocks_1d, blocks_2d, local_attention, order_2d
from models.layers.positional import sinusoids
from models.networks import decoder
from models.networks.decoder import Decoder, initialise_quietly

LEVELS = 256  # grey levels; symbol 256 precedes the first pixel
# Base of the sinusoids: pictures are some tens of pixels wide, not thousands of words.
WAVELENGTHS = 100.0


def bits(logits: Tensor, levels: Tensor) -> Tensor:
    """Return −log₂ p of each level.

    logits: (…, level). levels: (…).
    """
    return F.cross_entropy(logits.float().flatten(0, -2), levels.flatten(), reduction="none").view(
        levels.shape
    ) / math.log(2)


@dataclass(frozen=True)
class Layout:
    """The order of generation, and the positions that each block may see."""

    rows: int
    columns: int
    order: tuple[tuple[int, int], ...]  # (row, column) of each position
    blocks: tuple[Block, ...]

    @cached_property
    def pixels(self) -> Tensor:
        """The raster index of each position, (position,)."""
        return torch.tensor([row * self.columns + column for row, column in self.order])

    @cached_property
    def places(self) -> Tensor:
        """The position of each pixel in raster order, (row · column,): the inverse of `pixels`."""
        return torch.argsort(self.pixels)

    def order_levels(self, picture: Tensor) -> Tensor:
        """Return the levels in the order of generation, (batch, position).

        picture: (batch, row, column).
        """
        return picture.flatten(1).index_select(1, self.pixels.to(picture.device))


def raster(rows: int, columns: int, query: int, memory: int) -> Layout:
    """Return the layout of 1D local attention: rows from the top, in blocks of `query` pixels, each
    with the `memory` pixels before it."""
    order = tuple((i // columns, i % columns) for i in range(rows * columns))
    return Layout(rows, columns, order, blocks_1d(rows * columns, query, memory))


def tiles(rows: int, columns: int, tile: tuple[int, int], flange: tuple[int, int]) -> Layout:
    """Return the layout of 2D local attention: tiles in raster order, each with the earlier pixels
    of the flange above and beside it."""
    return Layout(
        rows, columns, tuple(order_2d(rows, columns, tile)), blocks_2d(rows, columns, tile, flange)
    )


@dataclass(frozen=True)
class Config:
    """The sizes of a network."""

    pattern: str = "local_1d"  # or local_2d
    rows: int = 28  # of a picture, pixels
    columns: int = 28  # of a picture, pixels
    query: tuple[int, int] = (2, 28)  # a block of queries: rows, columns
    # 1D: rows × columns of pixels before the block; 2D: flange above, and left and right.
    memory: tuple[int, int] = (4, 28)
    classes: int = 10  # kinds of picture; one more label stands for an unknown kind
    d_model: int = 128  # width of a position
    d_ff: int = 512  # width inside the feed-forward sublayer
    n_heads: int = 4  # attention heads of each layer
    n_layers: int = 6  # layers

    def layout(self, memory: tuple[int, int] | None = None) -> Layout:
        """Return the layout of training, or the same order with another memory."""
        return layout_of(
            self.pattern,
            self.rows,
            self.columns,
            self.query,
            self.memory if memory is None else memory,
        )


def layout_of(
    pattern: str, rows: int, columns: int, query: tuple[int, int], memory: tuple[int, int]
) -> Layout:
    """Return the layout of a pattern.

    Raise ValueError for an unknown name.
    """
    if pattern == "local_1d":
        return raster(rows, columns, query[0] * query[1], memory[0] * memory[1])
    if pattern == "local_2d":
        return tiles(rows, columns, query, memory)
    raise ValueError(f"the patterns are local_1d and local_2d, not {pattern}")


class Layer(decoder.Layer):
    """A layer with local self-attention."""

    def attend(
        self,
        query: Tensor,
        key: Tensor,
        value: Tensor,
        number: int,
        gain: Tensor | None,
        trace: Trace,
        **how: Any,
    ) -> Tensor:
        """Return `local_attention`; without `blocks`, the keys are those of one block and end at
        the last query."""
        if not how:
            return super().attend(query, key, value, number, gain, trace)
        return local_attention(query, key, value, how["blocks"], gain, trace)


class Embedding(nn.Module):
    """The sum of the last pixel's level, the kind of picture, and the place of the next pixel:
    E[x_(i−1)] + C[kind] + P[row, column].

    Half of P's dimensions are the row and half the column, both as sinusoids (§3.1). E starts as
    sinusoids of the level plus noise, so that neighbouring levels start as neighbours.
    """

    def __init__(self, config: Config) -> None:
        super().__init__()
        self.level = nn.Embedding(LEVELS + 1, config.d_model)
        self.kind = nn.Embedding(config.classes + 1, config.d_model)
        row, column = (
            sinusoids(n, config.d_model // 2, WAVELENGTHS) for n in (config.rows, config.columns)
        )
        place = torch.cat(
            (row[:, None].expand(-1, config.columns, -1), column[None].expand(config.rows, -1, -1)),
            dim=2,
        )
        self.place: Tensor
        self.register_buffer(
            "place", place.reshape(config.rows * config.columns, config.d_model), persistent=False
        )
        nn.init.normal_(self.kind.weight, std=0.5)
        with torch.no_grad():
            self.level.weight.normal_(std=0.5)
            self.level.weight[:LEVELS] += 0.7 * sinusoids(LEVELS, config.d_model, WAVELENGTHS)

    def forward(self, before: Tensor, kind: Tensor, pixels: Tensor) -> Tensor:
        """Return the embeddings, (batch, position, d_model).

        before: levels, (batch, position). kind: (batch,). pixels: raster indices, (position,).
        """
        return self.level(before) + self.kind(kind)[:, None] + self.place[pixels]  # type: ignore[no-any-return]


class ImageTransformer(Decoder):
    """A decoder over pixels with the same local pattern in every layer."""

    start = LEVELS  # the symbol before the first pixel

    def __init__(self, config: Config) -> None:
        super().__init__()
        self.config = config
        self.layout = config.layout()
        self.embedding = Embedding(config)
        self.build_layers(
            (Layer(config.d_model, config.d_ff, config.n_heads) for _ in range(config.n_layers)),
            config.d_model,
            LEVELS,
        )
        initialise_quietly((), *([layer] for layer in self.layers))

    @property
    def unknown(self) -> int:
        """The label of a picture of unknown kind."""
        return self.config.classes

    def forward(
        self,
        picture: Tensor,
        kind: Tensor,
        layout: Layout | None = None,
        gains: Tensor | None = None,
        trace: Trace = OFF,
    ) -> Tensor:
        """Return the logits of a picture, each pixel's from the earlier pixels, (batch, row,
        column, level).

        picture: (batch, row, column). kind: (batch,), `unknown` for none. layout: with another
        memory than the trained one. gains: (layer, batch, head). The taps are
        `<layer>/self/queries` and `<layer>/self/keys`, in the order of generation.
        """
        layout = layout or self.layout
        x = self.compute_hidden(layout.order_levels(picture), kind, layout, gains, trace)
        logits = self.readout(x).index_select(1, layout.places.to(picture.device))
        return logits.view(*picture.shape, LEVELS)  # type: ignore[no-any-return]

    def predictions(self, picture: Tensor, kind: Tensor) -> tuple[Tensor, Tensor]:
        """Return logits (batch, position, level) and true levels (batch, position) for training, in
        the order of generation."""
        made = self.layout.order_levels(picture)
        return self.readout(self.compute_hidden(made, kind, self.layout)), made

    def compute_hidden(
        self,
        made: Tensor,
        kind: Tensor,
        layout: Layout,
        gains: Tensor | None = None,
        trace: Trace = OFF,
    ) -> Tensor:
        """Return the normalised input of the readout, (batch, position, d_model).

        made: levels in the order of generation, (batch, position).
        """
        before = torch.cat((made.new_full((len(made), 1), LEVELS), made[:, :-1]), dim=1)
        return self.run_layers(
            self.embedding(before, kind, layout.pixels.to(made.device)),
            None,
            gains,
            trace,
            blocks=layout.blocks,
        )
